# SPDX-License-Identifier: Apache-2.0
"""The compared servers: the daemon, nginx with proxy_cache, the floor; and their origin."""

import contextlib
import os
import socket
import time
import urllib.parse

from . import settings
from .process import Server, Wrong

START_SECONDS = 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_open(server, port):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        server.require_alive()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.01)
    raise Wrong(f"{server.name} does not listen on port {port}")


# `user` has an effect only for root: the worker has to read the folder of this run.
NGINX_COMMON = """
{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile 65536;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 20000; }}
http {{
    types {{ image/jpeg jpg; image/png png; image/webp webp; }}
    access_log off;
    sendfile on;
    tcp_nopush off;
    keepalive_requests 1000000000;
    keepalive_timeout 600;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    open_file_cache max=20000 inactive=1h;
    open_file_cache_valid 1h;
    {body}
}}
"""

ORIGIN = """
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        root {corpus};
        add_header Cache-Control "public, max-age=864000";
    }}
    server {{
        listen 127.0.0.1:{counted} backlog=4096;
        root {corpus};
        add_header Cache-Control "public, max-age=864000";
        access_log {folder}/fetches.log;
    }}
"""

CACHE = """
    proxy_cache_path {folder}/cache levels=1:2 keys_zone=bench:64m max_size=8g inactive=1d use_temp_path=off;
    proxy_cache bench;
    proxy_cache_key $request_uri;
    proxy_cache_valid 200 1d;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    upstream origin {{ server 127.0.0.1:{origin}; keepalive 32; keepalive_requests 1000000000; }}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{ proxy_pass http://origin; }}
    }}
    server {{
        listen 127.0.0.1:{logged} backlog=4096;
        access_log {folder}/access.log combined buffer=64k flush=1s;
        location / {{ proxy_pass http://origin; }}
    }}
"""


def _nginx(name, core, folder, port, body):
    folder.mkdir()
    path = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    path.write_text(NGINX_COMMON.format(user=user, folder=folder, body=body))
    command = ["nginx", "-p", folder, "-e", folder / "error.log", "-c", path]
    server = Server(name, core, command, folder / "output")
    server.port = port
    wait_until_open(server, port)
    return server


def origin(folder):
    """A static nginx on the load generator's core: its CPU time is not counted."""
    port, counted = free_port(), free_port()
    body = ORIGIN.format(port=port, counted=counted, corpus=settings.CORPUS, folder=folder / "origin")
    server = _nginx("origin", settings.LOAD_CORE, folder / "origin", port, body)
    server.counted_port = counted
    server.fetches = lambda: (folder / "origin/fetches.log").read_bytes().count(b"\n")
    return server


def nginx_cache(folder, origin_port, name="nginx"):
    port, logged = free_port(), free_port()
    body = CACHE.format(folder=folder / name, port=port, logged=logged, origin=origin_port)
    server = _nginx(name, settings.SERVER_CORE, folder / name, port, body)
    server.logged_port = logged
    server.path = lambda name: "/" + name
    return server


def floor(folder):
    port = free_port()
    server = Server(
        "floor", settings.SERVER_CORE,
        [settings.BUILD / "floor-http", port, settings.CORPUS / "thumb/t20k.jpg"], folder / "floor.log")
    server.port = port
    server.path = lambda name: "/" + name
    wait_until_open(server, port)
    return server


def floor_miss(folder, origin_port):
    """libcurl between two sockets; its files go into a folder of their own."""
    port = free_port()
    store = folder / "floor-miss"
    store.mkdir()
    server = Server(
        "floor-miss", settings.SERVER_CORE,
        [settings.BUILD / "floor-miss", port, f"http://127.0.0.1:{origin_port}", store], folder / "floor-miss.log")
    server.port = port
    server.path = lambda name: "/" + name
    wait_until_open(server, port)
    return server


def daemon(name, folder, origin_port, variables=None, command=None, **changes):
    """The daemon, with one event loop. `changes` are settings by their variables without the prefix; `variables` are others.

    `command` starts it, by default the program alone.
    """
    port = free_port()
    values = {
        "SECURITY_ALLOWED_NETWORKS": "127.0.0.0/8",
        "CACHE_DISK_DIRECTORY": str(folder / f"{name}.cache"),
        "CACHE_DISK_MAX_BYTES": "8GiB",
        "CACHE_MEMORY_MAX_BYTES": "768MiB",
        "HTTP_LOOPS": "1",
        "LOG_ACCESS": "off",
    } | changes
    environment = {key: value for key, value in os.environ.items() if not key.startswith("IMAGEPROXYD_")}
    environment |= {"IMAGEPROXYD_" + key: value for key, value in values.items()} | (variables or {})
    server = Server(
        name, settings.SERVER_CORE, (command or [settings.DAEMON]) + ["serve", "--listen", f"127.0.0.1:{port}"],
        folder / f"{name}.log", environment)
    server.port = port
    base = f"http://127.0.0.1:{origin_port}/"
    server.path = lambda source, rest="": "/img?url=" + urllib.parse.quote(base + source, safe="") + rest
    wait_until_open(server, port)
    return server
