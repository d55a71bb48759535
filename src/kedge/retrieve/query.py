"""What a query may be."""

from __future__ import annotations

from kedge.core.errors import QueryError
from kedge.core.untrusted import fault_in_line
from kedge.core.values import MAX_QUERY_CHARS, MAX_TOP_K, Query
from kedge.core.values.filters import check_filter


def validate(query: Query, most: int = MAX_TOP_K) -> None:
    """Raise QueryError for a query that cannot be (D-15)."""
    if not query.text.strip():
        raise QueryError("Query cannot be empty", hint="Type a question.")
    if len(query.text) > MAX_QUERY_CHARS:
        raise QueryError(
            "Query exceeds maximum length",
            hint=f"Use at most {MAX_QUERY_CHARS} characters.",
            details={"length": len(query.text), "maximum": MAX_QUERY_CHARS},
        )
    if fault := fault_in_line(query.text):
        raise QueryError(f"The question {fault}.", hint="Type it again, or remove what cannot be seen.")
    if query.where is not None:
        check_filter(query.where)
    if type(query.top_k) is not int or query.top_k < 1:
        raise QueryError(
            f"top_k must be positive integer, got {query.top_k}",
            hint=f"Ask for 1 to {most}.",
            details={"top_k": query.top_k},
        )
    if query.top_k > most:
        raise QueryError(
            f"top_k must be between 1 and {most}",
            hint="Ask for fewer, or raise the setting max_top_k.",
            details={"top_k": query.top_k},
        )
