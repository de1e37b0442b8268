"""Segments read by hand: what ffmpeg writes, what other muxers may write, and what is broken."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelworks.errors import Temporary
from worker.media.hls import fragments, init_segment
from worker.media.hls.boxes import parse, whole
from worker.media.hls.init_segment import InitFacts

INIT = InitFacts(codec="avc1.64001f", timescale=30_000, default_duration=1_000, default_flags=0x10000)


def box(kind: str, *content: bytes) -> bytes:
    body = b"".join(content)
    return (len(body) + 8).to_bytes(4, "big") + kind.encode() + body


def u32(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "big") for number in numbers)


def moof(tfhd: bytes, *runs: bytes, decode: bytes = b"\1\0\0\0" + (90_000).to_bytes(8, "big")) -> bytes:
    track = box("traf", box("tfhd", tfhd), box("tfdt", decode), *(box("trun", run) for run in runs))
    return box("moof", box("mfhd", u32(0, 1)), track)


def measured(path: Path, data: bytes) -> fragments.Fragment:
    file = path / "0.m4s"
    file.write_bytes(data)
    found = fragments.measure(file, INIT)
    assert found
    return found


def test_durations_of_samples_are_summed(tmp_path: Path) -> None:
    run = u32(0x000305, 3, 0, 0x02000000) + u32(1001, 10, 1001, 20, 1001, 30)
    found = measured(tmp_path, box("styp") + moof(u32(0, 1), run) + box("mdat", b"x" * 60))

    assert (found.start, found.ticks, found.samples, found.sync) == (90_000, 3_003, 3, True)


def test_defaults_of_the_fragment_come_before_those_of_the_track(tmp_path: Path) -> None:
    own = u32(0x20028, 1, 512, 0x02000000)

    assert measured(tmp_path, moof(own, u32(0x1, 4, 0))).ticks == 2_048
    assert measured(tmp_path, moof(own, u32(0x1, 4, 0))).sync
    assert measured(tmp_path, moof(u32(0, 1), u32(0x1, 4, 0))).ticks == 4_000
    assert not measured(tmp_path, moof(u32(0, 1), u32(0x1, 4, 0))).sync


def test_flags_of_the_first_sample_say_whether_it_is_a_keyframe(tmp_path: Path) -> None:
    run = u32(0x000401, 2, 0) + u32(0x01010000, 0x02000000)

    assert not measured(tmp_path, moof(u32(0, 1), run)).sync


def test_several_fragments_are_one_segment(tmp_path: Path) -> None:
    one = moof(u32(0, 1), u32(0x1, 4, 0), decode=u32(0, 7)) + box("mdat")

    assert measured(tmp_path, one + one).samples == 8
    assert measured(tmp_path, one + one).start == 7


def test_what_ffmpeg_leaves_when_there_was_nothing_is_no_segment(tmp_path: Path) -> None:
    file = tmp_path / "0.m4s"
    file.write_bytes(box("styp", b"msdh"))

    assert fragments.measure(file, INIT) is None


@pytest.mark.parametrize("data", [b"\0\0\0\x04moof", b"\0\0\1\0moof", box("moof")])
def test_a_damaged_segment_is_tried_again(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(Temporary) as caught:
        measured(tmp_path, data)
    assert caught.value.code == "segment_damaged"


def test_large_sizes_are_read() -> None:
    large = u32(1) + b"free" + (20).to_bytes(8, "big") + b"abcd"

    assert bytes(next(parse(memoryview(large))).data) == b"abcd"


def entry(kind: str, fields: int, config: bytes) -> bytes:
    media = box("mdhd", u32(0, 0, 0, 48_000, 0, 0))
    table = box("stbl", box("stsd", u32(0, 1), box(kind, b"\0" * fields, config)))
    track = box("trak", box("mdia", media, box("minf", table)))
    return box("moov", track, box("mvex", box("trex", u32(0, 1, 1, 1024, 0, 0))))


def test_avc_is_named_by_its_profile_and_level() -> None:
    facts = init_segment.read(entry("avc1", 78, box("avcC", b"\1\x64\x00\x28")))

    assert (facts.codec, facts.timescale, facts.default_duration) == ("avc1.640028", 48_000, 1_024)


@pytest.mark.parametrize("length", [b"\x22", b"\x80\x80\x80\x22"])
def test_aac_is_named_by_its_object_type(length: bytes) -> None:
    specific = b"\5" + b"\2" + b"\x11\x90"
    config = b"\4" + b"\x11" + b"\x40" + b"\0" * 12 + specific
    descriptor = b"\3" + length + b"\0\1\0" + config

    assert init_segment.read(entry("mp4a", 28, box("esds", u32(0), descriptor))).codec == "mp4a.40.2"


@pytest.mark.parametrize("config", [b"", box("esds", u32(0), b"\4\2\0\0")])
def test_what_is_missing_is_said(config: bytes) -> None:
    with pytest.raises(Temporary, match=r"esds|descriptor"):
        init_segment.read(entry("mp4a", 28, config))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        init_segment.read(data)
        whole(data).find("moov")
    except Temporary:
        return
