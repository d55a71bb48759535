// Adding sources: choose, send with progress, follow the job to its end.

import * as api from "./api.js";
import { byId, count, el } from "./dom.js";
import { withCode } from "./states.js";

const STEPS = { queued: "Waiting for its turn", chunking: "Reading", embedding: "Understanding", extracting: "Linking", complete: "Done", failed: "Failed" };
const POLL_MS = 400;
const NAME = /^[\w][\w .-]*$/u;

let about = { max_upload_bytes: Infinity, kinds: {}, collection: "default" };
let chosen = [];
let leftOut = 0; // files of folders that are nothing to read by their names
let control = null;
let added = null;
let known = [];
let tell = () => {};

/** `onAdded(collection)` is called when something went in; `onAsk(collection)` when the user wants to ask about it. */
export function setUp({ onAdded, onAsk }) {
  tell = onAdded;
  byId("files").addEventListener("change", (event) => choose([...event.target.files]));
  byId("folder").addEventListener("change", (event) => chooseWithin([...event.target.files]));
  byId("addresses").addEventListener("input", () => (byId("upload-error").textContent = ""));
  byId("upload-form").addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
  byId("upload-collection").addEventListener("input", describe);
  byId("upload-cancel").addEventListener("click", () => control?.abort());
  byId("upload-done").addEventListener("click", () => {
    byId("upload").close();
    onAsk(added);
  });
  dropping();
}

/** What the server takes. */
export function learn(facts) {
  about = facts;
  const offered = Object.entries(about.kinds).filter(([, one]) => one.label);
  const place = document.querySelector(".kinds");
  place.replaceChildren(place.firstElementChild, ...offered.map(([name, one], at) => offer(name, one, at === 0)));
  place.hidden = offered.length < 2;
  describe();
}

function offer(name, { label, help }, first) {
  const radio = el("input", { type: "radio", name: "kind", value: name, checked: first, onchange: describe });
  return el("label", { class: "kind" }, radio, el("span", {}, el("b", { text: label }), el("small", { text: help })));
}

export function open(collections, preferred) {
  known = collections;
  if (!control) {
    byId("upload-collection").value = preferred || about.collection;
    reset();
  }
  describe();
  byId("upload").showModal();
  byId("files").focus();
}

const chosenName = () => document.querySelector("[name=kind]:checked")?.value ?? "";

/** What the server says of the kind that is chosen; before it said anything, nothing is. */
const kind = () => about.kinds[chosenName()] ?? { suffixes: [], files: "Several at once", replaces: false };

function reset() {
  chosen = [];
  leftOut = 0;
  byId("files").value = "";
  byId("folder").value = "";
  byId("addresses").value = "";
  byId("upload-error").textContent = "";
  byId("upload-progress").hidden = true;
  byId("upload-faults").replaceChildren();
  byId("upload-done").hidden = true;
  byId("upload-send").hidden = false;
  list();
}

/** Two kinds do not go into one collection: only fitting names are offered. */
function describe() {
  const { suffixes, files, replaces } = kind();
  const box = byId("upload-collection");
  const fitting = known.filter((one) => one.kind === chosenName());
  byId("known-collections").replaceChildren(...fitting.map((one) => el("option", { value: one.name })));
  if (document.activeElement !== box && known.some((one) => one.name === box.value && !fitting.includes(one))) {
    box.value = fitting[0]?.name ?? (replaces ? stem() : about.collection);
  }
  byId("files").accept = suffixes.join(",");
  byId("files-note").textContent = `${files}, at most ${megabytes(about.max_upload_bytes)} together.`;
  const name = box.value.trim();
  const there = known.find((one) => one.name === name);
  byId("upload-collection-note").textContent = told(name, there, fitting.includes(there), replaces);
}

function told(name, there, fits, replaces) {
  if (!name) return "Name an existing collection or a new one.";
  if (!there) return `A new collection “${name}” will be made.`;
  if (!fits) return `“${name}” holds another kind of knowledge. Choose another name.`;
  return replaces ? `What “${name}” holds will be replaced.` : `Goes into the existing collection “${name}”.`;
}

/** A name for what takes a collection of its own, from its file. */
const stem = () => (chosen[0]?.name ?? "").replace(/\.[^.]*$/, "").replace(/[^\w .-]+/gu, " ").trim();

const megabytes = (bytes) => (!Number.isFinite(bytes) ? "…" : bytes < 1 << 20 ? `${Math.max(1, Math.round(bytes / 1024))} kB` : `${Math.round(bytes / (1 << 20))} MB`);

/** Of a folder what is read by its name, as the command line does; the others are counted. */
function chooseWithin(files) {
  const { suffixes, names = [] } = kind();
  const known = (name) => (/.\./.test(name) ? suffixes.some((suffix) => name.endsWith(suffix)) : names.includes(name));
  const hidden = (file) => pathOf(file).split("/").some((part) => part.startsWith("."));
  const taken = files.filter((file) => !hidden(file) && (!suffixes.length || known(file.name.toLowerCase())));
  choose(taken, files.length - taken.length);
}

const pathOf = (file) => file.path || file.webkitRelativePath || file.name;

function choose(files, others = 0) {
  chosen = files;
  leftOut = others;
  if (kind().replaces && !byId("upload-collection").value) byId("upload-collection").value = stem();
  byId("upload-error").textContent = "";
  byId("upload-progress").hidden = true;
  byId("upload-done").hidden = true;
  byId("upload-send").hidden = false;
  list();
  describe();
}

function list() {
  byId("chosen").replaceChildren(...chosen.slice(0, 8).map((file) => el("li", {}, el("span", { text: file.name }), el("span", { class: "hint", text: file.size ? megabytes(file.size) : "empty" }))), chosen.length > 8 ? el("li", { class: "hint", text: `and ${chosen.length - 8} more` }) : "", leftOut ? el("li", { class: "hint", text: `${count(leftOut, "file")} left out: nothing to read by ${leftOut === 1 ? "its name" : "their names"}` }) : "");
}

function dropping() {
  const zone = byId("drop");
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    const { files, folders } = await dropped(event.dataTransfer);
    (folders ? chooseWithin : choose)(files);
  });
}

/** The files that were dropped, and those of folders; and whether there are folders among them. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return { files: [...transfer.files], folders: false };
  return { files: (await Promise.all(entries.map((entry) => within(entry)))).flat(), folders: true };
}

async function within(entry) {
  if (entry.name.startsWith(".")) return [];
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))].map((file) => Object.assign(file, { path: entry.fullPath }));
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map((one) => within(one)))).flat();
}

/** Names to send files under: two of one name are told apart by their folders, because a name is all that is kept. */
function names(files) {
  const seen = new Map();
  for (const file of files) seen.set(file.name, (seen.get(file.name) ?? 0) + 1);
  return files.map((file) => {
    return seen.get(file.name) > 1 ? pathOf(file).split("/").filter(Boolean).join(" - ") : file.name;
  });
}

function fault() {
  const name = byId("upload-collection").value.trim();
  const size = chosen.reduce((sum, file) => sum + file.size, 0);
  const strange = addresses().find((one) => !/^https?:\/\/[^\s/]+/i.test(one));
  if (!chosen.length && !addresses().length) return "Choose at least one file, or give an address.";
  if (strange) return `“${strange}” is no address: it begins with https:// or with http:// and a name.`;
  if (!NAME.test(name)) return "A collection's name begins with a letter or digit and has no signs but . _ - and spaces.";
  if (size > about.max_upload_bytes) return `Together they have ${megabytes(size)}; at most ${megabytes(about.max_upload_bytes)} go at once. Add them in parts, or use the command line.`;
  return "";
}

async function start() {
  const wrong = fault();
  byId("upload-error").textContent = wrong;
  if (wrong) return;
  const collection = byId("upload-collection").value.trim();
  control = new AbortController();
  byId("upload-send").hidden = true;
  byId("upload-cancel").hidden = false;
  byId("upload-progress").hidden = false;
  byId("upload-faults").replaceChildren();
  try {
    added = await submit(collection);
    if (added) {
      byId("upload-done").hidden = false;
      byId("upload-done").focus();
    } else {
      byId("upload-send").hidden = false;
    }
  } catch (error) {
    byId("upload-progress").hidden = true;
    byId("upload-send").hidden = false;
    byId("upload-error").replaceChildren(...(error.name === "AbortError" ? ["Stopped. Nothing of it was added."] : withCode(`${error.message} ${error.hint ?? ""}`)));
  } finally {
    control = null;
    byId("upload-cancel").hidden = true;
  }
}

const addresses = () => byId("addresses").value.split(/\s+/).filter(Boolean);

function progress(words, share) {
  byId("upload-step").textContent = words;
  byId("upload-bar").value = share;
}

/** Whatever it is, it becomes a job: files one, addresses another. */
async function submit(collection) {
  let taken = null;
  if (chosen.length) {
    const form = new FormData();
    form.append("collection", collection);
    form.append("kind", chosenName());
    const called = names(chosen);
    for (const [at, file] of chosen.entries()) form.append("file", file, called[at]);
    progress("Sending …", 0);
    const sent = await api.send("/api/ingest", form, (share) => progress(`Sending … ${Math.round(100 * share)} %`, 100 * share), control.signal);
    byId("upload-cancel").hidden = true; // from here on the server works by itself
    taken = await follow(sent.job_id, collection);
  }
  if (addresses().length) {
    progress("Fetching …", 0);
    const sent = await api.takeIn({ sources: addresses(), collection, kind: chosenName() });
    byId("upload-cancel").hidden = true;
    taken = (await follow(sent.job_id, collection)) ?? taken;
  }
  return taken;
}

async function follow(jobId, collection) {
  for (;;) {
    const job = await api.job(jobId);
    const passages = job.total_passages ? `, ${job.processed_passages} of ${count(job.total_passages, ...of(job).part)}` : "";
    progress(`${STEPS[job.status] ?? job.status}${passages}`, job.progress);
    if (job.status === "complete" || job.status === "failed") return ended(job, collection);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** What the server says of the job's kind. */
const of = (job) => about.kinds[job.kind] ?? { source: ["source", "sources"], part: ["passage", "passages"] };

function ended(job, collection) {
  const faults = job.errors.map((error) => el("li", {}, el("b", { text: error.url }), ` ${error.message} `, el("span", { class: "hint" }, ...withCode(error.hint))));
  if (job.error_message && !faults.length) faults.push(el("li", { text: job.error_message }));
  const notes = job.warnings.map((warning) => el("li", { class: "hint", text: warning }));
  byId("upload-faults").replaceChildren(...faults, ...notes);
  const took = job.files_processed + job.files_skipped;
  const done = [job.files_processed ? `${count(job.files_processed, ...of(job).source)} added (${count(job.passages_created, ...of(job).part)})` : "", job.files_skipped ? `${job.files_skipped} unchanged` : "", job.files_failed ? `${job.files_failed} not readable` : ""].filter(Boolean).join(", ");
  progress(`${took ? "Done" : "Nothing was added"}: ${done || "no sources"}.`, 100);
  if (!took) return null;
  tell(collection);
  return collection;
}
