"""The few numbers of retrieval, as data: the file names the command that shows how they carry over to other sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

PARAMETERS: Mapping[str, Any] = json.loads((files("kedge.retrieve") / "data" / "retrieval.json").read_text("utf-8"))
