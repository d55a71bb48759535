"""The graph in Neo4j 5 (`neo4j://user:password@host:7687/database`)."""

from kedge.stores.neo4j.store import Neo4jGraph, open_graph

__all__ = ["Neo4jGraph", "open_graph"]
