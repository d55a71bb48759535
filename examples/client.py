"""A whole session with a server: `kedge serve`, then `python examples/client.py [URL]`. KEDGE_API_KEY is its key."""

from __future__ import annotations

import sys

from kedge import KedgeClient
from kedge.core.errors import KedgeError
from kedge.core.settings import load_settings

HANDBOOK = b"""# Kedge anchor

A kedge anchor is a light anchor that is carried away from the ship in a dinghy.

## Warp

The warp is tied to the ring of the kedge anchor with an anchor bend.
"""


def main(url: str) -> None:
    key = load_settings().api_key
    with KedgeClient(url, key=key.get_secret_value() if key else None) as kedge:
        queued = kedge.ingest(files=[("kedge.md", HANDBOOK)], collection="example")
        job = kedge.wait(queued.job_id, within=120)
        print(f"{job.status}: {job.passages_created} passages, {len(job.errors)} errors")
        for hit in kedge.search("warp", collection="example", top_k=1).hits:
            print(f"{hit.score:.2f} {hit.passage.title}: characters {hit.passage.start} to {hit.passage.end}")
        print(kedge.ask("Which knot ties the warp to the ring of a kedge anchor?", collection="example"))
        for event in kedge.stream("What is a kedge anchor?", collection="example"):
            print(event.content or "", end="", flush=True)
        print()
        kedge.delete_collection("example")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
    except KedgeError as error:
        sys.exit(f"{error.code}: {error}")
