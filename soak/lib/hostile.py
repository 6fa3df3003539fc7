# SPDX-License-Identifier: Apache-2.0
"""Hostile clients: the server may refuse them and close their connections, and nothing else may happen."""

import socket
import struct
import time

from . import good

HEAD = b"GET /healthz HTTP/1.1\r\nHost: a\r\n"
POST = b"POST /healthz HTTP/1.1\r\nHost: a\r\n"
FLOOD = 450
# Longer than the daemon's settings keep a hostile connection open.
TIMEOUT_SECONDS = 30


def _connect(run, receive=None):
    connection = socket.socket()
    if receive:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    connection.settimeout(TIMEOUT_SECONDS)
    connection.connect(("127.0.0.1", run.port))
    return connection


def _reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _until_the_end(run, name, connection, start, piece, pause):
    """Sends an endless message until the server ends it; it must do so in time."""
    end = time.monotonic() + TIMEOUT_SECONDS
    with connection:
        connection.sendall(start)
        try:
            while not run.stop.is_set():
                if time.monotonic() > end:
                    raise good.Wrong(f"{name}: the server bears it for ever")
                connection.sendall(piece)
                connection.settimeout(pause or 0.001)
                try:
                    answer = connection.recv(4096)
                    _expect_refusal(run, name, answer)
                    return
                except TimeoutError:
                    connection.settimeout(TIMEOUT_SECONDS)
        except (BrokenPipeError, ConnectionResetError):
            pass
    run.count(f"hostile: {name}, cut")


def _expect_refusal(run, name, answer):
    # 503 when all connections are in use.
    if answer and answer[9:12] not in (b"400", b"408", b"413", b"414", b"431", b"501", b"503"):
        raise good.Wrong(f"{name}: {answer[:100]!r}")
    run.count(f"hostile: {name}, {answer[9:12].decode() or 'ended'}")


def slow_head(run, chance):
    _until_the_end(run, "slow head", _connect(run), HEAD + b"X: ", b"a", 0.2)


def slow_body(run, chance):
    _until_the_end(run, "slow body", _connect(run), POST + b"Content-Length: 60000\r\n\r\n", b"a", 0.2)


def endless_head(run, chance):
    _until_the_end(run, "endless head", _connect(run), HEAD, b"X-Y: z\r\n" * 20, 0)


def endless_chunks(run, chance):
    start = POST + b"Transfer-Encoding: chunked\r\n\r\n"
    _until_the_end(run, "endless chunks", _connect(run), start, b"400\r\n" + b"a" * 1024 + b"\r\n", 0)


def endless_extension(run, chance):
    _until_the_end(run, "endless extension", _connect(run),
                   POST + b"Transfer-Encoding: chunked\r\n\r\n1", b";a=b" * 50, 0)


def never_reading(run, chance):
    """Requests much and reads nothing; the server closes the connection."""
    target = good.image(run, chance.choice(good.PHOTOS)).encode()
    request = b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n"
    with _connect(run, receive=4096) as connection:
        connection.setblocking(False)
        end = time.monotonic() + TIMEOUT_SECONDS
        try:
            while not run.stop.is_set():
                if time.monotonic() > end:
                    raise good.Wrong("never reading: the server bears it for ever")
                try:
                    connection.send(request * 100)
                except BlockingIOError:
                    pass
                run.stop.wait(0.1)
        except (BrokenPipeError, ConnectionResetError):
            run.count("hostile: never reading, cut")


def garbage(run, chance):
    with _connect(run) as connection:
        connection.sendall(b"\x16\x03\x01" + chance.randbytes(chance.randrange(1, 3000)) + b"\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        _expect_refusal(run, "garbage", connection.recv(4096))


def malformed(run, chance):
    tail = chance.choice((
        b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", b"GET / HTTP/1.1\nHost: a\n\n",
        HEAD + b" folded: x\r\n\r\n", POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        POST + b"Content-Length: +1\r\n\r\na", b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
        HEAD + b"X: \r\r\n\r\n", b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n"))
    with _connect(run) as connection:
        connection.sendall(tail + HEAD + b"\r\n")
        _expect_refusal(run, "malformed", connection.recv(4096))


def leaving(run, chance):
    """Disconnects during a fetch, a transform or an answer, by closing or by a reset."""
    target = good.image(run, chance.choice(good.PHOTOS), chance.randrange(1_000_000_000),
                        chance.choice(("", "&transform=resize:200x")))
    connection = _connect(run)
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    run.stop.wait(chance.random() * 0.1)
    if chance.random() < 0.5:
        _reset(connection)
    else:
        connection.shutdown(socket.SHUT_WR)
        connection.close()
    run.count("hostile: left")


def behind_the_end(run, chance):
    """Continues to send after its last request."""
    _until = HEAD + b"Connection: close\r\n\r\n"
    with _connect(run) as connection:
        connection.sendall(_until + (HEAD + b"\r\n") * 2000)
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        if answer.count(b"HTTP/1.1 ") > 1:
            raise good.Wrong("behind the end: a request behind the last one was answered")
        run.count("hostile: behind the end")


def flood(run, chance):
    """More connections than the limit, some of them within a head."""
    crowd = []
    try:
        for number in range(FLOOD):
            connection = _connect(run)
            crowd.append(connection)
            if number % 3 == 0:
                connection.sendall(HEAD)
        run.stop.wait(1)
    finally:
        for connection in crowd:
            if chance.random() < 0.3:
                _reset(connection)
            else:
                connection.close()
    run.count("hostile: flood")
    run.stop.wait(15)


CLIENTS = [slow_head, slow_body, slow_head, slow_body, endless_head, endless_chunks, endless_extension, never_reading,
           never_reading, garbage, malformed, leaving, leaving, behind_the_end, flood]
