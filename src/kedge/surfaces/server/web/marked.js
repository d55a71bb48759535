// A document's text as it looks, with what is cited marked: signs that no text has are put into it before it is rendered,
// and what stands between them is marked afterwards.

import { el } from "./dom.js";
import { prose } from "./prose.js";

const CITED = ["\ue000", "\ue001"];
const CELL = ["\ue002", "\ue003"];
const LEADING = /^(?:\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s?|\|\s*))+|^\s+/;
const TRAILING = /(?:\s*\|)*\s*$/;
const BLOCK = "p, li, td, th, pre, blockquote, div";

/** Nodes for a text in which [start, end) is cited and `cells` answer; null where the marks cannot be shown in it.
 * `headings` are given for a text that was extracted: it has no signs of markdown, and these lines of it are headings. */
export function marked(text, span, cells = [], headings = null) {
  const clean = text.replace(/[\ue000-\ue003]/g, " ");
  const root = el("div", { class: "rendered" });
  const shown = span ? signed(clean, span, cells) : clean;
  root.append(...prose(headings ? dressed(shown, headings) : shown));
  if (!span) return root;
  for (const [[open, close], name] of [[CELL, "answers"], [CITED, ""]]) wrap(root, open, close, name);
  const first = root.querySelector("mark");
  if (!first) return null;
  first.id = "cited";
  return root;
}

/** Rows between bars become a table with its head, and headings such. */
function dressed(text, headings) {
  const lines = text.split("\n");
  const bare = lines.map((line) => line.replace(/[\ue000-\ue003]/g, "").trim());
  const isRow = (at) => bare[at]?.includes(" | ") && !bare[at].startsWith("|");
  const made = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (isRow(at) && (isRow(at + 1) || isRow(at - 1))) {
      made.push(`| ${lines[at]} |`);
      if (!isRow(at - 1)) made.push(`|${"---|".repeat(bare[at].split(" | ").length)}`);
    } else {
      made.push(headings.includes(bare[at]) && bare[at] && !bare[at - 1] && !bare[at + 1] ? `### ${lines[at]}` : lines[at]);
    }
  }
  return made.join("\n");
}

function signed(text, span, cells) {
  const signs = [];
  for (const [[start, end], [open, close]] of [[span, CITED], ...cells.map((cell) => [cell, CELL])]) {
    const [from, to] = trimmed(text, start, end);
    if (from < to) signs.push([from, open], [to, close]);
  }
  signs.sort((one, other) => other[0] - one[0] || (one[1] < other[1] ? 1 : -1));
  let made = text;
  for (const [at, sign] of signs) made = made.slice(0, at) + sign + made.slice(at);
  return made;
}

/** Without the signs that begin a line or end a row: they would be none behind a mark. */
function trimmed(text, start, end) {
  const before = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  const head = before.trim() === "" || /^[\s|>#*+•\d.)-]*$/.test(before) ? LEADING.exec(text.slice(start, end))?.[0].length ?? 0 : 0;
  const tail = TRAILING.exec(text.slice(start, end))[0].length;
  return [start + head, end - tail];
}

/** Mark what stands between two signs, block by block, and take the signs out. */
function wrap(root, open, close, name) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  const groups = [];
  let on = false;
  const add = (node) => {
    if (!node.data.trim()) return;
    const block = node.parentElement.closest(BLOCK);
    if (groups.at(-1)?.block === block) groups.at(-1).nodes.push(node);
    else groups.push({ block, nodes: [node] });
  };
  for (let node of texts) {
    for (;;) {
      const at = node.data.indexOf(on ? close : open);
      if (at < 0) {
        if (on) add(node);
        break;
      }
      const rest = node.splitText(at);
      rest.deleteData(0, 1);
      if (on) add(node);
      on = !on;
      node = rest;
    }
  }
  for (const { nodes } of groups) {
    const range = document.createRange();
    const whole = (node) => node.parentElement.closest(".formula") ?? node; // what is within one is drawn anew by KaTeX
    range.setStartBefore(whole(nodes[0]));
    range.setEndAfter(whole(nodes.at(-1)));
    const mark = el("mark", { class: name || null });
    mark.append(range.extractContents());
    range.insertNode(mark);
  }
}
