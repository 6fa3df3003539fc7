# SPDX-License-Identifier: Apache-2.0
"""Restarts under load, with a socket that outlives the daemon, as imageproxyd.socket has it: no request fails."""

import collections
import http.client
import os
import signal
import socket
import subprocess
import threading
import time

from rig import PROGRAM, START_SECONDS, Daemon, expect

REQUESTS = int(os.environ.get("DRILL_REQUESTS", "10000"))
RATE = int(os.environ.get("DRILL_RATE", "200"))
RESTARTS = 3
# Sources that are requested in turn; each as it is, and transformed.
SOURCES = 50


def restart(folder, origin):
    for name, overlaps in (("one after the other", False), ("the next one started first", True)):
        yield from _restart(folder / name.split()[0], origin, name, overlaps)


def _restart(folder, origin, name, overlaps):
    folder.mkdir()
    listener = socket.create_server(("127.0.0.1", 0), backlog=4_096)
    service = _Service(folder, listener)
    service.start()
    targets = [(origin.target(number, rest=rest), None if rest else origin.body(number, 0))
               for number in range(SOURCES) for rest in ("", "&transform=resize:48x&format=png")]
    load = _Load(listener.getsockname()[1], targets)
    load.start()
    fetched = None
    for number in range(RESTARTS):
        load.wait_for(REQUESTS * (number + 1) // (RESTARTS + 1))
        if fetched is None:
            fetched = origin.fetches
        service.replace(overlaps)
    load.finish()
    service.stop()
    listener.close()
    expect(not load.failures, f"{len(load.failures)} of {REQUESTS} requests failed: {collections.Counter(load.failures).most_common(5)}")
    expect(origin.fetches == fetched, f"{origin.fetches - fetched} sources were fetched again after a restart")
    times = sorted(load.times)
    yield (f"{RESTARTS} restarts, {name}: {REQUESTS:,} requests at {RATE} a second, 0 failed, {load.repeated} sent again on a new connection; "
           f"without a daemon that accepts for {max(service.gaps):.2f} s at most; p50 {times[len(times) // 2] * 1e3:.1f} ms, "
           f"p99 {times[len(times) * 99 // 100] * 1e3:.0f} ms, slowest {times[-1]:.2f} s; nothing fetched again")


class _Service:
    """What systemd does: the socket is handed to each process, which says when it is ready and when it ends."""

    def __init__(self, folder, listener):
        self.folder, self.listener = folder, listener
        self.process, self.gaps = None, []

    def start(self):
        """Starts a process, and returns it with the socket on which it notifies."""
        path = str(self.folder / f"notify-{time.monotonic_ns()}")
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(path)
        notify.settimeout(START_SECONDS)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("IMAGEPROXYD_")}
        environment |= {"NOTIFY_SOCKET": path, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "public",
                        "IMAGEPROXYD_SECURITY_ALLOWED_NETWORKS": "127.0.0.0/8", "IMAGEPROXYD_LOG_ACCESS": "off",
                        "IMAGEPROXYD_CACHE_DISK_DIRECTORY": str(self.folder / "cache"),
                        "IMAGEPROXYD_TRANSFORM_QUEUE_TIMEOUT": "60s"}
        # The socket is descriptor 3, and LISTEN_PID the process itself (sd_listen_fds(3)).
        script = f'exec 3<&{self.listener.fileno()}; LISTEN_PID=$$ exec "$0" serve'
        with open(self.folder / "daemon.log", "ab") as log:
            process = subprocess.Popen(["/bin/bash", "-c", script, str(PROGRAM)], env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, pass_fds=[self.listener.fileno()], start_new_session=True)
        holder = _Holder(process)
        Daemon.started.append(holder)
        if self.process is None:
            self._wait(notify, "READY=1")
            self.process, self.notify = process, notify
        return process, notify

    @staticmethod
    def _wait(notify, wanted):
        while wanted not in notify.recv(4_096).decode().split("\n"):
            pass

    def replace(self, overlaps):
        """One process for the other; with `overlaps` the next one is started before the last one gets its signal."""
        if overlaps:
            process, notify = self.start()
            time.sleep(1)
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self._wait(self.notify, "STOPPING=1")
        if not overlaps:
            expect(self.process.wait(60) == 0, f"exit code {self.process.returncode}")
            process, notify = self.start()
        self._wait(notify, "READY=1")
        self.gaps.append(time.monotonic() - began)
        if overlaps:
            expect(self.process.wait(60) == 0, f"exit code {self.process.returncode}")
        self.process, self.notify = process, notify

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        expect(self.process.wait(60) == 0, f"exit code {self.process.returncode}")


class _Holder:
    """Ended by the drill if it fails."""

    def __init__(self, process):
        self.process = process

    @property
    def is_alive(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()


class _Load:
    """Requests at a rate, whatever the answers take; half of the clients keep their connections."""

    CLIENTS = 600

    def __init__(self, port, targets):
        self.port, self.targets = port, targets
        self.times, self.failures, self.repeated = [], [], 0
        self.next, self.lock, self.known = 0, threading.Lock(), {}
        self.threads = [threading.Thread(target=self._run, args=(number % 2 == 0,)) for number in range(self.CLIENTS)]

    def start(self):
        for index, target in enumerate(self.targets):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self._ask(connection, index, close=True)
            connection.close()
        self.began = time.monotonic()
        for thread in self.threads:
            thread.start()

    def wait_for(self, number):
        while self.next < number:
            time.sleep(0.01)

    def finish(self):
        for thread in self.threads:
            thread.join()

    def _run(self, keeps):
        connection = None
        while True:
            with self.lock:
                number, self.next = self.next, self.next + 1
            if number >= REQUESTS:
                return
            due = self.began + number / RATE
            time.sleep(max(0, due - time.monotonic()))
            is_new = connection is None
            connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            problem = self._try(connection, number, keeps)
            # A client whose kept connection ends before an answer begins sends an idempotent request again (RFC 9110 §9.2.2).
            if problem == "ended" and not is_new:
                self.repeated += 1
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                problem = self._try(connection, number, keeps)
            with self.lock:
                self.times.append(time.monotonic() - due)
                if problem:
                    self.failures.append(problem)
            if problem or not keeps or connection.sock is None:
                connection.close()
                connection = None

    def _try(self, connection, number, keeps):
        try:
            return self._ask(connection, number % len(self.targets), not keeps)
        except (ConnectionError, http.client.BadStatusLine):
            return "ended"
        except (OSError, http.client.HTTPException) as error:
            return repr(error)

    def _ask(self, connection, index, close):
        target, body = self.targets[index]
        connection.request("GET", target, headers={"Connection": "close"} if close else {})
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            return f"status {answer.status}"
        return None if content == (body or self.known.setdefault(index, content)) else "another picture"
