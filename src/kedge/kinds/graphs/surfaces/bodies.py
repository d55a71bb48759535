"""What clients send about graphs."""

from __future__ import annotations

from pydantic import Field

from kedge.surfaces.server.bodies import JsonObject, Request


class NodeBody(Request):
    """A new node."""

    id: str = Field("", description="Unique in the graph; made up if empty.")
    type: str = Field("", description="Such as `Person`.", examples=["Person"])
    title: str = Field("", description="Its name; the id if empty.", examples=["Ada Lovelace"])
    description: str = Field("", description="What is to be found by meaning.")
    aliases: list[str] = Field(default_factory=list, description="Other names that questions may use.")
    properties: JsonObject = Field(default_factory=dict, description="Anything else.")


class NodeChanges(Request):
    """Fields of a node to change; those not given stay."""

    type: str | None = None
    title: str | None = None
    description: str | None = None
    aliases: list[str] | None = None
    properties: JsonObject | None = Field(None, description="Replaces all properties.")


class EdgeBody(Request):
    """A new edge."""

    id: str = Field("", description="Unique in the graph; made of ends and type if empty.")
    source: str = Field(description="Id of the node it leaves.")
    target: str = Field(description="Id of the node it leads to.")
    type: str = Field(description="Name of the relation.", examples=["place_of_birth"])
    properties: JsonObject = Field(default_factory=dict, description="Anything else.")


class EdgeChanges(Request):
    """Fields of an edge to change; those not given stay."""

    source: str | None = None
    target: str | None = None
    type: str | None = None
    properties: JsonObject | None = Field(None, description="Replaces all properties.")


class GraphIndexBody(Request):
    """Which graph to index."""

    collection: str | None = Field(None, description="The graph; the server's default collection if not given.")
    full: bool = Field(False, description="Index all nodes anew, not only those that are not current.")


class ReconcileBody(Request):
    """Which graph to compare with its index."""

    collection: str | None = Field(None, description="The graph; the server's default collection if not given.")
    repair: bool = Field(False, description="Make the index like the graph.")


class RagRequest(Request):
    """A question to a graph."""

    question: str = Field(description="The question, 1–2,000 characters.", examples=["Where was Ada's father born?"])
    collection: str | None = Field(None, description="The graph; the server's default collection if not given.")
    session_id: str | None = Field(None, description="Session the question belongs to, for analytics.")
    top_k: int = Field(5, description="How many nodes are used where no path answers, 1–20.")
