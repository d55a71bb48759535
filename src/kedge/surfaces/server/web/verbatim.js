// The source as it stands, character by character, with its markdown signs dimmed and the cited sentence marked.

import { el } from "./dom.js";

const SIGNS = [
  { pattern: /^(#{1,6}\s+)(.*)$/gm, parts: ["sign", "heading"] },
  { pattern: /(\*\*)([^*\n]+)(\*\*)/g, parts: ["sign", "strong", "sign"] },
  { pattern: /(`+)([^`\n]+)(`+)/g, parts: ["sign", "code", "sign"] },
  { pattern: /(!?\[)([^\]\n]*)(\]\((?:[^()\n]|\([^()\n]*\))*\))/g, parts: ["sign", "anchor", "sign"] },
  { pattern: /^([ \t]*\|[-| :]+\|[ \t]*)$/gm, parts: ["sign table"] },
  { pattern: /^([ \t]*\|.*\|[ \t]*)$/gm, parts: ["table"] },
];
const OWN_LINE = /^\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||>|```|~~~|$)/;
const AFTER_BREAK = /^\s*(?:#{1,6}\s|\||```|~~~|$)/;

/** Nodes for a text; `marked` is [start, end) within it, or null. */
export function verbatim(text, marked = null) {
  const shown = softened(text);
  const code = fences(shown);
  const spans = [...code.map(([start, end]) => [start, end, "block"]), ...signs(shown, code)];
  const edges = new Set([0, shown.length, ...(marked ?? [])]);
  for (const [start, end] of spans) edges.add(start).add(end);
  const order = [...edges].filter((edge) => edge <= shown.length).sort((one, other) => one - other);
  const nodes = [];
  let mark = null;
  for (let at = 0; at + 1 < order.length; at += 1) {
    const [start, end] = [order[at], order[at + 1]];
    const names = spans.filter(([from, to]) => from <= start && end <= to).map((span) => span[2]);
    const piece = shown.slice(start, end);
    const node = names.length ? el("span", { class: names.join(" "), text: piece }) : document.createTextNode(piece);
    if (marked !== null && marked[0] <= start && end <= marked[1]) {
      mark ??= nodes[nodes.push(el("mark", { id: "cited" })) - 1];
      mark.append(node);
    } else {
      nodes.push(node);
    }
  }
  return nodes;
}

/** A line that only wraps reads on: its break becomes a space, so offsets stay as they are. */
function softened(text) {
  const lines = text.split("\n");
  let fenced = false;
  let shown = lines[0];
  for (let at = 1; at < lines.length; at += 1) {
    if (/^\s*(```|~~~)/.test(lines[at - 1])) fenced = !fenced;
    const hard = fenced || OWN_LINE.test(lines[at]) || AFTER_BREAK.test(lines[at - 1]) || /^(\s{4}|\t)/.test(lines[at]);
    shown += (hard ? "\n" : " ") + lines[at];
  }
  return shown;
}

function fences(text) {
  return [...text.matchAll(/^[ \t]*(```|~~~)[^\n]*\n[\s\S]*?(?:^[ \t]*\1[^\n]*$|$(?![\s\S]))/gm)].map((found) => [
    found.index,
    found.index + found[0].length,
  ]);
}

function signs(text, code) {
  const spans = [];
  for (const { pattern, parts } of SIGNS) {
    for (const found of text.matchAll(pattern)) {
      let at = found.index;
      if (code.some(([start, end]) => start <= at && at < end)) continue;
      for (const [place, name] of parts.entries()) {
        const length = found[place + 1].length;
        spans.push([at, at + length, name]);
        at += length;
      }
    }
  }
  return spans;
}
