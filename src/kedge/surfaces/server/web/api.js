// The server, as the page sees it. Every failure becomes a Fault with words for people.

import { askForKey, credentials } from "./key.js";

/** `kind`: offline, limited, gone, query, server or other. */
export class Fault extends Error {
  constructor(kind, message, hint = "", code = "") {
    super(message);
    this.kind = kind;
    this.hint = hint;
    this.code = code;
  }
}

const KINDS = { 404: "gone", 429: "limited" };

function faultOf(status, body, retryAfter) {
  const error = body?.error ?? {};
  const kind = KINDS[status] ?? (error.code === "invalid_query" ? "query" : status >= 500 ? "server" : "other");
  const wait = status === 429 && retryAfter ? `Try again in ${retryAfter} seconds.` : "";
  return new Fault(kind, error.message || `The server answered with status ${status}.`, wait || error.hint, error.code);
}

async function call(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { ...options, headers: { ...options.headers, ...credentials() } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Fault("offline", "The server cannot be reached.", "Is it still running? `kedge serve` starts it.");
  }
  if (!response.ok) {
    const body = await response.json().catch(() => null);
    if (response.status === 401 && (await askForKey(body?.error?.message ?? "This server wants a key."))) return call(address, options);
    throw faultOf(response.status, body, response.headers.get("retry-after"));
  }
  return response;
}

const asJson = (body) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

export const about = async () => (await call("/rag/about.json")).json();
export const collections = async () => (await (await call("/api/collections")).json()).collections;
export const documents = async (collection, limit, more = {}) => (await (await call(`/api/documents?${new URLSearchParams({ collection, limit, ...more })}`)).json()).documents;
export const jobs = async (limit) => (await (await call(`/api/ingest?limit=${limit}`)).json()).jobs;
export const takeIn = async (body) => (await call("/api/ingest", asJson(body))).json();
export const job = async (id) => (await call(`/api/ingest/${encodeURIComponent(id)}`)).json();
export const feedback = async (body) => (await call("/api/feedback", asJson(body))).json();

export async function passage(id, collection, beside) {
  const where = new URLSearchParams({ collection, beside });
  return (await call(`/api/passages/${encodeURIComponent(id)}?${where}`)).json();
}

export const suggestions = async (body) => (await (await call("/api/query/suggestions", asJson(body))).json()).suggestions;

const documentAt = (id, ...rest) => ["/api/documents", ...[id, ...rest].map(encodeURIComponent)].join("/");

/** A page of a PDF: `span` and `cells` are characters of the document's text that are looked for on it. */
export async function pageView(id, page, span, cells) {
  const where = new URLSearchParams(span ? { start: span[0], end: span[1], ...(cells.length ? { cells: cells.map((cell) => cell.join("-")).join(",") } : {}) } : {});
  return (await call(`${documentAt(id, "pages", page)}?${where}`)).json();
}

export const pageImage = async (id, page, width) => (await call(`${documentAt(id, "pages", page, "image")}?width=${width}`)).blob();
export const ingestAgain = async (id) => (await call(documentAt(id, "ingest"), { method: "POST" })).json();
export const deleteDocument = (id, keepalive = false) => call(documentAt(id), { method: "DELETE", keepalive });
export const deleteCollection = (name, keepalive = false) => call(`/api/collections/${encodeURIComponent(name)}`, { method: "DELETE", keepalive });
export const original = async (id) => (await call(documentAt(id, "original"))).blob();

const sourceAt = (name, ...rest) => ["/api/sources", ...[name, ...rest].map(encodeURIComponent)].join("/");

export const sources = async () => (await (await call("/api/sources")).json()).sources;
export const addSource = async (body) => (await call("/api/sources", asJson(body))).json();
export const syncSource = async (name, confirm = false) => (await call(`${sourceAt(name, "sync")}?confirm=${confirm}`, { method: "POST" })).json();
export const removeSource = (name) => call(sourceAt(name), { method: "DELETE" });

const talkAt = (id, ...rest) => ["/api/conversations", ...[id, ...rest].map(encodeURIComponent)].join("/");

export const conversations = async () => (await (await call("/api/conversations?limit=1000")).json()).conversations;
export const conversation = async (id) => (await call(talkAt(id))).json();
export const beginConversation = async () => (await call("/api/conversations", asJson({}))).json();
export const renameConversation = async (id, name) => (await call(talkAt(id), { ...asJson({ name }), method: "PATCH" })).json();
export const deleteConversation = (id, keepalive = false) => call(talkAt(id), { method: "DELETE", keepalive });

/** Ask, and hand every event on as it arrives. Ends with `done`; a broken stream is a Fault.
 * `conversation` is the id of the one that keeps it, or null; `onTurn` is told the id of the turn. */
export async function ask(body, { conversation, onEvent, onTurn, signal }) {
  const address = conversation ? talkAt(conversation, "turns") : "/api/query/stream";
  const response = await call(address, { ...asJson(body), signal });
  const turnId = response.headers.get("x-turn-id");
  if (turnId) onTurn(turnId);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  let ended = false;
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Fault("offline", "The connection broke off in the middle of the answer.", "Ask again.");
    });
    if (done) break;
    const blocks = (waiting + value).split("\n\n");
    waiting = blocks.pop();
    for (const block of blocks) {
      const event = read(block);
      if (event === null) continue;
      if (event.type === "error") throw new Fault("server", event.error.message, event.error.hint, event.error.code);
      ended ||= event.type === "done";
      onEvent(event);
    }
  }
  if (!ended) throw new Fault("offline", "The answer broke off before its end.", "Ask again.");
}

function read(block) {
  const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
  return data.length ? JSON.parse(data.join("\n")) : null;
}

/** Send a form and tell how much has gone out, from 0 to 1. XMLHttpRequest, because fetch cannot tell. */
export function send(address, form, onShare, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.responseType = "json";
    for (const [name, value] of Object.entries(credentials())) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => event.lengthComputable && onShare(event.loaded / event.total));
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(request.response);
      else reject(faultOf(request.status, request.response, request.getResponseHeader("retry-after")));
    });
    const lost = () => reject(new Fault("offline", "The upload broke off.", "Nothing was added. Is the server running?"));
    request.addEventListener("error", lost);
    request.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
    signal?.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}
