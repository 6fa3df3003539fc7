# SPDX-License-Identifier: Apache-2.0
"""The cost of isolation: the same jobs in sandboxed workers and in one process; and the gain of a second worker."""

import json
import subprocess

from . import settings
from .process import Wrong, pinned

PHOTO = "photo/a12.jpg"
JOBS = 20


def rows(report):
    """Each row is a name, the measured value, and the goal in words."""
    core = f"{settings.SERVER_CORE},{settings.LOAD_CORE}"
    command = [settings.WORKERS, settings.CORPUS / PHOTO, settings.DAEMON, JOBS]
    result = subprocess.run(pinned(core, command), capture_output=True, text=True)
    if result.returncode != 0:
        raise Wrong(f"bench-workers: {result.stderr or result.stdout}")
    found = json.loads(result.stdout)
    cost = f"{found['workers']:.1f} ms, in-process {found['inProcess']:.1f}: {found['ratio']:.3f}"
    report("12 MP → 800 px JPEG, CPU", cost, "≤ 1.03")
    report("a tiny job, latency", f"{found['latency']:.2f} ms, in-process {found['ownLatency']:.2f}", "≤ 1 ms more")
    report("two workers, jobs a second", f"{found['two']:.1f}, one {found['one']:.1f}: {found['two'] / found['one']:.2f} ×", "≈ 2 ×")
