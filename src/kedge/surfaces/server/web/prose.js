// Text as nodes: the part of markdown that documents and answers use (headings, paragraphs, lists, tables, quotes, code,
// emphasis, links, math) and the citation marks. What is not understood stays as the text it is.

import { el, safeLink } from "./dom.js";
import { math } from "./math.js";

const FENCE = /^\s*(```+|~~~+)/;
const BULLET = /^(\s*)[-*+•]\s+/;
const NUMBER = /^(\s*)(\d{1,3})[.)]\s+/;
const INDENTED = /^(?: {4}|\t)/;
const ROW = /^\s*\|.*\|/;
const RULE_ROW = /^[\s|:-]+$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const ATTRIBUTES = /\s*\{:?\s*(?:[#.][\w-]+|[\w-]+=(?:"[^"]*"|'[^']*'|[^\s"'{}]+))(?:\s+(?:[#.][\w-]+|[\w-]+=(?:"[^"]*"|'[^']*'|[^\s"'{}]+)))*\s*\}(?=[\ue000-\ue003]*$)/; // of a heading, as MkDocs and others have them
const QUOTE = /^\s{0,3}>\s?/;
const LINE = /^\s{0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const DISPLAY = [["$$", "$$"], ["\\[", "\\]"]];
const INLINE = [
  { first: "`", pattern: /(`+)([^`\n]|[^`\n].*?[^`\n])\1(?!`)/y, make: (found) => el("code", { text: found[2] }) },
  { first: "$", pattern: /\$\$([^$]+)\$\$/y, make: (found) => math(found[1], { source: found[0] }) },
  { first: "$", pattern: /\$(?![\s\d$][^$]*\s\$)(?!\s)([^$\n]{1,400}?)(?<!\s)\$(?!\d)/y, make: (found) => (looksLikeMath(found[1]) ? math(found[1], { source: found[0] }) : null) },
  { first: "\\", pattern: /\\\((.+?)\\\)/y, make: (found) => math(found[1], { source: found[0] }) },
  { first: "*", pattern: /\*\*(?!\s)((?:[^*\n]|\*(?!\*))+?)(?<!\s)\*\*/y, make: (found, chip) => el("strong", {}, ...inline(found[1], chip)) },
  { first: "_", pattern: /(?<![\p{L}\p{N}])__(?!\s)([^_\n]+?)(?<!\s)__(?![\p{L}\p{N}])/uy, make: (found, chip) => el("strong", {}, ...inline(found[1], chip)) },
  { first: "*", pattern: /\*([^*\s][^*\n]*)(?<!\s)\*/y, make: (found, chip) => el("em", {}, ...inline(found[1], chip)) },
  { first: "_", pattern: /(?<![\p{L}\p{N}])_(?!\s)([^_\n]+?)(?<!\s)_(?![\p{L}\p{N}])/uy, make: (found, chip) => el("em", {}, ...inline(found[1], chip)) },
  { first: "![", pattern: /!?\[((?:[^\[\]\n]|\[[^\]\n]*\])*)\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)(?:\s+"[^"\n]*")?\)/y, make: (found, chip) => safeLink(found[2], ...inline(found[1], chip)) },
  { first: "[", pattern: /\[(?:\d{1,3}|[A-Z][a-z]+ [^\]\n]{1,200})\]/y, make: (found, chip) => chip(found[0]) ?? found[0] },
  { first: "<", pattern: /<(https?:\/\/[^\s<>]+)>/y, make: (found) => safeLink(found[1], found[1]) },
];
const FIRST = new Set(INLINE.flatMap(({ first }) => [...first]));

/** The blocks of a text. `chip` makes the node for a mark such as `[1]`, or null where it is none. */
export function prose(text, chip = () => null) {
  return blocks(text.split("\n"), chip);
}

/** What stands within one line: emphasis, code, formulas, links. */
export const line = (text) => inline(text, () => null);

function blocks(all, chip) {
  const made = [];
  let lines = [];
  const flush = () => {
    if (lines.length) made.push(el("p", {}, ...inline(joined(lines), chip)));
    lines = [];
  };
  for (let at = 0; at < all.length; at += 1) {
    const line = all[at];
    const display = DISPLAY.find(([open]) => line.trimStart().startsWith(open));
    if (FENCE.test(line)) {
      flush();
      const fence = FENCE.exec(line)[1][0];
      const closes = (other) => FENCE.exec(other)?.[1][0] === fence;
      const code = [];
      while (at + 1 < all.length && !closes(all[at + 1])) code.push(all[(at += 1)]);
      const tail = all[(at += 1)] ?? "";
      made.push(pre(code));
      const rest = tail.replace(FENCE, "").trim();
      if (rest) lines.push(rest);
    } else if (display && closedBelow(all, at, display)) {
      flush();
      const [open, close] = display;
      const taken = [line];
      while (!closesHere(taken, open, close)) taken.push(all[(at += 1)]);
      const source = taken.join("\n");
      const [, body, after] = parted(source, open, close);
      const own = source.slice(0, source.length - after.length); // a sign behind it is not its own
      made.push(el("div", { class: "math", tabindex: "0" }, math(body, { display: true, source: own })));
      if (after.trim()) lines.push(after.trim());
    } else if (!lines.length && isCode(line)) {
      const code = [line];
      while (isCode(all[at + 1] ?? "")) code.push(all[(at += 1)]);
      made.push(pre(code.map((one) => one.replace(INDENTED, ""))));
    } else if (ROW.test(line)) {
      flush();
      const rows = [line];
      while (ROW.test(all[at + 1] ?? "")) rows.push(all[(at += 1)]);
      made.push(table(rows, chip));
    } else if (HEADING.test(line)) {
      flush();
      const [, signs, words] = HEADING.exec(line);
      made.push(el("p", { class: `heading level-${signs.length}`, role: "heading", "aria-level": Math.min(6, signs.length + 2) }, ...inline(words.replace(ATTRIBUTES, ""), chip)));
    } else if (LINE.test(line) && !lines.length) {
      made.push(el("hr"));
    } else if (QUOTE.test(line)) {
      flush();
      const quoted = [line.replace(QUOTE, "")];
      while (QUOTE.test(all[at + 1] ?? "")) quoted.push(all[(at += 1)].replace(QUOTE, ""));
      made.push(el("blockquote", {}, ...blocks(quoted, chip)));
    } else if (listKind(line)) {
      flush();
      const taken = [line];
      while (at + 1 < all.length && belongs(all, at + 1)) taken.push(all[(at += 1)]);
      made.push(list(taken, chip));
    } else if (line.trim() === "") {
      flush();
    } else {
      lines.push(line);
    }
  }
  flush();
  return made;
}

const pre = (code) => el("pre", { tabindex: "0" }, el("code", { text: code.join("\n") }));

/** Lines that only wrap read on; two spaces at an end break. */
const joined = (lines) => lines.map((line) => line.trim()).join(" ");

const isCode = (line) => INDENTED.test(line) && line.trim() !== "" && !listKind(line) && !ROW.test(line);

const listKind = (line) => [BULLET, NUMBER].find((pattern) => pattern.test(line)) ?? null;

/** Whether a line goes on with the list above it: an item, what is indented below one, or an empty line before such. */
function belongs(all, at) {
  const line = all[at];
  if (listKind(line) || /^\s{2,}\S/.test(line)) return !FENCE.test(line) || /^\s{2,}/.test(line);
  if (line.trim() !== "") return !HEADING.test(line) && !ROW.test(line) && !QUOTE.test(line) && !FENCE.test(line) && all[at - 1].trim() !== "";
  const next = all[at + 1] ?? "";
  return Boolean(listKind(next)) || /^\s{2,}\S/.test(next);
}

/** A list with what is nested in its items. */
function list(lines, chip) {
  const kind = listKind(lines[0]);
  const depth = (line) => /^\s*/.exec(line)[0].replaceAll("\t", "    ").length;
  const base = depth(lines[0]);
  const items = [];
  for (const line of lines) {
    if (listKind(line) && depth(line) <= base + 1) items.push({ kind: listKind(line), own: [line.replace(listKind(line), "")], below: [] });
    else if (items.at(-1).below.length || listKind(line) || FENCE.test(line)) items.at(-1).below.push(line);
    else if (line.trim() === "") items.at(-1).below.push(line);
    else items.at(-1).own.push(line);
  }
  const start = kind === NUMBER ? Number(NUMBER.exec(lines[0])[2]) : 1;
  const below = (item) => blocks(outdented(item.below), chip);
  return el(kind === BULLET ? "ul" : "ol", start > 1 ? { start } : {}, ...items.map((item) => el("li", {}, ...inline(joined(item.own), chip), ...below(item))));
}

function outdented(lines) {
  const least = Math.min(...lines.filter((line) => line.trim()).map((line) => /^\s*/.exec(line)[0].length), 99);
  return lines.map((line) => line.slice(Math.min(least, /^\s*/.exec(line)[0].length)));
}

/** Rows between pipes; the first is the head where a rule follows it. What stands behind the last pipe, such as a mark, stays there. */
function table(lines, chip) {
  const headed = lines.length > 1 && RULE_ROW.test(lines[1]) && lines[1].includes("-");
  const rows = lines.filter((_, at) => !(headed && at === 1)).map((line) => cells(line, chip));
  const numeric = (cell) => /^[\s\u2212$€£(–—-]*\d[\d.,\s]*[)%]?\s*$/.test(cell.map((part) => part.textContent ?? part).join("").replace(/[\ue000-\ue003]/g, ""));
  const row = (name, found, attributes) => el("tr", {}, ...found.map((cell) => el(name, { ...attributes, class: name === "td" && numeric(cell) ? "number" : null }, ...cell)));
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

// ---------------------------------------------------------------- math

/** Whether what stands between two dollar signs is a formula rather than two prices. */
const looksLikeMath = (text) => /[\\^_=<>+*/{}|]|^[a-zA-Z](?:\(.*\))?$|^[a-zA-Z]{0,3}'?[[(][\w\s,;.:'-]{1,40}[\])]$|^[a-zA-Z][\w', ]{0,12}$|^-?\d+(?:\.\d+)?$|\d\s*[a-z]|[a-z]\s*-\s*\w|…|\.\.\./.test(text);

const parted = (source, open, close) => {
  const start = source.indexOf(open) + open.length;
  const end = source.indexOf(close, start);
  return [source.slice(0, start), source.slice(start, end), source.slice(end + close.length)];
};

const closesHere = (taken, open, close) => {
  const source = taken.join("\n");
  return source.indexOf(close, source.indexOf(open) + open.length) >= 0;
};

function closedBelow(all, at, [open, close]) {
  const some = [];
  for (let to = at; to < all.length && to < at + 60; to += 1) {
    some.push(all[to]);
    if (closesHere(some, open, close)) return true;
    if (all[to].trim() === "" && to > at) return false;
  }
  return false;
}

// ---------------------------------------------------------------- within a line

function inline(text, chip) {
  const nodes = [];
  let plain = "";
  let at = 0;
  while (at < text.length) {
    const hit = FIRST.has(text[at]) ? match(text, at, chip) : null;
    if (hit === null) {
      plain += text[at];
      at += 1;
    } else {
      const { made } = hit;
      if (plain) nodes.push(made.localName === "button" ? plain.replace(/ $/, "\u00a0") : plain); // a mark stays with its sentence
      plain = "";
      nodes.push(made);
      at += hit.length;
    }
  }
  if (plain) nodes.push(plain);
  return nodes;
}

function match(text, at, chip) {
  for (const rule of INLINE) {
    if (!rule.first.includes(text[at])) continue;
    rule.pattern.lastIndex = at;
    const found = rule.pattern.exec(text);
    const made = found && rule.make(found, chip);
    if (made) return { made, length: found[0].length };
  }
  return null;
}
