"""The graph in Neo4j 5 (`neo4j://user:password@host:7687/database`)."""

from kedge.stores.graph.neo4j.concepts import Neo4jGraph, open_graph

__all__ = ["Neo4jGraph", "open_graph"]
