// Sources that the collection of the library stays in step with: how they stand, and what can be done with them.

import * as api from "./api.js";
import { byId, count, el, icon, ICONS } from "./dom.js";
import { toast } from "./toast.js";

const WORDS = { new: "Not looked at yet", in_step: "In step", held: "Held", failed: "Failed" };

const MOST_LOOKS = 40; // at a run that was asked for here, has ended and is not written down

let collection = null;
let onSync = () => {};
const asked = new Map(); // name → the job of the run that was asked for here, and how often it was looked for in vain

/** `given` is called after a run was asked for. */
export function setUp(given) {
  onSync = given;
  byId("connect").addEventListener("submit", (event) => {
    event.preventDefault();
    connect();
  });
}

/** Show those of a collection. `running` are the ids of its jobs that go on. */
export async function show(name, running = []) {
  collection = name;
  const all = await api.sources();
  if (name !== collection) return;
  const mine = all.filter((one) => one.collection === name);
  for (const [which, run] of asked) {
    const one = all.find(({ name }) => name === which);
    if (!one || one.last_run?.job_id === run.job || (!running.includes(run.job) && (run.looks += 1) > MOST_LOOKS)) asked.delete(which);
  }
  byId("connected-count").textContent = mine.length ? count(mine.length, "source") : "no source";
  byId("connected-list").replaceChildren(...mine.map(row));
  if (mine.some((one) => one.state === "held" || one.state === "failed")) byId("shelf-sources").open = true;
}

/** Whether a run that was asked for here is not shown yet: it is written down shortly after its job has ended. */
export const waits = () => asked.size > 0;

function row(one) {
  const act = (label, path, doing) => el("button", { type: "button", class: "round small", "aria-label": `${label} ${one.name}`, title: label, onclick: doing }, icon(path));
  return el(
    "li",
    { "data-source": one.name },
    el("div", { class: "named" }, el("span", { class: "title", text: one.name }), el("span", { class: "file", title: one.url, text: one.url })),
    el("span", { class: `state ${one.state}`, text: WORDS[one.state] ?? one.state }),
    el("div", { class: "row-acts" }, act("Sync now:", ICONS.retry, () => sync(one)), act("Remove", ICONS.trash, () => remove(one))),
    el("p", { class: "hint" }, ...last(one)),
    one.held ? held(one) : "",
    one.last_run?.errors.length ? el("ul", { class: "wrong" }, ...one.last_run.errors.map((error) => el("li", { text: `${error.url.split("/").pop() || error.url}: ${error.message}` }))) : "",
  );
}

function last({ last_run: run, documents, every }) {
  const often = every ? `looked at every ${every < 3600 ? count(Math.round(every / 60), "minute") : count(Math.round(every / 3600), "hour")}` : "looked at when asked";
  if (!run) return [often];
  const at = new Date(run.ended_at);
  const said = [`${run.new} new, ${run.modified} changed, ${run.deleted} gone`, count(documents, "document"), ...(run.failed ? [count(run.failed, "error")] : []), often];
  const why = run.outcome === "failed" && run.message ? [el("span", { class: "wrong", text: run.message })] : [];
  return [el("time", { datetime: run.ended_at, text: at.toLocaleString() }), `: ${said.join(" · ")}`, ...why];
}

function held(one) {
  return el(
    "p",
    { class: "asks" },
    `${one.held.gone} of ${count(one.held.known, "document")} are gone from there and are kept. Is that meant so? `,
    el("button", { type: "button", class: "quiet danger", onclick: () => sync(one, true) }, "Take them out"),
  );
}

async function connect() {
  const url = byId("connect-url").value.trim();
  const every = byId("connect-every").value;
  await doing(async () => {
    const made = await api.addSource({ url, every, collection });
    byId("connect-url").value = "";
    await run(made.name);
    toast(`“${made.name}” is connected, and taken in now.`);
    onSync();
  });
}

async function run(name, confirm = false) {
  const { job_id: job } = await api.syncSource(name, confirm);
  asked.set(name, { job, looks: 0 });
}

const sync = (one, confirm = false) =>
  doing(async () => {
    await run(one.name, confirm);
    toast(`“${one.name}” is looked at now.`);
    onSync();
  });

const remove = (one) =>
  doing(async () => {
    await api.removeSource(one.name);
    asked.delete(one.name);
    toast(`“${one.name}” is forgotten. Its documents stay.`);
    await show(collection);
  });

async function doing(work) {
  try {
    await work();
  } catch (fault) {
    toast(`${fault.message} ${fault.hint ?? ""}`);
  }
}
