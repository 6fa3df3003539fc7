// SPDX-License-Identifier: Apache-2.0
// Crop and focal point, by dragging or by keys on the source.

import { $, announce, h } from "./dom.js";
import { newOperation } from "./transform.js";

const least = 0.02;
const bounded = (value, low = 0, high = 1) => Math.min(high, Math.max(low, value));
const percent = (share) => `${Number((share * 100).toFixed(1))}pc`;
const whole = (share) => `${Math.round(share * 100)} %`;

/** A length such as `120` or `12.5pc` as a share of a side; null if it is neither. */
function share(text, side, fallback) {
  if (!text) return fallback;
  const match = text.match(/^(\d+(?:\.\d+)?)(pc)?$/);
  return match ? Number(match[1]) / (match[2] ? 100 : side) : null;
}

/** The index of the crop that cuts the source itself: one behind others would cut their result. */
function cropIndex(operations) {
  const index = operations.findIndex(({ name }) => name !== "orient");
  return operations[index]?.name === "crop" ? index : -1;
}

/** What a crop cuts, in shares of the source; null for one that is placed in another way. */
function cropped(values, { uprightWidth, uprightHeight }) {
  const [width = "", height = ""] = (values.size ?? "").split("x");
  const box = { width: share(width, uprightWidth, null), height: share(height, uprightHeight, null),
    x: share(values.x, uprightWidth, 0), y: share(values.y, uprightHeight, 0) };
  return values.gravity || values.ratio === "1" || Object.values(box).includes(null) ? null : box;
}

const everything = { x: 0, y: 0, width: 1, height: 1 };

export class RegionTool {
  #store;
  #preview;
  #mode = null;
  #overlay = $("#overlay");
  #buttons = { crop: $("#tool-crop"), focal: $("#tool-focal") };
  #box;
  #point;

  constructor(store, preview) {
    this.#store = store;
    this.#preview = preview;
    const handles = ["nw", "ne", "sw", "se"].map((corner) => h("i", { class: "handle", "data-corner": corner, "aria-hidden": "true" }));
    this.#box = h("button", { type: "button", class: "crop-box", id: "crop-box", onkeydown: (event) => this.#cropKey(event) }, handles);
    this.#point = h("button", { type: "button", class: "focal-point", id: "focal-point", onkeydown: (event) => this.#focalKey(event) });
    this.#overlay.append(this.#box, this.#point);
    this.#overlay.addEventListener("pointerdown", (event) => this.#drag(event));
    for (const [mode, button] of Object.entries(this.#buttons)) button.addEventListener("click", () => this.#use(this.#mode === mode ? null : mode));
    store.subscribe(() => this.#show());
    preview.subscribe(() => this.#show());
    this.#show();
  }

  #use(mode) {
    this.#mode = mode;
    this.#show();
    if (!mode) return;
    (mode === "crop" ? this.#box : this.#point).focus();
    announce(mode === "crop" ? "Arrow keys move the region, with Shift they change its size." : "Arrow keys move the focal point.");
  }

  // MARK: - Crop

  get #region() {
    const { operations } = this.#store.state;
    const index = cropIndex(operations);
    return index < 0 ? null : cropped(operations[index].values, this.#preview.source);
  }

  /** Writes a region into the crop that comes first, which is added if there is none. */
  #crop(region) {
    const width = bounded(region.width, least);
    const height = bounded(region.height, least);
    const x = bounded(region.x, 0, 1 - width);
    const y = bounded(region.y, 0, 1 - height);
    const { operations } = this.#store.state;
    const index = cropIndex(operations);
    const { gravity, fx, fy, px, py, ratio, ...others } = operations[index]?.values ?? {};
    const values = { ...others, size: `${percent(width)}x${percent(height)}`, x: percent(x), y: percent(y) };
    const operation = index < 0 ? newOperation("crop", values) : { ...operations[index], values };
    const changed = index < 0 ? [operation, ...operations] : operations.toSpliced(index, 1, operation);
    this.#store.change({ operations: changed }, `crop:${operation.id}`);
  }

  #cropKey(event) {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (!x && !y) return;
    event.preventDefault();
    const step = event.ctrlKey ? 0.1 : 0.01;
    const region = this.#region ?? { x: 0.1, y: 0.1, width: 0.8, height: 0.8 };
    if (event.shiftKey) this.#crop({ ...region, width: bounded(region.width + x * step, least, 1 - region.x), height: bounded(region.height + y * step, least, 1 - region.y) });
    else this.#crop({ ...region, x: region.x + x * step, y: region.y + y * step });
    announce(this.#cropWords(this.#region ?? region));
  }

  #cropWords({ x, y, width, height }) {
    return `${whole(width)} by ${whole(height)}, ${whole(x)} from the left, ${whole(y)} from the top`;
  }

  // MARK: - Focal point

  /** The operation that cuts to an aspect, and so has a focal point: the first resize, or a crop that is not the region. */
  get #focalIndex() {
    return this.#store.state.operations.findIndex(({ name }) => name === "resize");
  }

  /** What the operation of the focal point gets of the source. */
  get #seen() {
    const index = cropIndex(this.#store.state.operations);
    return index >= 0 && index < this.#focalIndex ? this.#region ?? everything : everything;
  }

  get #focus() {
    const { values } = this.#store.state.operations[this.#focalIndex] ?? { values: {} };
    if (values.gravity !== "focal") return null;
    const seen = this.#seen;
    return { x: seen.x + Number(values.fx ?? 0.5) * seen.width, y: seen.y + Number(values.fy ?? 0.5) * seen.height };
  }

  #setFocus(x, y) {
    const seen = this.#seen;
    const text = (value, start, length) => String(Number(bounded((value - start) / length).toFixed(3)));
    const place = { gravity: "focal", fx: text(x, seen.x, seen.width), fy: text(y, seen.y, seen.height) };
    const { operations } = this.#store.state;
    const index = this.#focalIndex;
    if (index < 0) {
      const added = newOperation("resize", { size: "600x600", mode: "cover", ...place });
      this.#store.change({ operations: [...operations, added] }, `focal:${added.id}`);
      return;
    }
    const operation = operations[index];
    const changed = { ...operation, values: { ...operation.values, ...this.#cutting(operation.values), ...place } };
    this.#store.change({ operations: operations.toSpliced(index, 1, changed) }, `focal:${operation.id}`);
  }

  /** Only what is cut has a focal point: a size with one side becomes a square. */
  #cutting({ size = "600x600", mode }) {
    const [width, height] = size.split("x");
    const sides = `${width || height}x${height || width}`;
    return ["cover", "crop"].includes(mode) && width && height ? {} : { size: sides, mode: "cover" };
  }

  #focalKey(event) {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (!x && !y) return;
    event.preventDefault();
    const step = event.shiftKey ? 0.1 : 0.02;
    const focus = this.#focus ?? { x: 0.5, y: 0.5 };
    this.#setFocus(bounded(focus.x + x * step), bounded(focus.y + y * step));
    const { x: across, y: down } = this.#focus;
    announce(`Focal point ${whole(across)} from the left, ${whole(down)} from the top`);
  }

  // MARK: - Dragging

  #drag(event) {
    if (!this.#mode || event.button !== 0 || !this.#preview.source) return;
    event.preventDefault();
    const bounds = this.#overlay.getBoundingClientRect();
    const at = ({ clientX, clientY }) => ({ x: bounded((clientX - bounds.left) / bounds.width), y: bounded((clientY - bounds.top) / bounds.height) });
    const start = at(event);
    const follow = this.#mode === "focal" ? ({ x, y }) => this.#setFocus(x, y) : this.#cropDrag(event, start);
    const move = (moved) => follow(at(moved));
    const end = () => {
      this.#overlay.removeEventListener("pointermove", move);
      for (const name of ["pointerup", "pointercancel"]) this.#overlay.removeEventListener(name, end);
    };
    this.#overlay.setPointerCapture(event.pointerId);
    this.#overlay.addEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) this.#overlay.addEventListener(name, end);
    (this.#mode === "crop" ? this.#box : this.#point).focus();
    if (this.#mode === "focal") follow(start);
  }

  /** A corner is pulled, the region is moved, or a new one is drawn. */
  #cropDrag(event, start) {
    const region = this.#region;
    const corner = event.target.dataset?.corner;
    const between = (a, b) => ({ x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) });
    if (region && corner) {
      const fixed = { x: corner.includes("w") ? region.x + region.width : region.x, y: corner.includes("n") ? region.y + region.height : region.y };
      return (point) => this.#crop(between(fixed, point));
    }
    const isWhole = region && region.width > 0.99 && region.height > 0.99;
    if (region && !isWhole && event.target === this.#box) {
      return (point) => this.#crop({ ...region, x: region.x + point.x - start.x, y: region.y + point.y - start.y });
    }
    return (point) => this.#crop(between(start, point));
  }

  // MARK: - Showing

  #show() {
    const isReady = Boolean(this.#preview.source);
    for (const [mode, button] of Object.entries(this.#buttons)) {
      button.disabled = !isReady;
      button.setAttribute("aria-pressed", String(this.#mode === mode));
    }
    this.#overlay.hidden = !isReady || !this.#mode;
    this.#box.hidden = this.#mode !== "crop";
    this.#point.hidden = this.#mode !== "focal";
    if (!isReady || !this.#mode) return;
    const region = this.#region ?? everything;
    for (const [side, value] of Object.entries({ left: region.x, top: region.y, width: region.width, height: region.height })) {
      this.#box.style[side] = `${value * 100}%`;
    }
    this.#box.setAttribute("aria-label", `Crop: ${this.#cropWords(region)}. Arrow keys move, with Shift they change the size.`);
    const { x, y } = this.#focus ?? { x: 0.5, y: 0.5 };
    [this.#point.style.left, this.#point.style.top] = [`${x * 100}%`, `${y * 100}%`];
    this.#point.setAttribute("aria-label", `Focal point: ${whole(x)} from the left, ${whole(y)} from the top. Arrow keys move it.`);
  }
}

/** How much of each side the first crop leaves, as far as its text says so. */
export function croppedShare(operations, facts) {
  const index = cropIndex(operations);
  const region = index < 0 ? null : cropped(operations[index].values, facts);
  return { width: bounded(region?.width ?? 1), height: bounded(region?.height ?? 1) };
}
