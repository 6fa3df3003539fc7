# SPDX-License-Identifier: Apache-2.0
"""SIGTERM under load: every request is answered that a client sent before it could know of the shutdown."""

import os
import signal
import socket
import threading
import time

from rig import CLIENTS, Daemon, AnswerCheck, expect

SIGNALS = int(os.environ.get("DRILL_SIGNALS", "20"))
# An idle connection has `http.drainGrace` (1 s) to send a request, and half of that to close its side; then the admin listener ends.
IDLE_SECONDS = 4


def drain(folder, origin):
    target = origin.target(1)
    answers, refused = 0, 0
    for _ in range(SIGNALS):
        daemon = _primed(folder, origin)
        load = _Load(daemon.port, target, origin.body(1, 0))
        time.sleep(0.5)
        _end(daemon)
        load.stop()
        answers += load.answers
        refused += load.refused
        expect(not load.lost, f"{len(load.lost)} of {load.answers + len(load.lost)} requests lost: {load.lost[:3]}")
    yield f"{SIGNALS} signals under load, a connection each: {answers:,} answers right to the byte, 0 lost, {refused:,} refused"
    for name, silence in (("fresh", True), ("kept", False)):
        daemon = _primed(folder, origin)
        clients = [_connect(daemon.port) for _ in range(50)]
        if not silence:
            for client in clients:
                client.sendall(_request(target, "keep-alive"))
                expect(_answer(client)[0] == 200, "no answer before the signal")
        time.sleep(0.3)
        daemon.process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        for client in clients:
            client.sendall(_request(target, "keep-alive"))
        heads = [_answer(client) for client in clients]
        expect(all(status == 200 and closes for status, closes, _ in heads), f"{name}: {[head[:2] for head in heads]}")
        _close(clients)
        daemon.stop()
        yield f"50 {name} connections, asked 50 ms after the signal: 50 answered, each with Connection: close"
    daemon = _primed(folder, origin)
    daemon.process.send_signal(signal.SIGSTOP)
    clients = [_connect(daemon.port) for _ in range(100)]
    for client in clients:
        client.sendall(_request(target, "close"))
    daemon.process.send_signal(signal.SIGTERM)
    daemon.process.send_signal(signal.SIGCONT)
    heads = [_answer(client) for client in clients]
    expect(all(status == 200 for status, _, _ in heads), f"{[head[0] for head in heads]}")
    _close(clients)
    daemon.stop()
    yield "100 complete requests in the backlog of a daemon that was stopped: 100 answered"
    daemon = _primed(folder, origin)
    clients = [_connect(daemon.port) for _ in range(50)]
    time.sleep(0.3)
    seconds = _end(daemon)
    expect(all(client.recv(1) == b"" for client in clients), "an idle connection was not ended in order")
    expect(seconds < IDLE_SECONDS, f"50 idle connections kept the daemon for {seconds:.1f} s")
    _close(clients)
    yield f"50 idle connections that their clients keep: ended in order, and the daemon in {seconds:.1f} s"


def _primed(folder, origin):
    daemon = Daemon(folder)
    AnswerCheck(origin).ask(daemon, 1)
    return daemon


def _end(daemon):
    began = time.monotonic()
    daemon.stop()
    expect(daemon.process.returncode == 0, f"exit code {daemon.process.returncode}")
    return time.monotonic() - began


class _Load:
    """Clients that open a connection for each request, until the daemon accepts none."""

    def __init__(self, port, target, body):
        self.port, self.body = port, body
        self.request = _request(target, "close")
        self.answers, self.refused, self.lost = 0, 0, []
        self.lock = threading.Lock()
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self._ask) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def _ask(self):
        while not self.is_over.is_set():
            try:
                client = _connect(self.port)
            except OSError:
                with self.lock:
                    self.refused += 1
                time.sleep(0.01)
                continue
            try:
                client.sendall(self.request)
                status, _, body = _answer(client)
                problem = None if (status, body) == (200, self.body) else f"{status}, {len(body)} bytes"
            except OSError as error:
                problem = str(error)
            client.close()
            with self.lock:
                if problem:
                    self.lost.append(problem)
                else:
                    self.answers += 1

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()


def _connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def _request(target, connection):
    return f"GET {target} HTTP/1.1\r\nHost: drill\r\nConnection: {connection}\r\n\r\n".encode()


def _answer(client):
    """Returns the status, whether the answer has `Connection: close`, and the body; OSError if the connection ends before."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(client)
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
    while len(body) < length:
        body += _more(client)
    return int(lines[0].split()[1]), "connection: close" in lines, body


def _more(client):
    piece = client.recv(65_536)
    if not piece:
        raise OSError("the connection ended before its answer")
    return piece


def _close(clients):
    for client in clients:
        client.close()
