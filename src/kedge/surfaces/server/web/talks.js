// Conversations: the list, the open one with its name, and what can be done with it.

import * as api from "./api.js";
import { byId, count, el } from "./dom.js";
import { toast } from "./toast.js";

const LISTS = [["conversations", "conversations-empty"], ["conversations-narrow", "conversations-narrow-empty"]];

let all = [];
let gone = new Set(); // deleted here, with time left to undo it
let open = null; // id of the one that is shown; null: none was begun
let keeps = true;
let following = Promise.resolve(); // fulfilled when the one that the address names is drawn
let hooks = { show: () => {}, clear: () => {}, turns: () => [] };

/** `show(conversation)` draws one with its turns, `clear()` draws none, `turns()` gives those that are drawn. */
export function setUp(given) {
  hooks = given;
  for (const button of document.querySelectorAll("[data-new]")) {
    button.addEventListener("click", () => {
      byId("history-dialog").close();
      begin();
    });
  }
  byId("talk-rename").addEventListener("click", startRename);
  byId("talk-delete").addEventListener("click", remove);
  byId("talk-export").addEventListener("click", () => save());
  byId("rename").addEventListener("submit", (event) => {
    event.preventDefault();
    rename();
  });
  byId("rename-input").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    endRename();
  });
  addEventListener("hashchange", () => {
    following = follow().catch((fault) => toast(`Not shown: ${fault.message} ${fault.hint ?? ""}`));
  });
}

/** Whether the server keeps any. */
export function learn(about) {
  keeps = about.conversations;
}

/** Fetch the list, and show the one that the address names. */
export async function load() {
  if (keeps) all = await api.conversations();
  draw();
  await follow();
}

const named = () => (location.hash.startsWith("#talk-") ? decodeURIComponent(location.hash.slice("#talk-".length)) : null);

/** Show what the address names. */
async function follow() {
  const wanted = named();
  if (wanted === open) return;
  if (wanted === null) return shownNone();
  try {
    const found = await api.conversation(wanted);
    if (named() !== wanted) return;
    open = wanted;
    await hooks.show(found);
  } catch (fault) {
    if (fault.kind !== "gone") throw fault;
    history.replaceState(null, "", location.pathname);
    shownNone();
    toast("This conversation is not there any more.");
  }
  draw();
}

function shownNone() {
  open = null;
  hooks.clear();
  draw();
}

/** Leave the open one; the next question begins a new one. */
export function begin() {
  if (location.hash) history.pushState(null, "", location.pathname);
  shownNone();
  byId("question").focus();
}

/** Fulfilled when what was chosen last is drawn: a question that is asked meanwhile belongs there. */
export const shown = () => following;

/** The id of the conversation that is open; one is begun where none is. Null: the server keeps none. */
export async function current() {
  if (open !== null || !keeps) return open;
  const made = await api.beginConversation();
  open = made.conversation_id;
  history.replaceState(null, "", `#talk-${encodeURIComponent(open)}`);
  all = [made, ...all];
  return open;
}

/** A question was asked in the open one: it comes first, and has a name now. */
export function used(question) {
  const found = all.find((one) => one.conversation_id === open);
  if (!found) return draw();
  found.name ||= question;
  found.updated_at = new Date().toISOString();
  found.turn_count += 1;
  all = [found, ...all.filter((one) => one !== found)];
  draw();
}

function draw() {
  const shown = all.filter((one) => !gone.has(one.conversation_id) && (one.turn_count > 0 || one.conversation_id === open));
  const told = keeps ? "What you ask is kept here for you alone, until you delete it." : "This server keeps no conversations.";
  for (const [listId, emptyId] of LISTS) {
    byId(listId).replaceChildren(...grouped(shown));
    byId(emptyId).textContent = shown.length ? "" : told;
  }
  const here = all.find((one) => one.conversation_id === open);
  byId("talk-bar").hidden = !here;
  if (here) byId("talk-name").textContent = here.name || "New conversation";
}

/** Under the day they were used on. */
function grouped(shown) {
  const groups = new Map();
  for (const one of shown) {
    const day = dayOf(new Date(one.updated_at));
    groups.set(day, [...(groups.get(day) ?? []), one]);
  }
  return [...groups].map(([day, some]) => el("li", { class: "day" }, el("h3", { text: day }), el("ol", {}, ...some.map(item))));
}

function dayOf(date) {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86_400_000);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  return days < 7 ? "This week" : date.toLocaleDateString(undefined, { month: "long", year: "numeric" });
}

function item(one) {
  const link = el("a", { href: `#talk-${encodeURIComponent(one.conversation_id)}`, "aria-current": one.conversation_id === open ? "page" : null }, el("span", { class: "q", text: one.name || "New conversation" }), el("span", { class: "in", text: count(one.turn_count, "question") }));
  link.addEventListener("click", () => byId("history-dialog").close());
  return el("li", {}, link);
}

// ---------------------------------------------------------------- rename, delete, export

function startRename() {
  const input = byId("rename-input");
  byId("talk-name").hidden = true;
  byId("rename").hidden = false;
  input.value = byId("talk-name").textContent;
  input.focus();
  input.select();
}

function endRename() {
  byId("rename").hidden = true;
  byId("talk-name").hidden = false;
  byId("talk-rename").focus();
}

async function rename() {
  const name = byId("rename-input").value.trim();
  const here = all.find((one) => one.conversation_id === open);
  endRename();
  if (!here || !name || name === here.name) return;
  try {
    here.name = (await api.renameConversation(here.conversation_id, name)).name;
  } catch (fault) {
    toast(`Not renamed: ${fault.message}`);
  }
  draw();
}

function remove() {
  const id = open;
  const here = all.find((one) => one.conversation_id === id);
  if (!here) return;
  gone.add(id);
  begin();
  toast(`“${here.name || "New conversation"}” is deleted.`, {
    undo: () => {
      gone.delete(id);
      location.hash = `#talk-${encodeURIComponent(id)}`;
    },
    gone: () => {
      all = all.filter((one) => one.conversation_id !== id);
      gone.delete(id);
      api.deleteConversation(id, true).catch((fault) => fault.kind === "gone" || toast(`Not deleted: ${fault.message}`));
    },
  });
}

/** The open conversation as a Markdown file. */
function save() {
  const here = all.find((one) => one.conversation_id === open);
  const name = here?.name || "Conversation";
  const text = [`# ${name}`, ...hooks.turns().map((turn) => `## ${turn.question}\n\n${turn.asMarkdown()}`)].join("\n\n");
  const link = el("a", { href: URL.createObjectURL(new Blob([`${text}\n`], { type: "text/markdown" })), download: `${name.replace(/[^\p{L}\p{N} _-]+/gu, "").trim().slice(0, 60) || "conversation"}.md` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
