# SPDX-License-Identifier: Apache-2.0
"""The origin: /N/NAME is the photo NAME for every N; some names have faulty answers."""

from . import loopback


class Origin(loopback.LoopbackServer):
    def __init__(self, folder):
        super().__init__(handler_of(folder))


def handler_of(folder):
    """Serves the photos of a folder."""
    return _handler({path.name: path.read_bytes() for path in folder.glob("*.jpg")})


def _handler(photos):
    class Handler(loopback.QuietHandler):
        def do_GET(self):
            name = self.path.rpartition("/")[2]
            if name == "gone.jpg":
                return self.send_plain(410, b"")
            if name == "error.jpg":
                return self.send_plain(500, b"")
            if name == "hostile.jpg":
                return self.send_plain(200, photos["seeding.jpg"], ("Last-Modified", "a\rX-Injected: 1"))
            self.send_photo(photos[name])

        def send_photo(self, photo):
            tag = f'"{len(photo)}"'
            if self.headers.get("If-None-Match") == tag:
                return self.send_plain(304, b"", ("ETag", tag), ("Cache-Control", "max-age=2"))
            # Soon stale, so that hits are refreshed in the background all the time.
            self.send_plain(200, photo, ("ETag", tag), ("Cache-Control", "max-age=2"), ("Content-Type", "image/jpeg"))

        def send_plain(self, status, body, *fields):
            self.send_response(status)
            for name, value in fields:
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
