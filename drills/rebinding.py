# SPDX-License-Identifier: Apache-2.0
"""Names that resolve to public and then to private addresses, in a network namespace: no connection may reach a private one.

Run by `drills/run rebinding` within a new network and mount namespace, so that every address here is only a name for
loopback and nothing leaves the machine.
"""

import collections
import http.server
import ipaddress
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import urllib.parse

from rig import PHOTO, Daemon, Failed, expect

PUBLIC = ["93.184.216.34", "2606:2800:220:1::1"]
INSIDE = ["127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "::1", "fd00::1", "fe80::1"]
# Further addresses that names resolve to: other spellings of private ones.
SPELLINGS = ["::ffff:127.0.0.1", "::ffff:10.1.2.3", "64:ff9b::7f00:1", "2002:7f00:1::1", "::127.0.0.1", "0.0.0.0", "::",
             "224.0.0.1", "255.255.255.255", "192.0.2.1", "2001::1"]
ROUNDS = 20
SECRET = b"the inside's banner"


class Resolver(threading.Thread):
    """Answers A and AAAA queries for names such as `turn-7.test`; the first label selects the addresses, which change with each query."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.53", 53))
        self.asked = collections.Counter()

    def run(self):
        while True:
            query, peer = self.socket.recvfrom(4096)
            name, end = self._question(query)
            kind = struct.unpack("!H", query[end:end + 2])[0]
            answers = [address for address in self._addresses(name) if (address.version == 4) == (kind == 1)]
            if kind not in (1, 28):
                answers = []
            head = query[:2] + struct.pack("!HHHHH", 0x8180, 1, len(answers), 0, 0)
            records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(address.packed)) + address.packed
                               for address in answers)
            self.socket.sendto(head + query[12:end + 4] + records, peer)

    @staticmethod
    def _question(query):
        labels, place = [], 12
        while query[place]:
            labels.append(query[place + 1:place + 1 + query[place]].decode())
            place += 1 + query[place]
        return ".".join(labels).lower(), place + 1

    def _addresses(self, name):
        """`turn`: public for the first query, private afterwards; `both`: public and private at once; `inside`: always private."""
        way, _, number = name.partition(".")[0].partition("-")
        inside = [ipaddress.ip_address(text) for text in INSIDE + SPELLINGS]
        public = [ipaddress.ip_address(text) for text in PUBLIC]
        hidden = inside[int(number or 0) % len(inside)]
        self.asked[name] += 1
        if way == "public":
            return public
        if way == "turn":
            # A resolver queries both kinds of addresses: two queries for each look-up.
            return public if self.asked[name] <= 2 else [hidden]
        return [hidden] + (public if way == "both" else [])


class Site(http.server.BaseHTTPRequestHandler):
    """The public origin: a photo that is stale at once, or a redirect to the URL in the path."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        where = urllib.parse.unquote(self.path.partition("?to=")[2])
        self.send_response(302 if where else 200)
        if where:
            self.send_header("Location", where)
        self.send_header("Content-Length", "0" if where else str(len(PHOTO)))
        self.send_header("Cache-Control", "max-age=0")
        self.send_header("Connection", "close")
        self.end_headers()
        if not where:
            self.wfile.write(PHOTO)

    def log_message(self, *_):
        pass


class PublicOrigin(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address):
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, 80), Site)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Ignored: the daemon closed the connection."""


class Inside(threading.Thread):
    """A private service that the daemon must not reach: counts the connections."""

    def __init__(self, address, port):
        super().__init__(daemon=True)
        self.address, self.visits = address, 0
        self.socket = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((address, port, 0, socket.if_nametoindex("lo")) if ":" in address else (address, port))
        self.socket.listen(64)

    def run(self):
        while True:
            connection, _ = self.socket.accept()
            self.visits += 1
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: image/jpeg\r\n\r\n" + SECRET + PHOTO)
            connection.close()


def set_up(folder):
    resolv = folder / "resolv.conf"
    resolv.write_text("nameserver 127.0.0.53\noptions attempts:1 timeout:5\n")
    hosts = folder / "nsswitch.conf"
    hosts.write_text("hosts: dns\n")
    commands = [["mount", "--make-rprivate", "/"], ["mount", "--bind", resolv, "/etc/resolv.conf"],
                ["mount", "--bind", hosts, "/etc/nsswitch.conf"], ["ip", "link", "set", "lo", "up"]]
    commands += [["ip", "address", "add", address + ("/128" if ":" in address else "/32"), "dev", "lo"]
                 + (["nodad"] if ":" in address else [])
                 for address in PUBLIC + INSIDE if address not in ("127.0.0.1", "::1")]
    # Addresses that this machine does not have are routed to it, too, so a connection to one is counted.
    commands += [["ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo"], ["ip", "-6", "route", "add", "local", "::/0", "dev", "lo"]]
    for command in commands:
        expect(subprocess.run(command).returncode == 0, f"{' '.join(map(str, command))}: takes root and network namespaces")


def main(folder):
    set_up(folder)
    resolver = Resolver()
    resolver.start()
    origins = [PublicOrigin(address) for address in PUBLIC]
    services = [Inside(address, 80) for address in INSIDE]
    for service in services:
        service.start()
    settings = {"SECURITY_ALLOWED_NETWORKS": "203.0.113.0/24"}
    daemon = Daemon(folder, **settings)
    seen = collections.Counter()

    def ask(url):
        status, body, _ = daemon.get("/img?url=" + urllib.parse.quote(url, safe=""))
        expect(SECRET not in body, f"{url}: an answer from the inside")
        expect(status == 200 and body == PHOTO or status in (403, 502, 503, 504), f"{url}: {status} {body[:200]!r}")
        reached = [service.address for service in services if service.visits]
        expect(not reached, f"{url}: a connection to {reached}")
        seen[status] += 1
        return status

    try:
        expect(ask("http://public-0.test/a.jpg") == 200, "the public origin is not reached")
        yield f"public: {seen[200]} of 1 answered"
        for way in ("turn", "both", "inside"):
            seen.clear()
            for question in range(3):
                for number in range(ROUNDS):
                    ask(f"http://{way}-{number}.test/a.jpg?{question}")
                    to = urllib.parse.quote(f"http://{way}-{number + 1000}.test/b.jpg", safe="")
                    ask(f"http://public-0.test/{way}-{number}-{question}?to={to}")
                # The next daemon has to resolve all names again.
                daemon.stop()
                daemon = Daemon(folder, **settings)
            yield f"{way}: " + ", ".join(f"{count} × {status}" for status, count in sorted(seen.items()))
            if way != "both":
                refused = {"turn": 4 * ROUNDS, "inside": 6 * ROUNDS}[way]
                expect(seen[502] == refused, f"{way}: {refused} should have been refused")
        yield f"{sum(resolver.asked.values())} questions to the resolver, no connection to any of {len(INSIDE)} services inside"
    finally:
        daemon.kill()
        for origin in origins:
            origin.server_close()


if __name__ == "__main__":
    try:
        for line in main(pathlib.Path(sys.argv[1])):
            print(line, flush=True)
    except Failed as problem:
        sys.exit(f"FAILED: {problem}")
    finally:
        Daemon.end_all()
