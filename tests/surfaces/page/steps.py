"""What a person does on the page."""

from __future__ import annotations

from typing import Any

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def ask(page: Any, question: str, collection: str = "sea") -> Any:
    """Type a question, press Enter, and wait for the end of the answer; returns it."""
    page.get_by_label("in", exact=True).select_option(collection)
    page.get_by_label("Your question").fill(question)
    page.get_by_label("Your question").press("Enter")
    turn = page.locator(".turn").last
    turn.get_by_role("heading", name=question).wait_for()
    turn.locator(".said:not([aria-busy])").wait_for()
    return turn
