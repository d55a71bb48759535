// What this browser remembers: theme, collection, keys. Nothing of it leaves the browser.

const PREFIX = "kedge.";

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
