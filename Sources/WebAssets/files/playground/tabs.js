// SPDX-License-Identifier: Apache-2.0
// Tabs with the keys that people expect (WAI-ARIA Authoring Practices).

/** Makes the buttons of a tablist show their panels; `shown` is called with the id of the tab that is shown. */
export function tabs(list, shown = () => {}) {
  const buttons = [...list.querySelectorAll("[role=tab]")];
  const select = (button) => {
    for (const other of buttons) {
      const isSelected = other === button;
      other.setAttribute("aria-selected", String(isSelected));
      other.tabIndex = isSelected ? 0 : -1;
      const panel = document.getElementById(other.getAttribute("aria-controls"));
      // Several tabs may share one panel.
      if (isSelected) panel.setAttribute("aria-labelledby", other.id);
      panel.hidden = panel.getAttribute("aria-labelledby") !== button.id;
    }
    shown(button.id);
  };
  for (const button of buttons) button.addEventListener("click", () => select(button));
  list.addEventListener("keydown", (event) => {
    const shown = buttons.filter((button) => button.checkVisibility());
    const index = shown.indexOf(document.activeElement);
    const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const button = shown[(next + shown.length) % shown.length];
    select(button);
    button.focus();
  });
  select(buttons[0]);
  return { select: (id) => select(buttons.find((button) => button.id === id)) };
}
