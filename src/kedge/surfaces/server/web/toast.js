// A line at the bottom that goes by itself, with one thing that can be done meanwhile.

import { byId, el } from "./dom.js";

const SECONDS = 8;

/** Say something; `undo`, if it is given, can be done until the line goes, and `gone` is called then if it was not. */
export function toast(text, { undo = null, gone = () => {} } = {}) {
  let open = true;
  const end = (undone) => {
    if (!open) return;
    open = false;
    clearTimeout(timer);
    removeEventListener("pagehide", leave);
    node.remove();
    if (undone) undo();
    else gone();
  };
  const leave = () => end(false);
  const node = el("div", { class: "toast" }, el("span", { text }), undo ? el("button", { type: "button", class: "link", onclick: () => end(true) }, "Undo") : "");
  const timer = setTimeout(leave, SECONDS * 1000);
  addEventListener("pagehide", leave); // what was promised is done, also when the page is closed before
  const modal = [...document.querySelectorAll("dialog:modal")].at(-1);
  (modal ?? document.body).append(byId("toasts")); // outside of a modal dialog nothing can be clicked
  byId("toasts").append(node);
}
