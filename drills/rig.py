# SPDX-License-Identifier: Apache-2.0
"""A daemon, an origin, and the check of every drill: an answer has exactly the right bytes or is an error, never another picture."""

import concurrent.futures
import contextlib
import hashlib
import http.client
import http.server
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("DRILL_DAEMON") or ROOT / ".build/release/imageproxyd")
PHOTO = (ROOT / "Tests/Fixtures/photo.jpg").read_bytes()
CLIENTS = 8
START_SECONDS = 60


class Failed(Exception):
    """The daemon failed a check: the drill exits with 1."""


def expect(holds, text):
    if not holds:
        raise Failed(text)


class Origin(http.server.ThreadingHTTPServer):
    """Serves `/N-LENGTH.jpg`: the photo, padded after its end so that each number has its own bytes."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, address="127.0.0.1", handler=None):
        super().__init__((address, 0), handler or _Handler)
        self.fetches = 0
        self.is_down = False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Ignored: the daemon that fetched was killed."""

    @staticmethod
    def body(number, length):
        filler = hashlib.sha256(str(number).encode()).digest()
        missing = max(len(filler), length - len(PHOTO))
        return PHOTO + (filler * (missing // len(filler) + 1))[:missing]

    def target(self, number, length=0, rest=""):
        url = f"http://127.0.0.1:{self.server_port}/{number}-{length}.jpg"
        return "/img?url=" + urllib.parse.quote(url, safe="") + rest


class Answerer(http.server.BaseHTTPRequestHandler):
    """The common part of the drills' origins."""

    protocol_version = "HTTP/1.1"

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class _Handler(Answerer):
    def do_GET(self):
        self.server.fetches += 1
        found = re.fullmatch(r"/(\d+)-(\d+)\.jpg", self.path)
        body = self.server.body(int(found[1]), int(found[2])) if found else b""
        self.reply(503 if self.server.is_down else 200 if found else 404, body)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    """A daemon in a folder; settings are variables without their prefix, `user` is the user that it runs as.

    It listens on a free port of loopback, or on `listen`; `within` are the words before its command, such as those of nsenter(1).
    """

    address = "127.0.0.1"
    started = []

    @classmethod
    def end_all(cls):
        while cls.started:
            daemon = cls.started.pop()
            if daemon.is_alive:
                daemon.kill()

    def __init__(self, folder, must_start=True, cache=None, user=None, program=PROGRAM, listen=None, within=(), configuration=None, **settings):
        self.folder = pathlib.Path(folder)
        self.cache = pathlib.Path(cache or self.folder / "cache")
        self.address, self.port = listen or (self.address, _free_port())
        values = {"SECURITY_ALLOWED_NETWORKS": "127.0.0.0/8", "SECURITY_UNSIGNED_TAGS": "true",
                  "CACHE_DISK_DIRECTORY": str(self.cache),
                  "LOG_ACCESS": "off", "TRANSFORM_QUEUE": "512", "TRANSFORM_QUEUE_TIMEOUT": "60s"} | settings
        environment = {key: value for key, value in os.environ.items() if not key.startswith("IMAGEPROXYD_")}
        environment |= {"IMAGEPROXYD_" + key: value for key, value in values.items()}
        self.log_path = self.folder / "daemon.log"
        command = [*within, program, "serve", "--listen", f"{self.address}:{self.port}"]
        command += ["--config", configuration] if configuration else []
        began = time.monotonic()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                user=user, group=user)
        Daemon.started.append(self)
        if must_start:
            self.wait_until_ready(began)

    def wait_until_ready(self, began):
        while time.monotonic() - began < START_SECONDS:
            expect(self.process.poll() is None, f"the daemon did not start:\n{self.log[-2000:]}")
            try:
                if self.get("/readyz")[0] == 200:
                    self.start_seconds = time.monotonic() - began
                    return
            except OSError:
                pass
            time.sleep(0.005)
        raise Failed(f"the daemon is not ready after {START_SECONDS} s:\n{self.log[-2000:]}")

    def get(self, target):
        """Returns status, body and Cache-Status; OSError if the connection ends too early."""
        connection = http.client.HTTPConnection(self.address, self.port, timeout=60)
        try:
            connection.request("GET", target)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers.get("Cache-Status", "")
        except http.client.HTTPException as problem:
            raise OSError(str(problem)) from problem
        finally:
            connection.close()

    def admin(self, method, target):
        """Returns the status of an operator's request over the admin socket."""
        return self.administer(method, target)[0]

    def administer(self, method, target):
        """Returns status and body of an operator's request over the admin socket."""
        with contextlib.closing(http.client.HTTPConnection("localhost", timeout=60)) as connection:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.connect(str(self.cache / "admin.sock"))
            connection.request(method, target)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def metric(self, pattern):
        """Returns the sum of all samples whose name and labels match."""
        text = self.get("/metrics")[1].decode()
        lines = [line.rpartition(" ") for line in text.splitlines() if re.match(pattern, line)]
        return sum(float(value) for _, _, value in lines)

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    @property
    def is_alive(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.is_alive:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
                raise Failed("the daemon did not end within 60 s") from None


class AnswerCheck:
    """The expected body of each target: the origin's bytes, or those of a result's first answer."""

    def __init__(self, origin):
        self.origin = origin
        self.expected = {}
        self.answers = 0
        self.cut = 0
        self.lock = threading.Lock()

    def ask(self, daemon, number, length=0, rest=""):
        """Sends a request and checks the answer; returns its Cache-Status, or None if the connection was cut."""
        target = self.origin.target(number, length, rest)
        try:
            status, body, cache = daemon.get(target)
        except OSError:
            with self.lock:
                self.cut += 1
            return None
        expect(status == 200, f"{target}: {status}: {body[:300]!r}")
        with self.lock:
            self.answers += 1
            right = self.expected.setdefault(target, body if rest else self.origin.body(number, length))
        expect(body == right, f"{target}: {len(body)} bytes that are not the {len(right)} expected ({cache})")
        return cache

    def ask_all(self, daemon, requests):
        """Sends many requests at once; returns the Cache-Status of each."""
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            return list(pool.map(lambda request: self.ask(daemon, *request), requests))
