// Wires the page: the question, the picker, history, keys, colours.

import * as api from "./api.js";
import { byId, count, el } from "./dom.js";
import * as source from "./source.js";
import { beginning, faultCard } from "./states.js";
import * as store from "./store.js";
import { forgetReadings, pickReading } from "./table.js";
import { Turn } from "./turn.js";
import * as upload from "./upload.js";

const NAMED = 8; // documents named before the first question
const THEMES = ["auto", "light", "dark"];
const THEME_WORDS = { auto: "as the system", light: "light", dark: "dark" };

let about = { max_query_chars: 2000, max_upload_bytes: 0, collection: "default", kinds: {}, version: "" };
const ANY_KIND = { label: "", source: ["source", "sources"], part: ["passage", "passages"], counts_parts: false, replaces: false, opens: true }; // of a collection that is not known (any more)
let known = [];
let running = null;
const talk = `page-${[...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`; // one visit is one conversation

// ---------------------------------------------------------------- asking

async function ask(question, collection, reading = null) {
  running?.abort();
  const control = new AbortController();
  running = control;
  source.isOpen() && source.close();
  forgetReadings();
  store.addToHistory(question, collection);
  drawHistory();
  const again = () => ask(question, collection, reading);
  const pick = (number) => ask(question, collection, number);
  const turn = new Turn(question, collection, kindOf(known.find((one) => one.name === collection)), { retry: again, upload: openUpload, reload: showCollections, pick });
  byId("intro").classList.add("hidden"); // its heading stays the page's
  byId("holds").hidden = true;
  byId("turns").prepend(turn.node);
  byId("live").textContent = "Looking for evidence.";
  document.title = `${question.slice(0, 60)} – Kedge`;
  working(true);
  turn.node.dataset.asked = String(performance.now());
  try {
    await api.ask({ query: question, collection, session_id: talk, ...(reading ? { reading } : {}) }, (event) => turn.take(event), control.signal);
    turn.finish();
  } catch (fault) {
    if (fault.name === "AbortError") {
      turn.stopped();
    } else if (fault instanceof api.Fault) {
      turn.fail(fault);
      if (fault.kind === "gone") loadCollections();
    } else {
      turn.fail(new api.Fault("other", "The answer could not be shown.", "Reload the page and ask again."));
      throw fault;
    }
  } finally {
    if (running === control) {
      running = null;
      working(false);
    }
  }
}

function working(on) {
  const focused = document.activeElement === byId(on ? "send" : "stop");
  byId("send").hidden = on;
  byId("stop").hidden = !on;
  if (focused) byId(on ? "stop" : "send").focus();
}

function submit() {
  const box = byId("question");
  const question = box.value.trim();
  if (!question) {
    note("Type a question first.", true);
    box.focus();
    return;
  }
  if (tooLong()) {
    box.focus();
    return;
  }
  box.value = "";
  grow();
  ask(question, byId("collection").value);
}

/** Characters as the server counts them. */
const length = (text) => [...text].length;

function tooLong() {
  const used = length(byId("question").value.trim());
  const over = used - about.max_query_chars;
  if (over > 0) note(`Too long by ${count(over, "character")}: at most ${about.max_query_chars}.`, true);
  else note(used > about.max_query_chars * 0.8 ? `${used} of ${about.max_query_chars} characters` : "");
  return over > 0;
}

function note(text, wrong = false) {
  const place = byId("question-note");
  place.textContent = text;
  place.classList.toggle("wrong", wrong);
  byId("question").setAttribute("aria-invalid", String(wrong));
}

function grow() {
  const box = byId("question");
  box.style.blockSize = "auto";
  box.style.blockSize = `${Math.min(box.scrollHeight, 280)}px`;
  tooLong();
}

// ---------------------------------------------------------------- collections

async function loadCollections(wanted) {
  try {
    known = await api.collections();
    byId("notice").replaceChildren();
  } catch (fault) {
    byId("notice").replaceChildren(faultCard(fault, [["Try again", () => start()]]));
    return false;
  }
  const pick = byId("collection");
  const chosen = [wanted, pick.value, store.recall("collection", ""), about.collection].find((name) => known.some((one) => one.name === name));
  const held = (one) => (kindOf(one).counts_parts ? count(one.passages, ...kindOf(one).part) : count(one.documents, ...kindOf(one).source));
  pick.replaceChildren(...known.map((one) => el("option", { value: one.name, selected: one.name === chosen }, `${one.name} · ${held(one)}`)));
  const empty = known.length === 0;
  byId("begin").hidden = !empty;
  byId("begin").replaceChildren(...(empty ? beginning(openUpload) : []));
  byId("ask").hidden = empty;
  showHolds();
  return true;
}

/** What the server says of a collection's kind. */
const kindOf = (collection) => about.kinds[collection?.kind] ?? ANY_KIND;

const asked = () => byId("intro").classList.contains("hidden");

/** Before the first question: what there is to ask about. */
async function showHolds() {
  const place = byId("holds");
  const collection = known.find((one) => one.name === byId("collection").value);
  place.hidden = true;
  if (asked() || !collection?.documents || kindOf(collection).counts_parts) return;
  const found = await api.documents(collection.name, NAMED).catch(() => []);
  if (asked() || byId("collection").value !== collection.name || !found.length) return;
  const rest = collection.documents - found.length;
  const titles = found.flatMap((one, at) => [at ? ", " : "", el("b", { text: one.identity || one.title })]);
  place.replaceChildren("Here are ", ...titles, rest > 0 ? ` and ${rest} more.` : ".");
  place.hidden = false;
}

function showCollections() {
  loadCollections().then(() => byId("collection").focus());
}

function openUpload() {
  upload.open(known, byId("collection").value);
}

// ---------------------------------------------------------------- history

function drawHistory() {
  const items = store.history();
  for (const [listId, emptyId, clearId] of [["history", "history-empty", "clear-history"], ["history-narrow", "history-narrow-empty", "clear-history-narrow"]]) {
    byId(listId).replaceChildren(...items.map(historyItem));
    byId(emptyId).hidden = items.length > 0;
    byId(clearId).hidden = items.length === 0;
  }
}

function historyItem({ question, collection }) {
  const there = () => {
    byId("history-dialog").close();
    const pick = byId("collection");
    if (known.some((one) => one.name === collection)) pick.value = collection;
    ask(question, collection || pick.value);
    byId("question").focus();
  };
  return el("li", {}, el("button", { type: "button", onclick: there }, el("span", { class: "q", text: question }), el("span", { class: "in", text: collection })));
}

function clear() {
  store.clearHistory();
  drawHistory();
  byId("question").focus();
}

// ---------------------------------------------------------------- colours, keys, dialogs

function showTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const text = `Colours: ${THEME_WORDS[theme]}`;
  byId("theme").setAttribute("aria-label", text);
  byId("theme").title = text;
}

function nextTheme() {
  const now = document.documentElement.dataset.theme ?? "auto";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  store.rememberTheme(next);
  showTheme(next);
}

/** The next or previous source of the newest answer. */
function step(by) {
  const chips = [...(document.querySelector(".turn")?.querySelectorAll(".chip") ?? [])];
  if (!chips.length) return;
  const at = chips.findIndex((chip) => chip.getAttribute("aria-current") === "source");
  chips[at < 0 ? (by > 0 ? 0 : chips.length - 1) : (at + by + chips.length) % chips.length].click();
}

const KEYS = {
  "/": () => byId("question").focus(),
  n: () => step(1),
  p: () => step(-1),
  u: openUpload,
  "?": () => byId("help").showModal(),
};

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const modal = document.querySelector("dialog:modal");
  if (event.key === "Escape" && !modal) {
    if (running) running.abort();
    else if (source.isOpen()) source.close();
    return;
  }
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (typing || modal || !byId("single-keys").checked) return;
  if (/^[1-9]$/.test(event.key) && pickReading(Number(event.key))) return event.preventDefault();
  if (!(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function wire() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  byId("question").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  });
  byId("question").addEventListener("input", grow);
  byId("stop").addEventListener("click", () => running?.abort());
  byId("collection").addEventListener("change", (event) => {
    store.remember("collection", event.target.value);
    showHolds();
  });
  byId("clear-history").addEventListener("click", clear);
  byId("clear-history-narrow").addEventListener("click", () => {
    byId("history-dialog").close();
    clear();
  });
  byId("open-history").addEventListener("click", () => byId("history-dialog").showModal());
  byId("open-upload").addEventListener("click", openUpload);
  byId("open-help").addEventListener("click", () => byId("help").showModal());
  byId("theme").addEventListener("click", nextTheme);
  byId("single-keys").checked = store.recall("keys", true);
  byId("single-keys").addEventListener("change", (event) => store.remember("keys", event.target.checked));
  for (const button of document.querySelectorAll("dialog [data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
  for (const dialog of document.querySelectorAll("dialog.modal")) dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.addEventListener("keydown", onKey);
  showTheme(document.documentElement.dataset.theme ?? "auto");
  source.setUp();
  upload.setUp({
    onAdded: (collection) => loadCollections(collection),
    onAsk: (collection) => {
      if (known.some((one) => one.name === collection)) byId("collection").value = collection;
      byId("question").focus();
    },
  });
  drawHistory();
}

async function start() {
  try {
    about = await api.about();
  } catch (fault) {
    byId("notice").replaceChildren(faultCard(fault, [["Try again", () => start()]]));
    return;
  }
  byId("about").textContent = `Kedge ${about.version}. Questions are kept on the server as hashes only.`;
  upload.learn(about);
  if (await loadCollections()) byId("question").focus({ preventScroll: true });
}

wire();
start();
