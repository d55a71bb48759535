"""`kedge graph node|edge …`, `kedge graph index`, `kedge graph reconcile`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.core.errors import UsageError
from kedge.core.outside import to_json
from kedge.core.values import Job, Json
from kedge.kinds.graphs.files.values import property_value
from kedge.kinds.graphs.kind import KIND
from kedge.kinds.graphs.surfaces.opened import nodes_of
from kedge.kinds.graphs.values import DeletedEdge, DeletedNode, NodeWithEdges
from kedge.stores.graph.nodes import Edge, Node
from kedge.surfaces.cli.common import FAILED, CollectionOption, CommandRun, command, scope
from kedge.surfaces.cli.ingest import failed, report
from kedge.surfaces.cli.progress import ingest_progress, settle
from kedge.surfaces.cli.tables import confirm, plain_table, show_fields

if TYPE_CHECKING:
    from kedge.engine.engine import Engine

app = typer.Typer(no_args_is_help=True)
node_app = typer.Typer(no_args_is_help=True)
edge_app = typer.Typer(no_args_is_help=True)
app.add_typer(node_app, name="node", help="Add, change, list, show and delete nodes.")
app.add_typer(edge_app, name="edge", help="Add, list, show and delete edges.")

SHOWN = 20
NodeId = Annotated[str, typer.Argument(metavar="ID", help="Id of the node.")]
EdgeId = Annotated[str, typer.Argument(metavar="ID", help="Id of the edge.")]
TypeOption = Annotated[str | None, typer.Option("--type", help="Type, such as Person.")]
TitleOption = Annotated[str | None, typer.Option("--title", help="Name of the node.")]
DescriptionOption = Annotated[str | None, typer.Option("--description", help="What is to be found by meaning.")]
AliasOption = Annotated[list[str] | None, typer.Option("--alias", help="Another name; several times.")]
PropertyOption = Annotated[
    list[str] | None, typer.Option("--property", "-p", help="key=value; several times. Values may be JSON.")
]
LimitOption = Annotated[int, typer.Option(min=1, help="How many.")]
AfterOption = Annotated[str, typer.Option(help="Id behind which the list begins.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


# ---------------------------------------------------------------- nodes


@command(node_app, "add")
def add_node(
    run: CommandRun,
    *,
    node_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the new node.")],
    type_: TypeOption = None,
    title: TitleOption = None,
    description: DescriptionOption = None,
    aliases: AliasOption = None,
    properties: PropertyOption = None,
    collection: CollectionOption = None,
) -> None:
    """Add a node and index it. The graph is made with its first node."""
    settings = run.settings()
    node = Node(
        node_id, type_ or "", title or "", description or "", tuple(aliases or ()), _properties(properties or [])
    )
    where = scope(settings, collection)
    show_fields(
        run,
        to_json(run.with_engine(settings, lambda engine: nodes_of(engine).create(where, node))),
    )


@command(node_app, "update")
def update_node(
    run: CommandRun,
    *,
    node_id: NodeId,
    type_: TypeOption = None,
    title: TitleOption = None,
    description: DescriptionOption = None,
    aliases: AliasOption = None,
    properties: PropertyOption = None,
    collection: CollectionOption = None,
) -> None:
    """Change the given fields of a node (properties: all of them) and index it anew."""
    settings = run.settings()
    given: dict[str, Any] = {"type": type_, "title": title, "description": description}
    changes = {name: value for name, value in given.items() if value is not None}
    if aliases:
        changes["aliases"] = tuple(aliases)
    if properties:
        changes["properties"] = _properties(properties)
    where = scope(settings, collection)
    changed = run.with_engine(settings, lambda engine: nodes_of(engine).update(where, node_id, changes))
    show_fields(run, to_json(changed))


@command(node_app, "list")
def list_nodes(
    run: CommandRun,
    collection: CollectionOption = None,
    type_: TypeOption = None,
    limit: LimitOption = 100,
    after: AfterOption = "",
) -> None:
    """List nodes by id."""
    settings = run.settings()
    where = scope(settings, collection)
    found = run.with_engine(
        settings, lambda engine: nodes_of(engine).nodes(where, type=type_, after=after, limit=limit)
    )
    if run.json:
        run.emit([to_json(node) for node in found])
        return
    table = plain_table("id", "type", "title", "description")
    for node in found:
        table.add_row(node.id, node.type, node.title, node.description[:80])
    run.out.print(table)
    if len(found) == limit:
        run.note(f"There may be more: --after {found[-1].id}")


@command(node_app, "show")
def show_node(run: CommandRun, node_id: NodeId, collection: CollectionOption = None) -> None:
    """Show a node with its edges."""
    settings = run.settings()
    where = scope(settings, collection)

    async def work(engine: Engine) -> tuple[Node, list[Edge]]:
        return await nodes_of(engine).node(where, node_id), await nodes_of(engine).edges(
            where, node=node_id, limit=SHOWN
        )

    node, edges = run.with_engine(settings, work)
    if run.json:
        run.emit(to_json(NodeWithEdges(node, tuple(edges))))
        return
    show_fields(run, to_json(node))
    if edges:
        run.out.print("")
        _show_edges(run, edges)


@command(node_app, "delete")
def delete_node(run: CommandRun, node_id: NodeId, collection: CollectionOption = None, yes: YesOption = False) -> None:
    """Delete a node with its edges; it is found no more."""
    confirm(run, f"Delete node {node_id} with its edges?", yes)
    settings = run.settings()
    where = scope(settings, collection)
    edges = run.with_engine(settings, lambda engine: nodes_of(engine).delete(where, node_id))
    if run.json:
        run.emit(to_json(DeletedNode(node_id, tuple(edges))))
    else:
        run.out.print(f"deleted {node_id} and {len(edges)} edges", markup=False)


# ---------------------------------------------------------------- edges


@command(edge_app, "add")
def add_edge(
    run: CommandRun,
    *,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the node it leaves.")],
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="Name of the relation.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Id of the node it leads to.")],
    edge_id: Annotated[str, typer.Option("--id", help="Id; made of ends and type if not given.")] = "",
    properties: PropertyOption = None,
    collection: CollectionOption = None,
) -> None:
    """Add an edge between two nodes."""
    settings = run.settings()
    edge = Edge(edge_id, source, target, type_, _properties(properties or []))
    where = scope(settings, collection)
    made = run.with_engine(settings, lambda engine: nodes_of(engine).create_edge(where, edge))
    show_fields(run, to_json(made))


@command(edge_app, "list")
def list_edges(
    run: CommandRun,
    *,
    collection: CollectionOption = None,
    node: Annotated[str | None, typer.Option("--node", help="Only edges of this node, on either side.")] = None,
    type_: TypeOption = None,
    limit: LimitOption = 100,
    after: AfterOption = "",
) -> None:
    """List edges by id."""
    settings = run.settings()
    where = scope(settings, collection)
    found = run.with_engine(
        settings,
        lambda engine: nodes_of(engine).edges(where, type=type_, node=node, after=after, limit=limit),
    )
    if run.json:
        run.emit([to_json(edge) for edge in found])
        return
    _show_edges(run, found)
    if len(found) == limit:
        run.note(f"There may be more: --after {found[-1].id}")


@command(edge_app, "show")
def show_edge(run: CommandRun, edge_id: EdgeId, collection: CollectionOption = None) -> None:
    """Show an edge."""
    settings = run.settings()
    where = scope(settings, collection)
    show_fields(
        run,
        to_json(run.with_engine(settings, lambda engine: nodes_of(engine).edge(where, edge_id))),
    )


@command(edge_app, "update")
def update_edge(
    run: CommandRun,
    *,
    edge_id: EdgeId,
    source: Annotated[str | None, typer.Option("--source", help="Node it leaves.")] = None,
    target: Annotated[str | None, typer.Option("--target", help="Node it leads to.")] = None,
    type_: Annotated[str | None, typer.Option("--type", help="Name of the relation.")] = None,
    properties: PropertyOption = None,
    collection: CollectionOption = None,
) -> None:
    """Change the given fields of an edge (properties: all of them)."""
    settings = run.settings()
    given: dict[str, Any] = {"source": source, "target": target, "type": type_}
    changes = {name: value for name, value in given.items() if value is not None}
    if properties:
        changes["properties"] = _properties(properties)
    where = scope(settings, collection)
    changed = run.with_engine(settings, lambda engine: nodes_of(engine).update_edge(where, edge_id, changes))
    show_fields(run, to_json(changed))


@command(edge_app, "delete")
def delete_edge(run: CommandRun, edge_id: EdgeId, collection: CollectionOption = None, yes: YesOption = False) -> None:
    """Delete an edge."""
    confirm(run, f"Delete edge {edge_id}?", yes)
    settings = run.settings()
    where = scope(settings, collection)
    run.with_engine(settings, lambda engine: nodes_of(engine).delete_edge(where, edge_id))
    if run.json:
        run.emit(to_json(DeletedEdge(edge_id)))
    else:
        run.out.print(f"deleted {edge_id}", markup=False)


# ---------------------------------------------------------------- index


@command(app, "index")
def index(
    run: CommandRun,
    collection: CollectionOption = None,
    full: Annotated[bool, typer.Option("--full", help="Index all nodes anew, not only those that changed.")] = False,
) -> None:
    """Index every node that is not, with progress."""
    settings = run.settings()
    where = scope(settings, collection)

    async def work(engine: Engine) -> Job:
        await nodes_of(engine).count(where)
        with ingest_progress(run) as on_progress:
            job = await engine.ingest(engine.kinds.opened(KIND).index_request(where, full=full), on_progress)
        report(run, job)
        await settle(run, engine)
        return job

    if failed(run.with_engine(settings, work)):
        raise typer.Exit(FAILED)


@command(app, "reconcile")
def reconcile(
    run: CommandRun,
    collection: CollectionOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="Make the index like the graph.")] = False,
) -> None:
    """Compare a graph with its index: missing, orphaned and stale nodes. Exit 1 when they differ and stay so."""
    settings = run.settings()
    where = scope(settings, collection)
    found = run.with_engine(settings, lambda engine: nodes_of(engine).reconcile(where, repair=repair))
    if run.json:
        run.emit(to_json(found))
    else:
        parts = {"missing": found.missing, "orphaned": found.orphaned, "stale": found.stale}
        for name, ids in parts.items():
            if ids:
                done = "repaired" if repair else "wrong"
                more = " …" if len(ids) > SHOWN else ""
                run.out.print(f"{done}: {len(ids)} {name}: {', '.join(ids[:SHOWN])}{more}", markup=False)
        if found.ok:
            run.out.print(f"graph and index agree ({found.nodes} nodes)", markup=False)
        else:
            run.note("repair with: kedge graph reconcile --repair")
    if not found.ok:
        raise typer.Exit(FAILED)


def _show_edges(run: CommandRun, edges: list[Edge]) -> None:
    table = plain_table("source", "type", "target", "id")
    for edge in edges:
        table.add_row(edge.source, edge.type, edge.target, edge.id)
    run.out.print(table)


def _properties(pairs: list[str]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for pair in pairs:
        key, given, value = pair.partition("=")
        if not given or not key.strip():
            raise UsageError(f"--property {pair!r} cannot be read.", hint="Write --property key=value.")
        found[key.strip()] = _value(value.strip())
    return found


def _value(text: str) -> Json:
    if text[:1] in ("[", "{", '"'):
        try:
            value: Json = json.loads(text)
        except ValueError as error:
            raise UsageError(f"{text!r} is not JSON.", hint="Quote it for the shell, or leave the brackets.") from error
        return value
    return property_value(text)
