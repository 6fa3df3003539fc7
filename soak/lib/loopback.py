# SPDX-License-Identifier: Apache-2.0
"""The common part of both origins: an HTTP server on a loopback port that runs as long as the soak."""

import http.server
import threading


class LoopbackServer:
    def __init__(self, handler):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class QuietHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:
            # The daemon cancels fetches without waiters, and answers beyond a bound.
            pass
