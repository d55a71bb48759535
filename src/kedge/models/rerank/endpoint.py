"""Rerankers on a server: text-embeddings-inference, and the `/rerank` of Cohere that Jina, vLLM and llama.cpp share.

`endpoint:http://host:8080?api=tei`, `endpoint:http://host:8000/v1?api=vllm&model=Qwen/Qwen3-Reranker-4B`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import Settings
from kedge.models.http import Backoff, Endpoint, base_url, gather, number, options
from kedge.models.known import TASK

KEY = "KEDGE_RERANK_KEY"
OPTIONS = ("api", "model", "scores", "template", "chars", "batch")
APIS = ("cohere", "tei", "vllm")
SCORES = ("probability", "logit")
BATCH = 32
"""Texts of one request: what a text-embeddings-inference server takes unless told otherwise."""
CHARS = 4000
"""Characters of a text that are sent; a query is cut to the same."""
RETRIES = Backoff(attempts=2, first=0.2, longest=2.0)
"""A search waits for the reranker, so little is retried."""
ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class Template:
    """What a model wants around query and text when its server does not put it there."""

    query: str = "{}"
    text: str = "{}"


TEMPLATES = {
    "none": Template(),
    "qwen3": Template(
        query="<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the "
        'Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
        f"<Instruct>: {TASK}\n<Query>: {{}}\n",
        text="<Document>: {}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    ),
}


@dataclass(frozen=True, slots=True)
class ServedReranker:
    """A reranker on a server and how it is asked."""

    name: str
    api: str = "cohere"
    model: str = ""
    logits: bool = False
    """Its scores are raw logits, so they go through the logistic function."""
    template: Template = Template()
    chars: int = CHARS
    batch: int = BATCH


class HttpReranker:
    """Scores from `POST {base}/rerank`."""

    def __init__(self, model: ServedReranker, endpoint: Endpoint) -> None:
        self._spec = model
        self._endpoint = endpoint

    @property
    def name(self) -> str:
        return self._spec.name

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        batches = [texts[start : start + self._spec.batch] for start in range(0, len(texts), self._spec.batch)]
        scored = await gather([self._batch(query, batch) for batch in batches])
        return [score for batch in scored for score in batch]

    async def close(self) -> None:
        await self._endpoint.close()

    async def _batch(self, query: str, texts: Sequence[str]) -> list[float]:
        spec = self._spec
        asked = spec.template.query.replace("{}", query[: spec.chars])
        sent = [spec.template.text.replace("{}", text[: spec.chars] or " ") for text in texts]
        if spec.api == "tei":
            body: dict[str, object] = {"query": asked, "texts": sent, "raw_scores": spec.logits, "truncate": True}
        else:
            body = {"model": spec.model, "query": asked, "documents": sent, "top_n": len(sent)}
        reply = await self._endpoint.ask("/rerank", body)
        return [self._score(value) for value in self._values(reply, len(sent))]

    def _values(self, reply: object, expected: int) -> list[float]:
        """Raw scores in the order of the texts; servers send the best first."""
        rows = reply.get("results") if isinstance(reply, dict) else reply
        field = "score" if self._spec.api == "tei" else "relevance_score"
        found: dict[int, float] = {}
        for row in rows if isinstance(rows, list) else []:
            index, value = (row.get("index"), row.get(field)) if isinstance(row, dict) else (None, None)
            if isinstance(index, int) and isinstance(value, int | float) and math.isfinite(value):
                found[index] = float(value)
        if not isinstance(rows, list) or len(rows) != expected or found.keys() != set(range(expected)):
            raise ModelError(
                f"{self._endpoint.base}/rerank did not give one score for each of {expected} texts.",
                hint=f"Is api={self._spec.api} right for this server? Known: {', '.join(APIS)}.",
            )
        return [found[index] for index in range(expected)]

    def _score(self, value: float) -> float:
        if self._spec.logits:
            return logistic(value)
        if not -ROUNDING <= value <= 1 + ROUNDING:
            raise ModelError(
                f"{self._endpoint.base}/rerank gave the score {value:g}, which is no probability.",
                hint="It gives raw logits: add scores=logit to the reranker's name.",
            )
        return min(1.0, max(0.0, value))


def logistic(value: float) -> float:
    """A logit as a probability, without overflow."""
    return 0.5 * (1.0 + math.tanh(0.5 * value))


def open_reranker(url: str, settings: Settings, backoff: Backoff = RETRIES) -> HttpReranker:
    """`endpoint:BASE?api=tei|cohere|vllm&model=…&scores=probability|logit&template=none|qwen3&chars=…&batch=…`."""
    address, _, query = url.removeprefix("endpoint:").partition("?")
    given = options(query, OPTIONS, "An endpoint: reranker")
    base = base_url(address, "an endpoint: reranker")
    spec = ServedReranker(
        name=url,
        api=_choice(given, "api", APIS),
        model=given.get("model", ""),
        logits=_choice(given, "scores", SCORES) == "logit",
        template=TEMPLATES[_choice(given, "template", tuple(TEMPLATES))],
        chars=number(given, "chars", CHARS),
        batch=number(given, "batch", BATCH, 1000),
    )
    if spec.api != "tei" and not spec.model:
        raise ConfigError(f"A reranker with api={spec.api} needs model=.", hint="For example model=bge-reranker-v2-m3.")
    return HttpReranker(spec, Endpoint(base, settings.rerank_key, KEY, settings.model_timeout, backoff))


def _choice(given: dict[str, str], name: str, known: Sequence[str]) -> str:
    value = given.get(name, known[0])
    if value not in known:
        raise ConfigError(f"{name}={value} is not known.", hint=f"Known: {', '.join(known)}.")
    return value
