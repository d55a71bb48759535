// What this browser remembers: theme, collection, keys, history. Nothing of it leaves the browser.

const PREFIX = "kedge.";
const MAX_HISTORY = 100;

export function recall(key, otherwise) {
  try {
    const kept = localStorage.getItem(PREFIX + key);
    return kept === null ? otherwise : JSON.parse(kept);
  } catch {
    return otherwise; // no storage, or not ours
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // full or forbidden: the page works without
  }
}

/** The theme is kept as a bare word, because theme.js reads it before anything else. */
export function rememberTheme(theme) {
  try {
    if (theme === "auto") localStorage.removeItem(`${PREFIX}theme`);
    else localStorage.setItem(`${PREFIX}theme`, theme);
  } catch {
    // see above
  }
}

export function history() {
  const kept = recall("history", []);
  return Array.isArray(kept) ? kept.filter((item) => typeof item?.question === "string") : [];
}

/** Newest first; asking the same again moves it to the front. */
export function addToHistory(question, collection) {
  const others = history().filter((item) => item.question !== question || item.collection !== collection);
  remember("history", [{ question, collection, at: Date.now() }, ...others].slice(0, MAX_HISTORY));
}

export function clearHistory() {
  remember("history", []);
}
