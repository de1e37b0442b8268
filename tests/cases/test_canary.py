"""Uploads that name other files and addresses: none of them is ever opened or asked for."""

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reelworks.domain.upload import UploadStatus
from tests.cases.canary import Canary, canaries
from tests.cases.stage import Stage
from tests.media.samples import Samples, playlists
from worker.media.tools import Tools

DISGUISES = {
    "video.mp4": "video/mp4",
    "list.m3u8": "audio/x-mpegurl",
    "song.wav": "audio/wav",
    "photo.jpg": "image/jpeg",
    "drawing.svg": "image/svg+xml",
    "subtitles.ts": "video/mp2t",
}


@pytest.fixture
def canary(samples: Samples) -> Iterator[Canary]:
    source = samples.encoded("canary.ts", "-i", samples.video(), "-c", "copy")
    with canaries(source) as canary:
        yield canary


def payloads(samples: Samples, target: str) -> dict[str, bytes]:
    """Everything that names `target`."""
    data = f"data:application/vnd.apple.mpegurl,#EXTM3U%0A#EXTINF:4,%0A{target}%0A#EXT-X-ENDLIST"
    inner = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n{}\n#EXT-X-ENDLIST\n"
    key = f'#EXT-X-KEY:METHOD=AES-128,URI="{target}"\n#EXTINF:4,\n{target}\n'
    css = f"STYLE\n::cue {{ background: url({target}) }}"
    track = f"<trackList><track><location>{target}</location></track></trackList>"
    styled = (
        f"[Script Info]\nScriptType: v4.00+\n[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,,,,,,,{target}\n"
    )
    return playlists(target) | {
        "svg": samples.vector_picture(target),
        "hls of a data URI": inner.format(data).encode(),
        "hls by the concat protocol": inner.format(f"concat:{target}|{target}").encode(),
        "hls by the subfile protocol": inner.format(f"subfile,,start,0,end,900,,:{target}").encode(),
        "hls with a key": f"#EXTM3U\n#EXT-X-TARGETDURATION:4\n{key}#EXT-X-ENDLIST\n".encode(),
        "master playlist": f"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n{target}\n".encode(),
        "webvtt": f"WEBVTT\n\n{css}\n\n00:00.000 --> 00:01.000\n{target}\n".encode(),
        "srt": f'1\n00:00:00,000 --> 00:00:01,000\n<img src="{target}">\n\n'.encode(),
        "ass": styled.encode(),
        "quicktime with a reference": elsewhere(samples.video().read_bytes(), target),
        "quicktime reference movie": reference_movie(target),
        "html": f'<html><video src="{target}"></video></html>'.encode(),
        "xspf": f'<playlist version="1">{track}</playlist>'.encode(),
        "image list": f"{target}\n".encode() * 3,
    }


def elsewhere(mp4: bytes, target: str) -> bytes:
    """An MP4 whose samples are said to be in another file: `dref` with a URL instead of "in this file"."""
    box = b"url " + struct.pack(">I", 0) + target.encode() + b"\0"
    entry = struct.pack(">I", len(box) + 4) + box
    dref = struct.pack(">I", 16 + len(entry)) + b"dref" + struct.pack(">II", 0, 1) + entry
    old = mp4.index(b"dref") - 4
    (size,) = struct.unpack(">I", mp4[old : old + 4])
    grown = len(dref) - size
    changed = bytearray(mp4[:old] + dref + mp4[old + size :])
    for kind in (b"dinf", b"minf", b"mdia", b"trak", b"moov"):
        at = changed.rindex(kind, 0, old + 8) - 4
        (length,) = struct.unpack(">I", changed[at : at + 4])
        changed[at : at + 4] = struct.pack(">I", length + grown)
    return bytes(changed)


def reference_movie(target: str) -> bytes:
    """`moov/rmra/rmda/rdrf`: QuickTime's own way to name another movie."""

    def box(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body) + 8) + kind + body

    url = target.encode() + b"\0"
    rdrf = box(b"rdrf", struct.pack(">I", 0) + b"url " + struct.pack(">I", len(url)) + url)
    return box(b"ftyp", b"qt  \0\0\0\0qt  ") + box(b"moov", box(b"rmra", box(b"rmda", rdrf)))


def test_canaries_notice(canary: Canary, tools: Tools, tmp_path: Path) -> None:
    """The canaries do notice: a bare ffmpeg follows a playlist to the server and to the file."""
    for target in (canary.server.url, str(canary.file.path)):
        text = tmp_path / "list.m3u8"
        text.write_bytes(playlists(target)["hls"])
        loose = (
            "-protocol_whitelist",
            "file,http,tcp",
            "-allowed_extensions",
            "ALL",
            "-extension_picky",
            "0",
        )
        bare = (str(tools.ffmpeg), "-v", "error", "-nostdin", *loose)
        reading = (*bare, "-f", "hls", "-i", str(text), "-f", "null", "-")
        subprocess.run(reading, capture_output=True, timeout=60, check=False)
        assert canary.touched()


@pytest.mark.parametrize("where", ["server", "file"])
@pytest.mark.parametrize("name", DISGUISES)
def test_nothing_else_is_touched(
    stage: Stage, samples: Samples, canary: Canary, tmp_path: Path, where: str, name: str
) -> None:
    """Playlists, references, drawings and subtitles under any name and type: nobody follows them."""
    target = canary.server.url if where == "server" else str(canary.file.path)
    for kind, body in payloads(samples, target).items():
        file = tmp_path / name
        file.write_bytes(body)
        shown = stage.published(file, content_type=DISGUISES[name], profile="default")
        upload = shown.snapshot.upload
        assert canary.touched() == [], kind
        assert upload.status in (UploadStatus.FAILED, UploadStatus.COMPLETED), kind
        if kind != "quicktime with a reference":
            assert upload.status is UploadStatus.FAILED, kind
