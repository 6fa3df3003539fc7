// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system says. Not a module, so that it runs before anything is drawn.
(() => {
  const modes = ["auto", "light", "dark"];
  const root = document.documentElement;

  // A browser that blocks storage has the system's choice on each page.
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const store = (mode) => { try { localStorage.setItem("theme", mode); } catch { /* see above */ } };

  let mode = modes.includes(stored()) ? stored() : "auto";
  const apply = () => { root.dataset.theme = mode; };
  apply();

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      const label = () => button.setAttribute("aria-label", `Colours: ${mode}. Change`);
      label();
      button.addEventListener("click", () => {
        mode = modes[(modes.indexOf(mode) + 1) % modes.length];
        store(mode);
        apply();
        label();
      });
    }
  });
})();
