"""The parts that find, read, judge and write, put together for the kinds of one engine.

They are opened with the first question or ingestion: what only lists, shows and deletes loads none of them.
"""

from __future__ import annotations

from collections.abc import Callable

from kedge.answer.judge.verdict import Judging
from kedge.answer.pipeline import Answerer
from kedge.answer.record import Recorder
from kedge.answer.write.writer import Writer
from kedge.core.settings import Settings
from kedge.engine.collections import CollectionKeeper
from kedge.engine.jobs.opened import Work
from kedge.ingest.batch import OnStep
from kedge.kinds.ports import Parts
from kedge.models.ports import LanguageModel
from kedge.models.write.limits import LimitedModel, ModelCall
from kedge.retrieve.pipeline import Retriever
from kedge.stores.bundle import Stores


def open_parts(
    settings: Settings,
    stores: Stores,
    keeper: CollectionKeeper,
    work: Work,
    *,
    recorder: Recorder,
    model: LanguageModel | None,
    on_step: OnStep,
    on_call: Callable[[ModelCall], None],
) -> Parts:
    """The parts over the stores. `on_call` is told of every call to the language model."""
    if isinstance(model, LimitedModel):
        model.on_call = on_call
    retriever = Retriever(settings, stores, keeper)
    writer = Writer(model, settings) if model is not None else None
    judging = Judging(settings, stores, keeper)
    return Parts(
        settings=settings,
        stores=stores,
        collections=keeper,
        locks=work.locks,
        retriever=retriever,
        answerer=Answerer(settings, retriever, keeper, recorder, judging=judging, writer=writer),
        judging=judging,
        recorder=recorder,
        writer=writer,
        model=model,
        on_step=on_step,
        shared=work.shared,
    )
