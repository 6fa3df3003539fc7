# SPDX-License-Identifier: Apache-2.0
"""A pinned process, and the kernel's figures of it and its descendants."""

import contextlib
import os
import signal
import subprocess
import sys

TICKS = os.sysconf("SC_CLK_TCK")


class Wrong(Exception):
    """A wrong answer or a part that does not work: the run exits with 1."""


def pinned(core, command):
    return ["taskset", "-c", str(core)] + [str(part) for part in command]


@contextlib.contextmanager
def awake():
    """Keeps all cores from sleeping, with loops that run only when nothing else does (SCHED_IDLE).

    The host of a virtual machine wakes an idle core milliseconds late: latencies would measure the host.
    """
    code = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"
    loops = [subprocess.Popen(pinned(core, [sys.executable, "-c", code])) for core in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def stat_fields(pid):
    """Returns the fields of /proc/PID/stat from the third on, or None if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def descendants(pid):
    """Returns the process and all its descendants."""
    parents = {}
    for name in os.listdir("/proc"):
        fields = stat_fields(name) if name.isdigit() else None
        if fields:
            parents[int(name)] = int(fields[1])
    found = [pid]
    for one in found:
        found.extend(child for child, parent in parents.items() if parent == one)
    return found


class Server:
    """A process that serves until it is closed. Its output goes to a file, shown when it dies."""

    started = []

    def __init__(self, name, core, command, log, environment=None):
        self.name = name
        self.log = log
        with open(log, "wb") as output:
            # taskset executes the server in its own process, so this pid is the server's.
            self.process = subprocess.Popen(
                pinned(core, command), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=environment, start_new_session=True)
        Server.started.append(self)

    @staticmethod
    def close_all():
        while Server.started:
            Server.started.pop().close()

    @property
    def pid(self):
        return self.process.pid

    def require_alive(self):
        if self.process.poll() is None:
            return
        with open(self.log, "rb") as file:
            tail = file.read()[-2000:].decode(errors="replace")
        raise Wrong(f"{self.name} ended with {self.process.returncode}:\n{tail}")

    def cpu_seconds(self):
        """Returns user and system time of the whole tree, with that of children already reaped."""
        ticks = 0
        for pid in descendants(self.pid):
            fields = stat_fields(pid)
            if fields:
                ticks += sum(int(field) for field in fields[11:15])
        return ticks / TICKS

    def children(self):
        return descendants(self.pid)[1:]

    def forget_peaks(self):
        """Resets VmHWM of the children to their current size."""
        for pid in self.children():
            try:
                with open(f"/proc/{pid}/clear_refs", "w") as file:
                    file.write("5")
            except OSError:
                pass  # the process has ended, or the kernel lacks it: then the peak is that of the process's whole life

    def peak_kib(self):
        """Returns the largest VmHWM of the children, 0 without any."""
        peaks = [0]
        for pid in self.children():
            try:
                with open(f"/proc/{pid}/status") as file:
                    peaks += [int(line.split()[1]) for line in file if line.startswith("VmHWM:")]
            except (FileNotFoundError, ProcessLookupError):
                pass
        return max(peaks)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
