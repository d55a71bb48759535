// Formulas. KaTeX is part of the page and is fetched from it when the first formula is met, and not before.

import { el } from "./dom.js";

let loading = null;

/** A node for a formula: its source first, the formula as soon as KaTeX is there. */
export function math(formula, { display = false, source = formula }) {
  const bare = formula.replace(/[\ue000-\ue003]/g, "").trim();
  const node = el("span", { class: "formula" }, source);
  katex()
    .then((ready) => {
      const made = el("span");
      ready.render(bare, made, { displayMode: display, throwOnError: true, strict: false, trust: false, maxExpand: 200, maxSize: 30 });
      const signs = [...node.textContent.matchAll(/[\ue000-\ue003]/g)].length > 0;
      if (!signs) node.replaceChildren(made);
    })
    .catch(() => node.classList.add("raw")); // no formula after all: its source stays
  return node;
}

async function load() {
  document.head.append(el("link", { rel: "stylesheet", href: "/rag/katex/katex.min.css" }));
  await import("./katex/katex.min.js");
  return window.katex;
}

const katex = () => (loading ??= load());
