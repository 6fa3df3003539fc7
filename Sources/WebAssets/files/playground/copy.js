// SPDX-License-Identifier: Apache-2.0
// What is shown as a URL, as HTML, and as a command.

import { $, announce, icon } from "./dom.js";
import { croppedShare } from "./region.js";
import { permitted } from "./request.js";
import { tabs } from "./tabs.js";
import { target } from "./target.js";
import { describe, newOperation } from "./transform.js";

const densities = [0.5, 1, 1.5, 2, 3];
const usualWidths = [320, 640, 960, 1280, 1920];
const baseName = "imageproxyd-base";

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const isPixels = (value) => /^-?[\d.]+$/.test(value);
const hasPixels = ({ name, values }) => (describe(name)?.parameters ?? [])
  .some((parameter) => parameter.scaledByDPR && (values[parameter.name] ?? "").split("x").some(isPixels));

/** Whether `dpr` makes the same picture larger: a resize to pixels, and no pixels of what it gets. */
function scalesByDensity(operations) {
  const isSized = ({ name, values }) => name === "resize" && /^(\d+x\d*|x\d+)$/.test(values.size ?? "");
  const index = operations.findIndex(isSized);
  return index >= 0 && !operations.slice(0, index).some(hasPixels);
}

/** States with their widths in pixels, for a `srcset`. */
export function variants(state, result, source) {
  const share = croppedShare(state.operations, source);
  // How much larger it could be; nothing is enlarged, and what was not enlarged is smaller than its size says.
  const room = Math.min(source.uprightWidth * share.width / result.width, source.uprightHeight * share.height / result.height);
  const density = Number(state.output.dpr) || 1;
  if (scalesByDensity(state.operations) && room > 1.005) {
    const named = densities.filter((value) => value <= room * density || value === density);
    return named.map((value) => ({ state: { ...state, output: { ...state.output, dpr: value === 1 ? "" : String(value) } },
      width: Math.round(result.width / density * value) }));
  }
  const widths = [...usualWidths.filter((width) => width < result.width), result.width];
  return widths.map((width) => ({ width, state: width === result.width ? state
    : { ...state, operations: [...state.operations, newOperation("resize", { size: `${width}x` })], output: { ...state.output, dpr: "" } } }));
}

/** What an escaped path says; as it is where its escapes are not UTF-8. */
function readable(path) {
  try { return decodeURI(path); } catch { return path; }
}

/** The extension of a media type. */
const extension = (type) => ({ "image/jpeg": "jpg", "image/svg+xml": "svg" }[type] ?? type.replace("image/", ""));

export class CopyPanel {
  #store;
  #preview;
  #facts;
  #kind = "copy-url";
  #turn = 0;
  #base = $("#copy-base");
  #code = $("#copy-code");

  constructor(store, preview, facts) {
    [this.#store, this.#preview, this.#facts] = [store, preview, facts];
    const own = new URL(".", document.baseURI).href.replace(/\/$/, "");
    // Lost without storage: the address has to be given again.
    const storage = (() => { try { return localStorage; } catch { return null; } })();
    this.#base.value = storage?.getItem(baseName) ?? own;
    this.#base.addEventListener("input", () => { storage?.setItem(baseName, this.#base.value); this.#show(); });
    $("#copy").addEventListener("click", () => this.#copy());
    tabs($("#copy-tabs"), (id) => { this.#kind = id; this.#show(); });
    store.subscribe(() => this.#show());
    preview.subscribe(() => this.#show());
  }

  async #url(state, changes) {
    return this.#base.value.replace(/\/$/, "") + await permitted(target(state, changes));
  }

  async #srcset(changes) {
    const { result, sourceFacts: source } = this.#preview;
    const { state } = this.#store;
    // A transform of ours would take the place of the preset's.
    const isPreset = this.#facts.onlyPresets || state.output.preset && state.operations.length === 0;
    const all = isPreset ? [{ state, width: result.width }] : variants(state, result, source);
    const urls = await Promise.all(all.map(({ state }) => this.#url(state, changes)));
    return urls.map((url, index) => `${url} ${all[index].width}w`);
  }

  get #size() {
    const { width, height } = this.#preview.result;
    const density = Number(this.#store.state.output.dpr) || 1;
    return { width: Math.round(width / density), height: Math.round(height / density) };
  }

  async #image(changes, indent = "") {
    const { width, height } = this.#size;
    const lines = (await this.#srcset(changes)).map(escaped).join(`,\n${indent}          `);
    return `${indent}<img src="${escaped(await this.#url(this.#store.state, changes))}"\n${indent}  srcset="${lines}"\n`
      + `${indent}  sizes="(max-width: ${width}px) 100vw, ${width}px" width="${width}" height="${height}" alt="">`;
  }

  /** One source for each modern format, and an image in one that everything shows. */
  async #picture() {
    const { width } = this.#size;
    const formats = ["avif", "webp"].filter((format) => this.#facts.formats.includes(format));
    const sources = await Promise.all(formats.map(async (format) => {
      const lines = (await this.#srcset({ format, progressive: "" })).map(escaped).join(",\n            ");
      return `  <source type="image/${format}" sizes="(max-width: ${width}px) 100vw, ${width}px"\n    srcset="${lines}">\n`;
    }));
    const fallback = this.#isTransparent ? { format: "png", quality: "", max_bytes: "" } : { format: "jpeg" };
    return `<picture>\n${sources.join("")}${await this.#image({ ...fallback, lossless: "" }, "  ")}\n</picture>`;
  }

  get #isTransparent() {
    const clear = ["round", "mask", "opacity"];
    const isCut = this.#store.state.operations.some(({ name }) => clear.includes(name));
    return isCut || Boolean(this.#preview.sourceFacts.alpha) && !this.#store.state.operations.some(({ name }) => name === "background");
  }

  async #curl() {
    const { state } = this.#store;
    const { result } = this.#preview;
    const from = state.file?.name ?? readable(state.source.split(/[?#]/)[0]).split("/").at(-1);
    // The file that is sent is never the one that is written.
    const name = (from.replace(/\.[^.]*$/, "") || "picture") + (state.file ? "-result" : "");
    const accepts = !state.output.format || state.output.format.startsWith("auto") ? " -H 'Accept: image/avif,image/webp'" : "";
    const body = state.file ? ` --data-binary ${quoted(`@${state.file.name}`)}` : "";
    return `curl -fsS${accepts}${body} -o ${quoted(`${name}.${extension(result.type)}`)} \\\n  ${quoted(await this.#url(state))}`;
  }

  /** Why there is nothing to copy; null where there is. */
  get #reason() {
    const { state } = this.#store;
    if (!state.source && !state.file) return "";
    if (state.file && this.#kind !== "copy-curl") return "A file has no URL. Send it with curl, or put it where the daemon can fetch it.";
    if (this.#kind === "copy-url") return null;
    if (!this.#preview.result || !this.#preview.sourceFacts) return "";
    if (this.#kind !== "copy-curl" && !this.#preview.result.width) return "The size of the result is not known: this browser does not show its format.";
    return null;
  }

  #text() {
    if (this.#kind === "copy-url") return this.#url(this.#store.state);
    if (this.#kind === "copy-curl") return this.#curl();
    return this.#kind === "copy-img" ? this.#image() : this.#picture();
  }

  async #show() {
    const turn = ++this.#turn;
    const reason = this.#reason;
    // Lost: why; the result's own request fails in the same way, and says so.
    const text = reason ?? await this.#text().catch(() => "");
    if (turn !== this.#turn) return;
    this.#code.textContent = text;
    $("#copy").disabled = reason !== null || text === "";
  }

  async #copy() {
    const text = this.#code.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without TLS, beyond this machine, browsers give pages no clipboard.
      getSelection().selectAllChildren(this.#code);
      document.execCommand("copy");
    }
    announce("Copied");
    const button = $("#copy");
    button.replaceChildren(icon("check"), "Copied");
    button.dataset.copied = String(text.length);
    setTimeout(() => { button.replaceChildren(icon("copy"), "Copy"); }, 1600);
  }
}
