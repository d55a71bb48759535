// The key of a server that wants one: asked for when it is missed, kept for this tab alone.

import { byId } from "./dom.js";

const NAME = "kedge.key";
let kept = null;
let asking = null;

function stored() {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null; // no storage: it is kept as long as the page is open
  }
}

/** Headers that name the caller; none where no key is known. */
export function credentials() {
  kept ??= stored();
  return kept ? { authorization: `Bearer ${kept}` } : {};
}

/** Ask the person for a key; true when one was given. Several requests that miss it ask once. */
export function askForKey(why) {
  asking ??= new Promise((resolve) => {
    const dialog = byId("key");
    byId("key-why").textContent = why;
    byId("key-input").value = "";
    dialog.returnValue = "";
    dialog.addEventListener("close", () => resolve(take(dialog.returnValue)), { once: true });
    dialog.showModal();
  }).finally(() => (asking = null));
  return asking;
}

function take(returned) {
  const given = byId("key-input").value.trim();
  if (returned !== "use" || !given) return false;
  kept = given;
  try {
    sessionStorage.setItem(NAME, given);
  } catch {
    // see above
  }
  return true;
}
