# SPDX-License-Identifier: Apache-2.0
"""Clients that request pictures while others attack: each answer must be the right picture, and none may be an error."""

import hashlib
import threading
import time

from . import good

WIDTHS = (160, 320, 640)
FORMATS = ("jpeg", "webp")
# Of ten requests, the number that name a new source.
NEW_SOURCES = 3
PAUSE = 0.05


class Tally:
    """The results of the regular clients; shared by their threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answers, self.slowest, self.wrong = 0, 0.0, []

    def note(self, seconds):
        with self.lock:
            self.answers += 1
            self.slowest = max(self.slowest, seconds)

    def complain(self, text):
        with self.lock:
            self.wrong.append(text)
        print(f"WRONG: {text}", flush=True)


def targets(run, number):
    """Returns every requested picture as (name of the result, target); `number` distinguishes sources."""
    for name in good.PHOTOS:
        yield name, good.image(run, name, number)
        for width in WIDTHS:
            for form in FORMATS:
                yield f"{name} {width} {form}", good.image(
                    run, name, number, f"&transform=resize:{width}x&format={form}")


def references(run):
    """Returns the digest of every result, requested before the attacks."""
    digests = {}
    with good.Client(run.port) as client:
        for key, target in targets(run, 0):
            status, _, body = client.ask(target)
            if status != 200:
                raise SystemExit(f"{key}: {status} before any attack: {body[:300]!r}")
            digests[key] = hashlib.sha256(body).digest()
    return digests


def ask_forever(run, tally, digests, chance, address):
    """Sends requests from one address until the run stops; a new connection for each 20 requests."""
    while not run.stop.is_set():
        try:
            with good.Client(run.port, address) as client:
                for _ in range(20):
                    if run.stop.is_set() or client.has_ended:
                        break
                    _ask(run, tally, digests, chance, client)
                    run.stop.wait(PAUSE)
        except (OSError, good.Wrong) as error:
            if not run.stop.is_set():
                tally.complain(f"a connection of {address} ended: {error!r}")


def _ask(run, tally, digests, chance, client):
    number = chance.randrange(1, 1_000_000_000) if chance.randrange(10) < NEW_SOURCES else 0
    key, target = chance.choice(list(targets(run, number)))
    begin = time.monotonic()
    status, fields, body = client.ask(target)
    seconds = time.monotonic() - begin
    if status != 200:
        tally.complain(f"{key}, source {number}: {status} after {seconds:.1f} s: {body[:400]!r}")
    elif hashlib.sha256(body).digest() != digests[key]:
        tally.complain(f"{key}, source {number}: another picture, {len(body)} bytes, {fields}")
    else:
        tally.note(seconds)
