// The panel with a source: docked beside the answer on wide screens, a modal drawer on narrow ones.

import * as api from "./api.js";
import { byId, count, el, fileName, icon, ICONS, pageWord, safeLink, utf16 } from "./dom.js";
import { marked } from "./marked.js";
import { line } from "./prose.js";
import { Sheet } from "./sheet.js";
import { toast } from "./toast.js";
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
  byId("panel-ways").replaceChildren();
  byId("panel-body").classList.remove("holds-sheet");
  show();
  byId("panel-title").focus({ preventScroll: true });
  return (shown += 1);
}

/** A passage of a document, as it looks, with the cited span marked where there is one. `cells` are [start, end) of it. */
export async function openPassage({ from, mark = "", title, url, passageId, span = null, cells = [], snippet = "", page = null, section = null, collection }) {
  const mine = begin(from, mark ? `Source ${mark}` : "Source", title);
  const body = byId("panel-body");
  body.replaceChildren(el("div", { class: "ghost", "aria-hidden": "true" }, el("i"), el("i"), el("i")));
  const asked = { passageId, span, cells, page, section, collection, mine, beside: 1, way: null };
  try {
    const found = await api.passage(passageId, collection, asked.beside);
    if (mine === shown) await drawFound(found, asked);
  } catch (fault) {
    if (mine === shown) drawSnippet(fault, snippet, url);
  }
}

const WAYS = { page: "Page", looks: "As it looks", text: "As written" };
const SIGNED = ["markdown", "notebook"]; // formats whose text has signs of markdown
const PLAIN = ["text", "code"]; // formats whose text is all there is

/** In the way that shows most: the page, the text as it looks, the text as it is written. Others are offered above. */
async function drawFound(found, asked) {
  const own = found.passages.find((passage) => passage.passage_id === asked.passageId);
  const page = asked.page ?? own.page;
  const format = found.document.format;
  const ways = [format === "pdf" && page !== null ? "page" : "", PLAIN.includes(format) ? "" : "looks", "text"].filter(Boolean);
  drawPlace(found, own, page, asked.section ?? own.section_path, (asked.way ?? ways[0]) === "page");
  byId("panel-ways").replaceChildren(...(ways.length > 1 ? [switcher(ways, found, asked)] : []));
  const way = asked.way ?? ways[0];
  asked.way = way;
  for (const button of byId("panel-ways").querySelectorAll("[data-way]")) button.setAttribute("aria-pressed", String(button.dataset.way === way));
  if (way !== "page") return drawText(found, asked);
  try {
    await drawSheet(found, asked, page);
  } catch (fault) {
    if (asked.mine !== shown || !(fault instanceof api.Fault)) throw fault;
    asked.way = ways[1];
    await drawFound(found, asked);
    byId("panel-body").prepend(el("p", { class: "hint fallen", role: "status", text: `${fault.message} This is its text.` }));
    byId("panel-ways").querySelector("[data-way=page]")?.remove();
  }
}

function switcher(ways, found, asked) {
  const choose = (way) => {
    asked.way = way;
    drawFound(found, asked);
  };
  return el("div", { class: "ways-of", role: "group", "aria-label": "How it is shown" }, ...ways.map((way) => el("button", { type: "button", "data-way": way, "aria-pressed": "false", onclick: () => choose(way) }, WAYS[way])));
}

async function drawSheet(found, asked, page) {
  const sheet = new Sheet(found.document.document_id, found.document.title, page, { span: asked.span, cells: asked.cells });
  const body = byId("panel-body");
  body.classList.add("holds-sheet");
  body.replaceChildren(sheet.node);
  try {
    await sheet.show();
  } catch (fault) {
    body.classList.remove("holds-sheet");
    throw fault;
  }
}

/** The passages around, what was cited marked: rendered, or character by character. */
function drawText(found, asked) {
  const { passageId, span, cells, beside, way, mine } = asked;
  const body = byId("panel-body");
  body.classList.remove("holds-sheet");
  const more = async () => {
    asked.beside = Math.min(MAX_BESIDE, beside + STEP);
    const wider = await api.passage(passageId, asked.collection, asked.beside);
    if (mine === shown) drawText(wider, { ...asked, scroll: false });
  };
  const parts = [];
  let reached = 0; // passages may overlap: what was shown is not shown again
  let path = null;
  for (const passage of found.passages) {
    const at = (offset) => utf16(passage.text, offset - passage.start);
    const from = at(Math.max(passage.start, Math.min(reached, passage.end)));
    const own = passage.passage_id === passageId;
    const here = passage.section_path.filter((part) => part !== found.document.title).join(" › ");
    if (here !== path && here && !/^\s*#/.test(passage.text.slice(from))) parts.push(el("p", { class: "section" }, ...line(here)));
    path = here;
    const text = passage.text.slice(from);
    const within = ([start, end]) => [Math.max(0, at(start) - from), at(end) - from];
    const mark = own && span && at(span[1]) > from ? within(span) : null;
    if (text.trim()) parts.push(el("div", { class: own ? "passage own" : "passage" }, ...drawn(text, mark, mark ? cells.map(within) : [], way, SIGNED.includes(found.document.format) ? null : [found.document.title, ...passage.section_path])));
    reached = Math.max(reached, passage.end);
  }
  if (found.has_before && beside < MAX_BESIDE) parts.unshift(moreButton("Show what stands before", more));
  if (found.has_after && beside < MAX_BESIDE) parts.push(moreButton("Show what follows", more));
  body.replaceChildren(...parts);
  if (asked.scroll !== false) scrollTo(body);
}

function drawn(text, mark, cells, way, headings) {
  const looks = way === "looks" ? marked(text, mark, cells, headings) : null;
  return looks ? [looks] : verbatim(text, mark);
}

function scrollTo(body) {
  const target = body.querySelector("#cited") ?? body.querySelector(".own");
  if (target) body.scrollTop = target.getBoundingClientRect().top - body.getBoundingClientRect().top - body.clientHeight / 4;
}

const moreButton = (text, more) => el("button", { type: "button", class: "more", onclick: more }, text);

function drawPlace(found, passage, page, path, sheet) {
  const { document: source } = found;
  const section = path.filter((part) => part !== source.title);
  const paged = pageWord(source.url);
  const facts = [
    page === null || sheet ? null : [paged[0].toUpperCase() + paged.slice(1), String(page)],
    section.length ? ["Section", el("span", {}, ...line(section.join(" › ")))] : null,
    ["File", fileOf(source)],
    sheet ? null : ["Part", `${passage.index + 1} of ${count(source.chunk_count, "passage")}`],
  ];
  const kicker = byId("panel-kicker");
  kicker.textContent = kicker.dataset.base + (page === null ? "" : ` · ${paged} ${page}`);
  byId("panel-foot").replaceChildren(
    el("dl", { class: "facts" }, ...facts.filter(Boolean).map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", {}, value)))),
  );
}

/** The name of the file, to be downloaded, or its address. */
function fileOf(source) {
  if (/^https?:/.test(source.url)) return safeLink(source.url, source.url);
  const name = fileName(source.url);
  const save = async () => {
    try {
      const link = el("a", { href: URL.createObjectURL(await api.original(source.document_id)), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    } catch (fault) {
      toast(`${fault.message} ${fault.hint ?? ""}`);
    }
  };
  return el("span", { title: source.url.replace(/^upload:/, "") }, name, " ", el("button", { type: "button", class: "link with-icon", onclick: save }, icon(ICONS.download), "Download"));
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
