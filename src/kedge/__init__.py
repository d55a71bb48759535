"""Kedge answers questions over your own knowledge and anchors every answer to its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kedge.sync import Kedge as Kedge

__version__ = "0.1.0"
__all__ = ["Kedge", "__version__"]


def __getattr__(name: str) -> object:
    """Load the facade on first use, so that `import kedge.types` stays light."""
    if name == "Kedge":
        from kedge.sync import Kedge

        return Kedge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
