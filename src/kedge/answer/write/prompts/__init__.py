"""Prompts are files beside this one; what is put into them is data, behind a boundary that nobody can guess."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

from kedge.models.ports import Prompt
from kedge.text.hidden import without_hidden

PLAN_TOKENS = 600
"""Most that a plan may take."""
_SPECIAL = re.compile(
    r"<\||<(?=[^<>\n]{0,40}\|>)|<(?=/?(?:s|start_of_turn|end_of_turn|bos|eos|pad|unk|think|tool_call|system|assistant|user)>)"
    r"|<<(?=/?SYS>>)|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)
_MARK = re.compile(r"[\[【]\s*((?:source\s*)?\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*[\]】]", re.IGNORECASE)


def answer_prompt(question: str, sources: Sequence[tuple[str, str]], max_tokens: int) -> Prompt:
    """Ask for an answer from (title, text) pairs, numbered from 1."""
    boundary = _boundary()
    shown = "\n\n".join(
        f'<{boundary} number="{number}" title="{_attribute(title)}">\n{as_data(text)}\n</{boundary}>'
        for number, (title, text) in enumerate(sources, 1)
    )
    return Prompt(
        _filled("answer.system", boundary=boundary),
        _filled("answer.user", sources=shown, question=as_data(question)),
        max_tokens,
    )


def rewrite_prompt(question: str, turns: Sequence[tuple[str, str]]) -> Prompt:
    """Ask for a question that can be understood without the (question, answer) pairs before it."""
    boundary = _boundary()
    shown = "\n".join(f"Question: {as_data(asked)}\nAnswer: {as_data(said)}" for asked, said in turns)
    return Prompt(
        _filled("rewrite.system", boundary=boundary),
        _filled("rewrite.user", boundary=boundary, turns=shown, question=as_data(question)),
        max_tokens=120,
    )


def plan_prompt(question: str, table: str) -> Prompt:
    """Ask for a plan over a table that is described in lines."""
    boundary = _boundary()
    return Prompt(
        _filled("plan.system", boundary=boundary),
        _filled("plan.user", boundary=boundary, table=as_data(table), question=as_data(question)),
        max_tokens=PLAN_TOKENS,
    )


def as_data(text: str) -> str:
    """The text as a model may read it: nothing invisible, no token of a chat format, no mark that looks like ours."""
    shown = _SPECIAL.sub(lambda match: " ".join(match.group()) + " ", without_hidden(text))
    return _MARK.sub(r"(\1)", shown)


def overhead(question: str) -> tuple[str, str]:
    """The prompt without any source, for counting its tokens."""
    prompt = answer_prompt(question, (), 1)
    return prompt.system, prompt.user


def plan_overhead(question: str) -> tuple[str, str]:
    """The prompt for a plan without any table, for counting its tokens."""
    prompt = plan_prompt(question, "")
    return prompt.system, prompt.user


def _boundary() -> str:
    return f"source-{secrets.token_hex(8)}"


def _attribute(title: str) -> str:
    return " ".join(as_data(title).replace('"', "'").replace("<", "‹").replace(">", "›").split())


def _filled(name: str, **values: str) -> str:
    return _template(name).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template(files("kedge.answer.write.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8"))
