"""What clients that others wrote are asked to do, run by the Python of their environment; prints JSON.

python outside.py instructor|litellm|generated ADDRESS COLLECTION QUESTION
"""

from __future__ import annotations

import json
import sys
from typing import Any


def with_instructor(address: str, collection: str, question: str) -> Any:
    """The answer in a form, by both ways of asking for one."""
    import instructor
    import openai
    from pydantic import BaseModel

    class CitedAnswer(BaseModel):
        answer: str
        confidence: str
        sources: list[str]

    found = []
    for mode in (instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA):
        plain = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
        filled = instructor.from_openai(plain, mode=mode).chat.completions.create(
            model=f"kedge/{collection}",
            messages=[{"role": "user", "content": question}],
            response_model=CitedAnswer,
            max_retries=0,
        )
        found.append(filled.model_dump())
    return found


def with_litellm(address: str, collection: str, question: str) -> Any:
    """The answer whole, in pieces, and what it cost."""
    import litellm

    asked = {
        "model": f"openai/kedge/{collection}",
        "api_base": f"{address}/v1",
        "api_key": "none",
        "messages": [{"role": "user", "content": question}],
    }
    whole = litellm.completion(**asked)
    parts = litellm.completion(**asked, stream=True)
    return {
        "whole": whole.choices[0].message.content,
        "streamed": "".join(part.choices[0].delta.content or "" for part in parts),
        "tokens": whole.usage.total_tokens,
    }


def with_generated(address: str, collection: str, question: str) -> Any:
    """By the client that openapi-python-client wrote into the folder where this runs."""
    sys.path.insert(0, ".")
    from kedge_client import Client
    from kedge_client.api.collections import list_collections_api_collections_get as listing
    from kedge_client.api.query import ask_api_query_post as asking
    from kedge_client.models import QueryRequest

    client = Client(base_url=address, raise_on_unexpected_status=True)
    collections = listing.sync(client=client)
    answer = asking.sync(client=client, body=QueryRequest(query=question, collection=collection))
    missing = asking.sync(client=client, body=QueryRequest(query=question, collection="nowhere"))
    return {
        "collections": [one.name for one in collections.collections],
        "answer": answer.answer,
        "sources": [citation.title for citation in answer.citations],
        "code": missing.error.code,
    }


if __name__ == "__main__":
    ways = {"instructor": with_instructor, "litellm": with_litellm, "generated": with_generated}
    print(json.dumps(ways[sys.argv[1]](*sys.argv[2:])))
