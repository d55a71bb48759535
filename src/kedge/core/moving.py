"""The payload field of passages that are between two payloads; by itself, so that naming it loads nothing."""

from __future__ import annotations

MOVING = "kedge_moving"
"""Payload field that is true while the index holds another payload of a passage than its live one."""
