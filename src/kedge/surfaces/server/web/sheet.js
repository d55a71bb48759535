// A page of a PDF as it is, with the cited words marked; pages can be turned and made larger.

import * as api from "./api.js";
import { el, icon, ICONS } from "./dom.js";

const ZOOMS = [1, 1.25, 1.5, 2, 3];
const NARROW = 480; // pixels, below which a page is larger from the start: nobody could read it
const LEGIBLE = ZOOMS.indexOf(2);
const BESIDE = 24; // pixels beside what is cited
const STEP = 200; // pixels: pictures are fetched in few sizes

/** The view of a document, opened at a page. `span` and `cells` are characters of its text. */
export class Sheet {
  constructor(documentId, title, page, { span = null, cells = [] }) {
    Object.assign(this, { documentId, title, page, span, cells });
    this.pages = 0;
    this.zoom = 0;
    this.drawn = 0;
    this.canvas = el("canvas", { role: "img" });
    this.places = el("div", { class: "places", "aria-hidden": "true" });
    this.paper = el("div", { class: "paper" }, this.canvas, this.places);
    this.scroller = el("div", { class: "sheet-scroll", tabindex: "0", role: "region", "aria-label": "Page of the document" }, this.paper);
    const button = (label, path, act) => el("button", { type: "button", class: "round small", "aria-label": label, title: label, onclick: act }, icon(path));
    this.back = button("Page before", ICONS.left, () => this.turn(-1));
    this.next = button("Next page", ICONS.right, () => this.turn(1));
    this.out = button("Smaller", ICONS.minus, () => this.scale(-1));
    this.in = button("Larger", ICONS.plus, () => this.scale(1));
    this.where = el("span", { class: "sheet-page", role: "status" });
    this.home = el("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.turn(0) }, "Back to what is cited");
    this.node = el("div", { class: "sheet" }, el("div", { class: "sheet-bar" }, this.back, this.where, this.next, el("span", { class: "gap" }), this.home, this.out, this.in), this.scroller);
    this.cited = page;
  }

  /** Fetch and draw the page; a Fault where it cannot be shown. */
  async show() {
    const mine = (this.drawn += 1);
    if (this.pages === 0 && this.scroller.clientWidth < NARROW) this.zoom = LEGIBLE;
    const wanted = Math.ceil((Math.max(320, this.scroller.clientWidth) * ZOOMS[this.zoom] * Math.min(2, devicePixelRatio)) / STEP) * STEP;
    const [view, picture] = await Promise.all([
      api.pageView(this.documentId, this.page, this.page === this.cited ? this.span : null, this.cells),
      api.pageImage(this.documentId, this.page, Math.min(3000, wanted)),
    ]);
    const bitmap = await createImageBitmap(picture);
    if (mine !== this.drawn) return;
    this.pages = view.pages;
    this.canvas.width = bitmap.width;
    this.canvas.height = bitmap.height;
    this.canvas.getContext("2d").drawImage(bitmap, 0, 0);
    this.canvas.setAttribute("aria-label", `Page ${view.page} of ${view.pages}, ${this.title}`);
    this.paper.style.inlineSize = `${100 * ZOOMS[this.zoom]}%`;
    this.places.replaceChildren(...view.places.map(placed));
    this.where.textContent = `Page ${view.page} of ${view.pages}`;
    this.back.disabled = view.page <= 1;
    this.next.disabled = view.page >= view.pages;
    this.out.disabled = this.zoom === 0;
    this.in.disabled = this.zoom === ZOOMS.length - 1;
    this.home.hidden = this.page === this.cited;
    this.scrollTo(view.places);
  }

  scrollTo(places) {
    const first = places.find((place) => place.answers) ?? places[0];
    const top = first ? first.top * this.paper.clientHeight : 0;
    const [begin, end] = first ? [first.left, first.left + first.width].map((share) => share * this.paper.clientWidth) : [0, 0];
    const left = Math.min(begin - BESIDE, end + BESIDE - this.scroller.clientWidth); // the least that shows it: its row's name stays in sight
    this.scroller.scrollTo(Math.max(0, left), Math.max(0, top - this.scroller.clientHeight / 3));
  }

  turn(by) {
    this.page = by === 0 ? this.cited : Math.max(1, Math.min(this.pages || this.page, this.page + by));
    this.again();
  }

  scale(by) {
    this.zoom = Math.max(0, Math.min(ZOOMS.length - 1, this.zoom + by));
    this.again();
  }

  again() {
    this.show().catch((fault) => {
      this.where.textContent = fault.message;
    });
  }
}

function placed({ left, top, width, height, answers }) {
  const node = el("span", { class: answers ? "place answers" : "place" });
  Object.assign(node.style, { left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * width}%`, height: `${100 * height}%` });
  return node;
}
