#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Five nodes with a shared tier, a balancer, a store and an origin, while parts of them fail: `make drill-cluster`. See docs/scaling.md.

Prints a table, and exits with 1 if a row failed. DRILL_DAEMON names another daemon than the release build; DRILL_STEPS
the steps whose names contain one of its words, separated by commas.
"""

import os
import pathlib
import signal
import sys
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from network import run_inside  # noqa: E402
from relay import FAULTS  # noqa: E402
from rig import PROGRAM, Daemon, Failed  # noqa: E402
from steps import CLIENTS, JOURNAL_SECONDS, SIZES, TIMEOUT_SECONDS, Drill  # noqa: E402

STEPS = [
    (f"{CLIENTS} clients × {len(SIZES)} sizes of one cold picture, by HAProxy", "1 origin fetch", Drill.cold),
    ("a picture and three sizes of it at once, 50 times, at one node", "1 origin fetch each", Drill.together),
    ("hits with and without a shared tier", "p99 within 1 ms", Drill.hits),
    ("a purge at one node", "all peers reached, the new picture everywhere", Drill.purge),
    ("purges by tag, by prefix and of everything", "the new picture everywhere", Drill.other_purges),
    ("a node killed (kill -9)", "no origin fetch for what is stored", Drill.killed),
    ("two nodes write the same keys", "right bytes, one object each", Drill.writers),
    ("a node cut off during a purge", f"named, and clean within {JOURNAL_SECONDS} s", Drill.partition),
    ("a node that is off during a purge", "named, and clean from its start", Drill.absent),
    ("store stopped (SIGSTOP): hits", "p99 within 1 ms", Drill.hanging_hits),
    ("store stopped (SIGSTOP): misses", f"+{TIMEOUT_SECONDS * 1e3:.0f} ms at most, none with the breaker open", Drill.hanging_misses),
    *[(f"store: {mode}", "never wrong bytes", lambda drill, mode=mode: drill.fault(mode)) for mode in FAULTS],
    ("a bit flipped in each stored object", "a miss and a repair", Drill.flipped),
    ("rolling restart of all five under load", "0 failed requests", Drill.rolling),
    (f"forward: {CLIENTS} clients × {len(SIZES)} sizes, spread over all nodes", "1 origin fetch", Drill.forward),
    ("forward: the same by HAProxy with its bound for a node's load", "1 origin fetch", Drill.bounded),
    ("forward: a home killed, then one stopped (SIGSTOP)", "the others do it themselves", Drill.forward_lost),
]


def main(folder):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("drills: terminated"))
    rows = []
    try:
        drill = Drill(folder)
        words = os.environ.get("DRILL_STEPS", "").split(",")
        chosen = [step for step in STEPS if any(word in step[0] for word in words)]
        if not chosen:
            raise Failed(f"no step's name contains one of {words}")
        for name, expected, step in chosen:
            began = time.monotonic()
            try:
                seen, verdict = step(drill), "pass"
            except Failed as problem:
                seen, verdict = str(problem), "FAIL"
            except Exception:  # noqa: BLE001 - a step that can't be done is a failed one, and the others still count
                seen, verdict = traceback.format_exc(limit=-2).replace("\n", " "), "FAIL"
            rows.append((name, expected, seen, verdict))
            print(f"{verdict} in {time.monotonic() - began:.0f} s: {name}: {seen}", flush=True)
            if [node.address for node in drill.nodes if not node.is_alive]:
                rows.append(("all nodes run", "yes", "one has ended: the drill can't go on", "FAIL"))
                break
        print(f"{drill.clients.answers:,} answers were compared byte by byte; the store got {dict(drill.relay.requests)}")
    except Failed as problem:
        rows.append(("start", "a cluster", str(problem), "FAIL"))
    finally:
        Daemon.end_all()
    print("\n| what | expected | seen | |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(text.replace("|", "/").replace("\n", " ") for text in row) + " |")
    return 0 if all(verdict == "pass" for *_, verdict in rows) else 1


if __name__ == "__main__":
    if not PROGRAM.exists():
        sys.exit(f"drills: no daemon at {PROGRAM}; `make build`, or name one by DRILL_DAEMON")
    run_inside(main)
