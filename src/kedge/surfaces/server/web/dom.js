// Building nodes. Data only ever becomes text or a checked attribute: there is no way from a string to markup here.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; strings become text. `on…` takes a listener. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same in SVG. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "text") node.textContent = value;
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** A link for http and https addresses, plain text for everything else. */
export function safeLink(address, ...children) {
  let url = null;
  try {
    url = new URL(address);
  } catch {
    // a path: not a link
  }
  if (url === null || !["http:", "https:"].includes(url.protocol)) return el("span", {}, ...children);
  return el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
}

/** An icon of the page: one path on a 20 × 20 grid. */
export function icon(path) {
  return svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", class: "icon" }, svg("path", { d: path }));
}

export const ICONS = {
  left: "M12 4.500 6.500 10l5.500 5.500",
  right: "M8 4.500 13.500 10 8 15.500",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  download: "M10 3.500v9M6.200 9 10 12.800 13.800 9M3.500 14v1.500A1.500 1.500 0 0 0 5 17h10a1.500 1.500 0 0 0 1.500-1.500V14",
  trash: "M4 5.500h12M8 5.500V3.500h4v2M5.500 5.500l.7 11h7.600l.7-11M8.500 8.500v5M11.500 8.500v5",
  arrow: "M4 10h12M11 5l5 5-5 5",
  retry: "M16.5 10a6.5 6.5 0 1 1-2-4.7M16.5 3v3.6h-3.6",
  up: "M6 9v8H3.5V9zM6 9l3.4-6.2c1.5 0 2.2 1 1.9 2.4L10.8 8h4.6c1 0 1.7 1 1.4 2l-1.6 5.6c-.2.9-.9 1.4-1.8 1.4H6",
  down: "M6 11V3H3.5v8zM6 11l3.4 6.2c1.5 0 2.2-1 1.9-2.4L10.8 12h4.6c1 0 1.7-1 1.4-2l-1.6-5.6C15 3.500 14.300 3 13.400 3H6",
  markdown: "M2.500 5h15v10h-15zM5 12.500v-5l2.200 2.800L9.400 7.500v5M13.500 7.500v4.800M11.700 10.600l1.800 1.900 1.800-1.900",
  copy: "M7 7V3.500h9.500V13H13M3.500 7H13v9.500H3.500z",
};

/** What stands in a mark: `1` of `[1]` and of `[Node 1]`. */
export const markName = (mark) => mark.slice(1, -1).replace(/^Node /, "");

const SHEETS = /\.(?:xls[xmb]|ods)$/i;
const SLIDES = /\.(?:pptx|pptm|ppsx|odp)$/i;

/** What a page of a document is called: that of slides and sheets is their number. */
export const pageWord = (url = "") => (SHEETS.test(url) ? "sheet" : SLIDES.test(url) ? "slide" : "page");

/** What a document calls itself, without the name of its file where that is all that would be repeated. */
export function nameOf({ identity, title, url = "" }) {
  const whole = identity || title;
  const file = ` · ${fileName(url)}`;
  const own = whole.endsWith(file) ? whole.slice(0, -file.length) : whole;
  return /\p{L}/u.test(own) ? own : whole;
}

/** The last part of a document's address. */
export const fileName = (url) => url.replace(/^upload:/, "").split(/[\\/]/).pop();

/** A count with its noun: `1 passage`, `3 passages`; where the plural is another: `count(3, "entry", "entries")`. */
export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** Index in a JavaScript string of an offset that counts code points, as the server does. */
export function utf16(text, offset) {
  let index = 0;
  for (let left = offset; left > 0 && index < text.length; left -= 1) {
    index += text.codePointAt(index) > 0xffff ? 2 : 1;
  }
  return index;
}
