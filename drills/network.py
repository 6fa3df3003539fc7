# SPDX-License-Identifier: Apache-2.0
"""Network namespaces on one bridge, within namespaces of the drill: whatever ends it, they end with its processes."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from rig import expect

BRIDGE = "10.77.0.1"
# A second address of the bridge, for what stands between the nodes and the store.
RELAY = "10.77.0.2"
_FOLDER = "DRILL_INSIDE"


def run_inside(main):
    """Runs `main(folder)` as the first process of network, mount and process namespaces of its own, and exits with its code."""
    inside = os.environ.pop(_FOLDER, None)
    if inside:
        sys.exit(main(pathlib.Path(inside)))
    if os.geteuid() != 0:
        sys.exit("drills: network namespaces take root")
    with tempfile.TemporaryDirectory(prefix="drill-") as folder:
        # The namespaces' first process gets SIGKILL when this one ends, and with it all that it started.
        command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        child = subprocess.Popen(command + [sys.executable, *sys.argv], env=os.environ | {_FOLDER: folder})

        def end(*_):
            raise SystemExit("drills: terminated")

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        try:
            code = child.wait()
        finally:
            child.kill()
            child.wait()
    sys.exit(code)


def _run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    expect(done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}")


class Network:
    """A bridge that this process is on, and namespaces with one interface each."""

    def __init__(self):
        # `ip netns` keeps its files in /run/netns: not in the machine's.
        _run("mount", "-t", "tmpfs", "tmpfs", "/run")
        _run("ip", "link", "set", "lo", "up")
        _run("ip", "link", "add", "bridge", "type", "bridge")
        for address in (BRIDGE, RELAY):
            _run("ip", "address", "add", f"{address}/24", "dev", "bridge")
        _run("ip", "link", "set", "bridge", "up")

    def add(self, name, address):
        """Makes a namespace on the bridge; returns the words that run a command in it."""
        _run("ip", "netns", "add", name)
        _run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        _run("ip", "link", "set", name, "master", "bridge", "up")
        for words in (["link", "set", "lo", "up"], ["address", "add", f"{address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):
            _run("ip", "-n", name, *words)
        # `ip netns exec` would hide the control groups, from which the daemon reads memory pressure.
        return ["nsenter", f"--net=/run/netns/{name}"]

    def cut(self, name):
        """Takes the link of a namespace down: packets are lost, nothing is refused."""
        _run("ip", "link", "set", name, "down")

    def join(self, name):
        _run("ip", "link", "set", name, "up")
