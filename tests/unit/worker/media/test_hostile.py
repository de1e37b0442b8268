"""Nothing that an upload names is ever opened: a canary server and a canary file watch over it."""

import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reelworks.errors import Permanent
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples, playlists
from worker.media.command import Command
from worker.media.engine import MediaEngine
from worker.media.hostile import DEMUXERS, file_url, input_options
from worker.media.probe import probe
from worker.media.tools import Tools


class Canary(ThreadingHTTPServer):
    """Remembers every request."""

    touched: list[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/canary.ts"


class Handler(BaseHTTPRequestHandler):
    server: Canary

    def do_GET(self) -> None:
        self.server.touched.append(self.path)
        self.send_error(404)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def canary() -> Iterator[Canary]:
    with Canary(("127.0.0.1", 0), Handler) as server:
        server.touched = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


KINDS = list(playlists(""))


@pytest.mark.parametrize("name", ["video.mp4", "source", "list.m3u8"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_playlist_is_refused_and_nothing_is_fetched(
    engine: MediaEngine, cancellation: Cancellation, canary: Canary, tmp_path: Path, kind: str, name: str
) -> None:
    upload = tmp_path / name
    upload.write_bytes(playlists(canary.url)[kind])

    with pytest.raises(Permanent) as refused:
        probe(upload, engine=engine, cancellation=cancellation)

    assert refused.value.code == "playlist"
    assert canary.touched == []


@pytest.mark.parametrize("name", ["video.mp4", "source", "list.m3u8"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_whitelists_alone_stop_ffmpeg(
    engine: MediaEngine, cancellation: Cancellation, canary: Canary, tmp_path: Path, kind: str, name: str
) -> None:
    """The second fence must hold without the first."""
    upload = tmp_path / name
    upload.write_bytes(playlists(canary.url)[kind])
    output = tmp_path / "out.wav"
    argv = (engine.tools.ffmpeg, "-v", "error", *input_options(), "-i", file_url(upload), "-y", str(output))

    finished = engine.runner.run(Command(argv=argv, timeout_s=20), cancellation=cancellation)

    assert finished.exit_code != 0
    assert canary.touched == []
    assert not output.exists()


def test_without_the_whitelists_the_canary_would_sing(tools: Tools, canary: Canary, tmp_path: Path) -> None:
    """Else the tests above would prove nothing."""
    upload = tmp_path / "list.m3u8"
    upload.write_bytes(playlists(canary.url)["hls"])

    subprocess.run(
        [tools.ffprobe, "-protocol_whitelist", "file,http,tcp", upload],
        check=False,
        timeout=20,
        capture_output=True,
    )

    assert canary.touched


@pytest.mark.parametrize("name", ["video.mp4", "source"])
def test_a_file_that_a_list_names_does_not_end_up_in_the_output(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples, tmp_path: Path, name: str
) -> None:
    secret = samples.audio("wav")
    for kind in ("ffconcat", "hls"):
        upload = tmp_path / name
        upload.write_bytes(playlists(str(secret))[kind])
        output = tmp_path / "out.wav"
        options = (*input_options(), "-safe", "0") if kind == "ffconcat" else input_options()
        argv = (engine.tools.ffmpeg, "-v", "error", *options, "-i", file_url(upload), "-y", str(output))

        finished = engine.runner.run(Command(argv=argv, timeout_s=20), cancellation=cancellation)

        assert finished.exit_code != 0
        assert not output.exists()


def test_every_demuxer_on_the_list_exists_in_this_ffmpeg(tools: Tools) -> None:
    listing = subprocess.run(
        [tools.ffmpeg, "-hide_banner", "-demuxers"], capture_output=True, text=True, check=True, timeout=20
    ).stdout
    _, _, table = listing.partition(" ---\n")
    known = {name for line in table.splitlines() for name in line[4:].split()[0].split(",")}

    assert set(DEMUXERS) <= known


def test_no_demuxer_on_the_list_opens_what_it_names() -> None:
    dangerous = {
        "hls",
        "dash",
        "concat",
        "image2",
        "sdp",
        "rtsp",
        "rtp",
        "lavfi",
        "imf",
        "webm_dash_manifest",
        "tedcaptions",
    }

    assert not dangerous & set(DEMUXERS)


def test_a_bomb_is_refused_with_little_memory(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples
) -> None:
    bomb = samples.bomb()
    script = (
        "import resource,subprocess,sys; subprocess.run(sys.argv[1:], capture_output=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    argv = ("python3", "-c", script, engine.tools.ffprobe, *input_options(), "-show_streams", file_url(bomb))

    finished = engine.runner.run(Command(argv=argv, timeout_s=20), cancellation=cancellation)

    assert int(finished.stdout) < 100_000, "KiB"
