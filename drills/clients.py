# SPDX-License-Identifier: Apache-2.0
"""Clients of the drill of the cluster: every answer has exactly the right bytes, or the drill fails."""

import asyncio
import collections
import http.client
import itertools
import threading
import time

from rig import expect

TIMEOUT = 60


class Clients:
    """Asks nodes or the balancer. Originals are compared with the origin's bytes, results with those of a daemon without a shared tier."""

    def __init__(self, origin, reference):
        self.origin, self.reference = origin, reference
        self._results, self.answers = {}, 0

    def expected(self, number, rest):
        """The right answer to a request."""
        if not rest:
            return self.origin.body(number)
        key = (number, self.origin.versions[number], rest)
        if key not in self._results:
            # Only the reference is purged here: the picture may have changed since it was asked last.
            self.reference.admin("DELETE", "/cache?" + self.origin.target(number).partition("?")[2])
            status, body, _ = self.reference.get(self.origin.target(number, rest))
            expect(status == 200, f"the daemon without a shared tier answers {status} to {number}{rest}")
            self._results[key] = body
        return self._results[key]

    def ask(self, node, number, rest=""):
        """Asks one node, and returns the seconds that the answer took."""
        right = self.expected(number, rest)
        began = time.monotonic()
        status, body, cache = node.get(self.origin.target(number, rest))
        seconds = time.monotonic() - began
        self._check((number, rest), status, body, right, cache)
        return seconds

    def has_new(self, node, number, rest=""):
        """Whether a node answers a picture's present version; an answer that is neither that nor a picture at all is a failure."""
        right = self.expected(number, rest)
        status, body, _ = node.get(self.origin.target(number, rest))
        expect(status == 200, f"{number}{rest}: {status}: {body[:200]!r}")
        return body == right

    def ask_all(self, requests, at_once=1_500):
        """Sends requests, each (address, number, rest), on connections of their own; returns the seconds of each, sorted."""
        right = {request[1:]: self.expected(*request[1:]) for request in requests}
        return sorted(asyncio.run(self._ask_all(requests, right, at_once)))

    async def _ask_all(self, requests, right, at_once):
        turns = asyncio.Semaphore(at_once)
        # As browsers send it, and as many other programs: not at all.
        fields = itertools.cycle(["Accept: image/avif,image/webp,*/*\r\n", ""])

        async def one(address, *picture):
            async with turns:
                began = time.monotonic()
                status, body, cache = await asyncio.wait_for(_get(address, self.origin.target(*picture), next(fields)), TIMEOUT)
                seconds = time.monotonic() - began
            self._check(picture, status, body, right[picture], cache)
            return seconds

        return await asyncio.gather(*[one(*request) for request in requests])

    def _check(self, picture, status, body, right, cache):
        expect(status == 200, f"{picture}: {status}: {body[:300]!r}")
        expect(body == right, f"{picture}: {len(body)} bytes that are not the {len(right)} right ones ({cache})")
        self.answers += 1


async def _get(address, target, fields):
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(f"GET {target} HTTP/1.1\r\nHost: drill\r\n{fields}Connection: close\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await reader.readexactly(int(fields["content-length"]))
        return int(head.split(" ", 2)[1]), body, fields.get("cache-status", "")
    finally:
        writer.close()


def hit_seconds(address, target, count):
    """The seconds of each of some requests on one connection, sorted."""
    connection = http.client.HTTPConnection(*address, timeout=TIMEOUT)
    times = []
    for _ in range(count):
        began = time.perf_counter()
        connection.request("GET", target)
        answer = connection.getresponse()
        content = answer.read()
        times.append(time.perf_counter() - began)
        expect(answer.status == 200 and content, f"{target}: {answer.status}")
    connection.close()
    return sorted(times)


class Load(threading.Thread):
    """Requests at a rate until it is stopped, on kept connections; counts what failed."""

    CLIENTS = 16
    RATE = 100

    def __init__(self, address, requests, clients):
        super().__init__()
        self.address, self.origin = address, clients.origin
        self.pictures = [(clients.origin.target(*picture), clients.expected(*picture)) for picture in requests]
        self.failures, self.answers, self.slowest = collections.Counter(), 0, 0
        self.next, self.lock, self.is_over = 0, threading.Lock(), threading.Event()

    def run(self):
        self.began = time.monotonic()
        threads = [threading.Thread(target=self._client) for _ in range(self.CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stop(self):
        self.is_over.set()
        self.join()

    def _client(self):
        connection = http.client.HTTPConnection(*self.address, timeout=TIMEOUT)
        while not self.is_over.is_set():
            with self.lock:
                number, self.next = self.next, self.next + 1
            due = self.began + number / self.RATE
            time.sleep(max(0, due - time.monotonic()))
            target, right = self.pictures[number % len(self.pictures)]
            try:
                connection.request("GET", target)
                answer = connection.getresponse()
                body = answer.read()
                problem = f"status {answer.status}" if answer.status != 200 else None if body == right else "wrong bytes"
            except (OSError, http.client.HTTPException) as error:
                problem = repr(error)
                connection.close()
            with self.lock:
                self.answers += 1
                self.slowest = max(self.slowest, time.monotonic() - due)
                if problem:
                    self.failures[problem] += 1
