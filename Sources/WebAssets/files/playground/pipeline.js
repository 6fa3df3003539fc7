// SPDX-License-Identifier: Apache-2.0
// The list of operations: one card each, with its form; moved by drag, by buttons and by keys.

import { $, announce, h, icon, iconButton } from "./dom.js";
import { Field } from "./fields.js";
import { describe, readTransform, writeTransform } from "./transform.js";

// As many parameters are shown at once; further ones when they are given, or requested.
const shownAtOnce = 3;
// How near the window's edge a dragged card makes the page scroll, and how far at a time, in pixels.
const scrollEdge = 48;
const scrollStep = 16;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** The card of one operation. */
class Card {
  fields = new Map();
  #error;
  #first;
  #more = null;

  constructor(operation, list) {
    this.id = operation.id;
    this.name = operation.name;
    const description = describe(operation.name);
    const title = `op-${operation.id}`;
    this.grip = h("button", { type: "button", class: "icon-button grip", onkeydown: (event) => this.#key(event, list),
      onpointerdown: (event) => list.drag(this, event) }, icon("grip"));
    this.up = iconButton("up", `Move ${this.name} up`, () => list.move(this.id, -1, this.up));
    this.down = iconButton("down", `Move ${this.name} down`, () => list.move(this.id, 1, this.down));
    const remove = iconButton("close", `Remove ${this.name}`, () => list.remove(this.id));
    this.#error = h("p", { class: "error", hidden: true, id: `${title}-error` });
    const summary = description?.summary ?? "There is no such operation.";
    this.element = h("li", { class: "operation", "data-operation": this.name, "aria-labelledby": title, "aria-describedby": `${title}-error` },
      h("header", {}, this.grip, h("h3", { id: title }, this.name), this.up, this.down, remove),
      h("p", { class: "summary" }, summary), this.#form(operation, description, list), this.#error);
  }

  #form(operation, description, list) {
    if (!description) return h("p", { class: "summary" }, h("code", {}, operation.text));
    const fields = description.parameters.map((parameter) => {
      const choices = parameter.name === "name" && operation.name === "watermark" && list.watermarks.length ? list.watermarks : null;
      const declared = choices ? { ...parameter, type: "choice", choices } : parameter;
      const field = new Field(declared, (value) => list.store.setValue(operation.id, parameter.name, value));
      this.fields.set(parameter.name, field);
      return { parameter, field };
    });
    const isFirst = ({ parameter }, index) => parameter.required || index < shownAtOnce || operation.values[parameter.name];
    const first = fields.filter(isFirst);
    const others = fields.filter((field) => !first.includes(field));
    if (others.length) {
      this.#more = h("details", { class: "more" }, h("summary", {}, `${others.length} more`), h("div", { class: "fields" }, others.map(({ field }) => field.element)));
    }
    this.#first = h("div", { class: "fields" }, first.map(({ field }) => field.element));
    return h("div", { class: "form" }, this.#first, this.#more);
  }

  update(operation, index, count) {
    for (const [name, field] of this.fields) {
      field.set(operation.values[name] ?? "");
      if (operation.values[name]) this.#bringUp(field);
    }
    this.up.disabled = index === 0;
    this.down.disabled = index === count - 1;
    const words = `Move ${this.name}, ${index + 1} of ${count}: arrow keys, or drag`;
    this.grip.setAttribute("aria-label", words);
    this.grip.title = words;
  }

  /** Shows a field among the first ones, unless it is being used where it is. */
  #bringUp({ element }) {
    if (!this.#more?.contains(element) || element.contains(document.activeElement)) return;
    this.#first.append(element);
    const left = this.#more.querySelectorAll(".field").length;
    this.#more.hidden = left === 0;
    $("summary", this.#more).textContent = `${left} more`;
  }

  setErrors(problem) {
    const field = problem?.name ? this.fields.get(problem.name) : null;
    for (const other of this.fields.values()) other.setError(other === field ? problem.text : null);
    if (field) this.#bringUp(field);
    this.#error.hidden = !problem || Boolean(field);
    this.#error.textContent = problem && !field ? problem.text : "";
    this.element.classList.toggle("wrong", Boolean(problem));
  }

  #key(event, list) {
    const step = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!step) return;
    event.preventDefault();
    list.move(this.id, step, this.grip);
  }
}

export class Pipeline {
  #cards = new Map();
  #list = $("#operations");
  #text = $("#transform-text");
  #textError = $("#transform-text-error");

  constructor(store, facts) {
    this.store = store;
    this.watermarks = facts.watermarks ?? [];
    store.subscribe((state) => this.#show(state));
    this.#text.addEventListener("change", () => store.change({ operations: readTransform(this.#text.value.trim()) }));
    this.#text.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(), this.#text.blur(); });
  }

  // MARK: - Changes

  /** Moves an operation by steps, as far as there are places; what had the focus keeps it. */
  move(id, steps, focused) {
    const { operations } = this.store.state;
    const from = operations.findIndex((operation) => operation.id === id);
    const to = Math.min(operations.length - 1, Math.max(0, from + steps));
    if (!this.#moved(id, to)) return;
    const card = this.#cards.get(id);
    (focused.disabled ? card.grip : focused).focus();
  }

  #moved(id, index) {
    const before = this.#places();
    if (!this.store.move(id, index)) return false;
    this.#slide(before);
    const { operations } = this.store.state;
    announce(`${operations[index].name} is ${index + 1} of ${operations.length}`);
    return true;
  }

  remove(id) {
    const { operations } = this.store.state;
    const index = operations.findIndex((operation) => operation.id === id);
    const { name } = operations[index];
    this.store.remove(id);
    const next = this.store.state.operations[Math.min(index, operations.length - 2)];
    (next ? this.#cards.get(next.id).grip : $("#add-operation")).focus();
    announce(`${name} is removed. Undo brings it back.`);
  }

  /** Puts the focus into a field of an operation: the one of that name, or the first. */
  focus(id, name = null) {
    const card = this.#cards.get(id);
    const field = card?.fields.get(name);
    const input = card?.element.querySelector(".fields :is(input:not([tabindex='-1']), select)");
    if (field) field.focus();
    else (input ?? card?.grip)?.focus();
    card?.element.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
  }

  /** Shows at an operation what is wrong with it; nothing for null. */
  showProblem(problem) {
    const isHere = problem?.area === "operation";
    for (const card of this.#cards.values()) card.setErrors(isHere && problem.operation === card.id ? problem : null);
  }

  // MARK: - Dragging

  /** Follows a pointer: the card takes the place over which it is. */
  drag(card, event) {
    if (event.button !== 0) return;
    event.preventDefault();
    card.grip.focus();
    card.grip.setPointerCapture(event.pointerId);
    card.element.classList.add("dragged");
    const follow = ({ clientY }) => {
      // Places beyond the window are reached by going to its edge.
      if (clientY < scrollEdge || clientY > innerHeight - scrollEdge) scrollBy(0, clientY < scrollEdge ? -scrollStep : scrollStep);
      const cards = this.store.state.operations.map(({ id }) => this.#cards.get(id));
      const index = cards.findIndex((other) => {
        const { top, bottom } = other.element.getBoundingClientRect();
        return other !== card && clientY > top && clientY < bottom && this.#isBeyondMiddle(cards, card, other, clientY);
      });
      if (index >= 0) this.#moved(card.id, index);
    };
    const end = () => {
      card.element.classList.remove("dragged");
      card.grip.removeEventListener("pointermove", follow);
      for (const name of ["pointerup", "pointercancel"]) card.grip.removeEventListener(name, end);
      card.grip.focus();
    };
    card.grip.addEventListener("pointermove", follow);
    for (const name of ["pointerup", "pointercancel"]) card.grip.addEventListener(name, end);
  }

  /** Cards of different heights would otherwise change places back and forth. */
  #isBeyondMiddle(cards, card, other, clientY) {
    const { top, height } = other.element.getBoundingClientRect();
    const own = Math.min(card.element.offsetHeight, height / 2);
    return cards.indexOf(other) > cards.indexOf(card) ? clientY > top + height - own : clientY < top + own;
  }

  #places() {
    return new Map([...this.#cards].map(([id, card]) => [id, card.element.getBoundingClientRect().top]));
  }

  /** Lets the cards slide from where they were. */
  #slide(before) {
    if (calm.matches) return;
    for (const [id, top] of before) {
      const element = this.#cards.get(id)?.element;
      const offset = element ? top - element.getBoundingClientRect().top : 0;
      if (offset) element.animate([{ transform: `translateY(${offset}px)` }, { transform: "none" }], { duration: 160, easing: "ease-out" });
    }
  }

  // MARK: - Showing

  #show({ operations }) {
    const ids = new Set(operations.map(({ id }) => id));
    for (const [id, card] of this.#cards) {
      if (ids.has(id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    for (const operation of operations) {
      if (!this.#cards.has(operation.id)) this.#cards.set(operation.id, new Card(operation, this));
    }
    const focused = document.activeElement;
    operations.forEach((operation, index) => {
      const card = this.#cards.get(operation.id);
      if (this.#list.children[index] !== card.element) this.#list.insertBefore(card.element, this.#list.children[index] ?? null);
      card.update(operation, index, operations.length);
    });
    // An element that is moved loses the focus.
    if (focused !== document.activeElement && focused?.isConnected) focused.focus();
    $("#no-operations").hidden = operations.length > 0;
    if (document.activeElement !== this.#text) this.#text.value = writeTransform(operations).text;
    this.#textError.hidden = true;
    $("#undo").disabled = !this.store.canUndo;
    $("#redo").disabled = !this.store.canRedo;
  }
}
