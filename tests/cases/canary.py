"""A server and a file that nobody may touch, and that notice when somebody does."""

import ctypes
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

IN_OPEN = 0x20
_EVENT = struct.Struct("iIII")


class Watched:
    """A file whose openings are counted, by inotify: times of access may be switched off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK)
        if self._libc.inotify_add_watch(self._fd, os.fsencode(path), IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), f"{path} cannot be watched")

    def openings(self) -> int:
        """Since the last time."""
        try:
            return len(os.read(self._fd, 65_536)) // _EVENT.size
        except BlockingIOError:
            return 0

    def close(self) -> None:
        os.close(self._fd)


class Server:
    """Answers every request with the canary, and remembers its path."""

    def __init__(self, body: bytes) -> None:
        self.requests: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Not to the terminal."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/canary.ts"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)


class Canary:
    """Both."""

    def __init__(self, server: Server, file: Watched) -> None:
        self.server, self.file = server, file

    def touched(self) -> list[str]:
        """What happened since the last time; empty if nothing did."""
        found, self.server.requests[:] = list(self.server.requests), []
        return [*found, *([f"{self.file.path} was opened"] if self.file.openings() else [])]


@contextmanager
def canaries(source: Path) -> Iterator[Canary]:
    """`source`: a file that players would be content with."""
    server, file = Server(source.read_bytes()), Watched(source)
    canary = Canary(server, file)
    canary.touched()
    try:
        yield canary
    finally:
        server.close()
        file.close()
