# SPDX-License-Identifier: Apache-2.0
"""Figures that appear only under load: starting, idle connections, a stampede, and hits beside transforms."""

import contextlib
import resource
import selectors
import socket
import statistics
import subprocess
import threading
import time

from . import load, servers, settings
from .process import Wrong, descendants, pinned

THUMB = "thumb/t20k.jpg"
PHOTO = "photo/a12.jpg"
RESIZE = "&transform=resize:800x"
IDLE = 10_000
# Descriptors of this program besides the idle connections.
SPARE_DESCRIPTORS = 200
STAMPEDE = 500
PAGES = (50, 200)
ACCEPTS = {"AVIF": "image/avif,image/webp,*/*", "WebP": "image/webp,*/*"}
# Longer than a page's improvements take on a slow machine.
IMPROVEMENT_SECONDS = 300
STARTS = 5
ALLOCATION_HITS = 2_000
LOADED_CONNECTIONS = 16
AT_ONCE = 4
# The pause before the cost is read: the daemon stores after it has answered, which is part of the request's cost.
PAUSE_SECONDS = 0.2


def rows(folder, origin, report):
    """Each row is a name, the measured value, and the goal in words."""
    for name, measure in (("start to ready", _start), ("idle memory", _memory), ("idle connection", _idle), ("stampede", _stampede),
                          ("cold page", _page), ("hits beside transforms", _beside), ("allocations", _allocations)):
        if settings.ONLY in name:
            for row in measure(folder, origin):
                report(*row)


# MARK: starting

def _start(folder, origin):
    times, spent = [], []
    for number in range(STARTS):
        begin = time.monotonic()
        server = servers.daemon(f"start{number}", folder, origin.port)
        while not _is_ready(server.port):
            server.require_alive()
            time.sleep(0.001)
        times.append((time.monotonic() - begin) * 1000)
        spent.append(server.cpu_seconds() * 1000)
        server.close()
    yield "start to ready, empty cache", _start_text(times, spent), "< 150 ms"


def _start_text(times, spent):
    return f"{statistics.median(times):.0f} ms (least {min(times):.0f}), CPU {statistics.mean(spent):.0f} ms"


def _is_ready(port):
    with contextlib.suppress(Wrong):
        return load.ask(port, "/readyz").status == 200
    return False


# MARK: idle memory

def _memory(folder, origin):
    """Memory of the daemon and two workers after the start, and after they have made pictures and are idle again: the
    proportional set size, in which a page of several processes counts once; of their own is what no other maps."""
    server = servers.daemon("memory", folder, origin.port, TRANSFORM_WORKERS="2")
    _wait_for_processes(server, 3)
    after = {"after the start": _rollup(server)}
    for number in range(40):
        load.ask(server.port, server.path(f"{PHOTO}?memory{number}", RESIZE))
    time.sleep(PAUSE_SECONDS)
    after["after 40 photos"] = _rollup(server)
    server.close()
    for when, (proportional, own) in after.items():
        goal = "≤ 40 MiB" if when == "after the start" else "–"
        yield f"idle memory, two workers, {when}", f"{proportional / 1024:.1f} MiB, {own / 1024:.1f} of their own", goal


def _wait_for_processes(server, count):
    """Workers start one after the other; each has loaded its libraries when it sleeps."""
    deadline = time.monotonic() + 30
    while len(descendants(server.pid)) < count or not _is_ready(server.port):
        if time.monotonic() > deadline:
            raise Wrong("the workers did not start")
        time.sleep(0.01)
    # The last one warms up meanwhile.
    before = server.cpu_seconds()
    while True:
        time.sleep(0.5)
        spent, before = server.cpu_seconds() - before, server.cpu_seconds()
        if spent < 0.02:
            return


def _rollup(server):
    """KiB in all, and of pages that no other process has."""
    proportional = own = 0
    for pid in descendants(server.pid):
        with open(f"/proc/{pid}/smaps_rollup") as file:
            for line in file:
                name, *rest = line.split()
                proportional += int(rest[0]) if name == "Pss:" else 0
                own += int(rest[0]) if name in ("Private_Clean:", "Private_Dirty:") else 0
    return proportional, own


# MARK: allocations

def _allocations(folder, origin):
    """Counts calls of malloc and related functions; the worker is idle meanwhile."""
    counter = folder / "allocations"
    counter.write_bytes(bytes(8))
    counting = {"LD_PRELOAD": str(settings.BUILD / "count-malloc.so"), "MALLOC_COUNT_FILE": str(counter)}
    server = servers.daemon("allocations", folder, origin.port, counting, TRANSFORM_WORKERS="1")
    connection = _used(server)
    tag = load.ask(server.port, server.path(THUMB)).headers["ETag"]
    found = []
    for lines in ("", f"If-None-Match: {tag}\r\n"):
        request = f"GET {server.path(THUMB)} HTTP/1.1\r\nHost: bench\r\nAccept: image/*\r\n{lines}\r\n".encode()
        for asked in range(2 * ALLOCATION_HITS):
            if asked == ALLOCATION_HITS:
                before = int.from_bytes(counter.read_bytes(), "little")
            connection.sendall(request)
            _read_answer(connection)
        found.append((int.from_bytes(counter.read_bytes(), "little") - before) / ALLOCATION_HITS)
    connection.close()
    server.close()
    yield "allocations of a memory hit", f"{found[0]:.3f}, of a 304 {found[1]:.3f}", "none (< 0.01)"


# MARK: idle connections

def _idle(folder, origin):
    count = _room_for(IDLE)
    results = []
    for make in (lambda: servers.daemon("idle", folder, origin.port, HTTP_IDLE_TIMEOUT="10m"),
                 lambda: servers.nginx_cache(folder, origin.port, "idle-nginx")):
        server = make()
        load.wrk(server, server.port, server.path(THUMB), 64, seconds=1)
        before = _anonymous_kib(server)
        connections = [_used(server) for _ in range(count)]
        results.append((_anonymous_kib(server) - before) / count)
        for connection in connections:
            _require_open(connection)
            connection.close()
        server.close()
    seen = f"{results[0]:.2f} KiB each (nginx {results[1]:.2f})"
    yield f"{count:,} idle, one hit each before", seen, "≤ 2 KiB each"


def _room_for(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(wanted, hard - SPARE_DESCRIPTORS)


def _used(server):
    connection = socket.create_connection(("127.0.0.1", server.port), 20)
    connection.sendall(f"GET {server.path(THUMB)} HTTP/1.1\r\nHost: bench\r\n\r\n".encode())
    _read_answer(connection)
    return connection


def _require_open(connection):
    """Checks that all connections are open: one that the server closed costs it nothing, and would be counted."""
    connection.setblocking(False)
    try:
        connection.recv(1)
    except BlockingIOError:
        return
    raise Wrong("a connection that should be idle was closed or spoke")


def _read_answer(connection):
    """Reads one answer with Content-Length and returns its status."""
    return _read_head_and_body(connection)[0]


def _read_head_and_body(connection):
    """Reads one answer with Content-Length and returns its status, its fields and the length of its body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _some(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    length = int(fields.get(b"content-length", 0))
    missing = length - len(body)
    while missing > 0:
        missing -= len(_some(connection))
    return int(head.split()[1]), fields, length


def _some(connection):
    part = connection.recv(65536)
    if not part:
        raise Wrong("a connection was closed before the answer's end")
    return part


def _anonymous_kib(server):
    total = 0
    for pid in descendants(server.pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/status") as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))
    return total


# MARK: a stampede

def _stampede(folder, origin):
    """Many requests for a cold result, one request for another, and many again for the cost of sending."""
    server = servers.daemon("stampede", folder, origin.counted_port)
    _cost(server, 1, "warm")
    ones, crowds, sendings, fetches, walls = [], [], [], [], []
    for number in range(settings.ROUNDS):
        ones.append(_cost(server, 1, f"one{number}")[0])
        already = origin.fetches()
        cpu, wall = _cost(server, STAMPEDE, f"crowd{number}")
        fetches.append(origin.fetches() - already)
        crowds.append(cpu)
        walls.append(wall)
        sendings.append(_cost(server, STAMPEDE, f"crowd{number}")[0])
    server.close()
    one, crowd, sending = (sum(values) / len(values) * 1000 for values in (ones, crowds, sendings))
    yield (f"{STAMPEDE} at once for one cold result",
           f"{max(fetches)} fetch, {statistics.median(walls):.2f} s; CPU {crowd:.0f} ms, "
           f"sending {sending:.0f}, one request {one:.0f}", "1 fetch, ≤ 1.2 × one + sending")


def _cost(server, count, name):
    """CPU and wall seconds of `count` simultaneous requests for one result."""
    path = server.path(f"{PHOTO}?{name}", RESIZE)
    request = f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
    connections = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(count)]
    before, begin = server.cpu_seconds(), time.monotonic()
    for connection in connections:
        connection.sendall(request)
    with selectors.DefaultSelector() as ready:
        for connection in connections:
            ready.register(connection, selectors.EVENT_READ)
        while ready.get_map():
            for key, _ in ready.select(60):
                if _read_answer(key.fileobj) != 200:
                    raise Wrong(f"{path}: not 200 in a crowd of {count}")
                ready.unregister(key.fileobj)
    wall = time.monotonic() - begin
    time.sleep(PAUSE_SECONDS)
    spent = server.cpu_seconds() - before
    for connection in connections:
        connection.close()
    return spent, wall


# MARK: a cold page

def _page(folder, origin):
    """Many cold pictures at once at the defaults: a client that accepts AVIF compared with one that accepts WebP alone."""
    for count in PAGES:
        cpu, wall, size, formats = {}, {}, {}, {}
        for name, accept in ACCEPTS.items():
            # At the defaults; the page in WebP alone for comparison.
            changes = {} if name == "AVIF" else {"TRANSFORM_CHEAPEST_AFTER": "0"}
            server = servers.daemon(f"page{count}{name}", folder, origin.port, **changes)
            cpu[name], wall[name], size[name], formats[name] = _page_cost(server, count, accept)
            if name == "AVIF" and count == PAGES[0]:
                better = _improved(server, count, accept, cpu[name], size[name])
            server.close()
        avif = formats["AVIF"].count("image/avif")
        yield (f"cold page of {count}, AVIF accepted",
               f"all 200 in {wall['AVIF']:.1f} s (WebP {wall['WebP']:.1f}), {avif} AVIF; CPU {cpu['AVIF'] / cpu['WebP']:.2f} × WebP's, "
               f"bytes {size['AVIF'] / size['WebP']:.2f} ×", "all 200, CPU ≤ 1 × WebP's")
    yield ("the page's AVIF made again, full effort", better, "fewer bytes, once")


def _page_cost(server, count, accept):
    """CPU and wall seconds, bytes and media types of a page's pictures, all requested at once."""
    sources = sorted(settings.CORPUS.glob("photo/*.jpg"))
    connections = {}
    for number in range(count):
        source = sources[number % len(sources)].relative_to(settings.CORPUS)
        connection = socket.create_connection(("127.0.0.1", server.port), 120)
        connections[connection] = server.path(f"{source}?page={number}", RESIZE)
    before, begin = server.cpu_seconds(), time.monotonic()
    for connection, path in connections.items():
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: bench\r\nAccept: {accept}\r\n\r\n".encode())
    size, formats = 0, []
    for connection, path in connections.items():
        status, fields, length = _read_head_and_body(connection)
        if status != 200:
            raise Wrong(f"{path}: {status} on a page of {count}")
        size += length
        formats.append(fields[b"content-type"].strip().decode())
        connection.close()
    wall = time.monotonic() - begin
    time.sleep(PAUSE_SECONDS)
    return server.cpu_seconds() - before, wall, size, formats


def _improved(server, count, accept, first_cpu, first_size):
    """The cost of improving the page's pictures, and the bytes saved."""
    before = server.cpu_seconds()
    _page_cost(server, count, accept)
    end = time.monotonic() + IMPROVEMENT_SECONDS
    while _done(server) < count and time.monotonic() < end:
        time.sleep(0.2)
    spent = server.cpu_seconds() - before
    _, _, size, _ = _page_cost(server, count, accept)
    return (f"CPU {spent / first_cpu:.1f} × the first ones', bytes {size / first_size:.3f} ×, "
            f"{_done(server):.0f} of {count} decided")


def _done(server):
    text = load.ask(server.port, "/metrics").body.decode()
    lines = [line for line in text.splitlines() if line.startswith("imageproxyd_transform_improvements_total{")]
    return sum(float(line.split()[1]) for line in lines if "replaced" in line or "kept" in line)


# MARK: hits beside transforms

def _beside(folder, origin):
    server = servers.daemon("beside", folder, origin.port)
    alone, loaded, done = [], [], []
    for _ in range(settings.ROUNDS):
        alone.append(_latencies(server))
        stop, count = threading.Event(), []
        threads = [threading.Thread(target=_transform, args=(server, stop, count)) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        loaded.append(_latencies(server))
        done.append(len(count) / settings.SECONDS)
        stop.set()
        for thread in threads:
            thread.join()
    server.close()
    middle = [[statistics.median(values) for values in zip(*runs)] for runs in (alone, loaded)]
    (p50, p99), (p50_loaded, p99_loaded) = middle
    seen = (f"p50 {p50_loaded:.1f}, p99 {p99_loaded:.1f} ms; without {p50:.1f}, {p99:.1f}; "
            f"{statistics.median(done):.1f} transforms/s")
    yield f"hits beside {AT_ONCE} transforms, {LOADED_CONNECTIONS} conn.", seen, "p99 ≤ that without + 5 ms"


def _latencies(server):
    command = ["wrk", "-t1", f"-c{LOADED_CONNECTIONS}", f"-d{max(1, round(settings.SECONDS))}s",
               "-s", settings.BENCH / "load-one.lua", f"http://127.0.0.1:{server.port}{server.path(THUMB)}"]
    result = subprocess.run(pinned(settings.LOAD_CORE, command), capture_output=True, text=True)
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("BENCH ")]
    if not lines or int(lines[0][3]):
        raise Wrong(f"hits beside transforms: {result.stdout}{result.stderr}")
    return float(lines[0][4]) / 1000, float(lines[0][5]) / 1000


_serial = iter(range(1 << 30))


def _transform(server, stop, count):
    while not stop.is_set():
        answer = load.ask(server.port, server.path(f"{PHOTO}?beside={next(_serial)}", RESIZE))
        if answer.status == 200:
            count.append(1)
