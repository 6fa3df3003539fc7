// SPDX-License-Identifier: Apache-2.0
// What the daemon has sent since the page was opened: counters become rates.

/** How the cache took part in an answer, in the order in which it is drawn. */
export const tiers = [
  ["memory", "memory"], ["disk", "disk"], ["stale", "stale"], ["shared", "shared tier"], ["collapsed", "joined another"],
  ["revalidated", "revalidated"], ["original", "from the original"], ["miss", "fetched"],
  ["failure", "remembered failure"], ["none", "failed or refused"],
];
const hits = ["memory", "disk", "stale", "shared"];

const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

export class History {
  /** Seconds that are shown. */
  static span = 120;
  samples = [];

  /** Adds what was sent; a daemon that has been started again begins a new history. */
  add(sample) {
    const last = this.samples.at(-1);
    if (last && (last.started !== sample.started || last.milliseconds > sample.milliseconds)) this.samples = [];
    this.samples.push(sample);
    const oldest = sample.milliseconds - History.span * 1000 - 500;
    while (this.samples[0].milliseconds < oldest) this.samples.shift();
  }

  get last() { return this.samples.at(-1); }

  /** The points of a series in seconds before now, by a function of one sample. */
  values(read) {
    return this.samples.map((sample) => [this.#age(sample), read(sample)]);
  }

  /** The same for rates a second, by a function that reads a counter. */
  rates(read) {
    return this.samples.slice(1).map((sample, index) => {
      const before = this.samples[index];
      const seconds = Math.max(0.001, (sample.milliseconds - before.milliseconds) / 1000);
      return [this.#age(sample), Math.max(0, read(sample) - read(before)) / seconds];
    });
  }

  #age(sample) { return (this.last.milliseconds - sample.milliseconds) / 1000; }

  /** A counter's growth in the last `seconds`, or as long as there are samples. */
  growth(read, seconds = History.span) {
    const first = this.samples.find((sample) => this.#age(sample) <= seconds + 0.5) ?? this.last;
    return Math.max(0, read(this.last) - read(first));
  }

  /** A counter's rate in the last `seconds`. */
  rate(read, seconds) {
    const first = this.samples.find((sample) => this.#age(sample) <= seconds + 0.5) ?? this.last;
    const time = this.#age(first);
    return time > 0 ? Math.max(0, read(this.last) - read(first)) / time : 0;
  }

  /** Answers by tier while the history lasts: `[tier, name, count, share]`. */
  shares() {
    const counts = tiers.map(([tier, name]) => [tier, name, this.growth((sample) => sample.answers[tier] ?? 0)]);
    const all = counts.reduce((sum, [, , count]) => sum + count, 0);
    return counts.map(([tier, name, count]) => [tier, name, count, all ? count / all : 0]);
  }

  /** The part of answers that stored bytes gave; null without answers. */
  hitRatio() {
    const shares = this.shares();
    if (!shares.some(([, , count]) => count)) return null;
    return shares.filter(([tier]) => hits.includes(tier)).reduce((sum, [, , , share]) => sum + share, 0);
  }

  /** Durations while the history lasts: the number in each bucket. */
  latencies() {
    const first = this.samples[0].latency.counts;
    return this.last.latency.counts.map((count, index) => Math.max(0, count - first[index]));
  }

  /** The microseconds below which a part of the answers lies, interpolated in its bucket; null without answers. */
  quantile(part) {
    const counts = this.latencies();
    const bounds = this.last.latency.microseconds;
    const all = counts.reduce((sum, count) => sum + count, 0);
    if (!all) return null;
    let left = part * all;
    for (let index = 0; index < counts.length; index += 1) {
      if (left <= counts[index]) {
        const low = index ? bounds[index - 1] : 0;
        const high = bounds[index] ?? low;
        return low + (high - low) * (counts[index] ? left / counts[index] : 0);
      }
      left -= counts[index];
    }
    return bounds.at(-1);
  }
}

export const requests = (sample) => total(sample.answers);
export const failures = (sample) => sample.statuses["4xx"] + sample.statuses["5xx"];
