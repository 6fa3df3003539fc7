// SPDX-License-Identifier: Apache-2.0
// Targets such as `/img?url=…&transform=…`, from what the page shows and back.

import { placeAt, readTransform, writeTransform } from "./transform.js";

/** A value of a query. What the grammars of the daemon allow stays readable. */
export const encode = (text) => encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%2B/g, "+").replace(/%3D/g, "=");

/** Decodes a value; one that is no UTF-8 stays as it is. */
function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** The parameters of what the page shows, in the order of its URL. */
export function parameters(state, changes = {}) {
  const output = { ...state.output, ...changes };
  const { text } = writeTransform(state.operations);
  const first = [];
  if (state.source && !state.file) first.push(["url", encodeURIComponent(state.source)]);
  if (output.preset) first.push(["preset", encode(output.preset)]);
  if (text) first.push(["transform", encode(text)]);
  const others = Object.entries(output).filter(([name, value]) => name !== "preset" && value);
  return [...first, ...others.map(([name, value]) => [name, encode(value)])];
}

/** The target of a picture; `changes` are output parameters in place of the page's. */
export function target(state, changes) {
  const query = parameters(state, changes).map(([name, value]) => `${name}=${value}`).join("&");
  return query ? `/img?${query}` : "/img";
}

/** The target of the source as it is. */
export const sourceTarget = (path, state) => (state.file ? path : `${path}?url=${encodeURIComponent(state.source)}`);

/** Output parameters under which the same pixels are written without loss. */
export const lossless = { format: "png", quality: "", lossless: "", progressive: "", max_bytes: "", skip: "" };

/** What a query means: a source, operations and output parameters. Signatures are left out. */
export function readQuery(query) {
  const pairs = query.split("&").filter(Boolean).map((pair) => {
    const mark = pair.indexOf("=");
    return mark < 0 ? [pair, ""] : [pair.slice(0, mark), decode(pair.slice(mark + 1))];
  });
  const { url = "", url64, transform = "", sig, expires, ...output } = Object.fromEntries(pairs);
  return { source: url64 ? decodeBase64URL(url64) : url, operations: readTransform(transform), output };
}

function decodeBase64URL(text) {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  } catch { return ""; }
}

/** The query of a URL of an imageproxyd, whatever its host; null for another URL. */
export function ownQuery(text) {
  const match = text.match(/^(?:https?:\/\/[^/?#]+)?(?:\/[^?#]*)?\/img\?([^#]*)$/);
  return match && /(^|&)(url|url64)=/.test(match[1]) ? match[1] : null;
}

// Whose fault an error without a parameter is.
const aboutSource = /^(upstream_|source_|address_|host_unavailable|invalid_url|unsupported_scheme|not_an_image|unsupported_format|bad_image_data|tls_failed|too_many_redirects|too_many_pixels|too_many_frames|content_too_large|decoder_crashed)/;
const aboutOutput = { max_bytes_unreachable: "max_bytes", frame_out_of_range: "frame" };

/** Where a problem belongs: `{ area, name, operation, text }`; area is `source`, `operation`, `output`, or `page`. */
export function attribute(problem, state) {
  const detail = (problem.detail ?? "").replace(/^parameter '[^']*'(, position \d+)?: /, "");
  const text = detail || problem.title || problem.message;
  const { parameter, code, position } = problem;
  if (parameter === "transform") {
    const place = placeAt(writeTransform(state.operations).places, position ?? 0);
    if (!place) return { area: "page", text };
    // Behind the name of the operation, and of the parameter if it has one.
    const names = detail.match(/^[a-z_0-9]+(?::([a-z_0-9]+))?: (.*)$/s);
    const operation = state.operations.find(({ id }) => id === place.operation);
    const named = operation && names?.[1] && names[1] in operation.values ? names[1] : place.field ?? names?.[1] ?? null;
    return { area: "operation", operation: place.operation, name: named, text: names?.[2] ?? text };
  }
  if (parameter === "url" || parameter === "url64" || !parameter && aboutSource.test(code ?? "")) return { area: "source", text };
  const name = parameter ?? aboutOutput[code];
  return name ? { area: "output", name, text } : { area: "page", text };
}
