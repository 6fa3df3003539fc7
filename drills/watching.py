# SPDX-License-Identifier: Apache-2.0
"""The watchdog: one part of the daemon is stuck at a time, and what systemd then does is done, by its protocol."""

import contextlib
import ctypes
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import time

from rig import PROGRAM, START_SECONDS, Daemon, expect

# WatchdogSec=
WATCHDOG_SECONDS = 3
# A thread that belongs to no part, such as one of a pool that waits for work, is passed over.
ROUNDS = 4
THREADS = {"event loop", "fetch thread", "supervisor of workers"}
NO_ANSWER = re.compile(r"no answer for half of WatchdogSec: (.*?)(?: logger=|$)", re.MULTILINE)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
# ptrace(2), waitpid(2)
_SEIZE, _INTERRUPT, _DETACH, _ALL_THREADS = 0x4206, 0x4207, 17, 0x40000000


def watchdog(folder, origin):
    found, restarts, number = set(), 0, 0
    service = Watched(folder / "threads", folder / "cache")
    for _ in range(ROUNDS):
        threads = service.threads
        for index in range(len(threads)):
            if THREADS <= found:
                break
            number += 1
            with Frozen(service.threads[index % len(service.threads)]) as thread:
                if service.lives():
                    continue
                named = service.stuck()
                service.abort(thread.reap)
            found |= {"event loop" if name.startswith("event loop") else name for name in named}
            restarts += 1
            service.start()
            service.serves(origin, number)
    expect(THREADS <= found, f"never stuck: {THREADS - found}")
    service.end()
    yield f"{number} threads stopped one at a time, {restarts} restarts; stuck were {', '.join(sorted(found))}"

    with frozen_disk(folder) as (where, freeze, thaw):
        service = Watched(folder / "disk-watch", where / "cache")
        service.serves(origin, 1)
        freeze()
        # The disk writer writes that; a fetch might wait for the file of its body instead.
        client = service.purge(origin, 1)
        expect(not service.lives(), "a daemon whose disk stands still lives on")
        named = service.stuck()
        expect("disk writer" in named, f"the log names {named}")
        # A thread that waits for the disk ends when that goes on.
        service.abort(thaw)
        client.communicate()
        service.start()
        service.serves(origin, 1)
        service.end()
    yield "a file system that stands still (fsfreeze): stuck was the disk writer; served again after the restart"


class Watched:
    """A service with WatchdogSec= and Restart=on-failure."""

    def __init__(self, folder, cache):
        folder.mkdir()
        path = str(folder / "notify")
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(path)
        self.log_path = folder / "daemon.log"
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.variables = {
            "NOTIFY_SOCKET": path, "LISTEN_FDS": "1", "WATCHDOG_USEC": str(WATCHDOG_SECONDS * 1_000_000),
            "IMAGEPROXYD_SECURITY_ALLOWED_NETWORKS": "127.0.0.0/8", "IMAGEPROXYD_LOG_FORMAT": "text",
            "IMAGEPROXYD_CACHE_DISK_DIRECTORY": str(cache)}
        self.start()

    def start(self):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("IMAGEPROXYD_")} | self.variables
        # The socket is descriptor 3, and LISTEN_PID the process itself (sd_listen_fds(3)).
        script = f'exec 3<&{self.listener.fileno()}; LISTEN_PID=$$ exec "$0" serve'
        self.log_start = self.log_path.stat().st_size if self.log_path.exists() else 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                ["/bin/bash", "-c", script, str(PROGRAM)], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[self.listener.fileno()], start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        Daemon.started.append(self)
        expect(self._hears("READY=1", START_SECONDS), f"not ready:\n{self.log[-2000:]}")

    @property
    def log(self):
        return self.log_path.read_bytes()[self.log_start:].decode(errors="replace")

    @property
    def threads(self):
        """All but the first, which waits for signals."""
        found = (int(path.name) for path in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir())
        return sorted(number for number in found if number != self.process.pid)

    def _hears(self, wanted, seconds, times=1):
        deadline = time.monotonic() + seconds
        while times > 0:
            self.notify.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                times -= wanted in self.notify.recv(4_096).decode().split("\n")
            except TimeoutError:
                return False
        return True

    def lives(self):
        """Whether there is a sign of life that began after the call: those before it are taken away, and one more may be on its way."""
        while self._hears("WATCHDOG=1", 0):
            pass
        return self._hears("WATCHDOG=1", WATCHDOG_SECONDS) and self._hears("WATCHDOG=1", WATCHDOG_SECONDS)

    def stuck(self):
        """The parts that the log names; none where the watchdog itself is what stands still."""
        named = NO_ANSWER.search(self.log)
        return set(named[1].split(", ")) if named else set()

    def abort(self, meanwhile):
        """What systemd does when WatchdogSec= has passed without a sign of life."""
        self.process.send_signal(signal.SIGABRT)
        meanwhile()
        expect(self.process.wait(60) == -signal.SIGABRT, f"ended with {self.process.returncode}")

    def serves(self, origin, number):
        client = self.ask(origin, number)
        body, _ = client.communicate()
        expect(body == origin.body(number, 0), f"curl {client.returncode}, {len(body)} bytes\n{self.log[-2000:]}")

    def ask(self, origin, number):
        url = f"http://127.0.0.1:{self.listener.getsockname()[1]}{origin.target(number)}"
        return subprocess.Popen(["curl", "-sf", "--max-time", "60", url], stdout=subprocess.PIPE)

    def purge(self, origin, number):
        query = origin.target(number).partition("?")[2]
        socket = pathlib.Path(self.variables["IMAGEPROXYD_CACHE_DISK_DIRECTORY"]) / "admin.sock"
        return subprocess.Popen(
            ["curl", "-s", "--max-time", "60", "-X", "DELETE", "--unix-socket", socket, f"http://admin/cache?{query}"],
            stdout=subprocess.PIPE)

    @property
    def is_alive(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.terminate()
        expect(self.process.wait(60) == 0, f"SIGTERM: {self.process.returncode}")
        self.listener.close()


class Frozen:
    """Stops one thread of another process (PTRACE_INTERRUPT) until the end of the block."""

    def __init__(self, thread):
        self.thread = thread

    def __enter__(self):
        for request in (_SEIZE, _INTERRUPT):
            expect(_libc.ptrace(request, self.thread, None, None) == 0, f"ptrace: {os.strerror(ctypes.get_errno())}")
        os.waitpid(self.thread, _ALL_THREADS)
        self.has_ended = False
        return self

    def reap(self):
        """The end of a traced thread is seen by its tracer first."""
        with contextlib.suppress(ChildProcessError):
            while not self.has_ended:
                _, status = os.waitpid(self.thread, _ALL_THREADS)
                self.has_ended = os.WIFEXITED(status) or os.WIFSIGNALED(status)
        self.has_ended = True

    def __exit__(self, *_):
        if not self.has_ended:
            _libc.ptrace(_DETACH, self.thread, None, None)


@contextlib.contextmanager
def frozen_disk(folder):
    """A small ext4 of its own, which stands still between the two calls that come with it."""
    image, where = folder / "disk.img", folder / "disk"
    where.mkdir()
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    mounted = subprocess.run(["mount", "-o", "loop", image, where], capture_output=True, text=True)
    expect(mounted.returncode == 0, f"this drill mounts a file system of its own, which takes root and a loop device: {mounted.stderr}")

    def thaw():
        subprocess.run(["fsfreeze", "-u", where], capture_output=True)

    try:
        yield where, lambda: subprocess.run(["fsfreeze", "-f", where], check=True), thaw
    finally:
        thaw()
        Daemon.end_all()
        subprocess.run(["umount", "-l", where], check=True)
