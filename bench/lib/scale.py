# SPDX-License-Identifier: Apache-2.0
"""The cost of a million entries on disk compared with ten thousand: starting, memory, hits, sweeping."""

import re
import statistics
import subprocess
import time
import urllib.request

from . import load, servers, settings, table
from .process import Wrong, pinned

FEW, MANY = 10_000, settings.ENTRIES
BODY = 2_000
# No server listens there: an entry that is not found is an error, not a fetch.
ORIGIN = "http://127.0.0.1:9/p/"
CONNECTIONS = 16
MOST_BYTES = "1TiB"
LOAD_SECONDS = 60
FLOOR_READS = 50_000
SWEPT = 100_000
SWEEP_SECONDS = 6


def rows(folder, report):
    """Each row is a name, the measured value, and the goal in words."""
    folders = {count: _filled(count) for count in (FEW, MANY)}
    text = f"{FEW:,} against {MANY:,} entries"
    _floor(folders, report)
    running = {}
    starts = {}
    try:
        for count in (FEW, MANY):
            began = time.monotonic()
            running[count] = _daemon(folder, f"scale{count}", folders[count])
            _wait_until_ready(running[count])
            starts[count] = time.monotonic() - began
        report(f"start to ready, {text}", _both(starts, "{:.2f} s"), "< 1 s")
        loaded = {count: _wait_until_counted(running[count], count, began) for count in (FEW, MANY)}
        report("all entries known after", _both(loaded, "{:.1f} s"), "-")
        anonymous = {count: _anonymous(running[count]) for count in (FEW, MANY)}
        each = (anonymous[MANY] - anonymous[FEW]) * 1024 / (MANY - FEW)
        report("anonymous memory", f"{each:.1f} B an entry more", "≤ 16 B")
        for name, span in ((f"the same {FEW:,}", lambda count: FEW), ("all, at random", lambda count: count)):
            figures = _hits(running, span)
            ratio = figures[MANY] / figures[FEW]
            report(f"disk hit, {name}", f"{_both(figures, '{:.1f} µs')}: {ratio:.2f}", "≤ 1.20")
    finally:
        for server in running.values():
            server.close()
    _closed(folder, folders, report)
    latencies = [_latency(folder, bound) for bound in (MOST_BYTES, "150MiB")]
    report(f"p99 of hits without, with a sweep of {SWEPT:,}", " and ".join(f"{value / 1000:.1f} ms" for value in latencies),
           "no pause")


def _floor(folders, report):
    """The cost of opening, reading and closing files at random, by a minimal program."""
    opened, read = {count: [] for count in folders}, {count: [] for count in folders}
    for _ in range(settings.ROUNDS):
        for count, cache in folders.items():
            output = subprocess.run(
                pinned(settings.SERVER_CORE, [settings.BUILD / "floor-files", cache, str(FLOOR_READS)]),
                check=True, capture_output=True, text=True).stdout
            for figures, word in zip((opened, read), output.split()):
                figures[count].append(float(word))
    for name, figures in (("open and close a file", opened), ("and read it", read)):
        table.rounds(name, figures)
        middle = {count: statistics.median(values) for count, values in figures.items()}
        report(f"floor: {name}", f"{_both(middle, '{:.1f} µs')}: {middle[MANY] / middle[FEW]:.2f}", "-")


def _closed(folder, folders, report):
    """Hits when no file is kept open: the cost of the number of entries by itself."""
    running = {}
    try:
        for count in (FEW, MANY):
            began = time.monotonic()
            running[count] = _daemon(folder, f"closed{count}", folders[count], CACHE_DISK_OPEN_FILES="0")
            _wait_until_ready(running[count])
            _wait_until_counted(running[count], count, began)
        figures = _hits(running, lambda count: count)
        ratio = figures[MANY] / figures[FEW]
        report("disk hit, at random, none kept open", f"{_both(figures, '{:.1f} µs')}: {ratio:.2f}", "≤ 1.20")
    finally:
        for server in running.values():
            server.close()


def _latency(folder, bound):
    """Returns p99 in µs of hits of a daemon that sweeps, because its entries have more bytes than the bound."""
    cache = folder / f"sweep-{bound}"
    subprocess.run([settings.FILL, cache, str(SWEPT), str(BODY), ORIGIN], check=True, stdout=subprocess.DEVNULL)
    server = _daemon(folder, f"sweep{bound}", cache, CACHE_DISK_MAX_BYTES=bound, CACHE_DISK_SWEEP_INTERVAL="1s")
    try:
        _wait_until_ready(server)
        before, after = server.path("@.jpg").split("@")
        # The latest entries stay when the oldest are evicted.
        first = SWEPT // 10 * 9
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SWEEP_SECONDS}s", "-s", settings.BENCH / "load-many.lua",
                   f"http://127.0.0.1:{server.port}/", "--", before, after, str(first - SWEPT), str(first)]
        output = subprocess.run(
            pinned(settings.LOAD_CORE, command), capture_output=True, text=True, check=True).stdout
        figures = [int(word) for word in next(line for line in output.splitlines() if line.startswith("BENCH ")).split()[1:]]
        if figures[2]:
            raise Wrong(f"{server.name}: {figures[2]} of {figures[0]} requests failed")
        swept = re.search(r'cache_evictions_total\{tier="disk",reason="size"\} (\d+)', _metrics(server))
        if (int(swept.group(1)) > 0) != (bound != MOST_BYTES):
            raise Wrong(f"{server.name}: {swept.group(0)}")
        return figures[4]
    finally:
        server.close()


def _both(figures, form):
    return " and ".join(form.format(figures[count]) for count in (FEW, MANY))


def _filled(count):
    """Returns a folder with so many entries, created once and also used by later runs."""
    folder = settings.BUILD / f"entries-{count}"
    done = settings.BUILD / f"entries-{count}.done"
    if not done.exists():
        subprocess.run([settings.FILL, folder, str(count), str(BODY), ORIGIN], check=True, stdout=subprocess.DEVNULL)
        done.touch()
    return folder


def _daemon(folder, name, cache, **changes):
    values = {
        "CACHE_DISK_DIRECTORY": str(cache), "CACHE_ORIGINALS": "disk", "CACHE_RESULTS": "disk",
        "CACHE_DISK_MAX_AGE": "365d", "CACHE_DISK_MAX_BYTES": MOST_BYTES, "CACHE_MEMORY_MAX_BYTES": "1MiB",
    } | changes
    server = servers.daemon(name, folder, 9, **values)
    server.path = lambda rest: "/img?url=http%3A%2F%2F127.0.0.1%3A9%2Fp%2F" + rest
    return server


def _wait_until_ready(server):
    while True:
        server.require_alive()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/readyz", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.002)


def _metrics(server):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=10) as answer:
        return answer.read().decode()


def _wait_until_counted(server, count, began):
    end = time.monotonic() + LOAD_SECONDS
    while time.monotonic() < end:
        found = re.search(r'cache_entries\{tier="disk",kind="original"\} (\d+)', _metrics(server))
        if found and int(found.group(1)) >= count:
            return time.monotonic() - began
        time.sleep(0.05)
    raise Wrong(f"{server.name} does not know its {count} entries after {LOAD_SECONDS} s")


def _anonymous(server):
    with open(f"/proc/{server.pid}/status") as file:
        return int(re.search(r"RssAnon:\s+(\d+)", file.read()).group(1))


def _hits(running, span):
    """CPU µs a hit: by turns, each checked to be a hit of the disk."""
    figures = {count: [] for count in running}
    for count, server in running.items():
        for number in (0, span(count) - 1):
            answer = load.ask(server.port, server.path(f"{number}.jpg"))
            if answer.status != 200 or "; hit" not in answer.headers.get("Cache-Status", ""):
                raise Wrong(f"{server.name}: {answer.status} {answer.headers.get('Cache-Status')}")
        _load(server, span(count))
    for turn in range(settings.ROUNDS):
        for count in list(running)[:: -1 if turn % 2 else 1]:
            figures[count].append(_load(running[count], span(count)))
    table.rounds("disk hit", figures)
    return {count: statistics.median(values) for count, values in figures.items()}


def _load(server, span):
    before, after = server.path("@.jpg").split("@")
    return load.wrk(server, server.port, "/", CONNECTIONS, many=(before, after, -span))
