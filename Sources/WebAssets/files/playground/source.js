// SPDX-License-Identifier: Apache-2.0
// Where the picture comes from: a URL, a file, a sample, or a URL of this or another image proxy.

import { json } from "./api.js";
import { $, announce, bytesText, h } from "./dom.js";
import { picture } from "./request.js";
import { ownQuery, readQuery } from "./target.js";

// Their URLs are unmistakable: they are not fetched from that proxy unless one wants it.
const unmistakable = new Set(["imgproxy", "thumbor", "imaginary", "weserv", "cloudflare", "nextjs"]);

/** The last part of a URL's path, as a name. */
function nameOf(url) {
  const name = url.split(/[?#]/)[0].split("/").at(-1) || url;
  try { return decodeURIComponent(name); } catch { return name; }
}

export class SourceForm {
  #store;
  #facts;
  #input = $("#source");
  #error = $("#source-error");
  #translation = $("#translation");

  constructor(store, facts) {
    [this.#store, this.#facts] = [store, facts];
    store.subscribe((state) => this.#show(state));
    $("#source-form").addEventListener("submit", (event) => { event.preventDefault(); this.take(this.#input.value); });
    // A pasted URL is shown without a further key.
    this.#input.addEventListener("paste", () => setTimeout(() => this.take(this.#input.value)));
    $("#file").addEventListener("change", ({ target }) => { this.takeFile(target.files[0]); target.value = ""; });
    $("#choose-file").addEventListener("click", () => $("#file").click());
    $("#drop-file").addEventListener("click", () => this.#store.change({ file: null }));
    $("#choose-file").hidden = !facts.takesUploads;
    $("#file-hint").hidden = !facts.takesUploads;
    this.#showSamples();
    this.#acceptDrops();
  }

  // MARK: - What is given

  /** Takes a text: a URL of a picture, or one of this or another proxy. */
  async take(text) {
    const given = text.trim();
    this.#translation.hidden = true;
    if (!given) return;
    const query = ownQuery(given);
    if (query) {
      this.#store.change({ ...readQuery(query), file: null });
      announce("The URL's pipeline is shown");
      return;
    }
    const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(given);
    const translation = /^(https?:\/\/|\/)/i.test(given) ? await this.#translate(given) : null;
    if (translation?.dialect === "imageproxyd") {
      this.#store.change({ ...readQuery(translation.target.slice(translation.target.indexOf("?") + 1)), file: null });
      announce("The URL's pipeline is shown");
      return;
    }
    if (translation && (unmistakable.has(translation.dialect) || !isAddress)) {
      // What is wrong with the picture that was shown before is not wrong with this one.
      document.dispatchEvent(new Event("translationoffered"));
      this.#offer(given, translation, isAddress);
      return;
    }
    this.#use(given);
    if (translation) this.#offer(given, translation, false);
  }

  #use(source) {
    this.#store.change({ source, file: null });
  }

  takeFile(file) {
    if (!file) return;
    this.#translation.hidden = true;
    if (!this.#facts.takesUploads) {
      this.showProblem({ area: "source", text: "Files are not taken here: security.allowUploads permits them, and the admin listener takes them in any case." });
      return;
    }
    if (this.#facts.maxUploadBytes && file.size > this.#facts.maxUploadBytes) {
      this.showProblem({ area: "source", text: `${file.name} has ${bytesText(file.size)}; http.maxBodyBytes permits ${bytesText(this.#facts.maxUploadBytes)}.` });
      return;
    }
    this.#store.change({ file });
    announce(`${file.name} is shown`);
  }

  // MARK: - Other proxies' URLs

  /** What a URL means to its own proxy; null if it is no other proxy's. */
  async #translate(url) {
    try {
      const translation = await json(`/translate?url=${encodeURIComponent(url)}`);
      return translation.dialect ? translation : null;
    } catch (error) {
      // A URL of a known form that has no translation says why; others are pictures' URLs.
      return error.code === "untranslated" || error.code === "option_forbidden" ? { failed: error.detail ?? error.message } : null;
    }
  }

  #offer(given, translation, mayFetch) {
    const box = this.#translation;
    if (translation.failed) {
      box.replaceChildren(h("p", {}, `This looks like another proxy's URL, but it has no translation: ${translation.failed}`));
    } else {
      const meaning = readQuery(translation.target.slice(translation.target.indexOf("?") + 1));
      const use = h("button", { type: "button", class: "button primary", id: "use-translation", onclick: () => {
        box.hidden = true;
        this.#store.change({ ...meaning, file: null });
        this.#input.focus();
        announce("The translation is shown");
      } }, "Use the translation");
      const fetch = h("button", { type: "button", class: "button", onclick: () => { box.hidden = true; this.#use(given); } }, "Take it as a picture");
      const ignored = translation.ignored.length ? h("p", { class: "quiet" }, `Without effect here: ${translation.ignored.join(", ")}`) : null;
      box.replaceChildren(
        h("p", {}, "This is a URL of ", h("b", {}, translation.dialect), ". Here it is:"), h("p", {}, h("code", { id: "translated" }, translation.target)),
        ...(ignored ? [ignored] : []), h("div", { class: "row" }, use, mayFetch ? fetch : null));
    }
    box.hidden = false;
    announce(box.textContent);
  }

  // MARK: - Files and URLs that are dropped or pasted

  #acceptDrops() {
    const veil = $("#drop");
    const isOurs = ({ dataTransfer }) => [...dataTransfer?.types ?? []].some((type) => type === "Files" || type === "text/uri-list");
    let depth = 0;
    const leave = () => { depth = 0; veil.hidden = true; };
    addEventListener("dragenter", (event) => { if (isOurs(event)) { depth++; veil.hidden = false; event.preventDefault(); } });
    addEventListener("dragleave", () => { if (--depth <= 0) leave(); });
    addEventListener("dragover", (event) => { if (isOurs(event)) event.preventDefault(); });
    addEventListener("drop", (event) => {
      leave();
      if (!isOurs(event)) return;
      event.preventDefault();
      const [file] = event.dataTransfer.files;
      if (file) this.takeFile(file);
      else this.take(event.dataTransfer.getData("text/uri-list").split(/\r?\n/).find((line) => line && !line.startsWith("#")) ?? "");
    });
    addEventListener("paste", (event) => {
      const [file] = event.clipboardData?.files ?? [];
      if (file) { event.preventDefault(); this.takeFile(file); }
    });
  }

  // MARK: - Showing

  async #showSamples() {
    const { samples } = this.#facts;
    $("#samples").hidden = samples.length === 0;
    for (const url of samples) {
      // Where only presets are permitted, there is no small picture of it.
      const image = this.#facts.onlyPresets ? nameOf(url) : h("img", { alt: "", width: "72", height: "48" });
      const button = h("button", { type: "button", class: "sample", "data-url": url, "aria-label": `Sample ${nameOf(url)}`, title: nameOf(url),
        onclick: () => this.#use(url) }, image);
      $("#sample-list").append(h("li", {}, button));
      if (this.#facts.onlyPresets) continue;
      const target = `/img?url=${encodeURIComponent(url)}&transform=resize:144x96:cover&format=webp`;
      // Lost: a sample that fails; it says so when it is chosen.
      picture(target, { fresh: false }).then(({ blob }) => { image.src = URL.createObjectURL(blob); }, () => {});
    }
  }

  #show({ source, file }) {
    if (document.activeElement !== this.#input || this.#input.value.trim() === "") this.#input.value = source;
    if (!file && source && this.#input.value !== source) this.#input.value = source;
    $("#file-chip").hidden = !file;
    if (file) $("#file-name").textContent = `${file.name}, ${bytesText(file.size)}`;
    for (const button of document.querySelectorAll(".sample")) button.setAttribute("aria-pressed", String(!file && button.dataset.url === source));
  }

  focus() { this.#input.focus(); }

  /** Shows at the field what is wrong with the source; nothing for null. */
  showProblem(problem) {
    const isHere = problem?.area === "source";
    this.#error.hidden = !isHere;
    this.#error.textContent = isHere ? problem.text : "";
    if (isHere) this.#input.setAttribute("aria-invalid", "true");
    else this.#input.removeAttribute("aria-invalid");
  }
}
