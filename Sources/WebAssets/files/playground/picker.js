// SPDX-License-Identifier: Apache-2.0
// The dialog that offers operations by their names and what they do.

import { $, h } from "./dom.js";

export class OperationPicker {
  #dialog = $("#picker");
  #search = $("#picker-search");
  #list = $("#picker-list");
  #none = $("#picker-none");
  #items;

  /** `choose` is called with the name of the operation that is to be added. */
  constructor(operations, choose) {
    this.#items = operations.map(({ name, summary }) => {
      const button = h("button", { type: "button", "data-name": name, onclick: () => { this.#dialog.close(); choose(name); } },
        h("b", {}, name), h("span", {}, summary));
      return { words: `${name} ${summary}`.toLowerCase(), name, button, element: h("li", {}, button) };
    });
    this.#list.append(...this.#items.map(({ element }) => element));
    $("#add-operation").addEventListener("click", () => this.open());
    $("#picker-close").addEventListener("click", () => this.#dialog.close());
    this.#search.addEventListener("input", () => this.#filter());
    this.#dialog.addEventListener("keydown", (event) => this.#key(event));
    // A click beside the dialog.
    this.#dialog.addEventListener("click", (event) => { if (event.target === this.#dialog) this.#dialog.close(); });
  }

  open() {
    this.#search.value = "";
    this.#filter();
    this.#dialog.showModal();
    this.#search.focus();
  }

  get #shown() { return this.#items.filter(({ element }) => !element.hidden); }

  /** Those whose names begin with the text come first. */
  #filter() {
    const text = this.#search.value.trim().toLowerCase();
    const rank = ({ name }) => (text && name.startsWith(text) ? 0 : text && name.includes(text) ? 1 : 2);
    this.#list.append(...this.#items.toSorted((a, b) => rank(a) - rank(b)).map(({ element }) => element));
    for (const { words, element } of this.#items) element.hidden = !words.includes(text);
    this.#none.hidden = this.#shown.length > 0;
  }

  #key(event) {
    const buttons = [...this.#list.querySelectorAll("li:not([hidden]) button")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && event.target === this.#search) {
      event.preventDefault();
      buttons[0]?.click();
    } else if (step) {
      event.preventDefault();
      const index = buttons.indexOf(document.activeElement) + step;
      (index < 0 ? this.#search : buttons[Math.min(index, buttons.length - 1)])?.focus();
    }
  }
}
