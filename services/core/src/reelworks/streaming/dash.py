"""A DASH manifest (ISO/IEC 23009-1) over the same segments as the HLS playlists.

Segments of different chunks are below different prefixes, so they are listed one by one instead of by a template.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reelworks.domain.timeline import OFFSET_S
from reelworks.streaming import bandwidth
from reelworks.streaming.master import Presentation
from reelworks.streaming.playlist import relative
from reelworks.streaming.track import Track

CONTENT_TYPE = "application/dash+xml"
NAMESPACE = "urn:mpeg:dash:schema:mpd:2011"
PROFILE = "urn:mpeg:dash:profile:isoff-main:2011"


def write(show: Presentation, key: str, captions_key: str | None = None) -> bytes | None:
    """The manifest at `key`; None if chunks have different init segments, which one period cannot express."""
    tracks = [*show.pictures, *([show.sound] if show.sound else [])]
    if not all(track.uniform for track in tracks):
        return None
    longest = max(track.seconds for track in tracks)
    root = Element(
        "MPD",
        xmlns=NAMESPACE,
        profiles=PROFILE,
        type="static",
        minBufferTime=_duration(Fraction(2 * show.target_s)),
        mediaPresentationDuration=_duration(longest),
    )
    period = SubElement(root, "Period", id="0", start="PT0S")
    period.extend(_sets(show, key, captions_key))
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _sets(show: Presentation, key: str, captions_key: str | None) -> Iterator[Element]:
    if show.pictures:
        yield _set("video", "video/mp4", (_representation(t, show, key) for t in show.pictures))
    if show.sound:
        yield _set("audio", "audio/mp4", (_representation(show.sound, show, key),))
    if show.captions and captions_key:
        yield _captions(show.captions, relative(captions_key, key))


def _set(kind: str, mime: str, members: Iterable[Element]) -> Element:
    found = Element(
        "AdaptationSet", contentType=kind, mimeType=mime, segmentAlignment="true", startWithSAP="1"
    )
    found.extend(members)
    return found


def _representation(track: Track, show: Presentation, key: str) -> Element:
    init = track.init
    facts = {
        "id": track.name,
        "codecs": init.codec,
        "bandwidth": str(bandwidth.measure(track, show.target_s).peak),
    }
    if init.width:
        facts |= {"width": str(init.width), "height": str(init.height), "sar": "1:1"}
    else:
        facts |= {"audioSamplingRate": str(init.sample_rate)}
    found = Element("Representation", facts)
    found.append(_segments(track, key))
    return found


def _segments(track: Track, key: str) -> Element:
    scale = track.init.timescale
    found = Element("SegmentList", timescale=str(scale), presentationTimeOffset=str(OFFSET_S * scale))
    SubElement(found, "Initialization", sourceURL=relative(track.init.key, key))
    found.append(_timeline(track))
    for segment in track.segments:
        SubElement(found, "SegmentURL", media=relative(segment.key, key))
    return found


def _timeline(track: Track) -> Element:
    """Runs of equal length are one entry with a count of repetitions."""
    found = Element("SegmentTimeline")
    for ticks, run in groupby(segment.ticks for segment in track.segments):
        entry = SubElement(found, "S", d=str(ticks))
        repeats = len(list(run)) - 1
        if repeats:
            entry.set("r", str(repeats))
    # Decoding time: sound begins a frame of encoder delay before the first sample that is heard.
    found[0].set("t", str(track.segments[0].start))
    return found


def _captions(language: str, uri: str) -> Element:
    found = Element("AdaptationSet", contentType="text", mimeType="text/vtt", lang=language)
    SubElement(found, "Role", schemeIdUri="urn:mpeg:dash:role:2011", value="subtitle")
    representation = SubElement(found, "Representation", id="captions", bandwidth="1000")
    SubElement(representation, "BaseURL").text = uri
    return found


def _duration(seconds: Fraction) -> str:
    return f"PT{float(seconds):.3f}S"
