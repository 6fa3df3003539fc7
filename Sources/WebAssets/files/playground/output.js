// SPDX-License-Identifier: Apache-2.0
// The form of how the result is written: format, quality and so on.

import { $, h } from "./dom.js";
import { Field } from "./fields.js";

const choice = (name, choices, fallback, summary, more = {}) =>
  ({ name, type: "choice", choices, default: fallback, required: false, summary, ...more });
const number = (name, minimum, maximum, summary, more = {}) =>
  ({ name, type: "number", minimum, maximum, default: null, required: false, summary, ...more });

/** The output parameters, as `/transforms` would declare them. */
function declarations(facts) {
  const first = [
    choice("format", ["auto", "source", ...facts.formats], "auto", "auto takes what the browser accepts and the picture needs: AVIF, WebP, or the source's own."),
    number("quality", 1, 100, "1 to 100, or by format such as 75,webp:60. Without it each format has its own default.", { type: "integer", start: 80, placeholder: "default" }),
    choice("metadata", ["strip", "keep", "none"], "strip", "strip keeps creator and copyright, keep everything, none nothing."),
    number("dpr", 0.5, 8, "Multiplies every length of the pipeline, for screens of higher density.", { start: 1, default: "1" }),
  ];
  const preset = choice("preset", facts.presets, null, "A bundle of parameters from the settings; what is set here wins.");
  if (facts.onlyPresets) return { first: [{ ...preset, required: facts.presets.length > 0 }], others: [] };
  const others = [
    { name: "max_bytes", type: "text", required: false, default: null, summary: "Bytes, or a size such as 20KiB: the highest quality that fits." },
    choice("lossless", ["0", "1"], "0", "Whether every pixel stays as it is, in formats that can.", { label: "Lossless" }),
    choice("progressive", ["0", "1", "default"], "default", "Whether JPEG and PNG appear coarse at first. JPEG does by default."),
    choice("animate", ["all", "first", "strip"], "all", "all frames, the first one, or all as one picture below each other."),
    number("frame", null, null, "The one frame or page to take, from 0.", { type: "integer" }),
    number("frames", null, null, "How many frames to take.", { type: "text" }),
  ];
  if (facts.presets.length) first.unshift(preset);
  return { first, others };
}

export class OutputForm {
  #fields = new Map();
  #first = $("#output-fields");
  #more = $("#output-more");
  #store;

  constructor(store, facts) {
    this.#store = store;
    const { first, others } = declarations(facts);
    for (const declaration of first) this.#add(declaration, this.#first);
    for (const declaration of others) this.#add(declaration, $("#output-more-fields"));
    this.#more.hidden = others.length === 0;
    $("summary", this.#more).textContent = `${others.length} more`;
    store.subscribe((state) => this.#show(state));
  }

  #add(declaration, list) {
    const send = (value) => this.#store.setOutput(declaration.name, value);
    const field = new Field(declaration, send);
    field.element.dataset.output = declaration.name;
    this.#fields.set(declaration.name, field);
    list.append(field.element);
    return field;
  }

  #show({ output }) {
    // Parameters of a pasted URL that have no field of their own.
    for (const name of Object.keys(output)) {
      if (!this.#fields.has(name)) {
        this.#add({ name, type: "text", required: false, default: null, summary: "From the URL that was pasted." }, $("#output-more-fields"));
      }
    }
    for (const [name, field] of this.#fields) {
      field.set(output[name] ?? "");
      if (output[name] && this.#more.contains(field.element)) this.#more.open = true;
    }
  }

  focus(name) { this.#fields.get(name)?.focus(); }

  /** Shows at a field what is wrong with it; nothing for null. */
  showProblem(problem) {
    const field = problem?.area === "output" ? this.#fields.get(problem.name) : undefined;
    for (const other of this.#fields.values()) other.setError(other === field ? problem.text : null);
    if (field && this.#more.contains(field.element)) this.#more.open = true;
  }
}
