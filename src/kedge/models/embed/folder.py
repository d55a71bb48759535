"""Reading a model's folder: window, prefixes and pooling as its makers or its user wrote them down.

In this order: `kedge.json` (window, query_prefix, text_prefix, pooling), the files of sentence-transformers
(`sentence_bert_config.json`, `config_sentence_transformers.json`, `1_Pooling/config.json`), and the table of known
models by the folder's name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

from kedge.core.errors import ConfigError
from kedge.models.embed.sentence import Pooling, SentenceModel
from kedge.models.http import number, options
from kedge.models.known import KnownModel, find

WINDOW = 256


def read_folder(url: str, scheme: str) -> tuple[Path, SentenceModel]:
    """The folder named by `SCHEME:/path/to/folder?dim=256` and what is known of its model."""
    location, _, query = url.removeprefix(f"{scheme}:").partition("?")
    given = options(query, ("dim",), f"An {scheme}: embedder")
    folder = Path(location)
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ConfigError(f"{folder} holds no embedding model.", hint="It needs tokenizer.json beside the weights.")
    own = read_json(folder / "kedge.json")
    known = find(folder.resolve().name) or KnownModel((), 0, WINDOW)
    prompts = read_json(folder / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    spec = SentenceModel(
        name=url,
        tokenizer=tokenizer,
        window=_window(own.get("window"), read_json(folder / "sentence_bert_config.json"), known),
        query_prefix=_text(own.get("query_prefix"), prompts.get("query"), known.query_prefix),
        text_prefix=_text(own.get("text_prefix"), prompts.get("document"), prompts.get("passage"), known.text_prefix),
        dimension=number(given, "dim", 0) or None,
        pooling=_pooling(own.get("pooling"), read_json(folder / "1_Pooling" / "config.json")),
    )
    return folder, spec


def read_json(path: Path) -> dict[str, object]:
    """The object in the file; empty when there is no such file."""
    if not path.is_file():
        return {}
    try:
        loaded = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}", hint="Fetch the model's folder again.") from error
    return dict(loaded) if isinstance(loaded, dict) else {}


def _window(own: object, trained: dict[str, object], known: KnownModel) -> int:
    for value in (own, trained.get("max_seq_length"), known.window):
        if isinstance(value, int) and value > 2:
            return value
    return WINDOW


def _text(*values: object) -> str:
    """The first that is given."""
    return next((value for value in values if isinstance(value, str)), "")


def _pooling(own: object, trained: dict[str, object]) -> Pooling:
    if own is not None:
        for name in get_args(Pooling):
            if own == name:
                chosen: Pooling = name
                return chosen
        raise ConfigError(f"pooling {own!r} is not known.", hint=f"Known: {', '.join(get_args(Pooling))}.")
    if trained.get("pooling_mode_cls_token"):
        return "cls"
    return "last" if trained.get("pooling_mode_lasttoken") else "mean"
