// SPDX-License-Identifier: Apache-2.0
// Small plots: an SVG that is stretched to its box, labels beside it, and a table with the same numbers.

import { h } from "../playground/dom.js";
import { History } from "./history.js";

const namespace = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const element = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** The next number up that can be halved: 1, 2, 4, 6 and 10 with zeros. */
export function niceTop(value) {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 10].map((factor) => factor * unit).find((top) => top >= value * 0.999) ?? value;
}

const round = (value) => Math.round(value * 100) / 100;

/** A figure in a card: title, what it shows now, the plot, a legend and its numbers. */
class Card {
  constructor(title, { wide = false } = {}) {
    this.note = h("span", { class: "muted" });
    this.body = h("div", { class: "body" });
    const id = `plot-${title.toLowerCase().replace(/\W+/g, "-")}`;
    this.element = h("section", { class: `card${wide ? " wide" : ""}`, "aria-labelledby": id },
      h("header", {}, h("h2", { id }, title), this.note), this.body);
    this.title = title;
  }

  /** Adds the numbers behind the plot, which are written while they are shown. */
  addNumbers(columns) {
    this.rows = h("tbody");
    this.details = h("details", {}, h("summary", {}, "Numbers"),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Numbers: ${this.title}` },
        h("table", {}, h("thead", {}, h("tr", {}, columns.map((name, index) =>
          h("th", { scope: "col", class: index ? "number" : null }, name)))), this.rows)));
    this.body.append(this.details);
  }

  /** Writes the numbers; texts by row and column. */
  write(rows) {
    if (!this.details.open) return;
    this.rows.replaceChildren(...rows.map(([name, ...values]) =>
      h("tr", {}, h("th", { scope: "row" }, name), values.map((value) => h("td", { class: "number" }, value)))));
  }
}

/** The box of a plot: its grid, and the labels of its axes. */
function plotBox(title) {
  const svg = shape("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": title });
  for (const y of [0, 50]) svg.append(shape("line", { class: "grid", x1: 0, x2: 100, y1: y, y2: y }));
  const ticks = [0, 50].map((y) => {
    const tick = h("span", { class: "tick y", "aria-hidden": "true" });
    tick.style.top = `${y}%`;
    return tick;
  });
  const empty = h("p", { class: "empty", hidden: true });
  return { svg, ticks, empty, element: h("div", { class: "plot" }, svg, ticks, empty) };
}

/** Series over the last two minutes, as lines or as areas on top of each other. */
export class TimePlot extends Card {
  /** `series` are `[key, name]`; `text` writes a value. */
  constructor(title, series, { text, isStacked = false, least = 1, wide = false }) {
    super(title, { wide });
    Object.assign(this, { series, text, isStacked, least });
    this.box = plotBox(title);
    this.paths = series.map(([key]) => shape("path", { class: isStacked ? "area" : "line", "data-series": key }));
    this.box.svg.append(...this.paths);
    const labels = [["first", "0", `${History.span / 60} min ago`], ["", "50%", `${History.span / 120} min`], ["last", "100%", "now"]];
    for (const [name, left, label] of labels) {
      const tick = h("span", { class: `tick x ${name}`, "aria-hidden": "true" }, label);
      tick.style.left = left;
      this.box.element.append(tick);
    }
    this.values = series.map(() => h("b"));
    this.body.append(this.box.element, h("ul", { class: "legend" }, series.map(([key, name], index) =>
      h("li", {}, h("i", { "data-series": key }), name, " ", this.values[index]))));
    this.addNumbers(["seconds ago", ...series.map(([, name]) => name)]);
  }

  /** Draws; `points[i]` are those of series i: `[seconds ago, value]`, all at the same times. */
  update(points) {
    const times = points[0].map(([seconds]) => 100 - (seconds / History.span) * 100);
    const sums = times.map(() => 0);
    const layers = points.map((series) => series.map(([, value], index) => {
      const low = this.isStacked ? sums[index] : 0;
      if (this.isStacked) sums[index] += value;
      return [low, low + value];
    }));
    const top = niceTop(Math.max(this.least, ...layers.flat().map(([, high]) => high)));
    const y = (value) => round(100 - (value / top) * 100);
    this.paths.forEach((path, index) => {
      const line = layers[index].map(([, high], place) => `${round(times[place])} ${y(high)}`);
      const base = layers[index].map(([low], place) => `${round(times[place])} ${y(low)}`).reverse();
      const isEmpty = line.length < 2 || (this.isStacked && layers[index].every(([low, high]) => low === high));
      path.setAttribute("d", isEmpty ? "" : this.isStacked ? `M${line.join("L")}L${base.join("L")}Z` : `M${line.join("L")}`);
    });
    this.box.ticks.forEach((tick, index) => { tick.textContent = this.text(top / (index + 1)); });
    const last = points.map((series) => series.at(-1)?.[1] ?? 0);
    this.values.forEach((value, index) => { value.textContent = this.text(last[index]); });
    this.box.empty.hidden = times.length > 1;
    this.box.empty.textContent = "waiting for the second sample";
    this.box.svg.setAttribute("aria-label",
      `${this.title}: now ${this.series.map(([, name], index) => `${name} ${this.text(last[index])}`).join(", ")}`);
    const rows = points[0].map(([seconds], place) => [Math.round(seconds), ...points.map((series) => this.text(series[place][1]))]);
    this.write(rows.reverse());
  }
}

/** How many in each bucket. */
export class Histogram extends Card {
  constructor(title, labels, { wide = false } = {}) {
    super(title, { wide });
    this.labels = labels;
    this.box = plotBox(title);
    this.bars = labels.map(() => shape("rect", { class: "area", "data-series": "memory", rx: 0 }));
    this.box.svg.append(...this.bars);
    const width = 100 / labels.length;
    labels.forEach((label, index) => {
      this.bars[index].setAttribute("x", round(index * width + width * 0.1));
      this.bars[index].setAttribute("width", round(width * 0.8));
      // Each fourth bound, below the bar's right edge.
      if (index % 4 !== 3 || index >= labels.length - 1) return;
      const tick = h("span", { class: "tick x", "aria-hidden": "true" }, label.replace("up to ", ""));
      tick.style.left = `${(index + 1) * width}%`;
      this.box.element.append(tick);
    });
    this.marks = ["p50", "p99"].map((name) => {
      const mark = h("span", { class: "mark", "aria-hidden": "true", hidden: true }, h("span", {}, name));
      this.box.element.append(mark);
      return mark;
    });
    this.body.append(this.box.element);
    this.addNumbers(["answered within", "answers"]);
  }

  /** Draws; `places` are where the marks stand, in buckets. */
  update(counts, text, places, words) {
    const top = niceTop(Math.max(1, ...counts));
    counts.forEach((count, index) => {
      // A single answer among many is still seen.
      const height = count ? Math.max(1, (count / top) * 100) : 0;
      this.bars[index].setAttribute("y", round(100 - height));
      this.bars[index].setAttribute("height", round(height));
    });
    this.box.ticks.forEach((tick, index) => { tick.textContent = top > 1 || !index ? text(top / (index + 1)) : ""; });
    this.marks.forEach((mark, index) => {
      mark.hidden = places[index] == null;
      if (!mark.hidden) mark.style.left = `${round((places[index] / counts.length) * 100)}%`;
    });
    this.box.empty.hidden = counts.some((count) => count);
    this.box.empty.textContent = "no answers yet";
    this.box.svg.setAttribute("aria-label", `${this.title}: ${words}`);
    this.write(this.labels.map((label, index) => [label, text(counts[index])]));
  }
}

/** One bar with the parts of a whole, and the parts as a list, which says the same in words. */
export class ShareBar extends Card {
  constructor(title, series) {
    super(title, { wide: true });
    this.big = h("p", { class: "big" });
    this.parts = series.map(([key]) => h("i", { "data-series": key }));
    this.counts = series.map(() => h("span"));
    this.percentages = series.map(() => h("b"));
    this.body.append(this.big, h("div", { class: "share", "aria-hidden": "true" }, this.parts),
      h("ul", { class: "shares" }, series.map(([key, name], index) =>
        h("li", {}, h("i", { "data-series": key }), name, this.counts[index], this.percentages[index]))));
  }

  update(big, rows) {
    this.big.textContent = big;
    rows.forEach(({ share, count, text }, index) => {
      this.parts[index].style.flexGrow = `${share}`;
      this.parts[index].hidden = share === 0;
      this.counts[index].textContent = count;
      this.percentages[index].textContent = text;
    });
  }
}

/** A table that is written when its rows have changed, so that a selection in it lasts. */
export class DataTable extends Card {
  /** `columns` are `[title, kind]`: "name", "text" or "number". */
  constructor(title, columns, quiet, { wide = false } = {}) {
    super(title, { wide });
    this.columns = columns;
    this.table = h("tbody");
    this.quiet = h("p", { class: "quiet" }, quiet);
    this.scroll = h("div", { class: "scroll", hidden: true, tabindex: "0", role: "region", "aria-label": title },
      h("table", {}, h("thead", {}, h("tr", {}, columns.map(([name, kind]) =>
        h("th", { scope: "col", class: kind === "number" ? "number" : null }, name)))), this.table));
    this.body.append(this.quiet, this.scroll);
  }

  update(rows) {
    const text = JSON.stringify(rows);
    if (text === this.written) return;
    this.written = text;
    this.quiet.hidden = rows.length > 0;
    this.scroll.hidden = rows.length === 0;
    this.table.replaceChildren(...rows.map((row) => h("tr", {}, row.map((value, index) => {
      const kind = this.columns[index][1];
      if (kind === "name") return h("th", { scope: "row", class: "text", title: value }, value);
      return h("td", { class: kind, title: kind === "text" ? value : null }, value);
    }))));
  }
}
