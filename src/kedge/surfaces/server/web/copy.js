// An answer to be taken elsewhere: as plain text, or as Markdown, with its sources.

import { markName, pageWord } from "./dom.js";

const MARK = /\s?\[(?:\d{1,3}|Node [^\]\n]{1,200})\]/g;

const called = ({ identity, title }) => identity || title;

function place(turn, citation) {
  const { section_path: path = [], page = null } = turn.places.get(citation.id) ?? {};
  return [...path.filter((part) => part !== citation.title), page ? `${pageWord(citation.url)} ${page}` : ""].filter(Boolean).join(", ");
}

const inOrder = (turn) => [...turn.citations].sort((one, other) => (Number(markName(one.id)) || 0) - (Number(markName(other.id)) || 0));

/** The short answer first, where the text does not begin with it. */
function whole(turn) {
  const short = turn.said.querySelector(".lead")?.textContent;
  return short ? `${short}\n\n${turn.words().trim()}` : turn.words().trim();
}

/** Words alone, then the sources as a list. */
export function asText(turn) {
  const words = whole(turn).replace(/\*\*|`/g, "").replace(/!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)/g, "$1");
  const sources = inOrder(turn).map((one) => `[${markName(one.id)}] ${[called(one), place(turn, one)].filter(Boolean).join(", ")}`);
  return sources.length ? `${words.replace(MARK, (mark) => mark.replace("Node ", ""))}\n\nSources:\n${sources.join("\n")}` : words;
}

/** Markdown, whose marks are footnotes that quote what they cite. */
export function asMarkdown(turn) {
  const words = whole(turn).replace(MARK, (mark) => `[^${markName(mark.trim()).replace(/\s+/g, "-")}]`);
  const notes = inOrder(turn).map((one) => {
    const link = /^https?:/.test(one.url) ? `[${called(one)}](${one.url})` : called(one);
    const about = [link, place(turn, one)].filter(Boolean).join(", ");
    return `[^${markName(one.id).replace(/\s+/g, "-")}]: ${about}: “${one.snippet.replace(/\s+/g, " ").trim()}”`;
  });
  return [words, notes.join("\n")].filter(Boolean).join("\n\n");
}
