// SPDX-License-Identifier: Apache-2.0
// Creates elements. Text becomes text nodes, never markup.

export const $ = (selector, within = document) => within.querySelector(selector);

/** Creates an element: `on…` are listeners, `true` is an attribute without value, null and false are none. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

const paths = {
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  up: "m6 15 6-6 6 6", down: "m6 9 6 6 6-6", close: "M6 6l12 12M18 6 6 18", plus: "M12 5v14M5 12h14",
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3", redo: "m15 14 5-5-5-5M20 9H10a6 6 0 0 0 0 12h3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1", check: "m5 12.5 4.5 4.5L19 7.5", crop: "M6 2v16h16M2 6h16v16",
  focus: "M12 3v4M12 17v4M3 12h4M17 12h4M12 12h.01", file: "M14 3H6v18h12V7zM14 3v4h4", link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  alert: "M12 8v5M12 16.5h.01M12 3 2 20h20z", open: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
};

/** A line drawing, hidden from screen readers. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", paths[name]);
  if (name === "grip") path.setAttribute("stroke-width", "2.6");
  svg.append(path);
  return svg;
}

export function iconButton(name, label, onclick, attributes = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...attributes }, icon(name));
}

/** Announces something to screen readers, politely. */
export function announce(text) {
  const region = $("#announcement");
  region.textContent = "";
  requestAnimationFrame(() => { region.textContent = text; });
}

/** Bytes in the unit that a person would say. */
export function bytesText(count) {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${(count / 1e3).toFixed(count < 1e4 ? 1 : 0)} kB`;
  return `${(count / 1e6).toFixed(count < 1e7 ? 2 : 1)} MB`;
}

export const milliseconds = (time) => (time < 10 ? time.toFixed(1) : Math.round(time)) + " ms";

/** Calls at most once after `delay` without another call. */
export function debounced(delay, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), delay);
  };
}
