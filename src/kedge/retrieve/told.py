"""What is told of a search: its hits with their scores, counts, warnings, metrics, lines of the log."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from kedge.core.stages import measure
from kedge.core.values import Passage, Predicate, Scored, SearchHit
from kedge.core.values.filters import fields as filter_fields
from kedge.models.languages import offer_for_question
from kedge.retrieve.fuse import Fused
from kedge.retrieve.run import QueryRun, scores_of
from kedge.stores.ports import VectorStore

log = logging.getLogger(__name__)
NEAR = 0.1
"""How far from the threshold a similarity may be to be measured as near it."""
MEASURED = 10
"""Best hits of the vector channel whose scores are kept as metrics."""
RELATIONS = frozenset(predicate.value for predicate in Predicate)
"""Steps of a path that name a relation, not a concept."""


async def diagnose(vectors: VectorStore, run: QueryRun, hits: Sequence[SearchHit]) -> list[str]:
    """Nothing found although there is something to find: say what is known about it (Q-05).

    Found in another language than asked in, by a model that knows one: say what brings another.
    """
    if hits or not run.collection.passages:
        spoken = [hit.passage.language for hit in hits]
        scope, embedder = run.query.scope, run.collection.embedder
        return list(filter(None, [offer_for_question(run.query.text, spoken, scope.collection, embedder)]))
    passing = await vectors.count(run.collection.index_name, run.query.scope.tenant, run.index_where)
    samples = ", ".join(f"{hit.score:.3f}" for hit in run.dense[:3]) or "none"
    log.warning(
        "vector search returned 0 results although %d passages have embeddings, %d of which pass the filter; "
        "collection %s, index %s, top_k %d, best vector scores: %s",
        *(run.collection.passages, passing, run.query.scope.collection, run.collection.index_name),
        *(run.query.top_k, samples),
    )
    return [
        f"Nothing was found for {run.query.text[:80]!r} (top_k {run.query.top_k}) although the collection holds "
        f"{run.collection.passages} passages, of which {passing} pass the filter; best vector scores: {samples}. "
        "If this is unexpected, run `kedge check`."
    ]


def tell_similarity(run: QueryRun, threshold: float) -> None:
    """The best similarities and those about the threshold, for tuning it: as metrics, and in the log (G-28)."""
    if not run.dense:
        return
    kind, measured = run.collection.kind, run.dense[:MEASURED]
    close = [hit.score for hit in measured if abs(hit.score - threshold) <= NEAR]
    measure("similarity", max(0.0, min(1.0, run.dense[0].score)), kind)
    for score in close:
        measure("similarity_near", max(0.0, min(1.0, score)), kind)
    best, about = (
        ", ".join(f"{score:.3f}" for score in scores) or "none"
        for scores in ([hit.score for hit in measured[:3]], close)
    )
    where = run.query.scope.collection
    log.info("best similarities in %s (%s): %s; near the threshold %.2f: %s", where, kind, best, threshold, about)


def log_search(operation: str, run: QueryRun, hits: Sequence[Scored]) -> None:
    """What was asked of an index and what it gave; never a vector or the words of a question (Q-13)."""
    if log.isEnabledFor(logging.DEBUG):
        fields = ", ".join(sorted(filter_fields(run.index_where))) if run.index_where is not None else "none"
        best = ", ".join(f"{hit.score:.4f}" for hit in hits[:3]) or "none"
        log.debug(
            "%s in index %s: top_k %d, filter on %s, %d hits, best scores %s",
            *(operation, run.collection.index_name, run.query.top_k, fields, len(hits), best),
        )


def counts_of(run: QueryRun, fused: Sequence[Fused]) -> dict[str, int]:
    """What `SearchResult.counts` holds."""
    return {
        "vector": len(run.dense),
        "keyword": len(run.keyword),
        "graph": len(run.graph.hits),
        "overlap": sum(item.in_both for item in fused),
        "concepts": len(
            {
                step
                for hit in run.graph.hits
                for step in hit.path
                if step not in run.graph.base and step not in RELATIONS
            }
        ),
        "candidates": len(fused),
    }


def measures_of(run: QueryRun) -> dict[str, float]:
    """What `SearchResult.measures` holds."""
    best = [hit.score for hit in run.dense[:MEASURED]]
    found = {
        "vector_top": max(best, default=None),
        "vector_avg": sum(best) / len(best) if best else None,
        "fused_top": max(run.fused.values(), default=None),
        "reranked_top": run.reranked_top,
    }
    return {name: value for name, value in found.items() if value is not None}


def hits_of(run: QueryRun, ranked: Sequence[Fused], live: Mapping[str, Passage], threshold: float) -> list[SearchHit]:
    """The ranked passages with their scores, as they are shown."""
    dense, keyword = scores_of(run.dense), run.word_scores()
    paths = run.paths()
    best = max((item.score for item in ranked), default=0.0)
    strength = run.strength()
    hits = []
    for rank, item in enumerate(ranked, 1):
        score = strength * max(0.0, item.score / best) if best > 0 else 0.0
        point = run.stored.get(item.passage_id)
        cosine, bm25 = dense.get(item.passage_id), keyword.get(item.passage_id)
        hits.append(
            SearchHit(
                rank=rank,
                passage=live[item.passage_id],
                score=score,
                vector_rank=item.vector_rank,
                keyword_rank=item.keyword_rank,
                graph_rank=item.graph_rank,
                vector_score=cosine,
                keyword_score=bm25,
                cosine=cosine if cosine is not None or point is None else float(point.vector @ run.vector),
                bm25=bm25 if bm25 is not None or point is None else run.keyword_score(point),
                fused_score=run.fused.get(item.passage_id),
                model_score=run.said.get(item.passage_id),
                step=run.steps.get(item.passage_id),
                path=(shown := _readable(paths.get(item.passage_id, ()), live, run.graph.base)),
                path_ids=paths.get(item.passage_id, ()) if shown else (),
                above_threshold=score >= threshold,
            )
        )
    return hits


def _readable(path: Sequence[str], shown: Mapping[str, Passage], known: Mapping[str, float]) -> tuple[str, ...]:
    """The steps with passages named by their title; nothing where a step leads through one that must not be shown."""
    if any(step in known and step not in shown for step in path):
        return ()
    return tuple(shown[step].title if step in shown else step for step in path)
