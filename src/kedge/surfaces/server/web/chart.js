// A bar or line chart in SVG. The table below it says the same in full, so the picture is hidden from screen readers
// except for its summary.

import { el, svg } from "./dom.js";

const MOST_BARS = 24;
const NARROW = window.matchMedia("(max-width: 640px)");
const LINE_HEIGHT = 260;

/** The figure, or null where the rows do not fit the wish. */
export function chart(wish, columns, rows) {
  const [x, y] = [columns.indexOf(wish.x), columns.indexOf(wish.y)];
  if (x < 0 || y < 0) return null;
  const points = rows.filter((row) => typeof row[y] === "number" && row[x] !== null).map((row) => ({ name: String(row[x]), value: row[y] }));
  if (points.length < 2) return null;
  const shown = wish.type === "line" ? points : points.slice(0, MOST_BARS);
  const width = NARROW.matches ? 340 : 700;
  const drawn = wish.type === "line" ? line(shown, width) : bars(shown, width);
  const rest = points.length - shown.length;
  const title = `${wish.y} by ${wish.x}${rest > 0 ? `, the first ${shown.length} of ${points.length}` : ""}`;
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", `${wish.type === "line" ? "Line" : "Bar"} chart: ${title}. The table below has the numbers.`);
  return el("figure", { class: "chart" }, el("figcaption", { text: title }), drawn);
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 2, notation: "standard" });
const compact = new Intl.NumberFormat("en", { maximumFractionDigits: 1, notation: "compact" });

function bars(points, width) {
  const row = 30;
  const most = Math.floor(width / 24); // letters of a name
  const label = Math.min(0.34 * width, 16 + Math.max(...points.map((point) => short(point.name, most).length)) * 7.2);
  const room = width - label - 90;
  const low = Math.min(0, ...points.map((point) => point.value));
  const span = Math.max(0, ...points.map((point) => point.value)) - low || 1;
  const zero = label + (-low / span) * room;
  const root = svg("svg", { viewBox: `0 0 ${width} ${points.length * row}`, class: "chart-svg bars" });
  points.forEach((point, at) => {
    const length = (Math.abs(point.value) / span) * room;
    const top = at * row;
    const start = point.value < 0 ? zero - length : zero;
    root.append(
      svg("text", { x: label - 10, y: top + 19, "text-anchor": "end", class: "name", text: short(point.name, most) }),
      svg("rect", { x: start, y: top + 6, width: Math.max(1.5, length), height: row - 12, rx: 3, class: "bar" }, svg("title", { text: `${point.name}: ${point.value}` })),
      svg("text", { x: Math.max(zero, start + length) + 8, y: top + 19, class: "value", text: number.format(point.value) }),
    );
  });
  return root;
}

function line(points, width) {
  const [left, right, top, bottom] = [58, 14, 14, 34];
  const ticks = scale(points.map((point) => point.value));
  const [low, high] = [ticks[0], ticks.at(-1)];
  const across = (at) => left + (at / (points.length - 1)) * (width - left - right);
  const up = (value) => LINE_HEIGHT - bottom - ((value - low) / (high - low || 1)) * (LINE_HEIGHT - top - bottom);
  const root = svg("svg", { viewBox: `0 0 ${width} ${LINE_HEIGHT}`, class: "chart-svg line" });
  for (const tick of ticks) {
    root.append(svg("path", { d: `M${left} ${up(tick)}H${width - right}`, class: "rule" }), svg("text", { x: left - 8, y: up(tick) + 4, "text-anchor": "end", class: "value", text: compact.format(tick) }));
  }
  const every = Math.max(1, Math.ceil(points.length / (width / 90)));
  points.forEach((point, at) => {
    if (at % every === 0) root.append(svg("text", { x: across(at), y: LINE_HEIGHT - 10, "text-anchor": at === 0 ? "start" : "middle", class: "value", text: short(point.name, 12) }));
  });
  root.append(svg("path", { d: points.map((point, at) => `${at ? "L" : "M"}${across(at).toFixed(1)} ${up(point.value).toFixed(1)}`).join(""), class: "stroke" }));
  if (points.length <= 60) {
    points.forEach((point, at) => root.append(svg("circle", { cx: across(at), cy: up(point.value), r: 3.5, class: "dot" }, svg("title", { text: `${point.name}: ${point.value}` }))));
  }
  return root;
}

/** Round ticks that hold all values. */
function scale(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const from = low > 0 && low < high * 0.6 ? 0 : low;
  const span = high - from || Math.abs(high) || 1;
  const raw = span / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const ticks = [];
  for (let at = Math.floor(from / step); ticks.length === 0 || ticks.at(-1) < high; at += 1) ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}
