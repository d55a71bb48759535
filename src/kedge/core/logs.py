"""Logs: plain lines, or one JSON object a line (`log_format = "json"`), each with the request or job it belongs to.

What is known of the work (`stages.note`) is added to every record: request id, trace id, hashes. Questions and secrets
are never noted, and the path of a request is logged as its pattern, so that no id or filter of a user gets in.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from kedge.core.settings import Settings
from kedge.core.stages import known

SHOWN = ("request_id", "job_id")
"""What plain lines show of the work."""
_OURS = "kedge-logs"


class PlainFormatter(logging.Formatter):
    """`LEVEL message`, with the id of the request or job behind it."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{record.levelname} {super().format(record)}"
        facts = {**known(), **getattr(record, "facts", {})}
        ids = [f"{name}={facts[name]}" for name in SHOWN if name in facts and str(facts[name]) not in line]
        head, _, rest = line.partition("\n")  # a traceback stays below its line
        return " ".join((head, *ids)) + (f"\n{rest}" if rest else "")


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, and what is known."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **known(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to what stderr is at that moment."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


def configure(settings: Settings) -> None:
    """Send the logs of this process to stderr as the settings say. Again: the newer settings hold."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if one.get_name() == _OURS]:
        root.removeHandler(handler)
    handler = _Stderr()
    handler.set_name(_OURS)
    handler.setFormatter(JsonFormatter() if settings.log_format == "json" else PlainFormatter("%(message)s"))
    root.addHandler(handler)
    root.setLevel(settings.log_level.upper())
    for name in ("httpx", "httpx2", "httpcore", "openai", "anthropic"):  # they log addresses, and bodies at debug
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
