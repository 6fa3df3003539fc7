# SPDX-License-Identifier: Apache-2.0
"""Clients that try to deprive others of pictures, time or memory. Each attack is a process with its own addresses."""

import functools
import os
import random
import socket
import struct
import threading
import urllib.parse
import zlib

from . import good, loopback

CONNECTIONS = 4
LONG_TAG = 60_000
FRAGMENT = 7_000


def _chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


PIXEL = (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
         + _chunk(b"IDAT", zlib.compress(b"\x00\x80")) + _chunk(b"IEND", b""))


class TaggingOrigin(loopback.LoopbackServer):
    """The attacker's origin: a pixel under every path, with an entity tag of 60,000 bytes."""

    def __init__(self):
        super().__init__(TaggingHandler)


class TaggingHandler(loopback.QuietHandler):
    def do_GET(self):
        tag = self.path.rpartition("/")[2].ljust(LONG_TAG, "e")
        head = (f'HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {len(PIXEL)}\r\n'
                f'Cache-Control: max-age=3600\r\nETag: "{tag}"\r\n\r\n')
        self.wfile.write(head.encode() + PIXEL)


class FilteredOrigin(loopback.LoopbackServer):
    """Serves the regular clients' pictures, and resets the connection of every request whose path contains `drop`."""

    def __init__(self, handler):
        class Filtered(handler):
            def do_GET(self):
                if "drop" not in self.path:
                    return super().do_GET()
                self.close_connection = True
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()

        super().__init__(Filtered)


def slow_plans(run, chance):
    """The slowest results, of the regular clients' sources."""
    while True:
        size = chance.randrange(6_000, 7_001)
        yield good.image(run, chance.choice(good.PHOTOS), 0,
                         f"&transform=resize:{size}x{size}:fill:enlarge=1&format=webp&lossless=1"), ()


def long_tags(run, chance):
    """Sources with long entity tags."""
    port = _tagging_origin().port
    while True:
        yield good.image(run, f"{chance.randrange(10**12)}", 0, port=port), ()


@functools.cache
def _tagging_origin():
    """Returns one origin for all connections, in the attack's own process."""
    return TaggingOrigin()


def long_targets(run, chance):
    """One picture under many targets, each with several values of `Accept`."""
    accepts = ("image/webp", "image/avif", "image/avif,image/webp", "image/*", "image/png", "image/jpeg", "*/*")
    while True:
        name = urllib.parse.quote(f"http://127.0.0.1:{run.origin_port}/0/{chance.choice(good.PHOTOS)}", safe="")
        fragment = f"{chance.randrange(10**12)}".ljust(FRAGMENT, "f")
        for accept in accepts:
            yield f"/img?url={name}%23{fragment}&transform=resize:160x", (f"Accept: {accept}",)


def resets(run, chance):
    """Paths of the regular clients' origin for which its filter resets the connection."""
    while True:
        yield good.image(run, f"drop-{chance.randrange(10**12)}.jpg", 0), ()


ATTACKS = (slow_plans, long_tags, long_targets, resets)


def attack(run, make, number, counts):
    """Runs one attack over a few connections, each from its own address, until the process ends."""
    threads = [threading.Thread(target=_ask, args=(run, make, f"127.0.{number + 2}.{place + 1}", place, counts))
               for place in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    # The parent ends this process; without a parent the process ends itself.
    parent = os.getppid()
    while os.getppid() == parent:
        threads[0].join(1)
    os._exit(1)


def _ask(run, make, address, place, counts):
    chance = random.Random(f"{make.__name__} {place}")
    work = make(run, chance)
    while True:
        try:
            with good.Client(run.port, address) as client:
                for target, fields in work:
                    status, _, _ = client.ask(target, *fields)
                    with counts.get_lock():
                        counts[status if status < 600 else 0] += 1
                    if client.has_ended:
                        break
        except (OSError, good.Wrong):
            with counts.get_lock():
                counts[0] += 1
