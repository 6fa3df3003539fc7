// SPDX-License-Identifier: Apache-2.0
// Formats × qualities of the result, each with its bytes and its similarity (SSIM) to the same pixels without loss.

import { $, announce, bytesText, h } from "./dom.js";
import { formatName, picture } from "./request.js";
import { target } from "./target.js";

const qualities = [30, 50, 65, 80, 90];
const lossy = ["avif", "webp", "jpeg", "jxl"];
// From here on differences are hard to see at usual distances.
const good = 0.97;
const fair = 0.93;
// Variants that are requested at a time: others want the workers, too.
const atOnce = 2;

/** Compares pictures in a worker. */
class Comparer {
  #worker = new Worker(new URL("ssim-worker.js", import.meta.url), { type: "module" });
  #waiting = new Map();
  #lastID = 0;

  constructor() {
    this.#worker.addEventListener("message", ({ data }) => {
      const { resolve, reject } = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.error === undefined) resolve(data);
      else reject(new Error(data.error));
    });
  }

  send(message) {
    const id = ++this.#lastID;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...message });
    });
  }

  end() { this.#worker.terminate(); }
}

export class FormatGrid {
  #store;
  #preview;
  #formats;
  #abort = null;
  #cells = new Map();

  constructor(store, preview, facts) {
    this.#store = store;
    this.#preview = preview;
    this.#formats = lossy.filter((format) => facts.formats.includes(format));
    this.#build();
    $("#measure").addEventListener("click", () => (this.#abort ? this.#abort.abort() : this.#measure()));
    preview.subscribe(() => this.#outdate());
  }

  #build() {
    const head = h("tr", {}, h("td", {}), qualities.map((quality) => h("th", { scope: "col" }, String(quality))));
    const rows = this.#formats.map((format) => h("tr", {}, h("th", { scope: "row" }, formatName(format)),
      qualities.map((quality) => {
        const button = h("button", { type: "button", class: "variant", disabled: true, onclick: () => this.#take(format, quality) }, "–");
        this.#cells.set(`${format} ${quality}`, { format, quality, button });
        return h("td", {}, button);
      })));
    $("#grid-table").replaceChildren(h("caption", { class: "visually-hidden" }, "Bytes and similarity by format and quality"), h("thead", {}, head), h("tbody", {}, rows));
  }

  #take(format, quality) {
    this.#store.change({ output: { ...this.#store.state.output, format, quality: String(quality) } });
    announce(`${formatName(format)} with quality ${quality} is taken`);
  }

  /** The target of a variant; what sets the quality in another way is left out. */
  #target(format, quality) {
    return target(this.#store.state, { format, quality: String(quality), lossless: "", progressive: "", max_bytes: "", skip: "", animate: "first" });
  }

  #measured = null;

  /** Marks figures that are of another pipeline. */
  #outdate() {
    $("#measure").disabled = !this.#preview.result && !this.#abort;
    const isOutdated = this.#measured !== null && this.#measured !== this.#key;
    $("#grid-table").classList.toggle("outdated", isOutdated);
    this.#mark();
  }

  /** What the figures depend on: everything but the variants' own parameters. */
  get #key() {
    const { file, operations } = this.#store.state;
    return JSON.stringify([this.#target("", ""), file?.name, operations.map(({ id }) => id)]);
  }

  #mark() {
    const { format, quality } = this.#store.state.output;
    for (const cell of this.#cells.values()) cell.button.setAttribute("aria-pressed", String(cell.format === format && String(cell.quality) === quality));
  }

  async #measure() {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#measured = this.#key;
    $("#grid-table").classList.remove("outdated");
    $("#measure").textContent = "Stop";
    const status = $("#grid-status");
    status.textContent = "The picture without loss is made …";
    for (const { button } of this.#cells.values()) [button.textContent, button.className, button.disabled] = ["–", "variant", true];
    const comparer = new Comparer();
    try {
      const reference = await this.#preview.reference(signal);
      const { width, height } = await comparer.send({ reference: reference.blob });
      await this.#fill(comparer, signal, status);
      status.textContent = `SSIM compares the decoded pixels with those of the same ${width} × ${height} written without loss (PNG, ${bytesText(reference.bytes)}): `
        + "1 is equal, below about 0.95 one sees it. A click takes a variant.";
      this.#showBest();
      announce("All variants are measured");
    } catch (error) {
      status.textContent = signal.aborted ? "Stopped." : error.detail ?? error.message;
    }
    comparer.end();
    this.#abort = null;
    $("#measure").textContent = "Measure again";
  }

  /** Requests all variants, a few at a time. */
  async #fill(comparer, signal, status) {
    const waiting = [...this.#cells.values()];
    let done = 0;
    const work = async () => {
      for (let cell = waiting.shift(); cell && !signal.aborted; cell = waiting.shift()) {
        await this.#fillCell(cell, comparer, signal);
        status.textContent = `${++done} of ${this.#cells.size} are measured …`;
      }
      signal.throwIfAborted();
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  async #fillCell(cell, comparer, signal) {
    const { format, quality, button } = cell;
    try {
      const answer = await picture(this.#target(format, quality), { file: this.#store.state.file, signal, fresh: false });
      cell.bytes = answer.bytes;
      // Lost: why it can't be decoded; this browser lacks the format.
      const compared = await comparer.send({ picture: answer.blob }).catch(() => null);
      cell.ssim = compared?.ssim ?? null;
      const words = cell.ssim === null ? "not shown here" : cell.ssim.toFixed(3);
      const level = cell.ssim === null ? "" : cell.ssim >= good ? "good" : cell.ssim >= fair ? "warn" : "bad";
      button.replaceChildren(h("b", {}, bytesText(cell.bytes)), h("span", { class: `ssim ${level}` }, words));
      button.setAttribute("aria-label", `${formatName(format)}, quality ${quality}: ${bytesText(cell.bytes)}, SSIM ${words}. Take it.`);
      button.disabled = false;
    } catch (error) {
      if (signal.aborted) return;
      button.replaceChildren(h("span", { class: "ssim" }, error.code === "too_many_requests" ? "too many requests" : "failed"));
      button.title = error.detail ?? error.message;
    }
  }

  /** Marks the smallest variant that looks right. */
  #showBest() {
    const cells = [...this.#cells.values()];
    const enough = cells.filter(({ ssim }) => ssim >= good);
    const best = enough.reduce((least, cell) => (!least || cell.bytes < least.bytes ? cell : least), null);
    for (const cell of cells) cell.button.classList.toggle("best", cell === best);
    if (best) $("#grid-status").append(` The smallest with ${good} or more is ${formatName(best.format)} ${best.quality}, ${bytesText(best.bytes)}.`);
  }
}
