# SPDX-License-Identifier: Apache-2.0
"""The settings of a run, from environment variables."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BENCH = ROOT / "bench"
BUILD = ROOT / ".build" / "bench"


def _path(name, default):
    return pathlib.Path(os.environ.get(name) or default).resolve()


DAEMON = _path("BENCH_DAEMON", ROOT / ".build" / "release" / "imageproxyd")
CORPUS = _path("BENCH_CORPUS", ROOT / ".build" / "bench-corpus")
# The number of entries of the large folder in the part `scale`, and the program that fills it.
ENTRIES = int(os.environ.get("BENCH_ENTRIES", "1000000"))
FILL = _path("BENCH_FILL", ROOT / ".build" / "release" / "bench-fill")
HIT_RATIO = _path("BENCH_HIT_RATIO", ROOT / ".build" / "release" / "bench-hit-ratio")
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
SERVER_CORE = int(os.environ.get("BENCH_SERVER_CORE", "0"))
LOAD_CORE = int(os.environ.get("BENCH_LOAD_CORE", "1"))
WORKERS = _path("BENCH_WORKERS", ROOT / ".build" / "release" / "bench-workers")
# The parts to run.
PARTS = os.environ.get("BENCH_PARTS", "hits,misses,variants,workers,behaviour,upstream,scale,policy").split(",")
# Prints the figure of each round on standard error.
VERBOSE = os.environ.get("BENCH_VERBOSE", "") != ""
# Only rows whose name contains this.
ONLY = os.environ.get("BENCH_ONLY", "")
