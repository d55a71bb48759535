// Answers from tables: how they were computed, the rows, and a chart where one helps.

import { el } from "./dom.js";
import { chart } from "./chart.js";

const FIRST_ROWS = 20;

/** Everything a table answer shows below its text. */
export function tableParts(metadata) {
  const parts = [];
  if (metadata.plan) parts.push(plan(metadata.plan));
  const columns = metadata.columns ?? [];
  const rows = metadata.rows ?? [];
  if (metadata.chart && rows.length > 1) {
    const drawn = chart(metadata.chart, columns, rows);
    if (drawn) parts.push(drawn);
  }
  if (columns.length && rows.length) parts.push(grid(columns, rows, metadata.row_numbers, metadata.row_count ?? rows.length));
  return parts;
}

function plan(found) {
  const badge = el("span", { class: found.exact ? "badge" : "badge dashed", text: found.exact ? "Exact" : "From the nearest rows" });
  const steps = found.steps ?? [];
  return el(
    "section",
    { class: "plan", "aria-label": "How it was computed" },
    el("p", { class: "plan-text" }, badge, found.text ?? ""),
    steps.length ? el("details", {}, el("summary", { text: "Steps" }), el("ol", {}, ...steps.map((step) => el("li", { text: step })))) : "",
  );
}

export function shownValue(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(10)));
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

function grid(columns, rows, numbers, total) {
  const numeric = columns.map((_, at) => rows.every((row) => row[at] === null || typeof row[at] === "number"));
  const body = el("tbody");
  const counted = Array.isArray(numbers);
  const fill = (until) => {
    for (let at = body.children.length; at < Math.min(until, rows.length); at += 1) {
      const cells = rows[at].map((value, place) => el("td", { class: numeric[place] ? "number" : null, text: shownValue(value) }));
      body.append(el("tr", {}, counted ? el("th", { scope: "row", class: "row-number", text: numbers[at] ?? "" }) : "", ...cells));
    }
  };
  fill(FIRST_ROWS);
  const heads = columns.map((name, at) => el("th", { scope: "col", class: numeric[at] ? "number" : null, text: name }));
  const caption = total > rows.length ? `The first ${rows.length} of ${total} rows` : total === 1 ? "1 row" : `${total} rows`;
  const table = el("table", {}, el("caption", { text: caption }), el("thead", {}, el("tr", {}, counted ? el("th", { scope: "col", class: "row-number", text: "Row" }) : "", ...heads)), body);
  const scroller = el("div", { class: "grid", tabindex: "0", role: "region", "aria-label": `Table: ${caption}` }, table);
  const more = el("button", { type: "button", class: "more", onclick: () => { fill(rows.length); more.remove(); scroller.focus(); } }, `Show all ${rows.length}`);
  return el("div", { class: "grid-frame" }, scroller, rows.length > FIRST_ROWS ? more : "");
}
