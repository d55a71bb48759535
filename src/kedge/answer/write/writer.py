"""An answer by a language model, of which nothing is shown before it is compared with the evidence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from kedge.answer.cite.spans import citation_of, one_line
from kedge.answer.write.context import Context, build_context
from kedge.answer.write.prompts import answer_prompt, overhead
from kedge.answer.write.sentences import SentenceBuffer, WrittenSentence, without_urls
from kedge.answer.write.support import Support
from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.core.values import Citation, Json, SearchHit
from kedge.models.ports import Finish, LanguageModel, Prompt, Usage

UNSUPPORTED = "[unsupported]"
"""Stands behind a sentence that is shown although nothing supports it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentence as it is shown, with the citations that are new."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(slots=True)
class WrittenAnswer:
    """What became of a model's answer."""

    model: str
    context: Context
    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    sentences: int = 0
    supported: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    """Sentences that are not supported, by reason."""
    foreign: int = 0
    """Marks that name no source."""
    links: int = 0
    """Addresses that are not in the evidence; they are never shown."""
    finish: Finish | None = None
    usage: Usage | None = None
    error: ModelError | None = None

    def as_json(self) -> dict[str, Json]:
        """For `Answer.metadata`."""
        found: dict[str, Json] = {
            "model": self.model,
            "sentences": self.sentences,
            "supported": self.supported,
            "unsupported": sum(self.reasons.values()),
            "reasons": {**self.reasons},
            "foreign_citations": self.foreign,
            "removed_links": self.links,
            "finish": self.finish,
            "context": {
                "sources": len(self.context.sources),
                "passages": len(self.context.places),
                "tokens": self.context.tokens,
                "dropped": self.context.dropped,
                "duplicates": self.context.duplicates,
                "truncated": sum(source.truncated for source in self.context.sources),
            },
        }
        if self.usage is not None:
            found["usage"] = {
                "prompt_tokens": self.usage.prompt_tokens,
                "completion_tokens": self.usage.completion_tokens,
                "reported": self.usage.reported,
            }
        return found


class Writer:
    """Writes one answer at a time from hits, sentence by sentence."""

    def __init__(self, model: LanguageModel, settings: Settings) -> None:
        self.model = model
        self._settings = settings

    async def context(self, question: str, hits: Sequence[SearchHit]) -> Context:
        """What the model gets to read: as much as its window and the settings allow."""
        return await asyncio.to_thread(self._context, question, hits)

    async def write(
        self,
        question: str,
        hits: Sequence[SearchHit],
        support: Support,
        written: WrittenAnswer,
        known: Sequence[Citation] = (),
    ) -> AsyncGenerator[Shown, None]:
        """Sentences as soon as they are checked. A failure of the model ends it and is left in `written.error`.

        `known`: citations that the hits have already, one each; else every quote gets one of its own.
        """
        sources = [(source.title, source.text) for source in written.context.sources]
        if not sources:
            return
        prompt = answer_prompt(question, sources, self._settings.llm_max_tokens)
        said: list[str] = []
        try:
            async with aclosing(self._sentences(prompt, written, said)) as found:
                async for sentence in found:
                    shown = await self._judged(sentence, hits, support, written, known)
                    if shown is not None:
                        written.text += shown.text
                        yield shown
        except ModelError as error:
            written.error = error
        if written.usage is None:
            written.usage = await asyncio.to_thread(self._counted, prompt.system + prompt.user, "".join(said))

    def _context(self, question: str, hits: Sequence[SearchHit]) -> Context:
        settings = self._settings
        frame = sum(self.model.count_tokens(overhead(question)))
        room = self.model.window - settings.llm_max_tokens - frame
        budget = max(0, min(settings.context_tokens, room))
        return build_context(hits, self.model.count_tokens, budget=budget, most=settings.context_passages)

    def _counted(self, read: str, wrote: str) -> Usage:
        tokens = self.model.count_tokens([read, wrote])
        return Usage(tokens[0], tokens[1], reported=False)

    async def _sentences(
        self, prompt: Prompt, written: WrittenAnswer, said: list[str]
    ) -> AsyncGenerator[WrittenSentence, None]:
        buffer = SentenceBuffer()
        async with aclosing(self.model.stream(prompt)) as pieces:
            async for piece in pieces:
                said.append(piece.text)
                written.usage = piece.usage or written.usage
                written.finish = piece.finish or written.finish
                for sentence in buffer.feed(piece.text):
                    yield sentence
        if written.finish != "length":  # else the last one is only a part
            for sentence in buffer.flush():
                yield sentence

    async def _judged(
        self,
        sentence: WrittenSentence,
        hits: Sequence[SearchHit],
        support: Support,
        written: WrittenAnswer,
        known: Sequence[Citation],
    ) -> Shown | None:
        """How the sentence is shown, if at all."""
        written.sentences += 1
        sources = written.context.sources
        named = [number for number in sentence.cited if 1 <= number <= len(sources)]
        written.foreign += len(sentence.cited) - len(named)
        strange = [url for url in sentence.urls if not support.has(url)]
        written.links += len(strange)
        cited = [place for number in named for place in sources[number - 1].places]
        verdict = await support.check(without_urls(sentence.text) if strange else sentence.text, cited)
        if verdict.supported and not strange:
            written.supported += 1
            found = [
                known[quote.passage] if known else citation_of("", quote, hits[quote.passage])
                for quote in verdict.quotes
            ]
            return self._cited(sentence, found, written)
        reason = "link" if strange else verdict.reason
        written.reasons[reason] = written.reasons.get(reason, 0) + 1
        text = without_urls(sentence.text)
        if self._settings.unsupported == "drop" or not text:
            return None
        mark = f" {UNSUPPORTED}" if self._settings.unsupported == "mark" else ""
        return Shown(f"{_lead(sentence, written)}{text}{mark}")

    def _cited(self, sentence: WrittenSentence, found: Sequence[Citation], written: WrittenAnswer) -> Shown:
        marks: list[str] = []
        fresh: list[Citation] = []
        for one in found:
            citation = next((old for old in written.citations if _place(old) == _place(one)), None)
            if citation is None:
                citation = one if one.id else replace(one, id=f"[{len(written.citations) + 1}]")
                written.citations.append(citation)
                fresh.append(citation)
            marks.append(citation.id)
        text = one_line(sentence.text)
        return Shown(f"{_lead(sentence, written)}{text} {' '.join(dict.fromkeys(marks))}", tuple(fresh))


def _lead(sentence: WrittenSentence, written: WrittenAnswer) -> str:
    return sentence.lead if written.text else sentence.lead.lstrip()


def _place(citation: Citation) -> tuple[str, int, int]:
    return citation.passage_id, citation.start, citation.end
