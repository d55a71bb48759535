"""What an editor says of `Kedge`: every option by its name, with its type and a line of words."""

from __future__ import annotations

import inspect
import typing

import pytest

from kedge import Kedge

ASKED = {
    "collection",
    "top_k",
    "include_graph",
    "topic",
    "where",
    "as_of",
    "session_id",
    "threshold",
    "rows",
    "reading",
}
TAKEN_IN = {"collection", "kind", "mode", "topic", "title", "format", "metadata", "options", "on_progress"}


@pytest.mark.parametrize(
    ("name", "options"),
    [("search", ASKED - {"session_id", "rows", "reading"}), ("ask", ASKED), ("stream", ASKED), ("ingest", TAKEN_IN)],
)
def test_options_have_names_types_and_words(name: str, options: set[str]) -> None:
    method = getattr(Kedge, name)
    parameters = inspect.signature(method).parameters.values()
    assert {one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY} == options
    assert not [one for one in parameters if one.kind is inspect.Parameter.VAR_KEYWORD]
    hints = typing.get_type_hints(method)
    assert typing.Any not in [hints[option] for option in options]
    words = inspect.getdoc(Kedge.ask if name == "stream" else method) or ""
    assert [option for option in options if f"`{option}`" not in words] == []
