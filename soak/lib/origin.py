# SPDX-License-Identifier: Apache-2.0
"""The origin: /N/NAME is the photo NAME for every N, and some names misbehave."""

import http.server
import threading


class Origin:
    def __init__(self, folder):
        photos = {path.name: path.read_bytes() for path in folder.glob("*.jpg")}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(photos))
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def _handler(photos):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

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
            # Soon stale, so that hits are refreshed behind the clients' backs all the time.
            self.send_plain(200, photo, ("ETag", tag), ("Cache-Control", "max-age=2"), ("Content-Type", "image/jpeg"))

        def send_plain(self, status, body, *fields):
            self.send_response(status)
            for name, value in fields:
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

        def handle(self):
            try:
                super().handle()
            except OSError:
                # The daemon gives up what nobody waits for.
                pass

    return Handler
