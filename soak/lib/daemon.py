# SPDX-License-Identifier: Apache-2.0
"""The daemon under test, and its figures from the kernel."""

import collections
import dataclasses
import json
import os
import re
import socket
import subprocess
import time

START_SECONDS = 20
# The number of pictures on disk that are kept open.
OPEN_FILES = 32
# Small sizes, so that everything is full and evicts before the warm-up ends; short times, so that hostile clients are
# disconnected often.
SETTINGS = {
    "http": {"maxConnections": 400, "headerTimeout": "2s", "bodyTimeout": "2s", "writeTimeout": "2s",
             "idleTimeout": "5s", "maxBodyBytes": "64KiB"},
    "cache": {"memory": {"maxBytes": "16MiB", "limits": {"maxTargets": 1024}},
              "disk": {"maxBytes": "64MiB", "openFiles": OPEN_FILES, "sweepInterval": "5s",
                       "limits": {"maxRecordsInMemory": 500, "maxSourceRecords": 2000, "maxVerified": 1024}}},
    "freshness": {"staleWhileRevalidate": "1s", "refreshPause": "1s"},
    # Short times for origins, too.
    "fetch": {"maxPerHost": 32, "lowSpeedTime": "2s", "maxBytes": "4MiB"},
    "transform": {"queue": 256},
    # An origin that times out is soon tried again; otherwise it would be avoided most of the time.
    "failedURLs": {"ttl": {"notFound": "1s"}, "breaker": {"failures": 50, "pause": "1s", "maximum": "1s"}},
    "log": {"access": "off"},
}


@dataclasses.dataclass
class State:
    """The state of the daemon and its workers at one time."""
    memory: int
    workers: int
    worker_memory: int
    descriptors: int
    threads: int
    connections: int = 0
    kinds: dict = dataclasses.field(default_factory=dict)

    @property
    def pictures(self):
        return self.kinds.get("stored pictures", 0) + self.kinds.get("pictures without a name", 0)

    @property
    def besides_pictures(self):
        return self.descriptors - self.pictures

    def __str__(self):
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))
        text = (f"{self.memory / 2**20:.1f} MiB, {self.descriptors} descriptors ({kinds}), {self.threads} threads; "
                f"{self.workers} workers with {self.worker_memory / 2**20:.1f} MiB")
        return text + (f"; {self.connections} connection" if self.connections else "")


class Daemon:
    def __init__(self, root, folder, settings=SETTINGS):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        settings = json.loads(json.dumps(settings))
        settings["listen"] = [f"127.0.0.1:{self.port}"]
        settings["security"] = {"allowedNetworks": ["127.0.0.0/8"]}
        settings["cache"]["disk"]["directory"] = str(folder / "cache")
        # A sanitizer's shadow memory exceeds a worker's limits.
        if isolation := os.environ.get("SOAK_ISOLATION"):
            settings["transform"]["isolation"] = isolation
        (folder / "config.json").write_text(json.dumps(settings))
        program = os.environ.get("SOAK_DAEMON", str(root / ".build/release/imageproxyd"))
        self.log = folder / "log"
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen([program, "serve", "--config", str(folder / "config.json")],
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        end = time.monotonic() + START_SECONDS
        while not is_healthy(self.port):
            self.require_alive()
            if time.monotonic() > end:
                self.close()
                raise SystemExit("the daemon does not answer")
            time.sleep(0.05)

    def require_alive(self):
        if self.process.poll() is not None:
            tail = self.log.read_bytes()[-4000:].decode(errors="replace")
            raise SystemExit(f"the daemon ended with {self.process.returncode}:\n{tail}")

    def state(self):
        pid = self.process.pid
        files = _open_files(pid)
        workers = [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == pid]
        return State(memory=resident(pid), workers=len(workers), worker_memory=sum(map(resident, workers)),
                     descriptors=sum(files.values()), kinds=files, threads=len(os.listdir(f"/proc/{pid}/task")))

    def wait_until_idle(self, port, seconds):
        """Waits until only this program is connected and idle fetches have ended; returns the state then."""
        end = time.monotonic() + seconds
        while True:
            connections = _connections(port)
            if connections == 1 or time.monotonic() > end:
                break
            time.sleep(0.2)
        # Connections to the origin and idle threads end some seconds later.
        time.sleep(10)
        state = self.state()
        state.connections = _connections(port)
        return state

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _parent(name):
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _ask(port, target):
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def _open_files(pid):
    """Returns the number of descriptors of each kind."""
    kinds = collections.Counter()
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        try:
            target, links = os.readlink(path), os.stat(path).st_nlink
        except FileNotFoundError:
            continue
        if target.startswith("socket:"):
            kinds["sockets"] += 1
        elif "/cache/" in target and re.search("/(originals|results|intermediates|derived)/|/#", target):
            # A file that was opened before it got its name keeps its number as its name here.
            kinds["stored pictures" if links else "pictures without a name"] += 1
        elif target.startswith("/memfd:"):
            kinds["bodies in memory"] += 1
        else:
            kinds["others"] += 1
    return kinds


def is_healthy(port):
    try:
        return _ask(port, "/healthz").startswith(b"HTTP/1.1 200 ")
    except OSError:
        return False


def _connections(port):
    for line in _ask(port, "/metrics").decode().splitlines():
        if line.startswith("imageproxyd_http_connections "):
            return int(float(line.split()[1]))
    raise SystemExit("the metrics do not say how many connections there are")
