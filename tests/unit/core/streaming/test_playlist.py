"""Media playlists: written, and read back."""

from fractions import Fraction

import pytest

from reelworks.errors import Temporary
from reelworks.streaming import playlist
from tests.unit.core.streaming.builders import PACKAGE, chunk, pictures

KEY = f"{PACKAGE}/720/playlist.m3u8"


def test_chunks_are_joined_under_one_init_segment() -> None:
    assert playlist.write(pictures(), KEY, 4) == (
        "#EXTM3U\n"
        "#EXT-X-VERSION:7\n"
        "#EXT-X-TARGETDURATION:4\n"
        "#EXT-X-MEDIA-SEQUENCE:0\n"
        "#EXT-X-PLAYLIST-TYPE:VOD\n"
        "#EXT-X-INDEPENDENT-SEGMENTS\n"
        '#EXT-X-MAP:URI="../../../video-000/t0/720/init.mp4"\n'
        "#EXTINF:4.004000,\n"
        "../../../video-000/t0/720/00000.m4s\n"
        "#EXTINF:4.004000,\n"
        "../../../video-000/t0/720/00001.m4s\n"
        "#EXTINF:4.004000,\n"
        "../../../video-001/t1/720/00002.m4s\n"
        "#EXTINF:2.002000,\n"
        "../../../video-001/t1/720/00003.m4s\n"
        "#EXT-X-ENDLIST\n"
    )


def test_a_chunk_with_other_parameters_gets_an_init_segment_of_its_own() -> None:
    text = playlist.write(pictures(chunk(0), chunk(1, sha256="other"), chunk(2, sha256="other")), KEY, 4)

    assert text.count("#EXT-X-MAP") == 2
    assert "DISCONTINUITY" not in text


def test_another_picture_size_is_a_discontinuity() -> None:
    text = playlist.write(pictures(chunk(0), chunk(1, sha256="other", width=640)), KEY, 4)

    assert "#EXT-X-DISCONTINUITY\n#EXT-X-MAP" in text


def test_a_growing_playlist_has_no_end() -> None:
    text = playlist.write(pictures(chunk(0)), KEY, 4, ended=False)

    assert "#EXT-X-PLAYLIST-TYPE:EVENT" in text
    assert "ENDLIST" not in text
    assert not playlist.parse(text).ended


def test_what_is_written_can_be_read() -> None:
    parsed = playlist.parse(playlist.write(pictures(), KEY, 4))

    assert (parsed.target_s, parsed.ended, len(parsed.entries)) == (4, True, 4)
    assert parsed.entries[3].seconds == 2.002
    assert {entry.init for entry in parsed.entries} == {"../../../video-000/t0/720/init.mp4"}


@pytest.mark.parametrize("text", ["", "nothing", "#EXTM3U\n", "#EXTM3U\n#EXT-X-TARGETDURATION:4\nx.m4s\n"])
def test_what_is_no_playlist_is_refused(text: str) -> None:
    with pytest.raises(Temporary) as caught:
        playlist.parse(text)
    assert caught.value.code == "playlist_broken"


@pytest.mark.parametrize(("longest", "target"), [("4.004", 4), ("4.5", 5), ("0.02", 1)])
def test_the_target_duration_is_the_longest_one_rounded(longest: str, target: int) -> None:
    assert playlist.target_duration((Fraction("0.01"), Fraction(longest))) == target
