// SPDX-License-Identifier: Apache-2.0
// Numbers as a person would say them.

/** A rate or count, short. */
export function number(value) {
  if (value >= 1e6) return `${(value / 1e6).toFixed(value < 1e7 ? 2 : 1)} M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(value < 1e5 ? 1 : 0)} k`;
  if (value >= 100 || Number.isInteger(value)) return `${Math.round(value)}`;
  return value.toFixed(value < 10 ? 1 : 0);
}

/** Bytes. */
export function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let value = count;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A duration, from microseconds. */
export function time(microseconds) {
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`;
  if (microseconds < 1e6) return `${(microseconds / 1e3).toFixed(microseconds < 1e4 ? 1 : 0)} ms`;
  return `${(microseconds / 1e6).toFixed(microseconds < 1e7 ? 1 : 0)} s`;
}

/** A part as a percentage. */
export function percent(part) {
  if (part === 0 || part === 1) return `${part * 100} %`;
  return `${Math.min(99.9, Math.max(0.1, part * 100)).toFixed(1)} %`;
}

/** How long something has run, from seconds. */
export function age(seconds) {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}
