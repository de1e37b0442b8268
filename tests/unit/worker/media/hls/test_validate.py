"""What is incomplete is never published."""

from collections.abc import Callable

import pytest

from reelworks.domain.timeline import Grid
from reelworks.errors import LeaseLost, Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from reelworks.streaming import playlist
from reelworks.streaming.track import Track
from reelworks.testing import FakeClock
from reelworks.testing.blobs import InMemoryBlobStore
from tests.unit.core.streaming.builders import PACKAGE, chunk, pictures
from worker.media.hls import validate

GRID = Grid(frame_rate="30000/1001", gop_frames=60, segment_frames=120, chunk_frames=240, frames=420)
KEY = f"{PACKAGE}/720/playlist.m3u8"


@pytest.fixture
def media() -> InMemoryBlobStore:
    store = InMemoryBlobStore(FakeClock())
    for key, size in pictures().keys.items():
        store.put(key, b"x" * size, "video/mp4")
    return store


def test_a_complete_stream_passes(media: InMemoryBlobStore) -> None:
    validate.rungs((pictures(),), ["720"], GRID)
    validate.covers(pictures(), 14_000)
    validate.text(pictures(), playlist.write(pictures(), KEY, 4), KEY)
    validate.objects([pictures()], media, Cancellation())


@pytest.mark.parametrize(
    "check",
    [
        lambda: validate.rungs((pictures(),), ["360", "720"], GRID),
        lambda: validate.rungs((pictures(), pictures(chunk(0), chunk(1, (120, 59)))), ["720"], GRID),
        lambda: validate.rungs((pictures(chunk(0, (120, 119)), chunk(1)),), ["720"], GRID),
    ],
    ids=["a rung is missing", "rungs differ", "a gap in the middle"],
)
def test_rungs_that_do_not_fit_are_refused(check: Callable[[], None]) -> None:
    with pytest.raises(Temporary, match="incomplete"):
        check()


def test_a_stream_that_ends_early_is_refused_for_good() -> None:
    with pytest.raises(Permanent) as caught:
        validate.covers(pictures(), 20_000)
    assert caught.value.code == "truncated"


@pytest.mark.parametrize("body", [None, b"", b"short"])
def test_a_segment_that_is_not_whole_is_noticed(media: InMemoryBlobStore, body: bytes | None) -> None:
    key = pictures().segments[2].key
    del media.objects[key]
    if body is not None:
        media.put(key, body, "video/mp4")

    with pytest.raises(Temporary, match="00002"):
        validate.objects([pictures()], media, Cancellation())


def test_a_lost_lease_stops_the_check(media: InMemoryBlobStore) -> None:
    cancellation = Cancellation()
    cancellation.cancel(LeaseLost("Gone."))

    with pytest.raises(LeaseLost):
        validate.objects([pictures()], media, cancellation)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#EXT-X-ENDLIST\n", ""),
        ("#EXTINF:2.002000", "#EXTINF:2.000000"),
        ("00002.m4s", "00009.m4s"),
        ("#EXTINF:2.002000,\n../../../video-001/t1/720/00003.m4s\n", ""),
        ("TARGETDURATION:4", "TARGETDURATION:3"),
        ('#EXT-X-MAP:URI="../../../video-000/t0/720/init.mp4"\n', ""),
    ],
)
def test_a_playlist_that_says_anything_else_is_refused(old: str, new: str) -> None:
    written = playlist.write(pictures(), KEY, 4)
    assert old in written

    with pytest.raises(Temporary):
        validate.text(pictures(), written.replace(old, new), KEY)


def test_tracks_know_every_object() -> None:
    track: Track = pictures()

    assert len(track.keys) == 2 + 4
    assert track.samples == 420
