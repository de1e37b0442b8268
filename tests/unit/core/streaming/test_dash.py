"""The DASH manifest names the same segments, on the same clock."""

from xml.etree import ElementTree

from msgspec import structs

from reelworks.streaming import dash
from reelworks.streaming.master import Presentation
from tests.unit.core.streaming.builders import PACKAGE, TASKS, chunk, pictures, sound

KEY = f"{PACKAGE}/manifest.mpd"
SHOW = Presentation(pictures=(pictures(),), sound=sound(), target_s=4, captions="en")
NAMES = {"d": dash.NAMESPACE}


def parsed(show: Presentation = SHOW) -> ElementTree.Element:
    written = dash.write(show, KEY, f"{TASKS}/transcribe/t7/transcript.vtt")
    assert written
    return ElementTree.fromstring(written)  # noqa: S314 - we wrote it


def test_every_segment_is_listed_with_its_length() -> None:
    video = parsed().find(".//d:Representation[@id='720']/d:SegmentList", NAMES)

    assert video is not None
    assert [s.get("media") for s in video.findall("d:SegmentURL", NAMES)] == [
        "../../video-000/t0/720/00000.m4s",
        "../../video-000/t0/720/00001.m4s",
        "../../video-001/t1/720/00002.m4s",
        "../../video-001/t1/720/00003.m4s",
    ]
    timeline = [dict(s.attrib) for s in video.findall("d:SegmentTimeline/d:S", NAMES)]
    assert timeline == [{"t": "30000", "d": "120120", "r": "2"}, {"d": "60060"}]
    assert video.get("presentationTimeOffset") == video.get("timescale") == "30000"


def test_sound_begins_with_its_encoder_delay() -> None:
    first = parsed().find(".//d:Representation[@id='audio']//d:S", NAMES)

    assert first is not None
    assert first.get("t") == "46976"


def test_the_whole_lasts_as_long_as_its_longest_stream() -> None:
    assert parsed().get("mediaPresentationDuration") == "PT16.000S"


def test_captions_are_the_transcript_itself() -> None:
    url = parsed().find(".//d:AdaptationSet[@contentType='text']//d:BaseURL", NAMES)

    assert url is not None
    assert url.text == "../../transcribe/t7/transcript.vtt"


def test_chunks_that_differ_have_no_manifest() -> None:
    mixed = pictures(chunk(0), chunk(1, sha256="other"))

    assert dash.write(structs.replace(SHOW, pictures=(mixed,)), KEY) is None
