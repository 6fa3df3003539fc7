# SPDX-License-Identifier: Apache-2.0
"""The table, and the facts about the machine above it."""

import hashlib
import os
import platform
import re
import subprocess
import sys

from . import settings

NAME, CELL, RATIO = 31, 9, 15


def output_of(*command):
    try:
        result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return (result.stdout + result.stderr).strip()


def first_line(text):
    return text.splitlines()[0] if text else "?"


def digest(path):
    """Returns enough of the digest to distinguish binaries: the measured one may be built from another commit."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def facts():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    processor = model.group(1) if model else platform.machine()
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    version = first_line(output_of(settings.DAEMON, "--version"))
    rows = [
        ("machine", f"{processor}, {os.cpu_count()} cores, load {load} at start"),
        ("kernel", platform.release()),
        ("imageproxyd", f"{version}, sha256 {digest(settings.DAEMON)}"),
        ("commit", first_line(output_of("git", "-C", settings.ROOT, "describe", "--always", "--dirty"))),
        ("nginx", first_line(output_of("nginx", "-v")).replace("nginx version: ", "")),
        ("libvips", first_line(output_of("vips", "--version"))),
        ("wrk", first_line(output_of("wrk", "-v")).split(" [")[0]),
        ("method", f"server on core {settings.SERVER_CORE}, load on core {settings.LOAD_CORE}, "
                   f"median of {settings.ROUNDS} interleaved rounds of {settings.SECONDS:g} s"),
    ]
    return "\n".join(f"{name:<12} {value}" for name, value in rows)


def rounds(name, figures):
    """Prints the figures of each round, from which the medians are computed."""
    if settings.VERBOSE:
        for contender, values in figures.items():
            print(f"  {name}: {contender} {' '.join(f'{value:.1f}' for value in values)}", file=sys.stderr)


def cell(value, digits=1):
    return f"{'–' if value is None else format(value, f'.{digits}f'):>{CELL}}"


def ratio(value, base, goal):
    if value is None or not base:
        return f"{'–':>{RATIO}}"
    return f"{f'{value / base:.2f} (≤ {goal:g})':>{RATIO}}"


def header(title, columns, ratios):
    cells = [f"{name:>{CELL}}" for name in columns] + [f"{name:>{RATIO}}" for name in ratios]
    return f"\n{title:<{NAME}}" + "".join(cells)


def hits_header():
    return header("CPU µs per request", ["memory", "disk", "nginx", "floor"], ["memory/nginx", "disk/nginx"])


def hits_row(case, figures):
    cells = "".join(cell(figures.get(name)) for name in ("memory", "disk", "nginx", "floor"))
    nginx = figures["nginx"]
    ratios = "".join(ratio(figures.get(name), nginx, case.goals[name]) for name in ("memory", "disk"))
    return f"{case.name:<{NAME}}{cells}{ratios}"


def misses_header():
    columns = ["ours", "pass", "floor A", "floor B", "vipsth.", "peak MiB", "A MiB"]
    return header("CPU ms per request, 4 at once", columns, ["ours/(B+pass)", "ours/A"])


def misses_row(column, figures, goal):
    names = ("ours", "pass", "A", "B", "vipsthumbnail", "peak", "peak A")
    cells = "".join(cell(figures.get(name)) for name in names)
    bound = figures["B"] + figures["pass"]
    plain = f"{figures['ours'] / figures['A']:.2f}"
    return f"{column.name:<{NAME}}{cells}{ratio(figures['ours'], bound, goal)}{plain:>{RATIO}}"


def behaviour_header(title="behaviour"):
    return f"\n{title:<46}{'seen':<72}goal"


def behaviour_row(name, seen, goal):
    return f"{name:<46}{seen:<72}{goal}"
