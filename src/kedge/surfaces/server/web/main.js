// Wires the page: the question, the picker, conversations, keys, colours.

import * as api from "./api.js";
import { byId, count, el, nameOf } from "./dom.js";
import * as library from "./library.js";
import * as source from "./source.js";
import { beginning, faultCard } from "./states.js";
import * as store from "./store.js";
import { forgetReadings, pickReading } from "./table.js";
import * as talks from "./talks.js";
import { Turn } from "./turn.js";
import * as upload from "./upload.js";

const NAMED = 8; // documents named before the first question
const THEMES = ["auto", "light", "dark"];
const THEME_WORDS = { auto: "as the system", light: "light", dark: "dark" };

let about = { max_query_chars: 2000, max_upload_bytes: 0, collection: "default", conversations: true, kinds: {}, version: "" };
const ANY_KIND = { label: "", source: ["source", "sources"], part: ["passage", "passages"], counts_parts: false, replaces: false, opens: true }; // of a collection that is not known (any more)
let known = [];
let started = Promise.resolve(false); // whether the collections are known, as soon as they are or their fault is shown
let settled = Promise.resolve(); // fulfilled when the conversation that the address names is drawn
let waiting = false; // a question was sent and waits for both
let running = null;
let turns = []; // of the open conversation, as they are drawn
let limits = { collection: null, documents: new Map() }; // which documents alone are asked
let recalled = 0; // how far back ↑ has gone
const visit = `page-${[...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`; // the session, where no conversation is kept

// ---------------------------------------------------------------- asking

/** Ask at the end of the conversation, or again in the place of a turn. */
async function ask({ question, collection, filter = {}, reading = null, again = null }) {
  running?.abort();
  const control = new AbortController();
  running = control;
  source.isOpen() && source.close();
  forgetReadings();
  const turn = place({ question, collection, filter }, again);
  byId("live").textContent = "Looking for evidence.";
  working(true);
  turn.node.dataset.asked = String(performance.now());
  turn.node.scrollIntoView({ block: "start" });
  try {
    const conversation = await talks.current();
    if (control.signal.aborted) throw new DOMException("stopped", "AbortError");
    if (!again) talks.used(question);
    const body = { query: question, collection, filter, ...(reading ? { reading } : {}), ...(conversation ? {} : { session_id: visit }), ...(conversation && again?.turnId ? { replaces: again.turnId } : {}) };
    await api.ask(body, { conversation, onEvent: (event) => turn.take(event), onTurn: (id) => (turn.turnId = id), signal: control.signal });
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

/** A turn, drawn at the end or in the place of another. */
function place({ question, collection, filter }, instead = null) {
  const turn = new Turn({ question, collection, filter }, kindOf(known.find((one) => one.name === collection)), {
    ask: (more) => ask({ question, collection, filter, again: turn, ...more }),
    other: (text) => ask({ question: text, collection, filter }),
    upload: openUpload,
    reload: showCollections,
  });
  if (instead && turns.includes(instead)) {
    turns[turns.indexOf(instead)] = turn;
    instead.node.replaceWith(turn.node);
  } else {
    turns.push(turn);
    byId("turns").append(turn.node);
  }
  begun(true);
  return turn;
}

/** Whether anything was asked here: the question moves to the end then. */
function begun(on) {
  document.body.classList.toggle("begun", on);
  byId("intro").classList.toggle("hidden", on); // its heading stays the page's
  recalled = 0;
  if (on) byId("holds").hidden = true;
  else showHolds();
}

/** Draw a conversation that was kept. */
async function showTalk(found) {
  clearTalk();
  for (const kept of found.turns) place(kept).restore(kept);
  const last = found.turns.at(-1);
  if (last && known.some((one) => one.name === last.collection)) byId("collection").value = last.collection;
  document.title = `${found.name || "Conversation"} – Kedge`;
  turns.at(-1)?.node.scrollIntoView({ block: "start" });
}

function clearTalk() {
  running?.abort();
  source.isOpen() && source.close();
  forgetReadings();
  turns = [];
  byId("turns").replaceChildren();
  document.title = "Kedge";
  begun(false);
}

function working(on) {
  const focused = document.activeElement === byId(on ? "send" : "stop");
  byId("send").hidden = on;
  byId("stop").hidden = !on;
  if (focused) byId(on ? "stop" : "send").focus();
}

async function submit() {
  if (waiting) return;
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
  waiting = true; // a quick question comes before it is known what there is to ask, and in which conversation
  const ready = await whenStarted();
  await settled;
  await talks.shown();
  waiting = false;
  if (!ready) return;
  if (box.value.trim() === question) box.value = "";
  grow();
  document.title = `${question.slice(0, 60)} – Kedge`;
  ask({ question, collection: byId("collection").value, filter: limited() });
}

/** Put an earlier question of the conversation into the box, where it is empty or holds one of them. */
function recall(by) {
  const box = byId("question");
  const earlier = turns.map((turn) => turn.question);
  const at = recalled + by;
  if (at < 0 || at > earlier.length || box.value !== (recalled ? earlier.at(-recalled) : "")) return false;
  recalled = at;
  box.value = at ? earlier.at(-at) : "";
  grow();
  return true;
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
    byId("notice").replaceChildren(faultCard(fault, [["Try again", startAgain]]));
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
  if (!known.some((one) => one.name === limits.collection)) limits = { collection: null, documents: new Map() };
  drawScope();
  showHolds();
  return true;
}

/** What the server says of a collection's kind. */
const kindOf = (collection) => about.kinds[collection?.kind] ?? ANY_KIND;

const asked = () => document.body.classList.contains("begun");

/** Before the first question: what there is to ask about. */
async function showHolds() {
  const place = byId("holds");
  const collection = known.find((one) => one.name === byId("collection").value);
  place.hidden = true;
  if (asked() || !collection?.documents || kindOf(collection).counts_parts) return;
  const found = await api.documents(collection.name, NAMED).catch(() => []);
  if (asked() || byId("collection").value !== collection.name || !found.length) return;
  const rest = collection.documents - found.length;
  const titles = [...new Set(found.map(nameOf))].flatMap((name, at) => [at ? ", " : "", el("b", { text: name })]);
  place.replaceChildren("Here are ", ...titles, rest > 0 ? ` and ${rest} more.` : ".");
  place.hidden = false;
}

function showCollections() {
  loadCollections().then(() => byId("collection").focus());
}

async function openUpload(collection) {
  if (!(await whenStarted())) return;
  upload.open(known, typeof collection === "string" ? collection : byId("collection").value);
}

// ---------------------------------------------------------------- which documents

/** What a question is limited to. */
const limited = () => (limits.documents.size ? { document_id: [...limits.documents.keys()] } : {});

function limitTo(collection, documents) {
  limits = { collection, documents };
  if (collection && byId("collection").value !== collection) byId("collection").value = collection;
  drawScope();
  byId("question").focus();
}

function drawScope() {
  const some = limits.documents.size;
  const collection = known.find((one) => one.name === byId("collection").value);
  const button = byId("scope");
  button.hidden = !collection || kindOf(collection).counts_parts;
  button.classList.toggle("some", some > 0);
  button.textContent = some === 1 ? [...limits.documents.values()][0] : some ? `${count(some, "document")} chosen` : "All documents";
  button.title = some ? [...limits.documents.values()].slice(0, 12).join("\n") : "Choose which documents a question may use";
  byId("scope-clear").hidden = some === 0;
}

async function openLibrary() {
  if (!(await whenStarted())) return;
  const collection = byId("collection").value || known[0]?.name;
  if (!collection) return openUpload();
  library.open(collection, limits.collection === collection ? limits.documents : null);
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

/** The next or previous source of the last answer. */
function step(by) {
  const chips = [...(turns.at(-1)?.node.querySelectorAll(".chip") ?? [])];
  if (!chips.length) return;
  const at = chips.findIndex((chip) => chip.getAttribute("aria-current") === "source");
  chips[at < 0 ? (by > 0 ? 0 : chips.length - 1) : (at + by + chips.length) % chips.length].click();
}

const KEYS = {
  "/": () => byId("question").focus(),
  c: () => talks.begin(),
  n: () => step(1),
  p: () => step(-1),
  l: openLibrary,
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
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      if (recall(event.key === "ArrowUp" ? 1 : -1)) event.preventDefault();
    }
  });
  byId("question").addEventListener("input", grow);
  byId("stop").addEventListener("click", () => running?.abort());
  byId("collection").addEventListener("change", (event) => {
    store.remember("collection", event.target.value);
    if (event.target.value !== limits.collection) limits = { collection: null, documents: new Map() };
    drawScope();
    showHolds();
  });
  byId("open-history").addEventListener("click", () => byId("history-dialog").showModal());
  byId("open-library").addEventListener("click", openLibrary);
  byId("scope").addEventListener("click", openLibrary);
  byId("scope-clear").addEventListener("click", () => limitTo(null, new Map()));
  byId("open-upload").addEventListener("click", openUpload);
  byId("open-help").addEventListener("click", () => byId("help").showModal());
  byId("theme").addEventListener("click", nextTheme);
  byId("single-keys").checked = store.recall("keys", true);
  byId("single-keys").addEventListener("change", (event) => store.remember("keys", event.target.checked));
  for (const button of document.querySelectorAll("dialog [data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
  for (const dialog of document.querySelectorAll("dialog.modal")) {
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => dialog.contains(byId("toasts")) && document.body.append(byId("toasts")));
  }
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
  library.setUp({ collections: () => known, kindOf, onChange: () => loadCollections(), onAdd: openUpload, onScope: limitTo });
  talks.setUp({ show: showTalk, clear: clearTalk, turns: () => turns });
}

function startAgain() {
  started = start();
}

/** Whether the collections are known: a quick click comes before, and one after a fault begins once more. */
async function whenStarted() {
  if (await started) return true;
  startAgain();
  return started;
}

/** Learn what there is. False: it could not be learned, and the page says so. */
async function start() {
  try {
    about = await api.about();
  } catch (fault) {
    byId("notice").replaceChildren(faultCard(fault, [["Try again", startAgain]]));
    return false;
  }
  byId("about").textContent = `Kedge ${about.version}. ${about.conversations ? "Conversations are kept on the server, for you alone, until you delete them." : "This server keeps no conversations."}`;
  upload.learn(about);
  talks.learn(about);
  if (!(await loadCollections())) return false;
  if (document.activeElement === document.body) byId("question").focus({ preventScroll: true }); // nobody is elsewhere already
  settled = showTalks();
  return true;
}

async function showTalks() {
  try {
    await talks.load();
  } catch (fault) {
    byId("notice").replaceChildren(faultCard(fault, [["Try again", startAgain]]));
  }
}

wire();
startAgain();
