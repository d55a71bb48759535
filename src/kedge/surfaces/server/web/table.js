// Answers from tables: how they were computed, the rows, and a chart where one helps.

import { count, el } from "./dom.js";
import { chart } from "./chart.js";

const FIRST_ROWS = 20;

/** The words of a table answer without the lines that the plan below shows better; each line stands by itself. */
export function tableText(text, metadata) {
  const planned = metadata.plan?.text ? `Plan: ${metadata.plan.text}` : null;
  const lines = text.split("\n").filter((line) => planned === null || !line.startsWith(planned));
  return lines.map((line) => (/^\s*[-*]\s/.test(line) ? line : `\n${line}\n`)).join("\n");
}

/** Everything a table answer shows below its text; `pick` asks again with the number of a reading. */
export function tableParts(metadata, pick) {
  const parts = [];
  const open = metadata.plan?.exact === false && !metadata.rows?.length ? (metadata.readings ?? []) : [];
  if (open.length) parts.push(readings(open, pick));
  else if (metadata.plan) parts.push(plan(metadata.plan, metadata.row_count, metadata.why));
  const columns = metadata.columns ?? [];
  const rows = metadata.rows ?? [];
  if (metadata.chart && rows.length > 1) {
    const drawn = chart(metadata.chart, columns, rows);
    if (drawn) parts.push(drawn);
  }
  if (columns.length && rows.length) parts.push(grid(columns, rows, metadata.row_numbers, metadata.truncated));
  return parts;
}

let waiting = null; // what a number key picks from: the readings of the newest answer

/** Picks a reading of the newest answer by its number; says whether there is one. */
export function pickReading(number) {
  if (!waiting || number < 1 || number > waiting.count) return false;
  waiting.pick(number);
  return true;
}

/** No number picks anything until the next answer with readings. */
export function forgetReadings() {
  waiting = null;
}

/** What the question may have meant, each with its value: a click or its number on the keyboard says which. */
function readings(found, pick) {
  waiting = { count: found.length, pick: (number) => pick(found[number - 1].reading) };
  const items = found.map((one) =>
    el("li", {}, el("button", { type: "button", class: "link", onclick: () => pick(one.reading) }, String(one.answer)), el("span", { class: "hint", text: ` ${one.plan}` })),
  );
  return el("section", { class: "plan" }, el("h3", { class: "hidden", text: "What may have been meant" }), el("p", { class: "plan-text" }, el("span", { class: "badge dashed", text: "Which is meant?" })), el("ol", {}, ...items), el("p", { class: "hint", text: "Click one, or press its number." }));
}

function plan(found, counted, why) {
  const badge = el("span", { class: found.exact ? "badge" : "badge dashed", text: found.exact ? "Exact" : "From the nearest rows" });
  const steps = found.steps ?? [];
  return el(
    "section",
    { class: "plan" },
    el("h3", { class: "hidden", text: "How it was computed" }),
    el("p", { class: "plan-text" }, badge, found.text ?? "", found.exact && counted !== undefined ? el("span", { class: "hint", text: ` · ${new Intl.NumberFormat("en").format(counted)} ${counted === 1 ? "row" : "rows"} counted` }) : ""),
    why ? el("p", { class: "hint", text: `Note: ${why}` }) : "",
    steps.length ? el("details", {}, el("summary", { text: "Steps" }), el("ol", {}, ...steps.map((step) => el("li", { text: step })))) : "",
  );
}

export function shownValue(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(10)));
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

/** `numbers` name the rows only where there is one for each: a computed row stands for many. */
function grid(columns, rows, numbers, truncated) {
  const numeric = columns.map((_, at) => rows.every((row) => row[at] === null || typeof row[at] === "number"));
  const body = el("tbody");
  const counted = Array.isArray(numbers) && numbers.length === rows.length;
  const fill = (until) => {
    for (let at = body.children.length; at < Math.min(until, rows.length); at += 1) {
      const cells = rows[at].map((value, place) => el("td", { class: numeric[place] ? "number" : null, text: shownValue(value) }));
      body.append(el("tr", {}, counted ? el("th", { scope: "row", class: "row-number", text: numbers[at] ?? "" }) : "", ...cells));
    }
  };
  fill(FIRST_ROWS);
  const heads = columns.map((name, at) => el("th", { scope: "col", class: numeric[at] ? "number" : null, text: name }));
  const caption = `${truncated ? "The first " : ""}${count(rows.length, "row")}`;
  const table = el("table", {}, el("caption", { text: caption }), el("thead", {}, el("tr", {}, counted ? el("th", { scope: "col", class: "row-number", text: "Row" }) : "", ...heads)), body);
  const scroller = el("div", { class: "grid", tabindex: "0", role: "group", "aria-label": `Table: ${caption}` }, table);
  const more = el("button", { type: "button", class: "more", onclick: () => { fill(rows.length); more.remove(); scroller.focus(); } }, `Show all ${rows.length}`);
  return el("div", { class: "grid-frame" }, scroller, rows.length > FIRST_ROWS ? more : "");
}
