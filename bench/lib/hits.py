# SPDX-License-Identifier: Apache-2.0
"""Hits, revalidations, new connections and pass-through misses of small files."""

import http.client
import json
import os
import pathlib
import shutil
import statistics
import tempfile
import urllib.parse

from . import load, servers, settings, table
from .process import Wrong

THUMB = "thumb/t20k.jpg"
SET = 10_000
# The store of pass-through misses, if it has room; otherwise the common folder.
MEMORY_FOLDER = pathlib.Path("/dev/shm")
MEMORY_NEEDED = 6 << 30
ALL = ("memory", "disk", "nginx", "floor")
GOALS = {"memory": 0.75, "disk": 1.0}


class Case:
    """One row: the request, and the servers that get it."""

    def __init__(self, name, connections, kind="hit", goals=None, contenders=ALL):
        self.name = name
        self.connections = connections
        self.kind = kind
        self.goals = GOALS | (goals or {})
        self.contenders = contenders


CASES = [
    Case("hit 20 KiB, 1 connection", 1, goals={"memory": 0.8}),
    Case("hit 20 KiB, 64 connections", 64),
    Case("hit 20 KiB, 512 connections", 512),
    Case("hit 20 KiB, 64, access logs on", 64, "logged", contenders=("memory", "nginx")),
    Case("304, 64 connections", 64, "304"),
    Case("hit of 10,000 files, 64", 64, "set", {"memory": 0.8}, ("memory", "disk", "nginx")),
    Case("hit, a connection each, 64", 64, "connect", {"memory": 1.1}, ("memory", "nginx")),
    Case("pass-through miss 20 KiB, 16", 16, "miss", {"memory": 2.0}, ("memory", "nginx", "floor")),
]


class Hits:
    def __init__(self, folder, origin):
        self.origin = origin
        self.thumb = (settings.CORPUS / THUMB).read_bytes()
        self.serial = 0
        self.folder = folder
        self.shared = None
        self.storing = {}
        on_disk = {"CACHE_ORIGINALS": "disk", "CACHE_RESULTS": "disk", "CACHE_MEMORY_MAX_BYTES": "1MiB"}
        self.contenders = {
            "memory": servers.daemon("memory", folder, origin.port),
            "disk": servers.daemon("disk", folder, origin.port, **on_disk),
            "logged": servers.daemon("logged", folder, origin.port, LOG_ACCESS="all", LOG_FORMAT="text"),
            "nginx": servers.nginx_cache(folder, origin.port),
            "floor": servers.floor(folder),
        }

    def close(self):
        for server in list(self.contenders.values()) + list(self.storing.values()):
            server.close()
        if self.shared:
            self.shared.cleanup()

    def rows(self, report):
        """Measures case by case; servers take turns in each round, and each round begins with another one."""
        for case in CASES:
            if settings.ONLY not in case.name:
                continue
            asked = {name: self._prepared(case, name) for name in case.contenders}
            figures = {name: [] for name in case.contenders}
            for turn in range(settings.ROUNDS):
                shift = turn % len(case.contenders)
                for name in case.contenders[shift:] + case.contenders[:shift]:
                    figures[name].append(asked[name]())
            table.rounds(case.name, figures)
            report(case, {name: statistics.median(values) for name, values in figures.items()})

    def dialect_row(self, report):
        """A hit by a URL of imgproxy beside one of the same picture by `/img`, both of one daemon."""
        name = "hit by a URL of imgproxy, 64 connections"
        if settings.ONLY not in name:
            return
        dialects = json.dumps([{"name": "imgproxy", "prefix": "/"}])
        server = servers.daemon("imgproxy", self.folder, self.origin.port, DIALECTS=dialects)
        try:
            source = f"http://127.0.0.1:{self.origin.port}/{THUMB}"
            paths = {"/img": server.path(THUMB), "imgproxy": "/unsafe/raw:1/plain/" + urllib.parse.quote(source, safe="")}
            sizes = {key: self._warm("memory", server, server.port, path).size for key, path in paths.items()}
            figures = {key: [] for key in paths}
            for turn in range(settings.ROUNDS):
                for key in list(paths)[::1 if turn % 2 else -1]:
                    figures[key].append(load.wrk(server, server.port, paths[key], 64, size=sizes[key]))
            table.rounds(name, figures)
            ours, dialect = (statistics.median(figures[key]) for key in paths)
            report(name, f"{dialect / ours:.2f} of a hit by /img ({dialect:.1f} and {ours:.1f} µs)", "≤ 1.05")
        finally:
            server.close()

    # MARK: preparing a row: request, check, warm up, and return the work of each round

    def _prepared(self, case, name):
        server = self.contenders["logged" if case.kind == "logged" and name == "memory" else name]
        port = server.logged_port if case.kind == "logged" and name == "nginx" else server.port
        if case.kind == "set":
            return self._set(case, name, server)
        if case.kind == "miss":
            return self._misses(case, self._storing_in_memory(name))
        path = server.path(THUMB)
        answer = self._warm(name, server, port, path)
        headers, size = [], answer.size
        if case.kind == "304":
            headers = ["If-None-Match: " + answer.headers["ETag"]]
            answer = load.ask(port, path, {"If-None-Match": answer.headers["ETag"]})
            load.expect(answer, 304, b"", f"{name}, conditional")
            size = answer.size
        if case.kind == "connect":
            headers, size = ["Connection: close"], None
        load.wrk(server, port, path, case.connections, headers, seconds=1)
        return lambda: load.wrk(server, port, path, case.connections, headers, size=size)

    def _warm(self, name, server, port, path, body=None):
        """Fills the cache, and checks that the answer comes from the tier that the row names."""
        body = body or self.thumb
        for _ in range(5):
            answer = load.ask(port, path)
            load.expect(answer, 200, body, f"{name}{path}")
        self._check_tier(name, answer)
        return answer

    @staticmethod
    def _check_tier(name, answer):
        tier = {"memory": "detail=memory", "disk": "detail=disk"}.get(name)
        status = answer.headers.get("Cache-Status", "")
        if tier and (tier not in status or "; hit" not in status):
            raise Wrong(f"{name}: expected a hit with {tier}, got {status!r}")

    def _set(self, case, name, server):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=load.TIMEOUT)
        total = 0
        for turn in range(2):
            for number in range(SET):
                path = server.path(f"small/{number:05d}.jpg")
                answer = load.ask(server.port, path, connection=connection)
                if answer.status != 200:
                    raise Wrong(f"{name}{path}: status {answer.status}: {answer.body[:300]!r}")
                if turn == 1:
                    self._check_tier(name, answer)
                    total += answer.size
            if turn == 0:
                self._check_bodies(name, server)
        before, after = server.path("small/@.jpg").replace("%40", "@").split("@")
        many = (before, after, SET)
        return lambda: load.wrk(server, server.port, "/", case.connections, many=many, size=total / SET)

    @staticmethod
    def _check_bodies(name, server):
        for number in range(0, SET, 997):
            source = f"small/{number:05d}.jpg"
            answer = load.ask(server.port, server.path(source))
            load.expect(answer, 200, (settings.CORPUS / source).read_bytes(), f"{name} {source}")

    def _storing_in_memory(self, name):
        """A server that stores in memory: on a disk, other programs' writes would be measured."""
        if name not in self.storing:
            folder = self._shared_folder()
            start = {
                "memory": lambda: servers.daemon("storing", folder, self.origin.port),
                "nginx": lambda: servers.nginx_cache(folder, self.origin.port, "storing-nginx"),
                "floor": lambda: servers.floor_miss(folder, self.origin.port),
            }
            self.storing[name] = start[name]()
        return self.storing[name]

    def _shared_folder(self):
        if not self.shared and MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free >= MEMORY_NEEDED:
            self.shared = tempfile.TemporaryDirectory(prefix="imageproxyd-bench-", dir=MEMORY_FOLDER)
        return pathlib.Path(self.shared.name) if self.shared else self.folder

    def _misses(self, case, server):
        """A different query makes every URL new, while the origin sends the same file."""
        def run():
            self.serial += 1
            before = server.path(f"{THUMB}?{os.getpid()}.{self.serial}.")
            answer = load.ask(server.port, before + "0")
            load.expect(answer, 200, self.thumb, f"{server.name}{before}")
            many = (before, "", 0)
            return load.wrk(server, server.port, "/", case.connections, many=many, size=answer.size)
        return run
