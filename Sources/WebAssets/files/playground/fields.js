// SPDX-License-Identifier: Apache-2.0
// A field for a parameter, from its declaration: `{ name, type, required, default, minimum, maximum, choices, summary }`.

import { h } from "./dom.js";

let lastID = 0;

const words = { fx: "Focal point x", fy: "Focal point y", px: "Focal point x, pixels", py: "Focal point y, pixels", dpr: "Density (dpr)",
  max_bytes: "Largest size", text64: "Text in base64url", ry: "Radius in height", minwidth: "Least width", minheight: "Least height",
  zoomx: "Zoom x", zoomy: "Zoom y", gapx: "Gap beside", gapy: "Gap below", x: "X", y: "Y" };

/** The name of a parameter as a label. */
export const label = (name) => words[name] ?? name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

const placeholders = { length: "pixels or 10pc", size: "", text: "", number: "", integer: "" };

/** Whether a slider beside the number is fine enough to help. */
const hasSlider = ({ type, minimum, maximum }) =>
  (type === "number" || type === "integer") && minimum !== null && maximum !== null && maximum - minimum <= 1000;

const sliderStep = ({ type, minimum, maximum }) => (type === "integer" ? 1 : maximum - minimum <= 20 ? 0.01 : maximum - minimum <= 300 ? 0.5 : 1);

// MARK: - Inputs by type

function textInput(parameter, id, change, attributes = {}) {
  const input = h("input", { type: "text", id, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    placeholder: parameter.default ?? parameter.placeholder ?? placeholders[parameter.type] ?? "", oninput: () => change(input.value), ...attributes });
  return { element: input, inputs: [input], set: (value) => { input.value = value; } };
}

function numberInput(parameter, id, change) {
  const text = textInput(parameter, id, change, { inputmode: "decimal" });
  if (!hasSlider(parameter)) return text;
  const [input] = text.inputs;
  const { minimum, maximum } = parameter;
  const slider = h("input", { type: "range", min: minimum, max: maximum, step: sliderStep(parameter), tabindex: "-1", "aria-hidden": "true",
    oninput: () => { input.value = slider.value; change(slider.value); } });
  const place = () => { slider.value = input.value === "" ? parameter.default ?? parameter.start ?? minimum : input.value; };
  input.addEventListener("input", place);
  // The arrow keys of a field of numbers.
  input.addEventListener("keydown", (event) => {
    const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!sign) return;
    event.preventDefault();
    const step = Math.max(sliderStep(parameter), (maximum - minimum) / 100) * (event.shiftKey ? 10 : 1);
    const number = Math.min(maximum, Math.max(minimum, Number(slider.value) + sign * step));
    input.value = String(Number(number.toFixed(3)));
    place();
    change(input.value);
  });
  place();
  return { element: h("div", { class: "with-slider" }, slider, input), inputs: [input], set: (value) => { input.value = value; place(); } };
}

function sizeInput(parameter, id, change) {
  const split = (value) => { const mark = value.indexOf("x"); return mark < 0 ? [value, ""] : [value.slice(0, mark), value.slice(mark + 1)]; };
  const send = () => change(width.value || height.value ? `${width.value.trim()}x${height.value.trim()}` : "");
  const side = (name, sideID) => h("input", { type: "text", id: sideID, inputmode: "text", autocomplete: "off", "aria-label": name,
    placeholder: name.toLowerCase(), oninput: send });
  const width = side("Width", id);
  const height = side("Height", `${id}-height`);
  return { element: h("div", { class: "size" }, width, h("span", { "aria-hidden": "true" }, "×"), height), inputs: [width, height],
    set: (value) => { [width.value, height.value] = split(value); } };
}

function selectInput(parameter, id, change) {
  const none = parameter.required ? [] : [h("option", { value: "" }, parameter.default ?? "none")];
  const values = parameter.choices.filter((choice) => parameter.required || choice !== parameter.default);
  const select = h("select", { id, onchange: () => change(select.value) }, none, values.map((choice) => h("option", { value: choice }, choice)));
  const set = (value) => {
    const known = value === parameter.default && !parameter.required ? "" : value;
    // A value that is not allowed is shown, so that its error makes sense.
    if (known && !values.includes(known)) select.append(h("option", { value: known }, known));
    select.value = known;
  };
  return { element: select, inputs: [select], set };
}

function checkInput(parameter, id, change) {
  const isOn = parameter.default === "1";
  const box = h("input", { type: "checkbox", id, onchange: () => change(box.checked === isOn ? "" : box.checked ? "1" : "0") });
  return { element: box, inputs: [box], isCheck: true, set: (value) => { box.checked = value === "" ? isOn : value !== "0" && value !== "false"; } };
}

function checksInput(parameter, id, change) {
  const boxes = parameter.choices.map((choice, index) => h("input", { type: "checkbox", value: choice, id: index ? `${id}-${choice}` : id,
    onchange: () => change(boxes.filter((box) => box.checked).map((box) => box.value).join("+")) }));
  const element = h("div", { class: "checks" }, boxes.map((box) => h("label", {}, box, box.value)));
  return { element, inputs: boxes, set: (value) => {
    const given = (value || parameter.default || "").split("+");
    for (const box of boxes) box.checked = given.includes(box.value);
  } };
}

/** The six digits that a colour field takes; null for a name or another form. */
function sixDigits(value) {
  const digits = value.replace(/^#/, "");
  if (/^[0-9a-f]{6}([0-9a-f]{2})?$/i.test(digits)) return `#${digits.slice(0, 6)}`;
  return /^[0-9a-f]{3,4}$/i.test(digits) ? `#${[...digits.slice(0, 3)].map((digit) => digit + digit).join("")}` : null;
}

function colorInput(parameter, id, change) {
  const text = textInput(parameter, id, (value) => { show(value); change(value); });
  const [input] = text.inputs;
  const box = h("input", { type: "color", "aria-label": `${label(parameter.name)}, chosen`, oninput: () => {
    input.value = box.value.slice(1);
    change(input.value);
  } });
  const show = (value) => { box.value = sixDigits(value) ?? sixDigits(parameter.default ?? "") ?? "#ffffff"; };
  show("");
  return { element: h("div", { class: "color" }, box, input), inputs: [input], set: (value) => { input.value = value; show(value); } };
}

function inputFor(parameter, id, change) {
  const { type, choices } = parameter;
  if (choices?.length === 2 && choices.includes("0") && choices.includes("1")) return checkInput(parameter, id, change);
  if (type === "choices") return checksInput(parameter, id, change);
  if (type === "choice") return selectInput(parameter, id, change);
  if (type === "color") return colorInput(parameter, id, change);
  if (type === "size") return sizeInput(parameter, id, change);
  if (type === "number" || type === "integer") return numberInput(parameter, id, change);
  return textInput(parameter, id, change);
}

// MARK: - The field

/** A labelled field with its hint and its error. */
export class Field {
  #input;
  #hint;
  #error;
  #value = "";

  /** `change` is called with the text of each new value; an empty one is the default. */
  constructor(parameter, change) {
    this.name = parameter.name;
    const id = `field-${++lastID}`;
    this.#input = inputFor(parameter, id, (value) => { this.#value = value; change(value); });
    const [first] = this.#input.inputs;
    this.#hint = h("p", { class: "hint", id: `${id}-hint` }, parameter.summary);
    this.#error = h("p", { class: "error", id: `${id}-error`, hidden: true });
    for (const input of this.#input.inputs) input.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
    if (parameter.required) first.setAttribute("aria-required", "true");
    const title = h("label", { for: id, title: parameter.summary }, parameter.label ?? label(parameter.name));
    const isGroup = this.#input.inputs.length > 1;
    this.element = h("div", { class: `field${this.#input.isCheck ? " check" : ""}`, "data-parameter": parameter.name, "data-type": parameter.type,
      ...(isGroup ? { role: "group", "aria-label": parameter.label ?? label(parameter.name) } : {}) },
    title, this.#input.element, this.#hint, this.#error);
    this.#input.set("");
  }

  /** Shows a value, unless it is the one that was entered here. */
  set(value) {
    if (value === this.#value) return;
    this.#value = value;
    this.#input.set(value);
  }

  focus() { this.#input.inputs[0].focus(); }

  /** Shows an error, or none for null. */
  setError(text) {
    this.#error.hidden = text === null;
    this.#error.textContent = text ?? "";
    for (const input of this.#input.inputs) {
      if (text === null) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
    }
  }
}
