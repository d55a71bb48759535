// One question and its answer, from the first moment to the feedback.

import * as api from "./api.js";
import { byId, count, el, icon, ICONS, markName, pageWord } from "./dom.js";
import { fromEvidence, fromPaths, graphFigure } from "./graph.js";
import { asMarkdown, asText } from "./copy.js";
import { line, prose } from "./prose.js";
import { openFacts, openPassage } from "./source.js";
import { faultCard, withCode } from "./states.js";
import { tableParts, tableText } from "./table.js";

const WORDS = {
  high: "Well supported",
  medium: "Supported",
  low: "Thinly supported: read the sources",
  insufficient: "Not enough evidence",
};
const STAGES = { searching: "Searching …", reading: "Reading what was found …", writing: "Writing the answer …" };
const FIRST_SOURCES = 6;
let turns = 0;

export class Turn {
  /** `kind` is what the server says of the collection's kind. `ask(more)` asks it again, `other(text)` something else. */
  constructor({ question, collection, filter }, kind, { ask, other, upload, reload }) {
    Object.assign(this, { question, collection, filter, kind, ask, other, upload, reload });
    this.turnId = null; // where a conversation keeps it
    this.text = "";
    this.citations = [];
    this.metadata = {};
    this.drawing = 0;
    const id = `turn-${(turns += 1)}`;
    this.said = el("div", { class: "said", "aria-busy": "true" }, el("p", { class: "searching" }, el("span", { class: "wave", "aria-hidden": "true" }), el("span", { class: "stage", text: "Looking for evidence …" })));
    this.rest = el("div", { class: "rest" });
    const chosen = filter?.document_id?.length;
    const within = [collection, chosen ? `${count(chosen, "document")} chosen` : ""].filter(Boolean).join(" · ");
    this.node = el(
      "li",
      {},
      el("article", { class: "turn", "aria-labelledby": id }, el("header", {}, el("h2", { id, class: "asked", text: question }), el("p", { class: "kicker" }, within)), this.said, this.rest),
    );
  }

  /** Draw what was kept of it. */
  restore(kept) {
    this.turnId = kept.turn_id;
    this.text = kept.content;
    this.citations = kept.citations;
    this.metadata = kept.metadata;
    if (Object.keys(kept.metadata).length) this.finish(false);
    else this.stopped("The answer was broken off.");
  }

  /** One event of the stream. Words are drawn once per frame. */
  take(event) {
    if (event.type === "token") this.text += event.content;
    else if (event.type === "citation") this.citations.push(event.citation);
    else if (event.type === "metadata") this.metadata = event.metadata ?? {};
    else if (event.type === "stage") this.stage(event);
    if (!this.drawing && event.type !== "done") this.drawing = requestAnimationFrame(() => this.draw());
  }

  /** What is being done, as far as the server tells. */
  stage(event) {
    const words = STAGES[event.stage ?? event.content ?? event.metadata?.stage];
    const place = this.said.querySelector(".stage");
    if (words && place) place.textContent = words;
  }

  draw() {
    this.drawing = 0;
    if (!this.text) return;
    if (!this.node.dataset.first) this.node.dataset.first = String(performance.now());
    this.said.replaceChildren(...prose(this.words(), (mark) => this.chip(mark)));
    const short = lead(this.text, this.metadata);
    if (short) this.said.prepend(el("p", { class: "lead" }, el("strong", { class: "short" }, ...line(short))));
  }

  words() {
    if (this.metadata.plan || this.metadata.rows) return tableText(this.text, this.metadata);
    return this.metadata.paths ? this.text.replaceAll(" Or, read otherwise: ", "\n\nOr, read otherwise: ") : this.text;
  }

  chip(mark) {
    const citation = this.citations.find((one) => one.id === mark);
    if (!citation) return null;
    const shown = markName(mark);
    const named = /^\d+$/.test(shown) ? "chip" : "chip named";
    const button = el("button", { type: "button", class: named, "data-mark": mark, "aria-label": `Source ${shown}: ${called(citation)}`, title: called(citation) }, shown);
    button.addEventListener("click", () => this.open(citation, button));
    return button;
  }

  /** Where each citation stands, by its mark. */
  get places() {
    return new Map((this.metadata.sources ?? []).map((source) => [source.id, source]));
  }

  /** The source of a citation: a node with what the paths say of it, a passage where it stands, or what was cited alone. */
  open(citation, from) {
    if (citation.url.startsWith("node:")) {
      openFacts({ from, kicker: `Source ${citation.id}`, title: citation.title, text: citation.snippet, facts: this.nodeFacts(citation.url.slice("node:".length), citation.title) });
    } else if (!this.kind.opens) {
      openFacts({ from, kicker: `Source ${citation.id}`, title: called(citation), text: citation.snippet, url: citation.url });
    } else {
      openPassage({ from, mark: citation.id, title: called(citation), url: citation.url, passageId: citation.passage_id, span: [citation.start, citation.end], cells: (citation.cells ?? []).filter((cell) => cell.answers).map((cell) => [cell.start, cell.end]), snippet: citation.snippet, page: this.places.get(citation.id)?.page ?? null, section: this.places.get(citation.id)?.section_path ?? null, collection: this.collection });
    }
  }

  nodeFacts(id, title) {
    const facts = new Map();
    const titles = new Map((this.metadata.paths ?? []).flatMap((path) => path.nodes ?? []).map((node) => [node.id, node]));
    const own = titles.get(id) ?? [...titles.values()].find((node) => node.title === title);
    if (!own) return [];
    if (own.type) facts.set("Type", own.type);
    for (const edge of (this.metadata.paths ?? []).flatMap((path) => path.edges ?? [])) {
      const name = edge.type.replaceAll("_", " ").toLowerCase();
      if (edge.source === own.id) facts.set(`${name} →`, titles.get(edge.target)?.title ?? edge.target);
      if (edge.target === own.id) facts.set(`← ${name}`, titles.get(edge.source)?.title ?? edge.source);
    }
    return [...facts];
  }

  /** The answer is whole: everything that belongs below the words. `fresh`: it has just come. */
  finish(fresh = true) {
    cancelAnimationFrame(this.drawing);
    this.draw();
    this.said.removeAttribute("aria-busy");
    const refused = this.metadata.confidence === "insufficient";
    const { resolved_question: understood } = this.metadata;
    if (understood) this.node.querySelector("header").append(el("p", { class: "understood", text: `Understood as: ${understood}` }));
    if (refused) this.refuse();
    else if (this.metadata.short_answer && !this.said.querySelector(".lead")) emphasise(this.said, this.metadata.short_answer);
    const [found, sources] = [this.found(refused), refused ? null : this.sources()];
    const evidence = this.metadata.paths ? [found, sources] : [sources, found]; // there the path is the evidence
    const computed = refused ? [] : tableParts(this.metadata, (reading) => this.ask({ reading }));
    this.rest.append(...[refused ? null : verdict(this.metadata), ...computed, ...evidence, this.acts()].filter(Boolean));
    if (!fresh) return;
    if (refused) this.offer();
    byId("live").textContent = refused ? `Not enough evidence. ${this.said.textContent}` : `${this.said.textContent} ${WORDS[this.metadata.confidence] ?? ""}. ${count(this.citations.length, "source")}.`;
  }

  sources() {
    if (!this.citations.length) return null;
    const place = (citation) => Number(markName(citation.id)) || 0;
    const items = [...this.citations].sort((one, other) => place(one) - place(other)).map((citation) => {
      const { section_path: path = [], page = null } = this.places.get(citation.id) ?? {};
      const section = path.filter((part) => part !== citation.title).join(" › ");
      const snippet = plain(citation.snippet);
      const button = el(
        "button",
        { type: "button", class: "source", "data-mark": citation.id },
        el("span", { class: "number", text: markName(citation.id) }),
        el("span", { class: "about" }, el("span", { class: "title", text: called(citation) }), el("span", { class: "place" }, ...line(plain([section, page ? `${pageWord(citation.url)} ${page}` : ""].filter(Boolean).join(" · ")))), snippet === citation.title.replaceAll("_", " ") ? "" : el("span", { class: "snippet" }, ...line(snippet))),
      );
      button.addEventListener("click", () => this.open(citation, button));
      return el("li", {}, button);
    });
    const list = el("ol", {}, ...items.slice(0, FIRST_SOURCES));
    const more = el("button", { type: "button", class: "more", onclick: () => { list.append(...items.slice(FIRST_SOURCES)); more.remove(); items[FIRST_SOURCES].firstChild.focus(); } }, `Show all ${items.length} sources`);
    return el("section", { class: "sources" }, el("h3", { text: "Sources" }), list, items.length > FIRST_SOURCES ? more : "");
  }

  /** The graph of how it was found. */
  found(refused) {
    const paths = this.metadata.paths ?? [];
    const graph = paths.length ? fromPaths(paths, this.citations) : this.metadata.evidence ? fromEvidence(this.metadata.evidence) : null;
    if (!graph || graph.nodes.length < 2) return null;
    const holder = el("details", { class: "how" });
    const draw = () => {
      if (holder.open && !holder.querySelector("figure")) holder.append(graphFigure(graph, "How the evidence was found", { onOpen: (node, from) => this.openNode(node, from), onAsk: (label) => this.other(`What is ${label}?`) }));
    };
    holder.addEventListener("toggle", draw);
    holder.append(el("summary", {}, el("h3", { text: refused ? "What was looked at, as a picture" : "How it was found" })));
    return holder;
  }

  openNode(node, from) {
    if (node.type === "passage") {
      const citation = this.citations.find((one) => one.passage_id === node.passage_id);
      if (citation) this.open(citation, from);
      else openPassage({ from, title: node.label, url: "", passageId: node.passage_id, collection: this.collection });
      return;
    }
    const citation = this.citations.find((one) => node.marks.includes(one.id));
    openFacts({ from, kicker: node.marks[0] ? `Source ${node.marks[0]}` : "Node", title: node.label, text: citation?.snippet ?? "", facts: this.nodeFacts(node.id, node.label) });
  }

  refuse() {
    const { metadata } = this;
    const quoted = new Map((metadata.refusal?.nearest ?? []).map((hit) => [hit.passage_id, hit]));
    const nearest = metadata.nearest ?? [...quoted.values()];
    const ways = [["by meaning", metadata.vector_result_count], ["by words", metadata.keyword_result_count], ["through the graph", metadata.graph_result_count]].filter(([, found]) => found);
    const told = ways.map(([way, found], at) => `${at ? found : count(found, ...this.kind.part)} ${way}`);
    const looked = ways.length ? `Looked at ${listed(told)} in “${this.collection}”. ${metadata.refusal?.read ? `${metadata.refusal.read} of them were read; nothing there says it clearly enough.` : "Nothing near enough to answer."}` : `Nothing in “${this.collection}” ${nearest.length ? "answers it" : "came near"}.`;
    const [first] = this.text.split("\n\n"); // what follows is told below, in parts
    const sought = metadata.refusal?.looked_for?.text;
    const near = nearest.map((hit) => {
      const section = (hit.section_path ?? []).filter((part) => part !== hit.title).join(" › ");
      const button = el("button", { type: "button", class: "source near" }, el("span", { class: "about" }, el("span", { class: "title", text: called(hit) }), el("span", { class: "place" }, ...line(plain([section, hit.page ? `${pageWord(hit.url)} ${hit.page}` : ""].filter(Boolean).join(" · ")))), el("span", { class: "snippet" }, ...line(plain(quoted.get(hit.passage_id)?.snippet || "").replace(/^[-*] /, "") || plain(unheaded(hit)).replace(/#{2,6} /g, "")))));
      button.addEventListener("click", () => this.kind.opens ? openPassage({ from: button, title: called(hit), url: hit.url, passageId: hit.passage_id, snippet: hit.excerpt, collection: this.collection }) : openFacts({ from: button, kicker: "Not an answer, but near", title: hit.title, text: hit.snippet, url: "" }));
      return el("li", {}, button);
    });
    this.said.classList.add("refused");
    this.said.replaceChildren(...prose(first), ...(sought ? [el("p", { class: "sought", text: `Looked for ${sought}.` })] : []), el("p", { class: "looked", text: looked }), ...(metadata.why ? [el("p", { class: "looked", text: `Why: ${metadata.why}.` })] : []), ...(metadata.warnings ?? []).map((warning) => el("p", { class: "hint" }, ...withCode(warning))));
    if (near.length) this.rest.append(el("section", { class: "sources" }, el("h3", { text: "Not an answer, but near" }), el("ol", {}, ...near)));
    const others = el("section", { class: "other-ways", hidden: true }, el("h3", { text: "Asked in another way" }));
    this.rest.append(others);
    this.rest.append(el("p", { class: "advice" }, "Name the thing you ask about as the documents do, choose another collection, or ", el("button", { type: "button", class: "link", onclick: this.upload }, "add sources that know"), "."));
  }

  /** After a refusal: questions near it that have answers. An extra request, so that no answer waits for it. */
  async offer() {
    const place = this.rest.querySelector(".other-ways");
    if (!place || !this.kind.opens) return;
    const found = await api.suggestions({ query: this.metadata.resolved_question ?? this.question, collection: this.collection, filter: this.filter ?? {} }).catch(() => []); // an offer, not an answer
    if (!found.length || !place.isConnected) return;
    place.append(el("ul", {}, ...found.map(({ question, title }) => el("li", {}, el("button", { type: "button", class: "way-to-ask", onclick: () => this.other(question) }, el("span", { text: question }), question.toLowerCase().includes(title.toLowerCase()) ? "" : el("span", { class: "hint", text: title }))))));
    place.hidden = false;
  }

  rating() {
    const status = el("p", { class: "hint", role: "status" });
    const comment = el("textarea", { rows: "2", maxlength: "4000", id: `comment-${this.metadata.query_id}`, placeholder: "What was right or wrong? (optional)" });
    const more = el("div", { class: "rate-more", hidden: true }, el("label", { class: "hidden", for: comment.id, text: "Comment" }), comment, el("button", { type: "submit", class: "secondary" }, "Send"));
    let rating = 0;
    const choose = (value, label, path) => {
      const button = el("button", { type: "button", class: "round", "aria-label": label, title: label, "aria-pressed": "false" }, icon(path));
      button.addEventListener("click", () => {
        rating = value;
        for (const one of form.querySelectorAll("[aria-pressed]")) one.setAttribute("aria-pressed", String(one === button));
        more.hidden = false;
        comment.focus();
      });
      return button;
    };
    const form = el("form", { class: "rate" });
    form.append(el("div", { class: "rate-row" }, el("span", { text: "Was this helpful?" }), choose(5, "Yes, helpful", ICONS.up), choose(1, "No, not helpful", ICONS.down)), more, status);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await api.feedback({ query_id: this.metadata.query_id, rating, comment: comment.value.trim() || null });
        status.textContent = "Thank you, noted.";
        more.remove();
        for (const one of form.querySelectorAll("[aria-pressed]")) one.disabled = true;
      } catch (fault) {
        status.textContent = `Not kept: ${fault.message} ${fault.hint ?? ""}`;
      }
    });
    return form;
  }

  /** What can be done with an answer. */
  acts() {
    const status = el("span", { class: "hint", role: "status" });
    const act = (label, path, doing) => el("button", { type: "button", class: "act", onclick: doing }, icon(path), el("span", { text: label }));
    const copy = (text) => async () => {
      try {
        await navigator.clipboard.writeText(text());
        status.textContent = "Copied.";
      } catch {
        status.textContent = "It could not be copied: select the text instead.";
      }
    };
    return el(
      "div",
      { class: "acts" },
      el("div", { class: "act-row" }, act("Copy", ICONS.copy, copy(() => this.asText())), act("Copy as Markdown", ICONS.markdown, copy(() => this.asMarkdown())), act("Ask again", ICONS.retry, () => this.ask()), status),
      this.metadata.query_id ? this.rating() : "",
    );
  }

  /** The answer and its sources, without signs. */
  asText() {
    return asText(this);
  }

  /** The same in Markdown. */
  asMarkdown() {
    return asMarkdown(this);
  }

  stopped(why = "Stopped.") {
    cancelAnimationFrame(this.drawing);
    this.draw();
    this.said.removeAttribute("aria-busy");
    if (!this.text) this.said.replaceChildren();
    this.rest.replaceChildren(el("p", { class: "hint stopped" }, `${why} `, el("button", { type: "button", class: "link", onclick: () => this.ask() }, "Ask again")));
    byId("live").textContent = why;
  }

  fail(fault) {
    cancelAnimationFrame(this.drawing);
    this.said.removeAttribute("aria-busy");
    const again = ["Ask again", () => this.ask()];
    const actions = { gone: [["Show the collections", this.reload]], query: [] }[fault.kind] ?? [again];
    this.said.replaceChildren(faultCard(fault, actions));
  }
}

/** A meter and the words for it. */
function verdict(metadata) {
  const computed = metadata.plan?.exact === true;
  const words = computed ? (metadata.confidence === "high" ? "Computed over all rows" : "Computed; check the plan") : WORDS[metadata.confidence];
  if (!words) return null;
  const share = Math.round(100 * Math.max(0, Math.min(1, metadata.evidence_probability ?? 0)));
  const bar = el("span", { class: "bar" });
  bar.style.inlineSize = `${share}%`;
  return el(
    "div",
    { class: `verdict ${metadata.confidence}` },
    el("span", { class: "meter", role: "meter", "aria-label": "Evidence", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": share, "aria-valuetext": `${share} percent: ${words}` }, bar),
    el("span", { class: "words", text: words }),
    el("span", { class: "share", text: computed ? `${share} % sure that this is what was asked` : `${share} % sure that the evidence answers it` }),
  );
}

const listed = (parts) => (parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0]);

/** A snippet without links, because it stands in a button; the panel shows it as it looks. */
function plain(text) {
  return text.replace(/!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)/g, "$1").replace(/\s+/g, " ");
}

/** What the document of a citation or a hit calls itself; its title, where no more is known. */
const called = ({ identity, title }) => identity || title;

/** An excerpt without the heading it begins with, which stands above it anyway. */
function unheaded({ excerpt = "", title, section_path: path = [] }) {
  const rest = excerpt.replace(/^#{1,6}\s+/, "");
  const heading = rest === excerpt ? "" : [path.at(-1), title].find((name) => name && rest.startsWith(name));
  return rest.slice((heading ?? "").length).trim() || rest;
}

/** The short answer to be said first: none where the text begins with it, or a model wrote it (see `lead.py`). */
function lead(text, { short_answer: short, confidence, generation }) {
  if (!short || generation || confidence === "insufficient") return null;
  const [line, rest] = [short, text.replace(/^[*_`"'“‘\s]+/, "")].map((part) => part.trim().split(/\s+/).join(" "));
  const begins = rest.toLowerCase().startsWith(line.toLowerCase()) && !/[\p{L}\p{N}]/u.test(rest[line.length] ?? "");
  return begins ? null : line;
}

/** Set the short answer off inside the text. */
function emphasise(root, short) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const at = node.data.indexOf(short);
    if (at < 0 || /[\p{L}\p{N}]/u.test(node.data[at + short.length] ?? "") || node.parentElement.closest("button, code")) continue;
    const found = node.splitText(at);
    found.splitText(short.length);
    const strong = el("strong", { class: "short" });
    found.replaceWith(strong);
    strong.append(found);
    return;
  }
}
