# SPDX-License-Identifier: Apache-2.0
"""Well-behaved clients: every answer to them has to be right."""

import hashlib
import socket
import urllib.parse

PHOTOS = ("life.jpg", "peaks.jpg", "seeding.jpg", "sunset.jpg")
REQUESTS_PER_CONNECTION = 50
SECONDS = 60


class Wrong(Exception):
    """A wrong answer."""


class Cut(ConnectionError):
    """An answer that breaks off."""


class Client:
    """A persistent connection."""

    def __init__(self, port, address=None):
        self.socket = socket.create_connection(
            ("127.0.0.1", port), SECONDS, source_address=(address, 0) if address else None)
        self.reader = self.socket.makefile("rb")
        self.answers, self.has_ended = 0, False

    def ask(self, target, *lines, method="GET"):
        text = "".join(f"{line}\r\n" for line in (f"{method} {target} HTTP/1.1", "Host: a") + lines) + "\r\n"
        self.socket.sendall(text.encode())
        return self.answer(method)

    def answer(self, method="GET"):
        first = self.reader.readline()
        if not first.startswith(b"HTTP/1.1 ") or not first.endswith(b"\r\n"):
            raise ConnectionError(f"no status line: {first[:50]!r}")
        fields = {}
        while (line := self.reader.readline()) != b"\r\n":
            name, colon, value = line.partition(b": ")
            if not colon or not line.endswith(b"\r\n") or name.lower() in fields or name.lower() == b"x-injected":
                raise Wrong(f"a field line {line[:100]!r} behind {fields}")
            fields[name.lower()] = value[:-2].decode()
        status = int(first[9:12])
        if method == "HEAD" or status in (204, 304):
            body = b""
        elif fields.get(b"transfer-encoding") == "chunked":
            body = b"".join(iter(self.chunk, b""))
        else:
            body = self.bytes(int(fields[b"content-length"]))
        self.answers += 1
        self.has_ended = fields.get(b"connection") == "close"
        return status, fields, body

    def chunk(self):
        """Returns the next chunk; empty for the last one."""
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise Cut("the chunks were cut")
        return self.bytes(int(line, 16) + 2)[:-2]

    def bytes(self, length):
        # An answer that the origin broke off ends with a reset if the daemon has not read all bytes of the client.
        try:
            body = self.reader.read(length)
        except ConnectionResetError as error:
            raise Cut("the connection was reset") from error
        if len(body) != length:
            raise Cut("the content was cut")
        return body

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.socket.close()


def image(run, name, number=0, parameters="", port=None):
    url = urllib.parse.quote(f"http://127.0.0.1:{port or run.origin_port}/{number}/{name}", safe="")
    return f"/img?url={url}{parameters}"


def _visitor(run, chance):
    """Sends all kinds of requests over one connection."""
    with Client(run.port) as client:
        try:
            for _ in range(REQUESTS_PER_CONNECTION):
                if run.stop.is_set() or client.has_ended:
                    return
                chance.choice((_hit, _hit, _hit, _not_modified, _range, _head, _miss, _transform, _refused))(
                    run, chance, client)
        except OSError as error:
            # Only a connection without an answer may end: the server refuses new ones when hostile clients hold all.
            if client.answers and not client.has_ended:
                raise Wrong(f"a good connection ended behind {client.answers} answers: {error!r}") from error
            raise


def _right(run, status, body, key, allowed=()):
    """Returns whether the body is the picture; counts refusals because of full queues."""
    if status in (503,) + allowed:
        run.count(f"good: {status}")
        return False
    if status != 200:
        raise Wrong(f"{key}: {status} {body[:300]!r}")
    if not run.same(key, hashlib.sha256(body).digest()):
        raise Wrong(f"{key}: another body than the first one, {len(body)} bytes")
    return True


def _known(run, chance, client):
    """Requests one of a few pictures repeatedly."""
    name, width = chance.choice(PHOTOS), chance.choice((320, 640))
    target = image(run, name, 0, f"&transform=resize:{width}x&format=webp")
    return target, client.ask(target), f"{name} {width}"


def _hit(run, chance, client):
    _, (status, _, body), key = _known(run, chance, client)
    if _right(run, status, body, key):
        run.count("good: again")


def _not_modified(run, chance, client):
    target, (status, fields, body), key = _known(run, chance, client)
    if not _right(run, status, body, key):
        return
    status, later, body = client.ask(target, f"If-None-Match: {fields[b'etag']}")
    if status != 304 or body or later.get(b"etag") != fields[b"etag"]:
        raise Wrong(f"{key}: {status} with {later.get(b'etag')} for If-None-Match: {fields[b'etag']}")
    run.count("good: 304")


def _range(run, chance, client):
    target, (status, _, body), key = _known(run, chance, client)
    if not _right(run, status, body, key):
        return
    first = chance.randrange(len(body))
    last = chance.randrange(first, len(body))
    status, fields, part = client.ask(target, f"Range: bytes={first}-{last}")
    if status != 206 or part != body[first:last + 1] \
            or fields[b"content-range"] != f"bytes {first}-{last}/{len(body)}":
        raise Wrong(f"{key}: {status}, {len(part)} bytes for {first}-{last}")
    run.count("good: 206")


def _head(run, chance, client):
    target, (status, _, body), key = _known(run, chance, client)
    if not _right(run, status, body, key):
        return
    status, fields, nothing = client.ask(target, method="HEAD")
    if status != 200 or nothing or int(fields[b"content-length"]) != len(body):
        raise Wrong(f"{key}: HEAD has {status} and {fields}")
    run.count("good: HEAD")


def _miss(run, chance, client):
    name = chance.choice(PHOTOS)
    status, _, body = client.ask(image(run, name, chance.randrange(1_000_000_000)))
    if _right(run, status, body, f"{name} as it is", allowed=(504,)):
        run.count("good: from the origin")


def _transform(run, chance, client):
    name, width, form = chance.choice(PHOTOS), chance.randrange(50, 250), chance.choice(("jpeg", "webp", "png"))
    status, _, body = client.ask(image(run, name, 0, f"&transform=resize:{width}x&format={form}"))
    if _right(run, status, body, f"{name} {width} {form}", allowed=(504,)):
        run.count("good: any size")


def _refused(run, chance, client):
    name, expected = chance.choice((("gone.jpg", 404), ("error.jpg", 502), ("hostile.jpg", None)))
    status, _, _ = client.ask(image(run, name, chance.randrange(1_000_000_000)))
    if expected and status not in (expected, 503):
        raise Wrong(f"{name}: {status}")
    run.count(f"good: a failing source, {status}")


CLIENTS = [_visitor] * 6
