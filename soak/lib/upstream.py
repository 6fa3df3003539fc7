# SPDX-License-Identifier: Apache-2.0
"""A hostile origin, and clients that request its pictures: no picture may arrive complete."""

import time
import zlib

from . import good, loopback

# Below the daemon's limits in soak/lib/daemon.py, so that a picture is sent before its fault.
BEGINNING = 100_000
DRIP_SECONDS = 0.2
BOMB = 64 << 20

# The error of each fault if the answer has not begun: see the table of errors.
OUTCOMES = {
    "cut.jpg": (502,), "chunks.jpg": (502,), "drip.jpg": (504,), "head.jpg": (502,), "bomb.jpg": (422,),
    "large.jpg": (422,), "lengths.jpg": (502,), "inside.jpg": (403,), "file.jpg": (403,), "loop.jpg": (502,),
    "page.jpg": (415,),
}


class HostileOrigin(loopback.LoopbackServer):
    def __init__(self, picture):
        bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
        beginning = picture[:1000]
        squeezed = bomb.compress(beginning) + b"".join(bomb.compress(bytes(1 << 20)) for _ in range(BOMB >> 20))
        super().__init__(_handler(picture, squeezed + bomb.flush()))


def _handler(picture, bomb):
    class Handler(loopback.QuietHandler):
        def do_GET(self):
            self.close_connection = True
            name = self.path.rpartition("/")[2].removesuffix(".jpg")
            getattr(self, f"send_{name}")()

        def begin(self, *fields):
            self.send_response(200)
            for name, value in (("Connection", "close"),) + fields:
                self.send_header(name, value)
            self.end_headers()

        def send_cut(self):
            self.begin(("Content-Length", str(len(picture))))
            self.wfile.write(picture[:BEGINNING])

        def send_chunks(self):
            self.begin(("Transfer-Encoding", "chunked"))
            self.wfile.write(b"%x\r\n" % BEGINNING + picture[:BEGINNING] + b"\r\nnonsense\r\n")

        def send_drip(self):
            self.begin(("Content-Length", str(len(picture))))
            self.wfile.write(picture[:BEGINNING])
            for byte in picture[BEGINNING:]:
                time.sleep(DRIP_SECONDS)
                self.wfile.write(bytes([byte]))

        def send_head(self):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while True:
                self.wfile.write(b"X-More: " + b"a" * 1000 + b"\r\n")

        def send_bomb(self):
            self.begin(("Content-Length", str(len(bomb))), ("Content-Encoding", "gzip"))
            self.wfile.write(bomb)

        def send_large(self):
            self.begin()
            self.wfile.write(picture)
            while True:
                self.wfile.write(bytes(65536))

        def send_lengths(self):
            self.begin(("Content-Length", str(len(picture))), ("Content-Length", "7"))
            self.wfile.write(picture)

        def send_page(self):
            self.begin()
            self.wfile.write(b"<!doctype html>" + bytes(1 << 20))

        def send_inside(self):
            self.redirect("http://10.0.0.1/")

        def send_file(self):
            self.redirect("file:///etc/passwd")

        def send_loop(self):
            self.redirect(self.path)

        def redirect(self, location):
            self.send_response(302)
            self.send_header("Connection", "close")
            self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

    return Handler


def asker(run, chance):
    """Requests one picture, and sometimes disconnects before its end."""
    name = chance.choice(list(OUTCOMES))
    target = good.image(run, name, chance.randrange(1_000_000_000), port=run.hostile_port)
    with good.Client(run.port) as client:
        try:
            if chance.random() < 0.2:
                client.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                client.reader.readline()
                return run.count("upstream: left")
            status, _, body = client.ask(target)
        except good.Cut:
            return run.count(f"upstream: {name}, cut")
    if status not in OUTCOMES[name] + (503,):
        raise good.Wrong(f"{name}: {status} with {len(body)} bytes")
    run.count(f"upstream: {name}, {status}")


CLIENTS = [asker] * 3
