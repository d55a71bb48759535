"""Questions with the evidence that Kedge finds for them, measured as the answer path measures it, and kept in a cache.

Evidence that cannot answer comes from three places: questions written to be unanswerable (squad2), answerable questions
whose gold passages were taken out of the evidence, and questions of another set.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.evals.dataset import EvalQuery, EvalSet, load

SETS = {
    "squad2": 10_000, "2wikimultihop": 250, "hotpotqa_train100": 100, "scifact": 200, "cranfield": 150, "cacm": 64,
    "xquad/es": 200, "xquad/zh": 200,
}  # fmt: skip
"""Set and how many of its questions are used."""
EXACT_GOLD = ("2wikimultihop", "hotpotqa_train100", "xquad/es", "xquad/zh")
"""Sets where without the gold passages there is no answer."""
SAME_TOPICS = frozenset({"squad2", "2wikimultihop", "hotpotqa_train100", "xquad/es", "xquad/zh"})
"""Sets whose questions another's passages might answer: never used as off-topic pairs."""
OFF_TOPIC = 20
"""Questions of each other set."""
TOP_K, DEEP = 5, 15
SCOPE = Scope(DEFAULT_TENANT, "judge")
SEED = 7


@dataclass(frozen=True, slots=True)
class Row:
    """One question with its evidence."""

    source: str
    """Set of the collection that was searched."""
    kind: str
    """asked, removed (gold taken out) or off-topic."""
    id: str
    question: str
    answerable: bool
    """Whether the source holds the answer."""
    complete: bool
    """Whether all gold passages are in the evidence."""
    features: Mapping[str, float | None]
    """What `judge_features` measured."""
    said: str
    """The extracted answer."""
    answers: Sequence[str]
    """Gold answers, if the set has them."""

    @property
    def right(self) -> bool:
        """Whether the extracted answer contains a gold answer."""
        return any(answer.casefold() in self.said.casefold() for answer in self.answers)


async def rows_of(name: str, data: Path, cache: Path, embedder: str) -> list[Row]:
    """The rows of one set, from the cache if it was measured before."""
    kept = cache / f"{name.replace('/', '_')}.jsonl"
    if not kept.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            async for row in _measured(name, data, embedder):
                out.write(json.dumps(asdict(row)) + "\n")
        part.rename(kept)
    with kept.open(encoding="utf-8") as lines:
        return [Row(**json.loads(line)) for line in lines]


async def _measured(name: str, data: Path, embedder: str) -> AsyncIterator[Row]:
    pick = random.Random(SEED)
    dataset = load(data / name)
    with tempfile.TemporaryDirectory(prefix="kedge-judge-") as home:
        async with Engine.open(load_settings(home=Path(home), reader="none", embedder=embedder)) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(dataset.corpus),)))
            usable = [query for query in dataset.queries if query.gains]
            asked = pick.sample(usable, min(SETS[name], len(usable)))
            for done, query in enumerate(asked, 1):
                yield await _row(engine, name, "asked", query)
                if name in EXACT_GOLD:
                    yield await _row(engine, name, "removed", query)
                if done % 100 == 0:
                    print(f"{name}: {done} of {len(asked)} questions", file=sys.stderr, flush=True)
            for query in _foreign(name, data, pick):
                yield await _row(engine, name, "off-topic", query)


def _foreign(name: str, data: Path, pick: random.Random) -> list[EvalQuery]:
    others = [other for other in SETS if other != name and not {other, name} <= SAME_TOPICS]
    sets: list[EvalSet] = [load(data / other) for other in others]
    return [query for other in sets for query in pick.sample(list(other.queries), OFF_TOPIC)]


async def _row(engine: Engine, name: str, kind: str, query: EvalQuery) -> Row:
    gold = set(query.gains)
    asked = Query(query.text, SCOPE, top_k=DEEP if kind == "removed" else TOP_K)
    hits = (await engine.search(asked)).hits
    if kind == "removed":
        hits = tuple(hit for hit in hits if hit.passage.external_id not in gold)[:TOP_K]
    verdict = await engine.judging.verdict(asked, await engine.collection(SCOPE), hits)
    found = {hit.passage.external_id for hit in hits}
    complete = gold <= found if name in (*EXACT_GOLD, "squad2") else bool(gold & found)
    return Row(
        source=name,
        kind=kind,
        id=query.id,
        question=query.text,
        answerable=kind == "asked" and not query.unanswerable,
        complete=complete and kind != "off-topic",
        features=asdict(verdict.features) if verdict.features else {},
        said=verdict.extracted.text if verdict.extracted else "",
        answers=[answer for answer in query.answers if answer.casefold() not in ("yes", "no")],
    )
