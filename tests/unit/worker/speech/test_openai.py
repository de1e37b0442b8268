"""The OpenAI-compatible provider against a real server on the loopback."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from reelworks.errors import LeaseLost, Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from tests.unit.worker.speech.clips import clip
from worker.media.audio import AudioClip
from worker.speech.openai import OpenAIOptions, OpenAISpeech
from worker.speech.transcript import Segment, Transcript

KEY = "sk-very-secret"
NOON = 1_796_126_400_000
SPOKEN = {
    "task": "transcribe",
    "language": "english",
    "duration": 10.0,
    "text": "hello there",
    "segments": [
        {"id": 0, "start": 0.5, "end": 1.25, "text": " hello", "avg_logprob": -0.2},
        {"id": 1, "start": 1.25, "end": 31.0, "text": " there"},
    ],
}


class Server(ThreadingHTTPServer):
    """Answers as told and keeps what it was asked."""

    daemon_threads = True
    status = 200
    body: bytes = json.dumps(SPOKEN).encode()
    headers: dict[str, str]
    asked: list[tuple[str, Message, bytes]]
    silent: threading.Event | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, status: int, body: object, **headers: str) -> None:
        self.status = status
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def form(self) -> dict[str, Any]:
        """The multipart fields of the only request."""
        ((_, headers, body),) = self.asked
        head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
        parts = BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()
        return {str(part.get_param("name", header="content-disposition")): part for part in parts}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, self.headers, body))
        if self.server.silent:
            self.server.silent.wait(20)
            return
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as found:
        found.headers, found.asked = {}, []
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        if found.silent:
            found.silent.set()
        found.shutdown()
        thread.join()


@pytest.fixture
def audio(samples: Samples) -> AudioClip:
    return clip(samples.silence(10))


Ask = Callable[..., Transcript]


@pytest.fixture
def ask(server: Server, audio: AudioClip) -> Ask:
    def run(language: str | None = None, **options: Any) -> Transcript:
        given = {"base_url": server.url, "api_key": KEY, "timeout_s": 5.0, **options}
        provider = OpenAISpeech(OpenAIOptions(**given), now_ms=lambda: NOON)
        return provider.transcribe(
            audio, language=language, cancellation=Cancellation(), progress=lambda _: None
        )

    return run


def test_segments_become_a_transcript(ask: Ask) -> None:
    assert ask() == Transcript(
        language="en",
        provider="openai",
        duration_ms=10_000,
        segments=(
            Segment(start_ms=500, end_ms=1250, text="hello"),
            # Whisper's windows of 30 s end after the sound does.
            Segment(start_ms=1250, end_ms=10_000, text="there"),
        ),
    )


def test_the_request_is_what_the_api_expects(ask: Ask, server: Server, audio: AudioClip) -> None:
    ask("en-GB", model="large-v3")

    path, headers, _ = server.asked[0]
    form = server.form()
    assert path == "/v1/audio/transcriptions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert {name: part.get_content().strip() for name, part in form.items() if name != "file"} == {
        "model": "large-v3",
        "response_format": "verbose_json",
        "language": "en",
    }
    assert form["file"].get_filename() == "audio.wav"
    assert form["file"].get_payload(decode=True) == audio.path.read_bytes()


def test_without_a_key_none_is_sent(ask: Ask, server: Server) -> None:
    ask(api_key=None)

    assert "Authorization" not in server.asked[0][1]


def test_a_server_without_segments_gives_one(ask: Ask, server: Server) -> None:
    server.answer(200, {"text": "hello there"})

    said = ask("de")

    assert said.segments == (Segment(start_ms=0, end_ms=10_000, text="hello there"),)
    assert said.language == "de"


@pytest.mark.parametrize(
    "answer", [{"text": ""}, {"text": "", "segments": []}, {"text": " ", "language": "klingon"}]
)
def test_nothing_said_is_no_error(ask: Ask, server: Server, answer: object) -> None:
    server.answer(200, answer)

    assert ask().segments == ()
    assert ask().language is None


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_temporary(ask: Ask, server: Server, status: int) -> None:
    server.answer(status, {"error": {"message": "busy"}})

    with pytest.raises(Temporary) as failed:
        ask()

    assert (failed.value.code, failed.value.retry_after_ms) == ("speech_unavailable", None)


@pytest.mark.parametrize(
    ("header", "expected"), [("7", 7_000), ("Tue, 01 Dec 2026 12:00:09 GMT", 9_000), ("whenever", None)]
)
def test_the_wait_that_the_server_asks_for_is_kept(
    ask: Ask, server: Server, header: str, expected: int | None
) -> None:
    server.answer(429, b"", Retry_After=header)

    with pytest.raises(Temporary) as failed:
        ask()

    assert failed.value.retry_after_ms == expected


@pytest.mark.parametrize("status", [301, 400, 413, 415, 422])
def test_what_will_not_pass_is_permanent(ask: Ask, server: Server, status: int) -> None:
    server.answer(status, {"error": {"message": "no such model"}}, Location="http://127.0.0.1:9/")

    with pytest.raises(Permanent, match=rf"HTTP {status}\): no such model") as failed:
        ask()

    assert failed.value.code == "speech_refused"
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_this_installation_got_wrong_fails_no_upload_for_good(
    ask: Ask, server: Server, status: int
) -> None:
    server.answer(status, {"error": {"message": "no such model"}})

    with pytest.raises(Temporary, match=rf"HTTP {status}\): no such model") as failed:
        ask()

    assert failed.value.code == "speech_misconfigured"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": f"bad key {KEY} " + "x" * 5000}},
        {"error": f"bad key {KEY}" + "x" * 5000},
        f"{KEY} <html>".encode() * 500,
    ],
)
def test_what_the_server_says_is_bounded_and_without_the_key(ask: Ask, server: Server, body: object) -> None:
    server.answer(401, body)

    with pytest.raises(Temporary) as failed:
        ask()

    assert KEY not in failed.value.message
    assert len(failed.value.message) < 400


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"text": 5}', b'{"segments": [{"start": "a"}]}'])
def test_an_answer_that_makes_no_sense_is_temporary(ask: Ask, server: Server, body: bytes) -> None:
    server.answer(200, body)

    with pytest.raises(Temporary) as failed:
        ask()

    assert failed.value.code == "speech_malformed"


def test_a_server_that_is_away_is_temporary(ask: Ask) -> None:
    with pytest.raises(Temporary, match="ConnectError"):
        ask(base_url="http://127.0.0.1:9/v1")


def test_a_server_that_says_nothing_is_temporary(ask: Ask, server: Server) -> None:
    server.silent = threading.Event()

    with pytest.raises(Temporary, match="ReadTimeout"):
        ask(timeout_s=0.3)


def test_a_lost_lease_drops_the_request(server: Server, audio: AudioClip) -> None:
    server.silent = threading.Event()
    cancellation = Cancellation()
    provider = OpenAISpeech(OpenAIOptions(base_url=server.url, timeout_s=20))
    threading.Timer(0.3, cancellation.cancel, [LeaseLost("taken")]).start()

    begun = time.monotonic()
    with pytest.raises(LeaseLost):
        provider.transcribe(audio, language=None, cancellation=cancellation, progress=lambda _: None)

    assert time.monotonic() - begun < 1


def test_a_recording_that_is_too_large_is_refused(ask: Ask, server: Server) -> None:
    with pytest.raises(Permanent, match="Split it") as refused:
        ask(max_bytes=1_000)

    assert refused.value.code == "speech_too_large"
    assert server.asked == []


def test_a_large_recording_is_compressed_first(server: Server, audio: AudioClip, tmp_path: Path) -> None:
    def shrink(clip: AudioClip, cancellation: Cancellation) -> AudioClip:
        small = tmp_path / "small.mp3"
        small.write_bytes(b"small")
        return AudioClip(path=small, duration_ms=clip.duration_ms)

    provider = OpenAISpeech(OpenAIOptions(base_url=server.url, max_bytes=1_000), shrink=shrink)
    said = provider.transcribe(audio, language=None, cancellation=Cancellation(), progress=lambda _: None)

    assert said.duration_ms == 10_000
    assert server.form()["file"].get_filename() == "audio.mp3"
    assert server.form()["file"].get_payload(decode=True) == b"small"
