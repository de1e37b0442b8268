"""The master playlist, measured rates included."""

from msgspec import structs

from reelworks.streaming import bandwidth, master
from reelworks.streaming.master import Presentation
from tests.unit.core.streaming.builders import chunk, pictures, sound

SHOW = Presentation(
    pictures=(pictures(),), sound=sound(), target_s=4, frame_rate=30000 / 1001, captions="en-US"
)


def test_everything_there_is_to_play() -> None:
    assert master.write(SHOW).splitlines() == [
        "#EXTM3U",
        "#EXT-X-VERSION:7",
        "#EXT-X-INDEPENDENT-SEGMENTS",
        (
            '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Main",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",'
            'URI="audio/playlist.m3u8"'
        ),
        (
            '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="Captions (en-US)",LANGUAGE="en-US",DEFAULT=NO,'
            'AUTOSELECT=YES,FORCED=NO,URI="captions/playlist.m3u8"'
        ),
        (
            '#EXT-X-STREAM-INF:BANDWIDTH=527601,AVERAGE-BANDWIDTH=356344,CODECS="avc1.64001f,mp4a.40.2",'
            'RESOLUTION=1280x720,FRAME-RATE=29.970,AUDIO="audio",SUBTITLES="captions",CLOSED-CAPTIONS=NONE'
        ),
        "720/playlist.m3u8",
    ]


def test_sound_alone_is_the_variant() -> None:
    written = master.write(structs.replace(SHOW, pictures=(), captions=None, frame_rate=None))

    assert "EXT-X-MEDIA" not in written
    assert 'CODECS="mp4a.40.2",CLOSED-CAPTIONS=NONE\naudio/playlist.m3u8' in written


def test_pictures_alone_have_no_group() -> None:
    written = master.write(structs.replace(SHOW, sound=None, captions=None))

    assert 'CODECS="avc1.64001f",RESOLUTION' in written
    assert "AUDIO" not in written


def test_a_language_nobody_knows_is_not_named() -> None:
    written = master.write(structs.replace(SHOW, captions="und"))

    assert 'NAME="Captions",DEFAULT=NO' in written


def test_the_peak_is_that_of_the_worst_run_of_segments() -> None:
    even, high = chunk(0, size=100_000), chunk(1, (120, 120), size=300_000)
    rates = bandwidth.measure(pictures(even, high), 4)

    assert rates.peak == -(-300_000 * 8 * 1000 // 4_004)
    assert rates.average == -(-800_000 * 8 * 1000 // 16_016)


def test_a_leftover_too_short_to_count_is_no_peak() -> None:
    rates = bandwidth.measure(pictures(chunk(0, (120, 1))), 4)

    assert rates.peak == -(-200_000 * 8 * 30_000 // (121 * 1001))


def test_one_short_segment_is_its_own_peak() -> None:
    rates = bandwidth.measure(pictures(chunk(0, (1,))), 4)

    assert rates.peak == rates.average > 0
