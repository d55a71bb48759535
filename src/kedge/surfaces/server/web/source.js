// The panel with a source: docked beside the answer on wide screens, a modal drawer on narrow ones.

import * as api from "./api.js";
import { byId, count, el, safeLink, utf16 } from "./dom.js";
import { verbatim } from "./verbatim.js";

const WIDE = window.matchMedia("(min-width: 1100px)");
const STEP = 2;
const MAX_BESIDE = 20;

let opener = null;
let shown = 0; // which opening the panel shows, so that a slow reply does not overwrite a later one

export function isOpen() {
  return byId("panel").open;
}

export function close() {
  byId("panel").close();
}

export function setUp() {
  const panel = byId("panel");
  panel.addEventListener("close", () => {
    document.body.classList.remove("with-panel");
    for (const chip of document.querySelectorAll("[aria-current=source]")) chip.removeAttribute("aria-current");
    shown += 1;
    const back = opener?.isConnected ? opener : again(opener);
    back?.focus({ preventScroll: true });
    opener = null;
  });
  panel.addEventListener("click", (event) => event.target === panel && panel.close()); // the backdrop
  WIDE.addEventListener("change", () => {
    if (!panel.open) return;
    const back = opener;
    panel.close();
    opener = back;
    show();
  });
}

/** The graph is drawn anew when the panel takes its room: the same node in the new picture. */
function again(gone) {
  const id = gone?.dataset?.id;
  return id ? document.querySelector(`.node[data-id="${CSS.escape(id)}"]`) : null;
}

function show() {
  const panel = byId("panel");
  if (!panel.open) {
    const place = window.scrollY;
    if (WIDE.matches) panel.show();
    else panel.showModal();
    window.scrollTo(0, place); // opening focuses, and focusing scrolls
  }
  document.body.classList.toggle("with-panel", WIDE.matches);
}

function begin(from, kicker, title) {
  if (!byId("panel").open) opener = from ?? document.activeElement;
  else if (from) opener = from;
  for (const chip of document.querySelectorAll("[aria-current=source]")) chip.removeAttribute("aria-current");
  from?.setAttribute("aria-current", "source");
  byId("panel-kicker").textContent = kicker;
  byId("panel-kicker").dataset.base = kicker;
  byId("panel-title").textContent = title;
  byId("panel-foot").replaceChildren();
  show();
  byId("panel-title").focus({ preventScroll: true });
  return (shown += 1);
}

/** A passage of a document, with the cited span marked where there is one. */
export async function openPassage({ from, mark = "", title, url, passageId, span = null, snippet = "", page = null, collection }) {
  const mine = begin(from, mark ? `Source ${mark}` : "Source", title);
  const body = byId("panel-body");
  body.replaceChildren(el("div", { class: "ghost", "aria-hidden": "true" }, el("i"), el("i"), el("i")));
  const draw = async (beside) => {
    try {
      const found = await api.passage(passageId, collection, beside);
      if (mine === shown) drawPassage(found, { passageId, span, page, beside, more: () => draw(Math.min(MAX_BESIDE, beside + STEP)) });
    } catch (fault) {
      if (mine === shown) drawSnippet(fault, snippet, url);
    }
  };
  await draw(1);
}

function drawPassage(found, { passageId, span, page, beside, more }) {
  const first = beside === 1;
  const body = byId("panel-body");
  const parts = [];
  let reached = 0; // passages may overlap: what was shown is not shown again
  let path = null;
  for (const passage of found.passages) {
    const at = (offset) => utf16(passage.text, offset - passage.start);
    const from = at(Math.max(passage.start, Math.min(reached, passage.end)));
    const own = passage.passage_id === passageId;
    const inside = span && own ? span.map((offset) => at(offset)) : null;
    const here = passage.section_path.filter((part) => part !== found.document.title).join(" › ");
    if (here !== path && here && !/^\s*#/.test(passage.text.slice(from))) parts.push(el("p", { class: "section", text: here }));
    path = here;
    const text = passage.text.slice(from);
    const mark = inside && inside[1] > from ? [Math.max(0, inside[0] - from), inside[1] - from] : null;
    if (text.trim()) parts.push(el("div", { class: own ? "passage own" : "passage" }, ...verbatim(text, mark)));
    reached = Math.max(reached, passage.end);
  }
  if (found.has_before && beside < MAX_BESIDE) parts.unshift(moreButton("Show what stands before", more));
  if (found.has_after && beside < MAX_BESIDE) parts.push(moreButton("Show what follows", more));
  body.replaceChildren(...parts);
  const own = found.passages.find((passage) => passage.passage_id === passageId);
  drawPlace(found, own, page ?? own.page);
  if (first) scrollTo(body);
}

function scrollTo(body) {
  const target = body.querySelector("#cited") ?? body.querySelector(".own");
  if (target) body.scrollTop = target.getBoundingClientRect().top - body.getBoundingClientRect().top - body.clientHeight / 4;
}

const moreButton = (text, more) => el("button", { type: "button", class: "more", onclick: more }, text);

function drawPlace(found, passage, page) {
  const { document: source } = found;
  const section = passage.section_path.filter((part) => part !== source.title);
  const facts = [
    page === null ? null : ["Page", String(page)],
    section.length ? ["Section", section.join(" › ")] : null,
    ["File", safeLink(source.url, source.url)],
    ["Part", `${passage.index + 1} of ${count(source.chunk_count, "passage")}`],
  ];
  const kicker = byId("panel-kicker");
  kicker.textContent = kicker.dataset.base + (page === null ? "" : ` · page ${page}`);
  byId("panel-foot").replaceChildren(
    el("dl", { class: "facts" }, ...facts.filter(Boolean).map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", {}, value)))),
  );
}

function drawSnippet(fault, snippet, url) {
  const gone = fault.kind === "gone";
  byId("panel-body").replaceChildren(
    el("p", { class: "hint", role: "status", text: gone ? "The document has changed or gone since this answer. What was cited:" : `${fault.message} ${fault.hint}` }),
    snippet ? el("div", { class: "passage own" }, el("mark", { id: "cited", text: snippet })) : "",
  );
  byId("panel-foot").replaceChildren(url ? el("dl", { class: "facts" }, el("div", {}, el("dt", { text: "File" }), el("dd", {}, safeLink(url, url)))) : "");
}

/** Something that is no passage: a table's row, a node of a graph. `facts` are [name, value] pairs. */
export function openFacts({ from, kicker, title, text = "", facts = [], url = "" }) {
  begin(from, kicker, title);
  const rows = facts.map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", { text: value })));
  byId("panel-body").replaceChildren(
    text ? el("div", { class: "passage own" }, el("mark", { id: "cited", text })) : "",
    rows.length ? el("dl", { class: "facts tall" }, ...rows) : "",
  );
  byId("panel-foot").replaceChildren(url ? el("dl", { class: "facts" }, el("div", {}, el("dt", { text: "File" }), el("dd", {}, safeLink(url, url)))) : "");
  byId("panel-body").scrollTop = 0;
}
