// Where the nodes of a small graph go: in columns by distance from the start, or as an indented outline when narrow.

export const HEIGHT = 64;
const GAP = 14;
const MIN_WIDTH = 116;
const MAX_WIDTH = 220;
const MIN_SPACE = 44;
const MAX_SPACE = 104;
const BESIDE = 26; // room for lines between nodes of the last column
const INDENT = 22;
const PAD = 20;

const FONT = "500 13px Inter, sans-serif";
const SMALL = "11.5px Inter, sans-serif";
const ruler = document.createElement("canvas").getContext("2d");

/** How far each node is from where it all starts. */
function depths(graph) {
  const depth = new Map();
  const targets = new Set(graph.edges.map((edge) => edge.target));
  let starts = graph.nodes.filter((node) => node.type === "question" || node.depth === 0);
  if (!starts.length) starts = graph.nodes.filter((node) => !targets.has(node.id));
  if (!starts.length) starts = graph.nodes.slice(0, 1);
  const bothWays = graph.nodes.some((node) => node.type === "node"); // a path may go against an edge
  const steps = graph.edges.flatMap(({ source, target }) => (bothWays ? [[source, target], [target, source]] : [[source, target]]));
  let ring = starts.map((node) => node.id);
  for (const id of ring) depth.set(id, 0);
  for (let level = 1; ring.length; level += 1) {
    const next = [];
    for (const [from, to] of steps) {
      if (depth.get(from) === level - 1 && !depth.has(to)) {
        depth.set(to, level);
        next.push(to);
      }
    }
    ring = next;
  }
  for (const node of graph.nodes) if (!depth.has(node.id)) depth.set(node.id, 1);
  return depth;
}

/** Columns, ordered so that lines cross little. */
export function layered(graph, available) {
  const depth = depths(graph);
  const columns = [];
  for (const node of graph.nodes) (columns[depth.get(node.id)] ??= []).push(node);
  const filled = columns.filter(Boolean);
  const named = Math.max(0, ...graph.edges.map((edge) => lengthOf(edge.label, SMALL)));
  const wanted = Math.min(MAX_SPACE, Math.max(MIN_SPACE, named + 16));
  const free = (available - filled.length * MIN_WIDTH - 4) / Math.max(1, filled.length - 1);
  const space = Math.max(MIN_SPACE, Math.min(wanted, free));
  const width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, (available - (filled.length - 1) * space - 4 - BESIDE) / filled.length));
  const tallest = Math.max(...filled.map((column) => column.length));
  const height = tallest * (HEIGHT + GAP) - GAP + 8;
  const rank = new Map();
  const boxes = [];
  for (const [at, column] of filled.entries()) {
    if (at > 0) column.sort((one, other) => middle(one, graph, rank) - middle(other, graph, rank));
    const top = (height - (column.length * (HEIGHT + GAP) - GAP)) / 2;
    for (const [row, node] of column.entries()) {
      const y = top + row * (HEIGHT + GAP);
      rank.set(node.id, y);
      boxes.push(box(node, 2 + at * (width + space), y, width));
    }
  }
  const beside = graph.edges.some((edge) => depth.get(edge.source) === depth.get(edge.target)) ? BESIDE : 0;
  const total = filled.length * width + (filled.length - 1) * space + 4 + beside;
  return { width: Math.ceil(total), height: Math.ceil(height), boxes, edges: graph.edges.map((edge) => curve(edge, boxes, space)) };
}

function middle(node, graph, rank) {
  const near = graph.edges.flatMap((edge) => (edge.target === node.id ? [edge.source] : edge.source === node.id ? [edge.target] : []));
  const known = near.filter((id) => rank.has(id)).map((id) => rank.get(id));
  return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : Infinity;
}

function curve(edge, boxes, space) {
  const [one, other] = [edge.source, edge.target].map((id) => boxes.find((item) => item.node.id === id));
  const same = one.x === other.x;
  const forward = other.x > one.x;
  const x1 = one.x + (forward ? one.width : same ? one.width : 0);
  const x2 = other.x + (forward ? 0 : other.width);
  const [y1, y2] = [one.y + HEIGHT / 2, other.y + HEIGHT / 2];
  const bend = same ? 28 : (x2 - x1) / 2;
  const d = same ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2}` : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  const told = lengthOf(edge.label, SMALL) <= Math.abs(x2 - x1) - 6 && Math.abs(x2 - x1) <= space + 1; // else it would run into a node
  return { ...edge, label: told ? edge.label : "", d, x: (x1 + x2) / 2 + (same ? 20 : 0), y: (y1 + y2) / 2 - 5 };
}

/** One node under the other, each below the one that led to it. */
export function outline(graph, available) {
  const depth = depths(graph);
  const parent = new Map();
  for (const edge of graph.edges) {
    for (const [from, to] of [[edge.source, edge.target], [edge.target, edge.source]]) {
      if (depth.get(to) === depth.get(from) + 1 && !parent.has(to)) parent.set(to, { id: from, edge });
    }
  }
  const boxes = [];
  const edges = [];
  let y = 2;
  const visit = (node) => {
    const x = 2 + Math.min(4, depth.get(node.id)) * INDENT;
    boxes.push(box(node, x, y, Math.max(MIN_WIDTH, available - x - 4)));
    y += HEIGHT + GAP;
    for (const child of graph.nodes) if (parent.get(child.id)?.id === node.id) visit(child);
  };
  for (const node of graph.nodes) if (!parent.has(node.id)) visit(node);
  for (const [id, { id: from, edge }] of parent) {
    const [one, other] = [from, id].map((wanted) => boxes.find((item) => item.node.id === wanted));
    const x = one.x + INDENT / 2;
    edges.push({ ...edge, d: `M${x} ${one.y + HEIGHT}V${other.y + HEIGHT / 2}H${other.x}` });
  }
  return { width: available, height: y - GAP + 2, boxes, edges };
}

function box(node, x, y, width) {
  const room = width - PAD - 6 - (node.marks?.length ? 6 + 10 * Math.min(2, node.marks.length) : 0);
  const sub = node.sub ? cut(node.sub, room, SMALL) : "";
  return { node, x, y, width, sub, lines: wrap(node.label, room, 2) };
}

function lengthOf(text, font) {
  ruler.font = font;
  return ruler.measureText(text ?? "").width;
}

const fits = (text, room, font) => lengthOf(text, font) <= room;

function cut(text, room, font) {
  if (fits(text, room, font)) return text;
  let short = text;
  while (short && !fits(`${short}…`, room, font)) short = short.slice(0, -1);
  return `${short.trimEnd()}…`;
}

function wrap(text, room, most) {
  const lines = [];
  let line = "";
  const words = String(text).split(/\s+/);
  for (const [at, word] of words.entries()) {
    const longer = line ? `${line} ${word}` : word;
    if (!line || fits(longer, room, FONT)) {
      line = longer;
    } else if (lines.length + 1 < most) {
      lines.push(cut(line, room, FONT));
      line = word;
    } else {
      return [...lines, cut(`${line} ${words.slice(at).join(" ")}`, room, FONT)];
    }
  }
  return [...lines, cut(line, room, FONT)];
}
