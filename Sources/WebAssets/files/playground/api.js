// SPDX-License-Identifier: Apache-2.0
// Requests to the daemon that sent this page, and to no other server.

const tokenName = "imageproxyd-admin-token";
// Lost without session storage: the token has to be given again after a reload.
const storage = (() => { try { return sessionStorage; } catch { return null; } })();
let token = storage?.getItem(tokenName) ?? "";

/** The admin token, sent with each request from now on. */
export function setToken(text) {
  token = text;
  storage?.setItem(tokenName, text);
}

/** A target of the daemon such as `/img?…` as a URL, also below the prefix of a proxy in front of it. */
export const absolute = (target) => new URL(target.replace(/^\//, ""), document.baseURI).href;

export function request(target, options = {}) {
  const headers = new Headers(options.headers);
  if (token) headers.set("Authorization", `Bearer ${token}`);
  return fetch(absolute(target), { credentials: "same-origin", redirect: "error", ...options, headers });
}

/** An answer of the daemon that says what is wrong. */
export class Problem extends Error {
  constructor(document) {
    super(document.title ?? "The request failed");
    Object.assign(this, document);
  }

  static async from(response) {
    const isDocument = response.headers.get("Content-Type")?.startsWith("application/problem+json");
    const document = isDocument ? await response.json() : { title: `The answer is ${response.status}` };
    return new Problem({ ...document, status: response.status });
  }
}

export async function json(target, options) {
  const response = await request(target, options);
  if (!response.ok) throw await Problem.from(response);
  return response.json();
}

const signed = new Map();
const maxSigned = 300;

/** The target with a signature of the daemon's first key. */
export async function sign(target) {
  if (!signed.has(target)) {
    const answer = await json(`/sign?target=${encodeURIComponent(target)}`, { method: "POST" });
    if (signed.size >= maxSigned) signed.clear();
    signed.set(target, answer.target);
  }
  return signed.get(target);
}
