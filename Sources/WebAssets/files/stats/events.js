// SPDX-License-Identifier: Apache-2.0
// Reads server-sent events. EventSource can't send the field with the admin token, so they are fetched.

import { Problem, request } from "../playground/api.js";

/** Splits the text of a stream into events: `{name, data}`; comments and `retry` have neither. */
export class EventParser {
  #rest = "";

  /** Returns the events that end in this piece of text. */
  add(text) {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop();
    return blocks.map((block) => {
      const event = { name: "message", data: "" };
      const lines = block.split("\n");
      const values = (field) => lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
      event.name = values("event").at(-1) ?? event.name;
      event.data = values("data").join("\n");
      return event;
    }).filter((event) => event.data);
  }
}

/** Calls `receive` with each event until the stream ends; throws a Problem, or what fetch throws. */
export async function readEvents(target, signal, receive) {
  const response = await request(target, { signal, cache: "no-store" });
  if (!response.ok) throw await Problem.from(response);
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    for (const event of parser.add(value)) receive(event);
  }
}
