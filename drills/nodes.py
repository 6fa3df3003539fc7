# SPDX-License-Identifier: Apache-2.0
"""What the drill of the cluster consists of: pictures, a store behind a relay, nodes, a balancer, and clients."""

import collections
import hashlib
import json
import re
import secrets
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import xml.etree.ElementTree
import zlib

from network import BRIDGE, RELAY, Network
from relay import Relay
from rig import ROOT, Answerer, Daemon, Origin, expect

sys.path.insert(0, str(ROOT / "Tests/Fixtures/object-store"))
import put  # noqa: E402

BUCKET = "pictures"
STORE = "10.77.0.3"
RELAY_PORT = 9_000
ADDRESSES = [f"10.77.0.{11 + number}" for number in range(5)]
PORT = 8_080
# What stands in the way of clients has the bridge's address.
BALANCER = (BRIDGE, 8_000)
# In place of the rig's loopback.
NETWORKS = {"SECURITY_ALLOWED_NETWORKS": "10.77.0.0/24"}
RESULT = "&transform=resize:48x&format=png"
# Debian's Python, which has Swift's modules.
PYTHON = "/usr/bin/python3"
STORE_SECONDS = 30
# shared.timeout where a step is not about it: the store is one process of Python on a machine that all share.
STORE_TIMEOUT = "2s"


def until(holds, text, seconds=STORE_SECONDS):
    """Waits until something holds, and returns the seconds that it took."""
    began = time.monotonic()
    while not holds():
        expect(time.monotonic() - began < seconds, f"not within {seconds} s: {text}")
        time.sleep(0.05)
    return time.monotonic() - began


class Pictures(Origin):
    """Serves `/N.png`: noise that is another one for each number, and for each version of it; counts the fetches of nodes."""

    def __init__(self):
        self.versions, self.counts, self.lock = collections.Counter(), collections.Counter(), threading.Lock()
        # The node that fetched a number last.
        self.fetchers = {}
        super().__init__(BRIDGE, _PictureHandler)

    def url(self, number):
        return f"http://{BRIDGE}:{self.server_port}/{number}.png"

    def target(self, number, rest=""):
        return "/img?url=" + urllib.parse.quote(self.url(number), safe="") + rest

    def body(self, number):
        noise = hashlib.shake_128(f"{number} {self.versions[number]}".encode()).digest(96 * 289)
        head = struct.pack(">IIBBBBB", 96, 96, 8, 2, 0, 0, 0)
        rows = b"".join(b"\0" + noise[row * 289:row * 289 + 288] for row in range(96))
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows, 1)) + _chunk(b"IEND", b"")

    def fetched(self, *numbers):
        """How often nodes have fetched one of the numbers, or any."""
        with self.lock:
            return sum(self.counts[number] for number in numbers) if numbers else sum(self.counts.values())


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


class _PictureHandler(Answerer):
    def do_GET(self):
        found = re.fullmatch(r"/(\d+)\.png", self.path)
        if not found:
            return self.reply(404, b"")
        if self.client_address[0] in ADDRESSES:
            with self.server.lock:
                self.server.counts[int(found[1])] += 1
                self.server.fetchers[int(found[1])] = self.client_address[0]
        self.reply(200, self.server.body(int(found[1])))


class Store:
    """OpenStack Swift with its S3 interface, in a namespace of its own."""

    def __init__(self, folder, within):
        command = [*within, PYTHON, ROOT / "Tests/Fixtures/object-store/serve.py", folder / "store", STORE]
        with open(folder / "store.log", "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        line = self.process.stdout.readline().decode()
        expect(line.startswith("ACCEPT "), f"no store: {(folder / 'store.log').read_text()[-1000:]}")
        self.port = int(line.rpartition(":")[2])
        self.send("PUT", "")

    def send(self, method, key, body=b"", query=None):
        status, content = put.send(f"{STORE}:{self.port}", method, f"/{BUCKET}/{key}".rstrip("/"), body, query)
        expect(status < 300, f"store: {method} {key}: {status} {content[:300]!r}")
        return content

    def keys(self):
        """All keys of the bucket."""
        keys, query = set(), {"list-type": "2"}
        while True:
            tree = xml.etree.ElementTree.fromstring(self.send("GET", "", query=query))
            texts = {}
            for element in tree.iter():
                texts.setdefault(element.tag.rpartition("}")[2], []).append(element.text)
            keys |= set(texts.get("Key", []))
            if texts["IsTruncated"] != ["true"]:
                return keys
            query["continuation-token"] = texts["NextContinuationToken"][0]


class Node(Daemon):
    """A daemon of the cluster, in its own namespace."""

    def samples(self, pattern):
        """The sum of a metric's samples; fails where there is none, in contrast to `metric`."""
        text = self.get("/metrics")[1].decode()
        values = [float(line.rpartition(" ")[2]) for line in text.splitlines() if re.match(pattern, line)]
        expect(values, f"no metric {pattern}")
        return sum(values)

    def purge(self, **what):
        """Purges by `url`, `prefix`, `tag` or `all`, and returns what the daemon answers."""
        status, body = self.administer("DELETE", "/cache?" + urllib.parse.urlencode(what))
        expect(status == 200, f"purge: {status} {body[:300]!r}")
        return json.loads(body)


class Cluster:
    """Five nodes, a daemon without a shared tier to compare with, and what they need."""

    def __init__(self, folder):
        self.folder = folder
        self.network = Network()
        self.origin = Pictures()
        self.store = Store(folder, self.network.add("store", STORE))
        self.relay = Relay(RELAY, RELAY_PORT, (STORE, self.store.port))
        self.within = [self.network.add(f"node{number + 1}", address) for number, address in enumerate(ADDRESSES)]
        for name, text in (("id", "test:tester"), ("secret", "testing"), ("key", secrets.token_hex(32))):
            (folder / name).write_text(text)
            (folder / name).chmod(0o600)
        self.reference = Daemon(folder / _made(folder, "reference"), configuration=self._write("reference", self.settings()),
                                listen=(BRIDGE, PORT), **NETWORKS)
        # With the default of shared.journalInterval at first.
        self.forward, self.changed = False, {"timeout": STORE_TIMEOUT}
        self.nodes = [None] * len(ADDRESSES)
        for number in range(len(ADDRESSES)):
            self.start(number)
        self.balancer = None
        self._number = 0

    def fresh(self, count):
        """Numbers of pictures that have not been requested from any node."""
        self._number += count
        return list(range(self._number - count, self._number))

    # MARK: settings

    def settings(self):
        """What all daemons have."""
        return {
            "http": {"trustedProxies": [f"{BRIDGE}/32"]}, "metrics": {"public": "always"}, "transform": {"workers": 1},
            "security": {"sources": [f"http://{BRIDGE}:{self.origin.server_port}/*"]}}

    def shared_settings(self):
        """What nodes have besides. Everything is stored after its first use, so that each step knows what the store has."""
        keys = {"accessKey": {"file": str(self.folder / "id")}, "secretKey": {"file": str(self.folder / "secret")}}
        return {
            "shared": {
                "bucket": {"url": f"s3://{BUCKET}/", "endpoint": f"http://{RELAY}:{RELAY_PORT}/", "region": "us-east-1", "pathStyle": True},
                "auth": {"type": "awsSigV4"} | keys, "minUses": 1} | self.changed,
            "cluster": {"peers": [f"{address}:{PORT}" for address in ADDRESSES], "key": str(self.folder / "key"), "forward": self.forward}}

    def _write(self, name, settings):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(settings))
        return path

    # MARK: nodes

    def start(self, number):
        name = f"node{number + 1}"
        settings = self.settings() | self.shared_settings()
        self.nodes[number] = Node(_made(self.folder, name), listen=(ADDRESSES[number], PORT), within=self.within[number],
                                  configuration=self._write(name, settings), **NETWORKS)

    def restart_all(self, forward=False, **changed):
        """Restarts all nodes with other values of `cluster.forward` and of `shared`; they keep their caches."""
        self.forward, self.changed = forward, {"timeout": STORE_TIMEOUT} | changed
        for number, node in enumerate(self.nodes):
            node.stop()
            self.start(number)

    def start_balancer(self, bounded):
        """Starts HAProxy by deploy/fronts/cluster/haproxy.cfg; `bounded`: with its bound for a node's load."""
        if self.balancer:
            self.balancer.terminate()
            self.balancer.wait()
        text = (ROOT / "deploy/fronts/cluster/haproxy.cfg").read_text()
        line = re.search(r"^ +server node1 10\.0\.0\.11:8080 id 1 (.*)\n", text, re.M)
        expect(line and "bind :80\n" in text and "hash-balance-factor" in text, "haproxy.cfg is not what the drill knows")
        text = re.sub(r"^ +server .*\n", "", text, flags=re.M).replace("bind :80\n", f"bind {BALANCER[0]}:{BALANCER[1]}\n")
        if not bounded:
            text = re.sub(r"^ +hash-balance-factor .*\n", "", text, flags=re.M)
        text = text.replace("global\n", f"global\n    stats socket {self.folder}/haproxy.sock\n")
        for number, address in enumerate(ADDRESSES):
            text += f"    server node{number + 1} {address}:{PORT} id {number + 1} {line[1]}\n"
        path = self.folder / "haproxy.cfg"
        path.write_text(text)
        with open(self.folder / "haproxy.log", "ab") as log:
            self.balancer = subprocess.Popen(["haproxy", "-db", "-f", path], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: self.states() == ["UP"] * len(ADDRESSES), "the balancer has all nodes")

    def states(self):
        """What the balancer thinks of each node; nothing while it starts."""
        expect(self.balancer.poll() is None, f"the balancer has ended: {(self.folder / 'haproxy.log').read_text()[-500:]}")
        with socket.socket(socket.AF_UNIX) as line:
            try:
                line.connect(str(self.folder / "haproxy.sock"))
            except OSError:
                return []
            line.sendall(b"show stat\n")
            text = b"".join(iter(lambda: line.recv(65_536), b"")).decode()
        return [row.split(",")[17] for row in text.splitlines() if row.startswith("imageproxyd,node")]


def _made(folder, name):
    path = folder / name
    path.mkdir(exist_ok=True)
    return path
