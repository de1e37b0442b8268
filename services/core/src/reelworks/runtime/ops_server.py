"""`/healthz`, `/readyz` and `/metrics` of a process that serves nothing else (worker, janitor)."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from reelworks.errors import InvalidSettings
from reelworks.runtime import logging
from reelworks.runtime.metrics import Metrics

Check = Callable[[], str | None]
"""None while all is well, else a sentence about what is not."""

_TEXT = "text/plain; charset=utf-8"
log = logging.get(__name__)


class OpsServer:
    """A daemon thread on `host:port` (port 0 takes a free one, see `port`). InvalidSettings if it is taken."""

    def __init__(self, host: str, port: int, metrics: Metrics, live: Check, ready: Check) -> None:
        handler = _handler(metrics, {"/healthz": live, "/readyz": ready})
        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError as error:
            raise InvalidSettings(
                f"Cannot listen on {host}:{port} for probes and metrics ({error.strerror}). Set another port."
            ) from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.2,), name="ops", daemon=True
        )

    @property
    def port(self) -> int:
        """The port that is really listened on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()
        log.info("ops.listening", port=self.port)

    def stop(self) -> None:
        """Stop answering and free the port."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()


def _handler(metrics: Metrics, checks: dict[str, Check]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            status, body, content_type = self._answer(self.path.partition("?")[0])
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _answer(self, path: str) -> tuple[int, bytes, str]:
            if path == "/metrics":
                body, content_type = metrics.exposition()
                return 200, body, content_type
            if path not in checks:
                return 404, b"not found: try /healthz, /readyz or /metrics\n", _TEXT
            trouble = checks[path]()
            return (503, f"{trouble}\n".encode(), _TEXT) if trouble else (200, b"ok\n", _TEXT)

        def log_message(self, *_args: object) -> None:
            """Probes and scrapes are not worth a line."""

    return Handler
