# SPDX-License-Identifier: Apache-2.0
"""What stands between the nodes and the store, and does to requests and answers what networks and stores do."""

import asyncio
import collections
import re
import threading

SLOW_DOWN = (b"<?xml version='1.0' encoding='UTF-8'?><Error><Code>SlowDown</Code>"
             b"<Message>Please reduce your request rate.</Message></Error>")
NO_SUCH_KEY = b"<?xml version='1.0' encoding='UTF-8'?><Error><Code>NoSuchKey</Code></Error>"
# Each is a value of `Relay.mode`; "pass" changes nothing.
FAULTS = ("refuse", "slow down", "cut", "flip", "swap", "lose", "delay")
DELAY_SECONDS = 0.4


class Relay:
    """Passes HTTP/1.1 on to a store, message by message; `mode` says what it does to them.

    - "refuse": new connections are refused, present ones are reset.
    - "slow down": each request is 503 SlowDown.
    - "cut": half of an answer's or a request's body, then the connection ends.
    - "flip": one bit of each answer to a GET is another.
    - "swap": a GET of one object is answered with another one, complete and unchanged.
    - "lose": each GET is 404 NoSuchKey.
    - "delay": each answer waits for DELAY_SECONDS.
    """

    def __init__(self, address, port, store):
        self.address, self.port, self.store = address, port, store
        self.requests = collections.Counter()
        self._mode, self._server, self._writers, self._tasks, self._last = "pass", None, set(), set(), {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._do(self._listen())

    @property
    def mode(self):
        return self._mode

    @mode.setter
    def mode(self, mode):
        if mode not in ("pass", *FAULTS):
            raise ValueError(mode)
        self._do(self._change(mode))

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self):
        self._server = await asyncio.start_server(self._serve, self.address, self.port, limit=1 << 20, backlog=512)

    async def _change(self, mode):
        if mode == "refuse":
            self._server.close()
        elif self._mode == "refuse":
            await self._listen()
        self._mode = mode
        # Each change begins with new connections.
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader, writer):
        upstream = None
        self._writers.add(writer)
        # The event loop itself keeps no task alive.
        task = asyncio.current_task()
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            upstream = await asyncio.open_connection(*self.store, limit=1 << 20)
            while await self._exchange(reader, writer, *upstream):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # The client's connection ends as the store's does, or the reverse.
            pass
        finally:
            self._writers.discard(writer)
            for side in (writer, upstream and upstream[1]):
                if side:
                    side.transport.abort() if self._mode == "refuse" else side.close()

    async def _exchange(self, reader, writer, store_reader, store_writer):
        """One request and its answer; returns whether the connection goes on."""
        head = await reader.readuntil(b"\r\n\r\n")
        method, target = head.split(b" ", 2)[:2]
        if re.search(rb"\r\nexpect: *100-continue", head, re.I):
            head = re.sub(rb"\r\nexpect:[^\r]*", b"", head, flags=re.I)
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await _body(reader, head, is_request=True)
        mode = self._mode
        self.requests[method.decode()] += 1
        if mode == "slow down":
            return await self._answer(writer, b"503 Slow Down", SLOW_DOWN)
        is_object = method == b"GET" and b"?" not in target
        if mode == "lose" and is_object:
            return await self._answer(writer, b"404 Not Found", NO_SUCH_KEY)
        if mode == "cut" and len(body) > 1:
            store_writer.write(head + body[:len(body) // 2])
            await store_writer.drain()
            return False
        store_writer.write(head + body)
        await store_writer.drain()
        answer = await store_reader.readuntil(b"\r\n\r\n")
        content = await _body(store_reader, answer, is_request=False) if method != b"HEAD" else b""
        if mode == "delay":
            await asyncio.sleep(DELAY_SECONDS)
        if is_object and answer.startswith(b"HTTP/1.1 200") and b"chunked" not in answer.lower():
            self._remember(target, answer, content)
            if mode == "swap":
                answer, content = self._other(target)
            if mode == "flip" and content:
                place = len(content) * 2 // 3
                content = content[:place] + bytes([content[place] ^ 4]) + content[place + 1:]
        if mode == "cut" and content:
            writer.write(answer + content[:len(content) // 2])
            await writer.drain()
            return False
        writer.write(answer + content)
        await writer.drain()
        return b"connection: close" not in answer.lower()

    async def _answer(self, writer, status, body):
        writer.write(b"HTTP/1.1 %b\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body))
        await writer.drain()
        return True

    def _remember(self, target, answer, content):
        """Keeps the last two objects of each kind: of records, originals and results."""
        kept = self._last.setdefault(_kind(target), {})
        kept.pop(target, None)
        kept[target] = (answer, content)
        while len(kept) > 2:
            kept.pop(next(iter(kept)))

    def _other(self, target):
        """The object of the same kind that was read before this one; the same one if there is none."""
        return next(iter(self._last[_kind(target)].values()))


def _kind(target):
    """The folder behind that of the first digits, or nothing."""
    return (target.split(b"/") + [b""] * 3)[3]


async def _body(reader, head, is_request):
    text = head.lower()
    length = re.search(rb"\r\ncontent-length: *(\d+)", text)
    if length:
        return await reader.readexactly(int(length[1]))
    if b"\r\ntransfer-encoding: chunked" in text:
        whole = b""
        while True:
            line = await reader.readuntil(b"\r\n")
            piece = await reader.readexactly(int(line.split(b";")[0], 16) + 2)
            whole += line + piece
            if piece == b"\r\n":
                return whole
    has_none = is_request or re.match(rb"http/1.1 (1|204|304)", text)
    return b"" if has_none else await reader.read()
