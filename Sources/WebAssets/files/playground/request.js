// SPDX-License-Identifier: Apache-2.0
// Requests pictures from the daemon, with a signature or a file where one is needed.

import { json, Problem, request, sign } from "./api.js";

// What browsers that know this page's CSS accept for pictures.
const accept = "image/avif,image/webp,image/*;q=0.8,*/*;q=0.5";

let mustSign = false;

/** Sets whether each target gets a signature. */
export function setSigning(value) { mustSign = value; }

/** The target as a client has to send it. */
export const permitted = async (target) => (mustSign ? sign(target) : target);

/** Server-Timing as `[{ name, milliseconds }]` (W3C Server Timing). */
export function serverTimings(text) {
  return (text ?? "").split(",").flatMap((entry) => {
    const match = entry.trim().match(/^([\w-]+);dur=([\d.]+)$/);
    return match ? [{ name: match[1], milliseconds: Number(match[2]) }] : [];
  });
}

/** What Cache-Status says (RFC 9211): `{ text, kind, detail }`. */
export function cacheStatus(text) {
  if (!text) return { text: "not stored", kind: "", detail: "" };
  const members = Object.fromEntries(text.split(";").slice(1).map((part) => {
    const [name, value = "1"] = part.trim().split("=");
    return [name, value];
  }));
  if (members.detail?.startsWith("stale") || members.hit && Number(members.ttl) < 0) return { text: "stale", kind: "warn", detail: text };
  if (members.hit && members.detail === "original") return { text: "original hit", kind: "good", detail: text };
  if (members.hit) return { text: `hit${members.detail ? `, ${members.detail}` : ""}`, kind: "good", detail: text };
  if (members.collapsed) return { text: "joined", kind: "good", detail: text };
  if (!members.stored) return { text: "not stored", kind: "", detail: text };
  const words = { "uri-miss": "made now", "vary-miss": "made now", stale: "fetched again", request: "fetched again" };
  return { text: words[members.fwd] ?? "made now", kind: "", detail: text };
}

/** Requests a picture: `{ blob, milliseconds, timings, cache, target }`; throws a Problem. */
export async function picture(target, { file = null, signal, fresh = true } = {}) {
  const sent = file ? target : await permitted(target);
  const start = performance.now();
  const response = await request(sent, { signal, headers: { Accept: accept }, cache: fresh ? "no-store" : "default",
    ...(file ? { method: "POST", body: file } : {}) });
  const head = performance.now();
  if (!response.ok) throw await Problem.from(response);
  const blob = await response.blob();
  return { blob, type: blob.type.split(";")[0], bytes: blob.size, milliseconds: performance.now() - start, wait: head - start, target: sent,
    timings: serverTimings(response.headers.get("Server-Timing")), cache: cacheStatus(response.headers.get("Cache-Status")) };
}

/** The facts about a source, by /info. */
export async function information(state, signal) {
  if (state.file) return json("/info", { method: "POST", body: state.file, signal });
  return json(await permitted(`/info?url=${encodeURIComponent(state.source)}`), { signal });
}

/** A name of a format for people. */
export const formatName = (type) => {
  const name = (type ?? "").replace("image/", "").replace("+xml", "");
  return { webp: "WebP", jxl: "JPEG XL" }[name] ?? name.toUpperCase();
};
