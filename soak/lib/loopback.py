# SPDX-License-Identifier: Apache-2.0
"""What both origins are: an HTTP server on a port of loopback that lives as long as the soak."""

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
            # The daemon gives up what nobody waits for, and what it has had enough of.
            pass
