# SPDX-License-Identifier: Apache-2.0
"""The effect of origins on clients: the time to the first byte, and one dead host among a thousand."""

import asyncio
import contextlib
import socket
import statistics
import threading
import time
import urllib.parse

from . import servers, settings
from .process import Wrong, awake

ORIGIN_DELAY = 0.05
FIRST_BYTE_FETCHES = 100
HOSTS = 1_000
REQUESTS = 4_000
CLIENTS = 16
DEAD_CLIENTS = 32
TIMEOUT_SECONDS = 60


def rows(folder, report):
    """Each row is a name, the measured value, and the goal in words."""
    for name, measure in (("first byte behind", _first_byte), ("a thousand hosts", _thousand_hosts)):
        if settings.ONLY in name:
            for row in measure(folder):
                report(*row)


class Origin:
    """Answers every path of every loopback address with the same picture, after a delay; `/dead` never."""

    def __init__(self, delay):
        self.delay = delay
        self.picture = (settings.ROOT / "Tests" / "Fixtures" / "photo.jpg").read_bytes()
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        if not self.ready.wait(10):
            raise Wrong("the origin does not listen")

    def _run(self):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self._serve, "0.0.0.0", 0, backlog=4096))
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        self.loop.run_forever()

    async def _serve(self, reader, writer):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {len(self.picture)}\r\n\r\n".encode()
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                if b" /dead" in request.split(b"\r\n", 1)[0]:
                    await reader.read()
                    break
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(head + self.picture)
                await writer.drain()
        writer.close()


def _first_byte_time(connection, host, target):
    """Returns the seconds from the request to the first byte; reads the whole answer."""
    begin = time.monotonic()
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    data = connection.recv(65536)
    taken = time.monotonic() - begin
    status = data.split(b" ", 2)[1:2]
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, body = data.split(b"\r\n\r\n", 1)
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if b"content-length" in fields:
        left = int(fields[b"content-length"]) - len(body)
        while left > 0:
            left -= len(connection.recv(65536))
    else:
        while not body.endswith(b"0\r\n\r\n"):
            body += connection.recv(65536)
    return taken, status[0] if status else b""


# MARK: first byte

def _first_byte(folder):
    origin = Origin(ORIGIN_DELAY)
    server = servers.daemon("firstbyte", folder, origin.port)
    direct, through = [], []
    with awake(), socket.create_connection(("127.0.0.1", origin.port)) as near, \
            socket.create_connection(("127.0.0.1", server.port)) as far:
        for number in range(FIRST_BYTE_FETCHES):
            direct.append(_first_byte_time(near, "bench", f"/d{number}")[0])
            taken, status = _first_byte_time(far, "bench", server.path(f"m{number}"))
            if status != b"200":
                raise Wrong(f"the daemon answered {status}")
            through.append(taken)
    server.close()
    later = [1000 * (b - a) for a, b in zip(sorted(direct), sorted(through))]
    seen = f"{statistics.median(later):.2f} ms later than direct (p99 {later[int(0.99 * len(later))]:.2f})"
    yield "first byte behind an origin that waits 50 ms", seen, "≤ 2 ms"


# MARK: a thousand hosts

def _thousand_hosts(folder):
    origin = Origin(0)
    figures = []
    for name, dead in (("alive", 0), ("onedead", DEAD_CLIENTS)):
        server = servers.daemon(name, folder, origin.port, SECURITY_ALLOWED_NETWORKS="127.0.0.0/8")
        figures.append(_percentiles(server, origin.port, dead))
        server.close()
    (middle, slow), (middle_dead, slow_dead) = figures
    seen = f"p99 {slow_dead:.1f} ms, median {middle_dead:.1f} (all alive: {slow:.1f}, {middle:.1f})"
    yield f"{HOSTS:,} hosts, one of them dead and asked by {DEAD_CLIENTS}", seen, "p99 as with all alive"


def _percentiles(server, port, dead):
    """Returns the median and the 99th percentile in ms of misses at the hosts that answer."""
    stop = threading.Event()
    stuck = [threading.Thread(target=_ask_the_dead, args=(server, port, number, stop), daemon=True)
             for number in range(dead)]
    for thread in stuck:
        thread.start()
    if dead:
        time.sleep(0.5)
    times, errors = [], []
    share = REQUESTS // CLIENTS
    threads = [threading.Thread(target=_ask_hosts, args=(server, port, client * share, share, times, errors))
               for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    if errors:
        raise Wrong(f"{len(errors)} fetches failed, the first with {errors[0]}")
    ordered = sorted(times)
    return 1000 * statistics.median(ordered), 1000 * ordered[int(0.99 * len(ordered))]


def _target(port, host, path):
    url = f"http://127.{1 + host // 250}.1.{1 + host % 250}:{port}/{path}"
    return "/img?url=" + urllib.parse.quote(url, safe="")


def _ask_hosts(server, port, first, count, times, errors):
    with socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS) as connection:
        for number in range(first, first + count):
            taken, status = _first_byte_time(connection, "bench", _target(port, 1 + number % (HOSTS - 1), f"p{number}"))
            times.append(taken)
            if status != b"200":
                errors.append(status)


def _ask_the_dead(server, port, number, stop):
    while not stop.is_set():
        with contextlib.suppress(OSError), \
                socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS) as connection:
            _first_byte_time(connection, "bench", _target(port, 0, f"dead{number}-{time.monotonic()}"))
