// SPDX-License-Identifier: Apache-2.0
// Source or lossless result, and the result, in one place: what is left of the line is the former.

import { $ } from "./dom.js";

// Aspects that differ by less are those of one picture.
const sameAspect = 0.02;

export class Compare {
  #preview;
  #isShown = false;
  #shown = null;
  #chosen = null;

  constructor(preview) {
    this.#preview = preview;
    const slider = $("#compare-at");
    slider.addEventListener("input", () => this.#place());
    $("#compare-with").addEventListener("change", (event) => { this.#chosen = event.target.value; this.#show(); });
    $("#compare-zoom").addEventListener("change", () => this.#zoom());
    preview.subscribe(() => { if (this.#isShown) this.#show(); });
    this.#place();
  }

  /** Called when its tab is shown or hidden. */
  set isShown(value) {
    this.#isShown = value;
    if (value) this.#show();
  }

  #place() {
    const { value } = $("#compare-at");
    $("#compare").style.setProperty("--at", `${value}%`);
    $("#compare-at").setAttribute("aria-valuetext", `${value} % ${this.#name}, the rest is the result`);
  }

  get #name() { return $("#compare-with").value === "source" ? "source" : "without loss"; }

  /** The source, where it has the result's aspect; else it could not lie on it. */
  #usual() {
    const { source, result } = this.#preview;
    if (!source || !result?.width) return "lossless";
    const ratio = (source.uprightWidth / source.uprightHeight) / (result.width / result.height);
    return Math.abs(ratio - 1) < sameAspect ? "source" : "lossless";
  }

  async #show() {
    const { result } = this.#preview;
    const box = $("#compare");
    const isShown = Boolean(result?.width);
    box.hidden = !isShown;
    $("#compare-none").hidden = isShown;
    if (!isShown) return;
    const kind = this.#chosen ?? this.#usual();
    $("#compare-with").value = kind;
    $("#compare-left").textContent = kind === "source" ? "Source" : "Without loss";
    const [left, right] = [$("#compare-before"), $("#compare-after")];
    right.src = $("#result-image").src;
    for (const image of [left, right]) [image.width, image.height] = [result.width, result.height];
    this.#zoom();
    this.#place();
    if (kind === "source") {
      left.src = $("#source-image").src;
      return;
    }
    try {
      const { blob } = await this.#preview.reference();
      if (this.#preview.result !== result) return;
      if (this.#shown) URL.revokeObjectURL(this.#shown);
      this.#shown = URL.createObjectURL(blob);
      left.src = this.#shown;
    } catch (error) {
      $("#compare-left").textContent = `Not there: ${error.detail ?? error.message}`;
    }
  }

  /** Fits the picture, or shows it so many times its size. */
  #zoom() {
    const { value } = $("#compare-zoom");
    const { result } = this.#preview;
    const box = $("#compare");
    box.classList.toggle("zoomed", value !== "fit");
    const ratio = Number(value) / devicePixelRatio;
    for (const image of [$("#compare-before"), $("#compare-after")]) image.style.width = value === "fit" || !result ? "" : `${result.width * ratio}px`;
  }
}
