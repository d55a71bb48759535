// How an answer was found, as a picture: question → concepts → passages, or the nodes of a path. Also in words.

import { count, el, markName, svg } from "./dom.js";
import { layered, outline, HEIGHT } from "./layout.js";

const NARROW = 560;
const FEW_EDGES = 9;

/** `{nodes, edges}` of a document answer's evidence. */
export function fromEvidence(evidence) {
  const nodes = (evidence.nodes ?? []).map((node) => ({
    ...node,
    marks: node.citations ?? [],
    sub: node.type === "passage" ? place(node) : "",
  }));
  return clean(nodes, evidence.edges ?? []);
}

/** `metadata.paths` of a graph answer: each node once, in the order of the paths. */
export function fromPaths(paths, citations) {
  const nodes = new Map();
  const edges = new Map();
  for (const path of paths) {
    for (const [depth, node] of (path.nodes ?? []).entries()) {
      if (nodes.has(node.id)) continue;
      const marks = citations.filter((one) => one.passage_id === node.id || one.url === `node:${node.id}`).map((one) => one.id);
      nodes.set(node.id, { id: node.id, label: node.title ?? node.id, type: "node", kind: node.type, sub: node.type ?? "", marks: [...new Set(marks)], depth });
    }
    for (const edge of path.edges ?? []) {
      edges.set(`${edge.source}\n${edge.target}\n${edge.type}`, { ...edge, label: readable(edge.type) });
    }
  }
  return clean([...nodes.values()], [...edges.values()]);
}

const readable = (type) => String(type ?? "").replaceAll("_", " ").toLowerCase();

const place = (node) => [...(node.section_path ?? []).slice(-1), node.page ? `page ${node.page}` : ""].filter((part) => part && part !== node.label).join(" · ");

function clean(nodes, edges) {
  const known = new Set(nodes.map((node) => node.id));
  return { nodes, edges: edges.filter((edge) => known.has(edge.source) && known.has(edge.target)) };
}

/** What led to the cited nodes alone; all of it where nothing is cited. */
function core(graph) {
  const cited = graph.nodes.filter((node) => node.marks?.length);
  const kept = new Set(cited.flatMap((node) => [...reach(node.id, graph.edges, "target", "source")]));
  if (kept.size < 2 || kept.size === graph.nodes.length || graph.nodes[0].type === "node") return graph;
  return clean(graph.nodes.filter((node) => kept.has(node.id)), graph.edges);
}

/** The figure. `onOpen(node, element)` is called for passages and nodes, `onAsk(name)` to ask about a concept or node. */
export function graphFigure(whole, caption, { onOpen, onAsk }) {
  let graph = core(whole);
  const said = el("p", { class: "graph-said", "aria-live": "polite" });
  const canvas = el("div", { class: "graph-canvas", tabindex: "0", role: "group", "aria-label": caption });
  const traced = new Traced(said, onAsk);
  let drawn = 0;
  const draw = (again = false) => {
    const width = canvas.clientWidth;
    if (!width || (!again && Math.abs(width - drawn) < 2)) return;
    drawn = width;
    const laid = width < NARROW ? outline(graph, width) : layered(graph, width);
    const focused = canvas.contains(document.activeElement) ? document.activeElement.dataset.id : undefined;
    canvas.replaceChildren(picture(laid, graph, traced, onOpen));
    if (focused !== undefined) canvas.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    traced.again();
  };
  const rest = whole.nodes.filter((node) => node.type === "passage").length - graph.nodes.filter((node) => node.type === "passage").length;
  const all = el("button", { type: "button", class: "quiet", onclick: () => { graph = whole; all.remove(); draw(true); canvas.focus(); } }, `Show ${count(rest, "passage")} more that came up`);
  new ResizeObserver(() => draw()).observe(canvas);
  return el("figure", { class: "graph" }, canvas, said, el("div", { class: "graph-foot" }, words(whole), rest > 0 ? all : ""));
}

function picture(laid, graph, traced, onOpen) {
  const root = svg("svg", { width: laid.width, height: laid.height, viewBox: `0 0 ${laid.width} ${laid.height}`, class: "graph-svg" });
  const labelled = laid.edges.length <= FEW_EDGES;
  for (const edge of laid.edges) {
    root.append(
      svg("g", { class: "edge", "data-source": edge.source, "data-target": edge.target },
        svg("path", { d: edge.d }),
        labelled && edge.label && edge.x !== undefined ? svg("text", { x: edge.x, y: edge.y, "text-anchor": "middle", text: edge.label }) : null),
    );
  }
  for (const box of laid.boxes) root.append(drawNode(box, traced, onOpen));
  traced.in(root, graph);
  return root;
}

function drawNode(box, traced, onOpen) {
  const { node } = box;
  const active = node.type !== "question";
  const name = [kindOf(node), node.label, node.marks?.length ? `cited as ${node.marks.join(", ")}` : "", node.type === "passage" ? node.sub : ""].filter(Boolean).join(", ");
  const group = svg("g", {
    class: `node ${node.type}${node.marks?.length ? " cited" : ""}`,
    transform: `translate(${box.x} ${box.y})`,
    ...(active ? { role: "button", tabindex: "0", "aria-label": name } : { role: "img", "aria-label": name }),
    "data-id": node.id,
  });
  group.append(svg("title", { text: name }), svg("rect", { width: box.width, height: HEIGHT, rx: node.type === "concept" ? HEIGHT / 2 : 8 }));
  const middle = HEIGHT / 2;
  const lines = box.lines;
  const top = middle - ((lines.length - 1) * 16 + (box.sub ? 14 : 0)) / 2 + 4.5;
  lines.forEach((line, at) => group.append(svg("text", { x: 14, y: top + at * 16, class: "label", text: line })));
  if (box.sub) group.append(svg("text", { x: 14, y: top + lines.length * 16 - 1, class: "sub", text: box.sub }));
  if (node.marks?.length) {
    group.append(svg("text", { x: box.width - 12, y: middle + 4.5, class: "badge", "text-anchor": "end", text: node.marks.map(markName).slice(0, 2).join(" ") }));
  }
  if (active) {
    const act = () => {
      traced.node(node);
      if (node.type !== "concept") onOpen(node, group);
    };
    group.addEventListener("click", act);
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        act();
      }
    });
  }
  return group;
}

const kindOf = (node) => ({ question: "Question", concept: "Concept", passage: "Passage" })[node.type] ?? node.kind ?? "Node";

/** The node that was chosen; it stays so when the picture is drawn anew for another width. */
class Traced {
  constructor(said, onAsk) {
    this.said = said;
    this.onAsk = onAsk;
    this.chosen = null;
  }

  in(root, graph) {
    Object.assign(this, { root, graph });
  }

  node(node) {
    this.chosen = node;
    trace(this.root, this.graph, node, this.said);
    if (node.type === "passage") return;
    this.said.append(" ", el("button", { type: "button", class: "link", onclick: () => this.onAsk(node.label) }, `Ask about “${node.label}”`));
  }

  again() {
    if (this.chosen) this.node(this.chosen);
  }
}

/** Light up everything that leads to a node or on from it. */
function trace(root, graph, node, said) {
  const before = reach(node.id, graph.edges, "target", "source");
  const after = reach(node.id, graph.edges, "source", "target");
  const lit = new Set([...before, ...after]);
  root.classList.add("traced");
  for (const group of root.querySelectorAll(".node")) group.classList.toggle("lit", lit.has(group.dataset.id));
  for (const group of root.querySelectorAll(".edge")) {
    const { source, target } = group.dataset;
    group.classList.toggle("lit", (before.has(source) && before.has(target)) || (after.has(source) && after.has(target)));
  }
  const name = new Map(graph.nodes.map((one) => [one.id, one.type === "question" ? "the question" : `“${one.label}”`]));
  const into = graph.edges.filter((edge) => edge.target === node.id).map((edge) => (INTO[edge.label] ?? told)(name.get(edge.source), edge.label));
  const out = graph.edges.filter((edge) => edge.source === node.id).map((edge) => `${edge.label} ${name.get(edge.target)}`);
  said.textContent = `${kindOf(node)} “${node.label}”: ${[...into, ...out].slice(0, 6).join("; ") || "stands alone"}.`;
}

/** How an edge into a node is said of that node. */
const told = (from, label) => (label.startsWith("by ") ? `found ${label}` : `${from} ${label} it`);
const INTO = {
  "found in": (from) => `names ${from}`,
  "is near": () => "near the question",
  "stands beside": () => "stands beside what was found",
};

function reach(start, edges, from, to) {
  const seen = new Set([start]);
  const queue = [start];
  while (queue.length) {
    const here = queue.pop();
    for (const edge of edges) {
      if (edge[from] === here && !seen.has(edge[to])) {
        seen.add(edge[to]);
        queue.push(edge[to]);
      }
    }
  }
  return seen;
}

/** The same graph as a list of ways, for those who read rather than look. */
function words(graph) {
  const incoming = new Map();
  for (const edge of graph.edges) if (!incoming.has(edge.target)) incoming.set(edge.target, edge);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const ends = graph.nodes.filter((node) => node.type === "passage" || (node.type === "node" && (node.marks.length || !graph.edges.some((edge) => edge.source === node.id))));
  const items = ends.map((node) => {
    const parts = [];
    const seen = new Set();
    for (let at = node; at && !seen.has(at.id); at = byId.get(incoming.get(at.id)?.source)) {
      seen.add(at.id);
      const edge = incoming.get(at.id);
      const label = at.type === "question" ? "Your question" : at.label;
      parts.unshift(...(edge && !seen.has(edge.source) ? [el("i", { text: ` ${edge.label} ` })] : []), el("span", { class: at.type, text: label }));
    }
    return el("li", {}, ...parts, node.marks?.length ? ` ${node.marks.join(" ")}` : "");
  });
  return el("details", { class: "in-words" }, el("summary", { text: "In words" }), el("ul", {}, ...items));
}
