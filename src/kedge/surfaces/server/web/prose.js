// Answers as nodes: a small part of markdown (paragraphs, lists, tables, code, emphasis, links) and the citation marks.
// What is not understood stays as the text it is.

import { el, safeLink } from "./dom.js";

const FENCE = /^\s*(```|~~~)/;
const BULLET = /^\s*[-*+•]\s+/;
const NUMBER = /^\s*\d{1,3}[.)]\s+/;
const INDENTED = /^(?: {4}|\t)/;
const ROW = /^\s*\|.*\|/;
const RULE = /^[\s|:-]+$/;
const INLINE = [
  { pattern: /`([^`\n]+)`/y, make: (found) => el("code", { text: found[1] }) },
  { pattern: /\*\*([^*\n]+)\*\*/y, make: (found, chip) => el("strong", {}, ...inline(found[1], chip)) },
  { pattern: /\*([^*\s][^*\n]*)\*/y, make: (found, chip) => el("em", {}, ...inline(found[1], chip)) },
  { pattern: /!?\[([^\]\n]*)\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)(?:\s+"[^"\n]*")?\)/y, make: (found) => safeLink(found[2], found[1]) },
  { pattern: /\[(?:\d{1,3}|[A-Z][a-z]+ [^\]\n]{1,200})\]/y, make: (found, chip) => chip(found[0]) ?? found[0] },
];

/** The blocks of a text. `chip` makes the node for a mark such as `[1]`, or null where it is none. */
export function prose(text, chip = () => null) {
  const blocks = [];
  let lines = [];
  const flush = () => {
    if (lines.length) blocks.push(paragraph(lines, chip));
    lines = [];
  };
  const all = text.split("\n");
  for (let at = 0; at < all.length; at += 1) {
    if (FENCE.test(all[at])) {
      flush();
      const code = [];
      while (at + 1 < all.length && !FENCE.test(all[at + 1])) code.push(all[(at += 1)]);
      const tail = all[(at += 1)] ?? "";
      blocks.push(el("pre", { tabindex: "0" }, el("code", { text: code.join("\n") })));
      const rest = tail.replace(FENCE, "").trim();
      if (rest) lines.push(rest);
    } else if (!lines.length && isCode(all[at])) {
      const code = [all[at]];
      while (isCode(all[at + 1] ?? "")) code.push(all[(at += 1)]);
      blocks.push(el("pre", { tabindex: "0" }, el("code", { text: code.map((line) => line.replace(INDENTED, "")).join("\n") })));
    } else if (ROW.test(all[at])) {
      flush();
      const rows = [all[at]];
      while (ROW.test(all[at + 1] ?? "")) rows.push(all[(at += 1)]);
      blocks.push(table(rows, chip));
    } else if (all[at].trim() === "") {
      flush();
    } else {
      const kind = listKind(all[at]);
      if (lines.length && kind !== listKind(lines[0]) && !/^\s{2}/.test(all[at])) flush();
      lines.push(all[at]);
    }
  }
  flush();
  return blocks;
}

const isCode = (line) => INDENTED.test(line) && line.trim() !== "" && !listKind(line) && !ROW.test(line);

const listKind = (line) => [BULLET, NUMBER].find((pattern) => pattern.test(line)) ?? null;

function paragraph(lines, chip) {
  const list = listKind(lines[0]);
  if (list) {
    const items = [];
    for (const line of lines) {
      if (listKind(line)) items.push(line.replace(list, ""));
      else items[items.length - 1] += ` ${line.trim()}`; // a wrapped item
    }
    return el(list === BULLET ? "ul" : "ol", {}, ...items.map((item) => el("li", {}, ...inline(item, chip))));
  }
  return el("p", {}, ...inline(lines.join(" "), chip));
}

/** Rows between pipes; the first is the head where a rule follows it. What stands behind the last pipe, such as a mark, stays there. */
function table(lines, chip) {
  const headed = lines.length > 1 && RULE.test(lines[1]) && lines[1].includes("-");
  const rows = lines.filter((_, at) => !(headed && at === 1)).map((line) => cells(line, chip));
  const row = (name, found, attributes) => el("tr", {}, ...found.map((cell) => el(name, attributes, ...cell)));
  const head = headed ? el("thead", {}, row("th", rows.shift(), { scope: "col" })) : "";
  const made = el("table", {}, head, el("tbody", {}, ...rows.map((found) => row("td", found, {}))));
  return el("div", { class: "grid", tabindex: "0", role: "group", "aria-label": "Table" }, made);
}

function cells(line, chip) {
  const parts = line.trim().slice(1).split(/(?<!\\)\|/);
  const after = parts.pop().trim();
  const found = parts.map((part) => inline(part.trim().replaceAll("\\|", "|"), chip));
  if (after) found.length ? found.at(-1).push(" ", ...inline(after, chip)) : found.push(inline(after, chip));
  return found;
}

function inline(text, chip) {
  const nodes = [];
  let plain = "";
  let at = 0;
  while (at < text.length) {
    const hit = "`*![".includes(text[at]) ? match(text, at) : null;
    if (hit === null) {
      plain += text[at];
      at += 1;
    } else {
      const made = hit.rule.make(hit.found, chip);
      if (plain) nodes.push(made.localName === "button" ? plain.replace(/ $/, "\u00a0") : plain); // a mark stays with its sentence
      plain = "";
      nodes.push(made);
      at += hit.found[0].length;
    }
  }
  if (plain) nodes.push(plain);
  return nodes;
}

function match(text, at) {
  for (const rule of INLINE) {
    rule.pattern.lastIndex = at;
    const found = rule.pattern.exec(text);
    if (found) return { rule, found };
  }
  return null;
}
