# SPDX-License-Identifier: Apache-2.0
"""Transforms of large pictures, each one a miss."""

import http.client
import math
import os
import queue
import re
import statistics
import subprocess
import threading
import time

from . import load, servers, settings, table
from .process import Wrong, pinned

AT_ONCE = 4
GOAL = 1.05
# The mean difference from floor B's pixels (0-255) above which an answer counts as another picture.
LARGEST_DIFFERENCE = 3.0
# The pause before the cost is read: the daemon stores after it has answered, which is part of the request's cost.
PAUSE_SECONDS = 0.2


def _effort(format, name):
    """Reads the encoder settings that no URL parameter sets from the daemon's source."""
    file = f"Sources/ProxyCore/Imaging/Formats/{format}/{format}.swift"
    found = re.search(rf"static let {name}: CInt = (\d+)", (settings.ROOT / file).read_text())
    if not found:
        raise Wrong(f"{file} has no number {name} any more")
    return found.group(1)


# The daemon's parameters, and a saver for the floors and vipsthumbnail that does the work of Sources/CVips/shim.h.
ENCODINGS = {
    "jpeg": ("&quality=80&progressive=0", ".jpg[Q=80,optimize_coding,strip]"),
    "webp": ("&quality=79", f".webp[Q=79,effort={_effort('WebP', 'effort')},strip]"),
    "avif": ("&quality=63", f".avif[Q=63,effort={_effort('HEIF', 'fastEffort')},bitdepth=8,strip]"),
    "png": ("", f".png[compression={_effort('PNG', 'compression')},filter=paeth,strip]"),
}


class Column:
    """One kind of thumbnail: the sources, the box (height 0 keeps the proportions), and what to write."""

    def __init__(self, name, sources, width, height, format):
        self.name = name
        self.sources = sorted(settings.CORPUS.glob(sources))
        self.width = width
        self.height = height
        self.format = format
        if not self.sources:
            raise Wrong(f"the corpus has no {sources}")

    @property
    def query(self):
        box = f"resize:{self.width}x{self.height}:cover" if self.height else f"resize:{self.width}x"
        return f"&transform={box}&format={self.format}{ENCODINGS[self.format][0]}&metadata=none"

    @property
    def saver(self):
        return ENCODINGS[self.format][1]

    def vipsthumbnail(self, source, out):
        box = [f"{self.width}x{self.height}", "-m", "centre"] if self.height else [f"{self.width}x"]
        return ["vipsthumbnail", source, "-s"] + box + ["-o", f"{out}{self.saver}"]


COLUMNS = [
    ("JPEG photo → 800 px JPEG q80", "photo/*.jpg", 800, 0, "jpeg"),
    ("JPEG photo → 300x300 cover", "photo/*.jpg", 300, 300, "jpeg"),
    ("JPEG photo → 400 px WebP", "photo/*.jpg", 400, 0, "webp"),
    ("JPEG photo → 400 px AVIF", "photo/*.jpg", 400, 0, "avif"),
    ("PNG with alpha → 300 px PNG", "png/*.png", 300, 0, "png"),
    ("progressive JPEG → 800 px", "prog/*.jpg", 800, 0, "jpeg"),
]


class Misses:
    def __init__(self, folder, origin):
        self.folder = folder
        self.daemon = servers.daemon("misses", folder, origin.port)
        self.serial = 0

    def close(self):
        self.daemon.close()

    def rows(self, report):
        for arguments in COLUMNS:
            if settings.ONLY in arguments[0]:
                column = Column(*arguments)
                report(column, self._row(column), GOAL)

    def _row(self, column):
        """Programs take turns in each round; each renders the same pictures equally often."""
        once, _ = self._floor("B", column, 1)
        repeats = max(1, math.ceil(settings.SECONDS * 1000 / (once * len(column.sources))))
        self._check(column)
        contenders = [
            ("ours", lambda: self._ours(column, column.query, repeats)),
            ("pass", lambda: self._ours(column, "", repeats)),
            ("A", lambda: self._floor("A", column, repeats)),
            ("B", lambda: self._floor("B", column, repeats)),
            ("vipsthumbnail", lambda: self._processes(column, 1)),
        ]
        spent = {name: [] for name, _ in contenders}
        peaks = {name: [0] for name, _ in contenders}
        for turn in range(settings.ROUNDS):
            shift = turn % len(contenders)
            for name, run in contenders[shift:] + contenders[:shift]:
                milliseconds, kib = run()
                spent[name].append(milliseconds)
                peaks[name].append(kib)
        table.rounds(column.name, spent)
        figures = {name: statistics.median(values) for name, values in spent.items()}
        return figures | {"peak": max(peaks["ours"]) / 1024, "peak A": max(peaks["A"]) / 1024}

    # MARK: programs; each returns CPU milliseconds per picture and the peak memory in KiB

    def _ours(self, column, rest, repeats):
        jobs = [self._job(source, rest) for source in column.sources * repeats]
        self.daemon.forget_peaks()
        before = self.daemon.cpu_seconds()
        answers = self._asked_at_once([path for _, path in jobs])
        time.sleep(PAUSE_SECONDS)
        spent = self.daemon.cpu_seconds() - before
        self.daemon.require_alive()
        self._check_answers(jobs, answers, rest)
        return spent / len(jobs) * 1000, self.daemon.peak_kib()

    def _job(self, source, rest):
        """A new query makes the same picture a new source."""
        self.serial += 1
        name = f"{source.relative_to(settings.CORPUS)}?{os.getpid()}.{self.serial}"
        return source, self.daemon.path(name, rest)

    def _floor(self, kind, column, repeats):
        out = self.folder / f"floor.{kind}"
        out.mkdir(exist_ok=True)
        command = [settings.BUILD / "floor-thumbnail", kind, column.width, column.height, column.saver]
        result = subprocess.run(
            pinned(settings.SERVER_CORE, command + [repeats, out] + column.sources),
            capture_output=True, text=True, env=os.environ | {"MALLOC_ARENA_MAX": "1"})
        if result.returncode != 0:
            raise Wrong(f"floor {kind}: {result.stderr}")
        milliseconds, kib = result.stdout.split()
        return float(milliseconds), int(kib)

    def _processes(self, column, repeats):
        spent = 0.0
        for index, source in enumerate(column.sources * repeats):
            command = column.vipsthumbnail(source, self.folder / f"vipsthumbnail{index}")
            process = subprocess.Popen(
                pinned(settings.SERVER_CORE, command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=os.environ | {"VIPS_CONCURRENCY": "1"})
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if status != 0:
                raise Wrong(f"{' '.join(map(str, command))}: status {status}")
            spent += usage.ru_utime + usage.ru_stime
        return spent / (len(column.sources) * repeats) * 1000, 0

    # MARK: requests

    def _asked_at_once(self, paths):
        waiting, answers, failures = queue.SimpleQueue(), {}, []
        for index, path in enumerate(paths):
            waiting.put((index, path))

        def work():
            connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=load.TIMEOUT)
            try:
                while True:
                    index, path = waiting.get_nowait()
                    answers[index] = load.ask(self.daemon.port, path, connection=connection)
            except queue.Empty:
                pass
            except Wrong as problem:
                failures.append(problem)
            finally:
                connection.close()

        threads = [threading.Thread(target=work) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return [answers[index] for index in range(len(paths))]

    # MARK: checking

    def _check_answers(self, jobs, answers, rest):
        """Checks that every answer is a miss with status 200, and has the same bytes for the same picture."""
        bodies = {}
        for (source, path), answer in zip(jobs, answers):
            load.expect(answer, 200, None if rest else source.read_bytes(), path)
            if "fwd=" not in answer.headers.get("Cache-Status", ""):
                raise Wrong(f"{path}: no miss: {answer.headers.get('Cache-Status')!r}")
            if bodies.setdefault(source, answer.body) != answer.body:
                raise Wrong(f"{path}: another answer than before")

    def _check(self, column):
        """Checks the format, the size and the pixels of each picture against floor B's."""
        for index, source in enumerate(column.sources):
            _, path = self._job(source, column.query)
            answer = load.ask(self.daemon.port, path)
            load.expect(answer, 200, None, path)
            if answer.headers["Content-Type"] != f"image/{column.format}":
                raise Wrong(f"{path}: {answer.headers['Content-Type']}")
            ours = self.folder / f"answer.{column.format}"
            ours.write_bytes(answer.body)
            self._compare(path, ours, self.folder / "floor.B" / str(index))

    def _compare(self, path, ours, floor):
        sizes = [_vips("vipsheader", file).rpartition(": ")[2].split()[0] for file in (ours, floor)]
        if sizes[0] != sizes[1]:
            raise Wrong(f"{path}: {sizes[0]} pixels, floor B has {sizes[1]}")
        gap, size = self.folder / "gap.v", self.folder / "size.v"
        if _vips("vipsheader", "-f", "bands", ours).strip() in ("2", "4"):
            # Transparent pixels are not compared.
            seen = [self.folder / f"seen{number}.v" for number in range(2)]
            for picture, result in zip((ours, floor), seen):
                _vips("vips", "premultiply", picture, result)
            ours, floor = seen
        _vips("vips", "subtract", ours, floor, gap)
        _vips("vips", "abs", gap, size)
        difference = float(_vips("vips", "avg", size))
        if difference > LARGEST_DIFFERENCE:
            raise Wrong(f"{path}: differs from floor B by {difference:.1f} of 255 on average")


def _vips(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        raise Wrong(f"{' '.join(map(str, command))}: {result.stderr}")
    return result.stdout.strip()
