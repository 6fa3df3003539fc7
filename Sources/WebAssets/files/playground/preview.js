// SPDX-License-Identifier: Apache-2.0
// Loads the source and the result when they change, and shows both with what is known of them.

import { Problem } from "./api.js";
import { $, announce, bytesText, debounced, h, milliseconds } from "./dom.js";
import { formatName, information, picture } from "./request.js";
import { attribute, lossless, target } from "./target.js";

// What browsers show; of others a preview is requested.
const shownFormats = new Set(["jpeg", "png", "webp", "avif", "gif", "svg"]);
// A larger source is shown as a preview, in bytes: phones would have to load it.
const maxShownBytes = 12e6;
const typingDelay = 220;

/** Shows a blob in an image; resolves with its size once it is decoded, or with null if this browser lacks the format. */
async function show(image, blob) {
  const url = URL.createObjectURL(blob);
  const former = image.src;
  image.src = url;
  try {
    await image.decode();
  } catch {
    // Or another picture has taken its place meanwhile.
    return null;
  } finally {
    if (former.startsWith("blob:") && former !== image.src) URL.revokeObjectURL(former);
  }
  return { width: image.naturalWidth, height: image.naturalHeight };
}

const fact = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, ...value));

export class Preview {
  /** The result that is shown: `{ blob, bytes, type, width, height, target, … }`. */
  result = null;
  /** The facts about the source; null until they are known. */
  sourceFacts = null;
  /** The same; null until the source is shown. */
  source = null;

  #store;
  #listeners = [];
  #problemShown;
  // Where only presets are permitted, a source is never sent as it is.
  #isSourceSent;
  #sourceAbort = new AbortController();
  #resultAbort = new AbortController();
  #shownSource = null;
  #shownTarget = null;

  /** `problemShown` is called with what is wrong with the result, or null. */
  constructor(store, facts, problemShown) {
    this.#store = store;
    this.#isSourceSent = !facts.onlyPresets;
    this.#problemShown = problemShown;
    const soon = debounced(typingDelay, () => this.refresh());
    store.subscribe((state) => {
      this.#loadSource(state);
      if (state.file || target(state) !== this.#shownTarget) soon();
    });
    $("#again").addEventListener("click", () => this.refresh());
  }

  /** Calls `listener` with the preview whenever source or result changes. */
  subscribe(listener) { this.#listeners.push(listener); }

  #notify() { for (const listener of this.#listeners) listener(this); }

  // MARK: - The source

  async #loadSource(state) {
    const key = state.file ?? state.source;
    if (key === this.#shownSource) return;
    this.#shownSource = key;
    this.#sourceAbort.abort();
    this.source = this.sourceFacts = null;
    this.#sourceAbort = new AbortController();
    const { signal } = this.#sourceAbort;
    $("#source-facts").replaceChildren();
    $("#source-picture").hidden = true;
    $("#source-nothing").textContent = key ? "" : "No picture yet";
    if (!key) return this.#notify();
    try {
      const facts = await information(state, signal);
      this.#showSourceFacts(facts);
      this.sourceFacts = facts;
      // The difference in bytes is known now.
      if (this.result) this.#showResultFacts();
      if (!this.#isSourceSent) {
        $("#source-nothing").textContent = "Sources are not sent here, only what presets make of them";
        return this.#notify();
      }
      await this.#showSource(await this.#sourceBlob(state, facts, signal), facts);
      if (signal.aborted) return;
      this.source = facts;
      this.#notify();
    } catch (error) {
      // Its own error comes with the result, which needs the source, too.
      if (error.name !== "AbortError" && !(error instanceof Problem)) throw error;
      $("#source-nothing").textContent = "The source is not shown";
    }
  }

  async #showSource(blob, facts) {
    const image = $("#source-image");
    // The box has its size before the picture is there.
    image.width = facts.uprightWidth;
    image.height = facts.uprightHeight;
    $("#source-picture").hidden = false;
    await show(image, blob);
  }

  async #sourceBlob(state, facts, signal) {
    const isShown = shownFormats.has(facts.format) && facts.bytes <= maxShownBytes;
    if (isShown && state.file) return state.file;
    const changes = { source: state.source, file: state.file, operations: [], output: {} };
    const reduced = "transform=resize:1600x1600&format=webp&animate=first";
    const plain = target(changes);
    const wanted = isShown ? plain : `${plain}${plain.includes("?") ? "&" : "?"}${reduced}`;
    return (await picture(wanted, { file: state.file, signal, fresh: false })).blob;
  }

  #showSourceFacts(facts) {
    const more = [facts.frames > 1 ? `${facts.frames} frames` : null, facts.alpha ? "alpha" : null].filter(Boolean).join(", ");
    $("#source-facts").replaceChildren(
      fact("Size", `${facts.uprightWidth} × ${facts.uprightHeight}`), fact("Bytes", bytesText(facts.bytes)),
      fact("Format", formatName(facts.format) + (more ? `, ${more}` : "")));
  }

  // MARK: - The result

  /** Requests the result, again if it is shown. */
  async refresh() {
    const { state } = this.#store;
    this.#resultAbort.abort();
    if (!state.source && !state.file) return this.#showEmpty();
    this.#resultAbort = new AbortController();
    const { signal } = this.#resultAbort;
    const wanted = target(state);
    this.#shownTarget = wanted;
    $("#stage").setAttribute("aria-busy", "true");
    try {
      const answer = await picture(wanted, { file: state.file, signal });
      $("#result-picture").hidden = false;
      const size = await show($("#result-image"), answer.blob);
      if (signal.aborted) return;
      this.result = { ...answer, ...size ?? { width: 0, height: 0 }, wanted };
      $("#result-picture").hidden = size === null;
      $("#result-nothing").textContent = size ? "" : `This browser does not show ${formatName(answer.type)}`;
      this.#problemShown(null);
      this.#showResult();
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.#showFailure(error, state);
    }
    $("#stage").removeAttribute("aria-busy");
    this.#notify();
  }

  #showEmpty() {
    this.result = null;
    this.#shownTarget = null;
    $("#result-nothing").textContent = "No picture yet";
    $("#result-picture").hidden = true;
    $("#result-facts").replaceChildren();
    $("#stage").removeAttribute("aria-busy");
    this.#problemShown(null);
    this.#notify();
  }

  #showFailure(error, state) {
    this.result = null;
    $("#result-picture").hidden = true;
    $("#result-nothing").textContent = "There is no result";
    $("#result-facts").replaceChildren();
    $("#timings").hidden = true;
    const problem = error instanceof Problem ? error
      : new Problem({ title: "The daemon did not answer", detail: `The request failed in this browser: ${error.message}`, code: "no_answer" });
    this.#problemShown(Object.assign(attribute(problem, state), { problem }));
  }

  #showResult() {
    const { bytes, width, height, type, cache, milliseconds: total } = this.result;
    this.#showResultFacts();
    this.#showTimings();
    announce(`Result: ${width ? `${width} by ${height}` : "not shown by this browser"}, ${formatName(type)}, ${bytesText(bytes)}, ${cache.text}, ${milliseconds(total)}`);
  }

  #showResultFacts() {
    const { bytes, width, height, type, cache } = this.result;
    const before = this.sourceFacts?.bytes ?? 0;
    const saved = before > 0 ? Math.round((bytes / before - 1) * 100) : null;
    const change = saved === null || saved === 0 ? null : h("span", { class: saved < 0 ? "less" : "more-bytes" }, ` ${saved < 0 ? "−" : "+"}${Math.abs(saved)} %`);
    $("#result-facts").replaceChildren(
      fact("Size", width ? `${width} × ${height}` : "–"), fact("Bytes", bytesText(bytes), change), fact("Format", formatName(type)),
      fact("Cache", h("span", { class: `badge ${cache.kind}`, title: cache.detail, id: "cache-status" }, cache.text)));
  }

  #showTimings() {
    const { timings, milliseconds: total } = this.result;
    const bar = h("div", { class: "timing-bar", "aria-hidden": "true" });
    const list = h("ul", { class: "timing-list" });
    for (const { name, milliseconds: time } of timings) {
      const part = h("i", { "data-step": name });
      part.style.flexGrow = String(Math.max(time, 0.01));
      bar.append(part);
      list.append(h("li", {}, h("i", { "data-step": name }), name, h("b", {}, milliseconds(time))));
    }
    if (!timings.length) list.append(h("li", {}, "nothing was fetched or made"));
    $("#timings").replaceChildren(h("h3", {}, "Answered in ", h("b", { id: "time" }, milliseconds(total))), bar, list);
    bar.hidden = timings.length === 0;
    $("#timings").hidden = false;
  }

  // MARK: - The same without loss

  #reference = null;

  /** The result's pixels written without loss, for comparisons: `{ blob, … }`; requested once. */
  reference(signal) {
    const { state } = this.#store;
    const wanted = target(state, { ...lossless, animate: "first" });
    if (this.#reference?.wanted !== wanted || this.#reference.file !== state.file) {
      const answer = picture(wanted, { file: state.file, fresh: false });
      this.#reference = { wanted, file: state.file, answer };
      // A failure is requested again.
      answer.catch(() => { this.#reference = null; });
    }
    signal?.throwIfAborted();
    return this.#reference.answer;
  }
}
