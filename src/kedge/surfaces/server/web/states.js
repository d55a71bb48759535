// What is shown when there is no answer: nothing to ask yet, or something went wrong.

import { el, icon, ICONS } from "./dom.js";

const TITLES = {
  offline: "No connection",
  limited: "Too many questions at once",
  gone: "This collection is not there any more",
  query: "This question cannot be asked",
  server: "Something went wrong in the server",
  other: "This did not work",
};

/** A card that says what happened and what to do. `actions` are [label, function]. */
export function faultCard(fault, actions = []) {
  return el(
    "div",
    { class: "fault", role: "alert" },
    el("h3", { text: TITLES[fault.kind] ?? TITLES.other }),
    el("p", {}, ...withCode(fault.message)),
    fault.hint ? el("p", { class: "hint" }, ...withCode(fault.hint)) : "",
    actions.length ? el("p", { class: "actions" }, ...actions.map(([label, act]) => el("button", { type: "button", class: "secondary", onclick: act }, label))) : "",
  );
}

/** Text whose `commands` are set as such. */
export function withCode(text) {
  return String(text).split("`").map((part, at) => (at % 2 ? el("code", { text: part }) : part));
}

/** First visit: two ways to begin. */
export function beginning(onUpload) {
  const command = "kedge ingest docs/";
  return [
    el("h2", { id: "begin-title", text: "Nothing to ask yet" }),
    el("p", { class: "lead", text: "Give Kedge something to read, then ask. There are two ways." }),
    el(
      "div",
      { class: "ways" },
      el("div", { class: "way" }, el("h3", { text: "Here" }), el("p", { text: "Drop in your files and watch them being read." }), el("button", { type: "button", class: "primary", onclick: onUpload }, "Add sources")),
      el("div", { class: "way" }, el("h3", { text: "On the command line" }), el("p", { text: "Take in a whole folder, and again whenever it has changed. This server goes on meanwhile; reload the page then." }), commandLine(command)),
    ),
  ];
}

function commandLine(command) {
  const said = el("span", { class: "hidden", role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      said.textContent = "Copied.";
    } catch {
      said.textContent = "It could not be copied: select the text instead.";
    }
  };
  return el("div", { class: "command" }, el("code", { text: command }), el("button", { type: "button", class: "round", "aria-label": "Copy the command", onclick: copy }, icon(ICONS.copy)), said);
}
