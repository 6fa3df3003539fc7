// SPDX-License-Identifier: Apache-2.0
// The live view: reads the daemon's numbers once a second, and draws them.

import { setToken } from "../playground/api.js";
import { $, h } from "../playground/dom.js";
import { readEvents } from "./events.js";
import { History, failures, requests, tiers } from "./history.js";
import { DataTable, Histogram, ShareBar, TimePlot } from "./plots.js";
import { age, bytes, number, percent, time } from "./units.js";

const history = new History();

// MARK: - What is shown

const tileNames = ["Requests a second", "Hit ratio", "Median", "99 of 100 within", "Sent", "Failures", "Connections", "Memory"];
const tiles = tileNames.map((name) => {
  const value = h("div", { class: "value" }, "–");
  const more = h("div", { class: "more" });
  $("#tiles").append(h("div", { class: "card tile" }, h("dt", {}, name), h("dd", {}, value, more)));
  return { value, more };
});

const rates = new TimePlot("Requests a second", tiers, { text: number, isStacked: true, wide: true });
const shares = new ShareBar("Answers by tier", tiers);
const queues = new TimePlot("Queues", [["miss", "fetches waiting"], ["disk", "fetches in progress"], ["memory", "pictures waiting"],
  ["original", "improvements waiting"]], { text: number, least: 4, wide: true });
const workers = new TimePlot("Workers", [["memory", "busy"], ["idle", "idle"], ["miss", "starting"]],
  { text: number, isStacked: true, wide: true });
const memory = new TimePlot("Memory", [["memory", "process"], ["disk", "memory tier"]], { text: bytes, wide: true });
let latency = null;

const hosts = new DataTable("Top hosts", [["Host", "name"], ["Answers", "number"], ["Failed", "number"], ["Fetch per answer", "number"],
  ["Sent", "number"]], "No answer has needed an origin or a worker.");
const failed = new DataTable("Failures", [["Code", "name"], ["Count", "number"], ["Status", "number"], ["Last host", "text"],
  ["Last reason", "text"]], "Nothing has failed.", { wide: true });
const slow = new DataTable("Slow transforms", [["Source", "name"], ["Worker", "number"], ["Decode", "number"], ["Transform", "number"],
  ["Encode", "number"], ["Waited", "number"]], "No transform yet.", { wide: true });
const presets = new DataTable("Presets", [["Preset", "name"], ["Answers", "number"], ["Failed", "number"], ["Work per answer", "number"]],
  "No preset was requested.");
$("#tables").append(hosts.element, presets.element, failed.element, slow.element);

// MARK: - Drawing

function showTile(index, value, more = "") {
  tiles[index].value.textContent = value;
  tiles[index].more.textContent = more;
}

function drawTiles(last) {
  const ratio = history.hitRatio();
  const [median, late] = [history.quantile(0.5), history.quantile(0.99)];
  const failing = history.rate(failures, 10);
  showTile(0, number(history.rate(requests, 5)), `${number(requests(last))} in all`);
  showTile(1, ratio === null ? "–" : percent(ratio), "memory, disk, stale");
  showTile(2, median === null ? "–" : time(median), "of all answers");
  showTile(3, late === null ? "–" : time(late), "of all answers");
  showTile(4, `${bytes(history.rate((sample) => sample.bytes, 5))}/s`, `${bytes(last.bytes)} in all`);
  showTile(5, `${number(failing)}/s`, `${number(failures(last))} in all`);
  showTile(6, number(last.connections), "of clients");
  showTile(7, bytes(last.memory.resident), "without workers");
}

/** Where a duration lies among the buckets. */
function bucketPlace(microseconds, bounds) {
  if (microseconds === null) return null;
  const index = bounds.findIndex((bound) => microseconds <= bound);
  if (index < 0) return bounds.length;
  const low = index ? bounds[index - 1] : 0;
  return index + (microseconds - low) / (bounds[index] - low);
}

function drawLatency(last) {
  const bounds = last.latency.microseconds;
  if (!latency) {
    const labels = [...bounds.map((bound) => `up to ${time(bound)}`), "longer"];
    latency = new Histogram("Latency", labels, { wide: true });
    $("#plots").append(rates.element, latency.element, shares.element, queues.element, workers.element, memory.element);
  }
  const marks = [history.quantile(0.5), history.quantile(0.99)];
  const words = marks[0] === null ? "no answers" : `half within ${time(marks[0])}, 99 of 100 within ${time(marks[1])}`;
  latency.update(history.latencies(), number, marks.map((mark) => bucketPlace(mark, bounds)), words);
  latency.note.textContent = marks[0] === null ? "" : `p50 ${time(marks[0])} · p99 ${time(marks[1])}`;
}

function drawPlots(last) {
  drawLatency(last);
  rates.update(tiers.map(([tier]) => history.rates((sample) => sample.answers[tier] ?? 0)));
  rates.note.textContent = `${number(history.rate(requests, 5))} now`;
  const ratio = history.hitRatio();
  shares.update(ratio === null ? "no answers yet" : `${percent(ratio)} hits`, history.shares().map(([, , count, share]) =>
    ({ share, count: number(count), text: percent(share) })));
  const queue = (name) => history.values((sample) => sample.queues[name]);
  queues.update(["fetch", "fetching", "transform", "improvement"].map(queue));
  workers.update(["busy", "idle", "starting"].map((state) => history.values((sample) => sample.workers[state] ?? 0)));
  workers.note.textContent = `${number(Object.values(last.workers).reduce((sum, count) => sum + count, 0))} in all`;
  memory.update(["resident", "cache"].map((name) => history.values((sample) => sample.memory[name])));
  memory.note.textContent = `${number(last.memory.cacheEntries)} entries · disk ${bytes(last.memory.disk)}, ${number(last.memory.diskEntries)} entries`;
}

function drawTables({ recent }) {
  hosts.update(recent.hosts.map((row) => [row.host, number(row.count), row.failures ? number(row.failures) : "–",
    row.fetchMicroseconds ? time(row.fetchMicroseconds / row.count) : "–", bytes(row.bytes)]));
  failed.update(recent.failures.map((row) => [row.code, number(row.count), `${row.status}`, row.host || "–", row.reason || "–"]));
  slow.update(recent.slow.map((row) => {
    const steps = [row.decodeMicroseconds, row.transformMicroseconds, row.encodeMicroseconds];
    const all = steps.reduce((sum, step) => sum + step, 0);
    return [row.source.replace(/^https?:\/\//, "") || row.request, ...[all, ...steps, row.queueMicroseconds].map(time)];
  }));
  presets.update(recent.presets.map((row) => [row.preset, number(row.count), row.failures ? number(row.failures) : "–",
    time(row.workMicroseconds / row.count)]));
}

function draw() {
  const last = history.last;
  if (!last) return;
  for (const part of ["#tiles", "#tables", "#foot"]) $(part).hidden = false;
  drawTiles(last);
  drawPlots(last);
  drawTables(last);
  $("#since").textContent = `imageproxyd ${last.version}, up for ${age(Date.now() / 1000 - last.started)}`;
}

// MARK: - Reading

let isPaused = false;

function show(state, kind) {
  const badge = $("#state");
  if (badge.textContent === state) return;
  badge.textContent = state;
  badge.className = `badge ${kind}`;
}

function receive(event) {
  if (event.name !== "stats") return;
  history.add(JSON.parse(event.data));
  if (isPaused) return;
  show("live", "good");
  draw();
}

/** Waits until a token has been given. */
function askForToken(isWrong) {
  const form = $("#token");
  form.hidden = false;
  $("#token-error").hidden = !isWrong;
  $("#token-error").textContent = "The daemon refuses this token.";
  $("#token-field").focus();
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      setToken($("#token-field").value);
      form.hidden = true;
      resolve();
    }, { once: true });
  });
}

const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, seconds * 1000); });

async function run() {
  let hasAsked = false;
  for (;;) {
    try {
      await readEvents("/stats/events", null, receive);
      show("reconnecting", "warn");
    } catch (error) {
      if (error.status === 401) {
        show("token needed", "warn");
        await askForToken(hasAsked);
        hasAsked = true;
        continue;
      }
      show(error.status ? error.detail ?? error.message : "not reachable, retrying", "bad");
    }
    await pause(2);
  }
}

$("#pause").addEventListener("click", (event) => {
  isPaused = !isPaused;
  event.currentTarget.setAttribute("aria-pressed", `${isPaused}`);
  event.currentTarget.textContent = isPaused ? "Continue" : "Pause";
  show(isPaused ? "paused" : "live", isPaused ? "warn" : "good");
  if (!isPaused) draw();
});

run();
