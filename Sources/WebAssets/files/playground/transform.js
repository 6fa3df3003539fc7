// SPDX-License-Identifier: Apache-2.0
// Writes and reads the text of a transform: operations separated by `,`, arguments by `:`, first by position, then by name.

let catalogue = new Map();

/** Sets what `/transforms` says of the operations. */
export function setCatalogue(operations) {
  catalogue = new Map(operations.map((operation) => [operation.name, operation]));
}

/** What is known of an operation; undefined for a name that is none. */
export const describe = (name) => catalogue.get(name);

let lastID = 0;

/** An operation of the pipeline. One that is not known keeps the text that it came from. */
export const newOperation = (name, values = {}, text = null) => ({ id: ++lastID, name, values, text });

// What the grammar allows in a value.
const plain = /^[A-Za-z0-9_.+-]*$/;
const sides = ["top", "right", "bottom", "left"];
const encoder = new TextEncoder();

/** Text as base64url without padding. */
export function encodeBase64URL(text) {
  const binary = String.fromCharCode(...encoder.encode(text));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The values of an operation as the URL has them, in the order of their parameters. */
function written(operation) {
  return describe(operation.name).parameters.flatMap(({ name, type }) => {
    const value = (operation.values[name] ?? "").trim();
    if (value === "") return [];
    if (type === "color") return [{ name, field: name, value: value.replace(/^#/, "") }];
    const spaced = value.replaceAll(" ", "_");
    const encoded = `${name}64`;
    const mayEncode = describe(operation.name).parameters.some((other) => other.name === encoded);
    if (type === "text" && !plain.test(spaced) && mayEncode) {
      return [{ name: encoded, field: name, value: encodeBase64URL(value) }];
    }
    return [{ name, field: name, value: type === "text" ? spaced : value }];
  });
}

/** How many values stand first without their names. */
function positionalCount(operation, values) {
  const { parameters } = describe(operation.name);
  if (sides.every((side) => parameters.some(({ name }) => name === side))) {
    // A single value would stand for all sides.
    return sides.every((side, index) => values[index]?.name === side) ? sides.length : 0;
  }
  const first = parameters.findIndex(({ name, required }, index) => values[index]?.name !== name || !required && index > 1);
  return first < 0 ? parameters.length : first;
}

/** The pieces of one operation: each text with the parameter that it is for. */
function pieces(operation) {
  if (!describe(operation.name)) return [{ text: operation.text ?? operation.name, field: null }];
  const values = written(operation);
  const count = positionalCount(operation, values);
  const named = values.map(({ name, field, value }, index) => ({ text: index < count ? value : `${name}=${value}`, field }));
  return [{ text: operation.name, field: null }, ...named];
}

/** The text of a pipeline, and which bytes of it are from which field: `{ start, end, operation, field }`. */
export function writeTransform(operations) {
  const places = [];
  let length = 0;
  const text = operations.map((operation) => {
    const parts = pieces(operation);
    for (const part of parts) {
      const end = length + encoder.encode(part.text).length;
      places.push({ start: length, end, operation: operation.id, field: part.field });
      length = end + 1;
    }
    return parts.map((part) => part.text).join(":");
  }).join(",");
  return { text, places };
}

/** The field that a byte of the text is from: the last one that begins at or before it. */
export const placeAt = (places, position) => places.findLast(({ start }) => start <= position) ?? null;

/** The sides that one, two or three values stand for, as in CSS. */
function completedSides(values) {
  const [top, right = top, bottom = top, left = right] = values;
  return { top, right, bottom, left };
}

function readOperation(text) {
  const [name, ...rest] = text.split(":");
  const description = describe(name);
  if (!description) return newOperation(name, {}, text);
  const positional = rest.filter((part) => !part.includes("="));
  const named = rest.filter((part) => part.includes("=")).map((part) => {
    const mark = part.indexOf("=");
    return [part.slice(0, mark), part.slice(mark + 1)];
  });
  const names = description.parameters.map((parameter) => parameter.name);
  const isKnown = positional.length <= names.length && named.every(([key]) => names.includes(key));
  // The daemon says what is wrong with it.
  if (!isKnown) return newOperation(`${name}?`, {}, text);
  const hasSides = sides.every((side) => names.includes(side)) && positional.length > 0 && positional.length < sides.length;
  const first = hasSides ? completedSides(positional) : Object.fromEntries(positional.map((value, index) => [names[index], value]));
  return newOperation(name, { ...first, ...Object.fromEntries(named) });
}

/** The operations of a text; what is not understood is kept as it is. */
export const readTransform = (text) => (text === "" ? [] : text.split(",").map(readOperation));

// What an operation that is added begins with, so that it shows something.
const beginnings = {
  resize: { size: "800x" }, crop: { size: "50pcx50pc" }, pad: { top: "24", right: "24", bottom: "24", left: "24", color: "ffffff" },
  inset: { top: "10pc", right: "10pc", bottom: "10pc", left: "10pc" }, extend: { size: "1000x1000", fill: "blur" },
  rotate: { angle: "8" }, flip: { direction: "h" }, round: { radius: "48" }, mask: { shape: "circle" },
  tint: { color: "4f46e5", mode: "soft-light" }, blur: { sigma: "6" }, pixelate: { size: "16" }, brightness: { amount: "1.2" },
  contrast: { amount: "1.2" }, saturation: { amount: "1.5" }, gamma: { amount: "0.8" }, exposure: { amount: "0.5" },
  hue: { degrees: "60" }, duotone: { shadow: "1e1b4b", highlight: "fde68a" }, curve: { all: "0_0+96_72+160_192+255_255" },
  sigmoid: { amount: "5" }, convolve: { values: "0_-1_0_-1_5_-1_0_-1_0", columns: "3" }, noise: { amount: "16" },
  opacity: { amount: "0.6" }, background: { color: "ffffff" }, text: { text: "Hello", size: "10pc", color: "ffffff" },
  speed: { factor: "2" }, delay: { milliseconds: "100" }, loop: { count: "0" }, channels: { red: "1.1", blue: "0.9" },
};

/** A first value of a required parameter. */
function firstValue({ type, choices, minimum }) {
  if (choices) return choices[0];
  if (type === "color") return "4f46e5";
  if (type === "size") return "400x300";
  if (type === "number" || type === "integer" || type === "length") return String(Math.max(1, minimum ?? 1));
  return "";
}

/** A new operation with values to begin with. */
export function addedOperation(name) {
  const required = describe(name).parameters.filter((parameter) => parameter.required)
    .map((parameter) => [parameter.name, firstValue(parameter)]);
  return newOperation(name, { ...Object.fromEntries(required), ...beginnings[name] });
}
