# SPDX-License-Identifier: Apache-2.0
"""The purge drill: pictures change at their origin, while clients request and purge them."""

import http.server
import random
import re
import struct
import threading
import urllib.parse
import zlib

from rig import Answerer, Daemon, expect

SOURCES = 4
READERS = 4
ROUNDS_A_KILL = 25
NARROWEST = 64
VARIANTS = ["", "&transform=flip:h&format=png", "&transform=flip:v&format=png", "&transform=blur:8&format=png"]
OPTIONS = ["", "", "&options=wait-store", "&options=from-cache-only"]


class ChangingOrigin(http.server.ThreadingHTTPServer):
    """Sends `/N.png`, whose width is its version."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.versions = [0] * SOURCES
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Ignored: the daemon that fetched was killed."""

    def target(self, number, rest=""):
        url = f"http://127.0.0.1:{self.server_port}/{number}.png"
        return "/img?url=" + urllib.parse.quote(url, safe="") + rest


class _Handler(Answerer):
    def do_GET(self):
        number = int(re.fullmatch(r"/(\d+)\.png", self.path)[1])
        self.reply(200, _picture(NARROWEST + self.server.versions[number]))


def _picture(width, height=400):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((x * y) & 255 for x in range(width)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


class _Truth:
    """The lowest version that an answer may have: the one at the last purge that was answered."""

    def __init__(self, origin):
        self.origin = origin
        self.floors = [0] * SOURCES
        self.daemon = None
        self.answers = 0
        self.wrong = []
        self.is_over = threading.Event()

    def ask(self, number, rest):
        floor = self.floors[number]
        try:
            status, body, cache = self.daemon.get(self.origin.target(number, f"{rest}&tag=t{number}"))
        except OSError:
            return
        if status != 200:
            # Not cached: an answer that `from-cache-only` allows.
            if not (status == 504 and "from-cache-only" in rest):
                self.wrong.append(f"{rest}: {status}: {body[:200]!r}")
            return
        version = struct.unpack(">I", body[16:20])[0] - NARROWEST
        self.answers += 1
        if version < floor:
            self.wrong.append(f"picture {number}{rest}: version {version} after a purge of all before {floor} ({cache})")

    def read(self, dice):
        while not self.is_over.is_set() and not self.wrong:
            self.ask(dice.randrange(SOURCES), dice.choice(VARIANTS) + dice.choice(OPTIONS))


def _purge(daemon, origin, how, number):
    """Purges over the admin socket; returns whether the purge was answered."""
    query = origin.target(number)
    return daemon.admin(*{
        "url": ("DELETE", "/cache?" + query.partition("?")[2]), "method": ("PURGE", query),
        "tag": ("DELETE", f"/cache?tag=t{number}"), "everything": ("DELETE", "/cache?all=1"),
    }[how]) == 200


def purge(folder, dice, rounds):
    """Pictures change and are purged in every way while clients request them, also after `kill -9`: no answer is older than the last purge."""
    origin = ChangingOrigin()
    truth = _Truth(origin)
    truth.daemon = Daemon(folder)
    readers = [threading.Thread(target=truth.read, args=(random.Random(dice.random()),)) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    counts, kills = {}, 0
    try:
        for turn in range(1, rounds + 1):
            how, number = dice.choice(["url", "url", "method", "tag", "tag", "everything"]), dice.randrange(SOURCES)
            origin.versions[number] += 1
            versions = list(origin.versions)
            expect(_purge(truth.daemon, origin, how, number), f"a purge by {how} was refused")
            counts[how] = counts.get(how, 0) + 1
            truth.floors = versions if how == "everything" else [
                versions[number] if each == number else floor for each, floor in enumerate(truth.floors)]
            if turn % ROUNDS_A_KILL == 0:
                truth.daemon.kill()
                truth.daemon = Daemon(folder)
                kills += 1
            for rest in VARIANTS:
                truth.ask(number, rest)
            expect(not truth.wrong, "; ".join(truth.wrong[:3]))
    finally:
        truth.is_over.set()
        for reader in readers:
            reader.join()
    expect(not truth.wrong, "; ".join(truth.wrong[:3]))
    truth.daemon.stop()
    text = ", ".join(f"{count} by {how}" for how, count in sorted(counts.items()))
    yield f"{rounds} purges ({text}) and {kills} kills among {truth.answers:,} answers: none was older than its purge"
