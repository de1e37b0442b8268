from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.media.samples import Samples, playlists
from worker.media.sniff import Content, classify, sniff


@pytest.mark.parametrize("kind", playlists("http://example.com/x"))
def test_playlists_are_recognised(kind: str) -> None:
    assert classify(playlists("http://example.com/x")[kind]) is Content.PLAYLIST


@pytest.mark.parametrize(
    ("head", "content"),
    [
        (b"", Content.EMPTY),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", Content.IMAGE),
        (b"\x89PNG\r\n\x1a\n", Content.IMAGE),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", Content.IMAGE),
        (b"\x00\x00\x00\x18ftypheic", Content.IMAGE),
        (b"\x00\x00\x00\x18ftypisom", Content.ISO_MEDIA),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", Content.UNKNOWN),
        (b"GIF89a\x00\x00", Content.UNKNOWN),
        (b"OggS\x00\x02", Content.UNKNOWN),
        (b"ID3\x04\x00", Content.UNKNOWN),
        (b"PK\x03\x04\x14\x00", Content.ARCHIVE),
        (b"%PDF-1.7\n", Content.DOCUMENT),
        (b"WEBVTT\n\n", Content.SUBTITLE),
        (b"\xef\xbb\xbf1\r\n00:00:00,000 --> 00:00:01,000\r\n", Content.SUBTITLE),
        (b"dear diary,\n", Content.TEXT),
        ("größer\n".encode() * 600, Content.TEXT),
        ("hi".encode("utf-16"), Content.TEXT),
    ],
)
def test_heads_are_told_apart(head: bytes, content: Content) -> None:
    assert classify(head) is content


@pytest.mark.parametrize("extension", ["mp3", "m4a", "wav", "flac", "ogg", "webm"])
def test_real_media_is_left_to_ffprobe(samples: Samples, extension: str) -> None:
    assert sniff(samples.audio(extension)) in (Content.UNKNOWN, Content.ISO_MEDIA)


def test_a_character_cut_by_the_end_of_the_head_is_still_text(tmp_path: Path) -> None:
    file = tmp_path / "cut"
    file.write_bytes(b"x" + "ü".encode() * 4096)

    assert sniff(file) is Content.TEXT


@given(st.binary(max_size=5000))
def test_any_bytes_are_something(head: bytes) -> None:
    assert classify(head) in Content
