// The library: collections, their documents with what is known of them, and which of them a question may use.

import * as api from "./api.js";
import * as connected from "./connected.js";
import { byId, count, el, fileName, icon, ICONS, nameOf } from "./dom.js";
import { withCode } from "./states.js";
import { toast } from "./toast.js";

const PAGE = 200; // documents that are fetched at once
const MOST_CHOSEN = 500;
const POLL_MS = 1500;
const STATES = { pending: "Waiting", chunking: "Reading", embedding: "Understanding", extracting: "Linking", active: "Ready", failed: "Failed", archived: "Deleted" };
const DONE = ["complete", "failed"];

let hooks = { collections: () => [], kindOf: () => ({}), onChange: () => {}, onAdd: () => {}, onScope: () => {} };
let shelf = null; // name of the collection that is shown
let documents = [];
let whole = true; // whether all that were asked for are shown
let gone = new Set(); // deleted here, with time left to undo it
let chosen = new Map(); // id → name, within `of`
let of = null;
let drawn = 0;
let polling = 0;

/** `collections()` and `kindOf(collection)` tell what there is; the others are told what happened. */
export function setUp(given) {
  hooks = given;
  byId("shelf-search").addEventListener("input", () => fetchSoon());
  byId("shelf-state").addEventListener("change", () => load());
  byId("shelf-add").addEventListener("click", () => {
    byId("library").close();
    hooks.onAdd(shelf);
  });
  byId("shelf-delete").addEventListener("click", deleteCollection);
  byId("shelf-none").addEventListener("click", () => {
    chosen = new Map();
    drawList();
    drawChosen();
  });
  byId("shelf-ask").addEventListener("click", () => {
    byId("library").close();
    hooks.onScope(of, new Map(chosen));
  });
  byId("library").addEventListener("close", () => clearTimeout(polling));
  connected.setUp(() => load());
}

/** Open it at a collection, with those chosen that questions are limited to. */
export function open(collection, limits) {
  if (of !== collection || limits) [of, chosen] = [collection, new Map(limits ?? [])];
  byId("library").showModal();
  byId("shelf-search").value = "";
  byId("shelf-state").value = "";
  choose(collection);
}

function choose(name) {
  shelf = name;
  if (of !== name) [of, chosen] = [name, new Map()];
  drawShelves();
  drawChosen();
  load();
}

function drawShelves() {
  const all = hooks.collections().filter((one) => !gone.has(`collection ${one.name}`));
  byId("shelf-collections").replaceChildren(
    ...all.map((one) => {
      const kind = hooks.kindOf(one);
      const held = kind.counts_parts ? count(one.passages, ...kind.part) : count(one.documents, ...kind.source);
      return el("li", {}, el("button", { type: "button", "aria-pressed": String(one.name === shelf), onclick: () => choose(one.name) }, el("span", { class: "q", text: one.name }), el("span", { class: "in", text: held })));
    }),
  );
  byId("shelf-name").textContent = shelf ?? "";
}

let typing = 0;
function fetchSoon() {
  clearTimeout(typing);
  typing = setTimeout(() => load(), 150);
}

/** Fetch what is asked for, from the beginning or on from where it ended. */
async function load(on = false) {
  const mine = (drawn += 1);
  clearTimeout(polling);
  const [search, status] = [byId("shelf-search").value.trim(), byId("shelf-state").value];
  try {
    const jobs = await fetchJobs(); // before what they change: what ends meanwhile is told by the next look
    const found = await api.documents(shelf, PAGE, { offset: on ? documents.length : 0, ...(search ? { search } : {}), ...(status ? { status } : {}) });
    if (mine !== drawn) return;
    documents = on ? [...documents, ...found] : found;
    whole = found.length < PAGE;
    drawList();
    await connected.show(shelf, jobs.filter((job) => !DONE.includes(job.status)).map((job) => job.job_id));
    watch(mine, jobs);
  } catch (fault) {
    if (mine === drawn) byId("shelf-list").replaceChildren(el("p", { class: "empty" }, ...withCode(`${fault.message} ${fault.hint ?? ""} `), el("button", { type: "button", class: "link", onclick: () => load() }, "Try again")));
  }
}

// ---------------------------------------------------------------- documents

function drawList() {
  const shown = documents.filter((one) => !gone.has(one.document_id));
  const collection = hooks.collections().find((one) => one.name === shelf);
  const failed = shown.filter((one) => one.status === "failed").length;
  byId("shelf-count").textContent = shown.length ? `${count(shown.length, "document")}${whole ? "" : ` of ${collection?.documents ?? "more"}`}${failed ? `, ${failed} failed` : ""}` : "";
  if (!shown.length) {
    const kind = collection ? hooks.kindOf(collection) : {};
    const why = byId("shelf-search").value || byId("shelf-state").value ? "No document is like that." : kind.counts_parts ? `This collection holds ${count(collection.passages, ...kind.part)}; they are not documents.` : "Nothing is here yet.";
    byId("shelf-list").replaceChildren(el("p", { class: "empty", text: why }));
    return;
  }
  const all = el("input", { type: "checkbox", "aria-label": "Choose all that are shown", checked: shown.every((one) => chosen.has(one.document_id)), onchange: (event) => pick(shown, event.target.checked) });
  const head = el("tr", {}, el("th", {}, all), ...["Document", "Kind", "Size", "Taken in", "State"].map((name) => el("th", { scope: "col", text: name })), el("th", {}, el("span", { class: "hidden", text: "What can be done" })));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...shown.map(row)));
  byId("shelf-list").replaceChildren(table, whole ? "" : el("button", { type: "button", class: "more", onclick: () => load(true) }, "Show more"));
}

function row(one) {
  const name = nameOf(one);
  const file = one.url.replace(/^upload:/, "");
  const box = el("input", { type: "checkbox", "aria-label": `Choose ${name}`, checked: chosen.has(one.document_id), onchange: (event) => pick([one], event.target.checked) });
  const state = el("span", { class: `state ${one.status}`, text: STATES[one.status] ?? one.status });
  const act = (label, path, doing) => el("button", { type: "button", class: "round small", "aria-label": `${label} ${name}`, title: label, onclick: doing }, icon(path));
  return el(
    "tr",
    { class: chosen.has(one.document_id) ? "chosen-row" : null },
    el("td", {}, box),
    el("td", { class: "named" }, el("span", { class: "title", text: name }), el("span", { class: "file", title: file, text: fileName(one.url) }), one.error_message ? el("span", { class: "wrong", text: one.error_message }) : ""),
    el("td", { "data-name": "Kind", text: one.format }),
    el("td", { "data-name": "Size", class: "number", text: size(one) }),
    el("td", { "data-name": "Taken in" }, when(one.ingested_at ?? one.created_at)),
    el("td", { "data-name": "State" }, state),
    el("td", { class: "row-acts" }, act("Take in again:", ICONS.retry, () => again(one)), act("Delete", ICONS.trash, () => remove(one))),
  );
}

const size = ({ file_size: bytes, chunk_count: parts }) => [bytes === null || bytes === undefined ? "" : bytes < 1 << 10 ? `${bytes} B` : bytes < 1 << 20 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / (1 << 20)).toFixed(1)} MB`, parts ? count(parts, "passage") : ""].filter(Boolean).join(" · ");

function when(said) {
  if (!said) return "";
  const date = new Date(said);
  return el("time", { datetime: said, title: date.toLocaleString(), text: date.toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" }) });
}

function pick(some, on) {
  for (const one of some) {
    if (!on) chosen.delete(one.document_id);
    else if (chosen.size < MOST_CHOSEN) chosen.set(one.document_id, one.identity || one.title);
  }
  drawList();
  drawChosen();
}

function drawChosen() {
  byId("shelf-chosen").textContent = chosen.size ? `${count(chosen.size, "document")} chosen` : "Choose documents to ask them alone.";
  byId("shelf-none").hidden = chosen.size === 0;
  byId("shelf-ask").disabled = chosen.size === 0;
}

async function again(one) {
  try {
    await api.ingestAgain(one.document_id);
    toast(`“${one.title}” is read again.`);
    load();
  } catch (fault) {
    toast(`${fault.message} ${fault.hint ?? ""}`);
  }
}

function remove(one) {
  const id = one.document_id;
  gone.add(id);
  chosen.delete(id);
  drawList();
  drawChosen();
  toast(`“${one.title}” is deleted.`, {
    undo: () => {
      gone.delete(id);
      drawList();
    },
    gone: () =>
      api.deleteDocument(id, true).then(
        () => hooks.onChange(),
        (fault) => {
          gone.delete(id);
          if (fault.kind !== "gone") toast(`Not deleted: ${fault.message}`);
        },
      ),
  });
}

function deleteCollection() {
  const name = shelf;
  const mark = `collection ${name}`;
  gone.add(mark);
  const other = hooks.collections().find((one) => one.name !== name && !gone.has(`collection ${one.name}`));
  if (other) choose(other.name);
  else byId("library").close();
  toast(`The collection “${name}” is deleted with everything in it.`, {
    undo: () => {
      gone.delete(mark);
      if (byId("library").open) choose(name);
    },
    gone: () =>
      api.deleteCollection(name, true).then(
        () => hooks.onChange(),
        (fault) => toast(`Not deleted: ${fault.message}`),
      ).finally(() => gone.delete(mark)),
  });
}

// ---------------------------------------------------------------- jobs

const fetchJobs = async () => (await api.jobs(20)).filter((job) => job.collection === shelf);

/** Show what is being taken in here, and look again until it has ended. */
function watch(mine, jobs) {
  if (mine !== drawn || !byId("library").open) return;
  const running = jobs.filter((job) => !DONE.includes(job.status));
  const failed = jobs.slice(0, 1).filter((job) => job.status === "failed" || job.errors.length);
  byId("shelf-jobs").replaceChildren(...running.map(working), ...(running.length ? [] : failed.map(faulty)));
  if (running.length || connected.waits()) polling = setTimeout(() => look(mine, running).catch(() => {}), POLL_MS);
}

/** One more look; the documents anew if something that ran has ended. */
async function look(mine, before) {
  const jobs = await fetchJobs();
  const runs = new Set(jobs.filter((job) => !DONE.includes(job.status)).map((job) => job.job_id));
  if (before.some((job) => !runs.has(job.job_id))) hooks.onChange();
  else if (!connected.waits()) return watch(mine, jobs);
  if (mine === drawn) load();
}

function working(job) {
  const words = STATES[job.status] ?? (job.status === "queued" ? "Waiting for its turn" : job.status);
  const passages = job.total_passages ? `, ${job.processed_passages} of ${count(job.total_passages, "passage")}` : "";
  return el("li", {}, el("span", { text: `${words}${passages}` }), el("progress", { max: 100, value: job.progress, "aria-label": words }));
}

function faulty(job) {
  const faults = job.errors.length ? job.errors.map((error) => `${error.url.split(/[\\/]/).pop()}: ${error.message}`) : [job.error_message ?? "It failed."];
  return el("li", { class: "faults" }, el("details", {}, el("summary", { text: `${count(faults.length, "source")} could not be taken in last time` }), el("ul", {}, ...faults.slice(0, 20).map((text) => el("li", { text })))));
}
