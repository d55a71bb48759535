"""The graph in the tables of the catalog's database (`sqlite:///path/catalog.db`)."""

from kedge.stores.graph.sql.concepts import SqlGraph, open_graph

__all__ = ["SqlGraph", "open_graph"]
