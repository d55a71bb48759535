"""Words that say little by themselves (`data/generic.txt`)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from kedge.text.analyze import terms


@cache
def generic_terms() -> frozenset[str]:
    """Their search terms."""
    lines = files("kedge.text").joinpath("data", "generic.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(term for line in lines if not line.startswith("#") for term in terms(line))
