// SPDX-License-Identifier: Apache-2.0
// The playground: connects its parts.

import { json, Problem, setToken } from "./api.js";
import { Compare } from "./compare.js";
import { CopyPanel } from "./copy.js";
import { $, announce, h } from "./dom.js";
import { FormatGrid } from "./grid.js";
import { OutputForm } from "./output.js";
import { OperationPicker } from "./picker.js";
import { Pipeline } from "./pipeline.js";
import { Preview } from "./preview.js";
import { RegionTool } from "./region.js";
import { setSigning } from "./request.js";
import { SourceForm } from "./source.js";
import { Store } from "./state.js";
import { tabs } from "./tabs.js";
import { parameters, readQuery } from "./target.js";
import { addedOperation, newOperation, setCatalogue } from "./transform.js";

const store = new Store();

/** What the page begins with: what its own URL says, or a sample. */
function firstState(facts) {
  const hash = location.hash.slice(1);
  if (hash) return readQuery(hash);
  if (facts.onlyPresets) return { source: facts.samples[0] ?? "", operations: [], output: { preset: facts.presets[0] ?? "" } };
  return { source: facts.samples[0] ?? "", operations: [newOperation("resize", { size: "800x" })], output: {} };
}

/** Keeps what is shown in the page's own URL, which is never sent. */
function keepInURL(state) {
  const query = state.file ? "" : parameters(state).map(([name, value]) => `${name}=${value}`).join("&");
  history.replaceState(null, "", query ? `#${query}` : location.pathname + location.search);
}

function addUndo() {
  const act = (name) => {
    if (!store[name === "undo" ? "canUndo" : "canRedo"]) return;
    store[name]();
    announce(name === "undo" ? "The last change is undone" : "The change is done again");
  };
  for (const name of ["undo", "redo"]) $(`#${name}`).addEventListener("click", () => act(name));
  addEventListener("keydown", (event) => {
    // A field undoes its own typing.
    const isField = event.target.matches("input:not([type=range], [type=checkbox], [type=color]), textarea");
    if (!(event.ctrlKey || event.metaKey) || isField || $("#picker").open) return;
    const key = event.key.toLowerCase();
    const name = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (!name) return;
    event.preventDefault();
    act(name);
  });
}

/** Shows a problem where it belongs, and at the result. */
function showProblem(found, { source, pipeline, output }) {
  source.showProblem(found);
  pipeline.showProblem(found);
  output.showProblem(found);
  const box = $("#problem");
  box.hidden = !found;
  if (!found) return;
  const { problem } = found;
  const places = {
    source: ["Go to the source", () => source.focus()], output: [`Go to “${found.name}”`, () => output.focus(found.name)],
    operation: [found.name ? `Go to “${found.name}”` : "Go to the operation", () => pipeline.focus(found.operation, found.name)],
  };
  const [words, go] = places[found.area] ?? [];
  box.replaceChildren(h("b", {}, problem.title ?? problem.message), h("span", {}, problem.detail ?? ""),
    h("span", { class: "row" }, problem.status ? h("span", { class: "quiet" }, `${problem.status} ${problem.code ?? ""}`) : null,
      go ? h("button", { type: "button", class: "link", id: "go-to-field", onclick: go }, words) : null));
}

function start(facts, operations) {
  setCatalogue(operations);
  setSigning(facts.needsSignature && facts.canSign);
  $("#stats-link").hidden = facts.listener !== "admin";
  $("#version").textContent = facts.version;
  $("#workspace").classList.toggle("only-presets", facts.onlyPresets);
  $("#workspace").hidden = false;
  const forms = {};
  const preview = new Preview(store, facts, (found) => showProblem(found, forms));
  forms.source = new SourceForm(store, facts);
  forms.pipeline = new Pipeline(store, facts);
  forms.output = new OutputForm(store, facts);
  const compare = new Compare(preview);
  new RegionTool(store, preview);
  new FormatGrid(store, preview, facts);
  new CopyPanel(store, preview, facts);
  new OperationPicker(operations, (name) => {
    const operation = addedOperation(name);
    store.add(operation);
    forms.pipeline.focus(operation.id);
    announce(`${name} is added`);
  });
  tabs($("#views"), (id) => { compare.isShown = id === "tab-slider"; });
  document.addEventListener("translationoffered", () => showProblem(null, forms));
  addUndo();
  store.subscribe(keepInURL);
  // The user has entered another URL: the page's own changes of it raise no event.
  addEventListener("hashchange", () => { if (location.hash.length > 1) store.change({ ...readQuery(location.hash.slice(1)), file: null }); });
  store.start(firstState(facts));
  if (facts.canSign && facts.needsSignature) notice("Only signed URLs are answered. This listener signs what you try, with the first key of security.keys.");
  document.documentElement.dataset.ready = "true";
}

function notice(...content) {
  $("#notice").replaceChildren(...content);
  $("#notice").hidden = false;
}

/** Requests the admin token, and again if it is wrong. */
function askForToken() {
  $("#token").hidden = false;
  $("#token-field").focus();
  $("#token").addEventListener("submit", (event) => {
    event.preventDefault();
    setToken($("#token-field").value);
    $("#token").hidden = true;
    begin(true);
  }, { once: true });
}

async function begin(isRepeated = false) {
  try {
    const [facts, { operations }] = await Promise.all([json("/playground/settings"), json("/transforms")]);
    if (facts.needsSignature && !facts.canSign) {
      notice(h("b", {}, "Only signed URLs are answered here. "), "This page can try what the admin listener signs for it: open it there (",
        h("code", {}, "admin.listen"), "). ", h("a", { href: "docs/playground.html#signed-urls" }, "How"));
      document.documentElement.dataset.ready = "true";
      return;
    }
    start(facts, operations);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) {
      notice(`The daemon could not be asked: ${error.detail ?? error.message}. Reload the page to try again.`);
      throw error;
    }
    $("#token-error").hidden = !isRepeated;
    askForToken();
  }
}

begin();
