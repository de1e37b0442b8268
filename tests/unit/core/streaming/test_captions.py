"""The transcript as a subtitle rendition."""

from fractions import Fraction

from reelworks.streaming import captions, playlist

VTT = b"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nhello\n"


def test_cue_times_are_mapped_onto_media_time() -> None:
    assert captions.on_media_time(VTT) == (
        b"WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:90000\n\n00:00:01.000 --> 00:00:02.000\nhello\n"
    )


def test_an_empty_transcript_is_no_rendition() -> None:
    assert captions.has_cues(VTT)
    assert not captions.has_cues(b"WEBVTT\n")


def test_one_segment_lasts_as_long_as_the_stream() -> None:
    parsed = playlist.parse(captions.playlist(Fraction("12.3")))

    assert [(e.uri, e.seconds) for e in parsed.entries] == [("captions.vtt", 12.3)]
    assert parsed.target_s == 13
