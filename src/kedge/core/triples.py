"""The rules for triples (D-07): pure, so that extractors drop what breaks them and stores refuse it."""

from __future__ import annotations

from kedge.core.errors import UsageError
from kedge.core.values import Predicate, Triple

MIN_CONFIDENCE = 0.5
_PREDICATES = frozenset(predicate.value for predicate in Predicate)


def triple_faults(triple: Triple) -> list[str]:
    """What is wrong with the triple, in the words of the design document; empty when it is valid."""
    rules = (
        (bool(triple.subject.strip()), "Subject cannot be empty"),
        (triple.predicate in _PREDICATES, "Invalid predicate type"),
        (bool(triple.object.strip()), "Object cannot be empty"),
        (triple.confidence >= MIN_CONFIDENCE, "Triple confidence too low"),
        (bool(triple.passage_id.strip()), "Source passage cannot be empty"),
    )
    return [message for holds, message in rules if not holds]


def validate_triple(triple: Triple) -> None:
    """Raise UsageError that names every fault."""
    faults = triple_faults(triple)
    if faults:
        raise UsageError(
            "; ".join(faults) + ".",
            hint="Drop the triple.",
            details={"subject": triple.subject, "object": triple.object, "faults": list(faults)},
        )
