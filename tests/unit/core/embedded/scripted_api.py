"""An HTTP server on loopback that answers what a test says, and remembers what it was asked."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

HOST = "127.0.0.1"


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class ScriptedApi:
    """`answers`: (status, body) in the order of the requests; the last one is repeated."""

    url: str = ""
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def next_answer(self) -> tuple[int, bytes]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def scripted_api() -> Iterator[ScriptedApi]:
    api = ScriptedApi()
    server = ThreadingHTTPServer((HOST, 0), _handler(api))
    api.url = f"http://{HOST}:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(api: ScriptedApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            api.asked.append(
                Asked(self.command, self.path, dict(self.headers.items()), self.rfile.read(length))
            )
            status, body = api.next_answer()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PUT(self) -> None:
            self._serve()

        def log_message(self, *_args: object) -> None:
            """Quiet."""

    return Handler
