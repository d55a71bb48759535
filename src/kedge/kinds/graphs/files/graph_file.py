"""What every reader of a graph's file gives: its nodes and its edges, each as often as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kedge.core.errors import SourceFault
from kedge.stores.graph.nodes import Edge, Node

Rows = Callable[[], Iterator[Node | Edge | SourceFault]]


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A file that could be opened. Edges may name nodes that nothing describes: those are made, named by their id."""

    nodes: Rows
    """Every node that the file describes, and what is wrong with others."""
    edges: Rows
    """Every edge, and what is wrong with others. Faults are told by one of the two only."""
