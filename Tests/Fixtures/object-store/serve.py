#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Serves S3 on a free port of 127.0.0.1, or of another address: OpenStack Swift with its S3 interface, in one process.

Usage: serve.py FOLDER [ADDRESS]; FOLDER is one that does not exist yet. Prints "ACCEPT ADDRESS:PORT" when it is ready. The
key is "test:tester" with the secret "testing"; buckets are made by signed PUT requests. Debian's package python3-swift.
"""
import os
import socket
import sys

import eventlet

eventlet.monkey_patch()
from eventlet import wsgi
from swift.common import utils
from swift.common.ring import RingBuilder

PIPELINE = "catch_errors gatekeeper healthcheck cache listing_formats s3api tempauth bulk slo dlo proxy-server"


def listen(address="127.0.0.1"):
    listener = eventlet.listen((address, 0), backlog=512)
    # Else each request on a kept connection takes 50 ms more.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def main(folder, address="127.0.0.1"):
    os.makedirs(folder + "/devices/disk")
    write(folder + "/swift.conf", "[swift-hash]\nswift_hash_path_suffix = test\n")
    utils.set_swift_dir(folder)
    utils.validate_configuration()
    # Clients use the proxy alone.
    listeners = {kind: listen() for kind in ("account", "container", "object")}
    listeners["proxy"] = listen(address)
    for kind in ("account", "container", "object"):
        ring = RingBuilder(1, 1, 1)
        port = listeners[kind].getsockname()[1]
        ring.add_dev(
            {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "disk", "weight": 1})
        ring.rebalance()
        ring.get_ring().save(f"{folder}/{kind}.ring.gz")
    shared = {
        "swift_dir": folder, "devices": folder + "/devices", "mount_check": "false", "disable_fallocate": "true",
        "log_requests": "false", "log_level": "CRITICAL"}
    from swift.account.server import app_factory as account
    from swift.common.wsgi import SwiftHttpProtocol, loadapp
    from swift.container.server import app_factory as container
    from swift.obj.server import app_factory as stored

    filters = [name for name in PIPELINE.split() if name != "proxy-server"]
    sections = ["[DEFAULT]", f"swift_dir = {folder}", "log_level = CRITICAL", "[pipeline:main]", f"pipeline = {PIPELINE}"]
    sections += ["[app:proxy-server]", "use = egg:swift#proxy", "account_autocreate = true"]
    for name in filters:
        sections += [f"[filter:{name}]", f"use = egg:swift#{'memcache' if name == 'cache' else name}"]
        if name == "tempauth":
            sections.append("user_test_tester = testing .admin")
    write(folder + "/proxy.conf", "\n".join(sections) + "\n")
    applications = {
        "account": account({}, **shared), "container": container({}, **shared), "object": stored({}, **shared),
        "proxy": loadapp(folder + "/proxy.conf", global_conf={"log_name": "proxy"})}
    servers = [
        eventlet.spawn(
            wsgi.server, listeners[kind], application, log=open(os.devnull, "w"), protocol=SwiftHttpProtocol,
            capitalize_response_headers=False)
        for kind, application in applications.items()]
    print(f"ACCEPT {address}:{listeners['proxy'].getsockname()[1]}", flush=True)
    for server in servers:
        server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
