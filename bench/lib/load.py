# SPDX-License-Identifier: Apache-2.0
"""Sends requests to a server, checks its answers, and loads it."""

import http.client
import subprocess
import time

from . import settings
from .process import Wrong, pinned

# wrk's count of bytes may differ from the probe's: numbers in the head grow, and it counts answers that it cuts off.
SLACK_BYTES = 64
SLACK_SHARE = 0.05
PAUSE_SECONDS = 0.03
TIMEOUT = 60


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        # The status line, the fields as sent, and the empty line.
        head = f"HTTP/1.1 {response.status} {response.reason}\r\n"
        fields = sum(len(name) + len(value) + 4 for name, value in response.getheaders())
        self.size = len(head) + fields + 2 + len(self.body)


def connect(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)


def ask(port, path, headers=None, connection=None):
    """One answer. A given connection is used and stays open."""
    used = connection or connect(port)
    try:
        used.request("GET", path, headers=headers or {})
        return Answer(used.getresponse())
    except (OSError, http.client.HTTPException) as problem:
        raise Wrong(f"port {port}{path}: {problem!r}") from problem
    finally:
        if not connection:
            used.close()


def expect(answer, status, body, what):
    if answer.status != status:
        raise Wrong(f"{what}: status {answer.status}, expected {status}: {answer.body[:300]!r}")
    if body is not None and answer.body != body:
        raise Wrong(f"{what}: the body has {len(answer.body)} bytes and is not the source's {len(body)}")


def wrk(server, port, path, connections, headers=(), many=None, size=None, seconds=None):
    """Loads a server and returns CPU microseconds per request.

    `many` is (before, after, count) of load-many.lua; `size` is what an answer has on the wire.
    """
    seconds = seconds or settings.SECONDS
    script = settings.BENCH / ("load-many.lua" if many else "load-one.lua")
    duration = f"-d{max(1, round(seconds))}s"
    command = ["wrk", "-t1", f"-c{connections}", duration, "--timeout", "20s", "-s", script]
    for header in headers:
        command += ["-H", header]
    command += [f"http://127.0.0.1:{port}{path}"]
    if many:
        command += ["--"] + [str(part) for part in many]
    before = server.cpu_seconds()
    result = subprocess.run(pinned(settings.LOAD_CORE, command), capture_output=True, text=True)
    time.sleep(PAUSE_SECONDS)
    spent = server.cpu_seconds() - before
    server.require_alive()
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("BENCH ")]
    if result.returncode != 0 or not lines:
        raise Wrong(f"wrk failed at {server.name}{path}: {result.stdout}{result.stderr}")
    requests, received, errors = (int(part) for part in lines[0][1:4])
    if errors or requests == 0:
        raise Wrong(f"{server.name}{path}: {errors} of {requests} requests failed\n{result.stdout}")
    each = received / requests
    if size and abs(each - size) > SLACK_BYTES + size * SLACK_SHARE:
        raise Wrong(f"{server.name}{path}: answers have {each:.0f} bytes, expected {size:.0f}")
    return spent / requests * 1e6
