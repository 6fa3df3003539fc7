// SPDX-License-Identifier: Apache-2.0
// What the page shows, with undo and redo. States are never changed, only replaced.

const maxSteps = 200;

export const emptyState = { source: "", file: null, operations: [], output: {} };

export class Store {
  #listeners = [];
  #past = [];
  #future = [];
  // Which field the last change was of: typing on is one step.
  #field = null;
  state = emptyState;

  /** Calls `listener` with the state after each change. */
  subscribe(listener) { this.#listeners.push(listener); }

  /** Replaces members of the state. Changes of one `field` after the other are one step. */
  change(members, field = null) {
    const isSameStep = field !== null && field === this.#field;
    if (!isSameStep) this.#past.push(this.state);
    if (this.#past.length > maxSteps) this.#past.shift();
    this.#future = [];
    this.#field = field;
    this.#show({ ...this.state, ...members });
  }

  /** Replaces the state without a step to undo. */
  start(state) {
    [this.#past, this.#future, this.#field] = [[], [], null];
    this.#show({ ...emptyState, ...state });
  }

  get canUndo() { return this.#past.length > 0; }
  get canRedo() { return this.#future.length > 0; }

  undo() { this.#step(this.#past, this.#future); }
  redo() { this.#step(this.#future, this.#past); }

  #step(from, to) {
    if (!from.length) return;
    to.push(this.state);
    this.#field = null;
    this.#show(from.pop());
  }

  #show(state) {
    this.state = state;
    for (const listener of this.#listeners) listener(state);
  }

  // MARK: - The pipeline

  /** Changes a parameter of an operation; an empty text removes it. */
  setValue(id, name, value) {
    const operations = this.state.operations.map((operation) =>
      (operation.id === id ? { ...operation, values: { ...operation.values, [name]: value } } : operation));
    this.change({ operations }, `${id}:${name}`);
  }

  setOutput(name, value) {
    const { [name]: _, ...others } = this.state.output;
    this.change({ output: value === "" ? others : { ...this.state.output, [name]: value } }, `output:${name}`);
  }

  add(operation, index = this.state.operations.length) {
    this.change({ operations: this.state.operations.toSpliced(index, 0, operation) });
  }

  remove(id) {
    this.change({ operations: this.state.operations.filter((operation) => operation.id !== id) });
  }

  /** Moves an operation to another place; whether there is one. */
  move(id, index) {
    const { operations } = this.state;
    const from = operations.findIndex((operation) => operation.id === id);
    if (from < 0 || index < 0 || index >= operations.length || index === from) return false;
    this.change({ operations: operations.toSpliced(from, 1).toSpliced(index, 0, operations[from]) });
    return true;
  }
}
