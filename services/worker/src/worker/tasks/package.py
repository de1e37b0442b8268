"""Package: joins what the `audio` and `video` tasks encoded into a stream that players can open.

Only small texts are written; they name segments below the prefixes of other tasks, by relative URIs, so the bucket may
be served from anywhere. Nothing is published that is not complete.
"""

from collections.abc import Iterator

from msgspec import Struct

from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.ports import BlobStore
from reelworks.streaming import captions, dash, master, playlist
from reelworks.streaming.master import CAPTIONS_GROUP, Presentation
from reelworks.streaming.track import Track
from worker.media.encode import extent
from worker.media.encode.cut import expected_ms
from worker.media.hls import validate
from worker.tasks import publish, source, streams
from worker.tasks.streams import Streams
from worker.work import Work

TRANSCRIBE = "transcribe"
MAX_VTT_BYTES = 16_000_000
MASTER, DASH = "master.m3u8", "manifest.mpd"


class PackageDependencies(Struct, frozen=True, kw_only=True):
    """The media bucket."""

    media: BlobStore


class Captions(Struct, frozen=True, kw_only=True):
    """The transcript, where it is, and its language (BCP 47, "und" if unknown)."""

    key: str
    vtt: bytes
    language: str


class Page(Struct, frozen=True, kw_only=True):
    """A text to be published at `work.prefix` + `path`."""

    name: str
    path: str
    body: bytes
    content_type: str = playlist.CONTENT_TYPE


def package(work: Work, needs: PackageDependencies) -> Outcome:
    """Done with `master`, `dash`, `captions` and `{rendition}/playlist`. Raises Temporary (`stream_incomplete`) for
    what a retry may find complete, Permanent (`truncated`)."""
    found = streams.load(work, needs.media)
    _complete(work, needs, found)
    spoken = _captions(work, needs.media)
    pages = list(_pages(work, _presentation(work, found, spoken), spoken))
    for page in pages:
        work.cancellation.check()
        needs.media.put(work.prefix + page.path, page.body, page.content_type, publish.BRIEFLY)
    files = {page.name: work.prefix + page.path for page in pages}
    return Done(outputs=Outputs(prefix=work.prefix, files=files))


def _complete(work: Work, needs: PackageDependencies, found: Streams) -> None:
    """All of it, before anything points there."""
    report = source.report(work.upload, needs.media)
    plan = work.upload.plan.video if work.upload.plan else None
    if plan is not None:
        validate.rungs(found.pictures, [rung.name for rung in plan.rungs], plan.grid)
        if report.picture:
            validate.covers(found.pictures[0], expected_ms(plan.grid, report, report.picture))
    if found.sound and report.speech:
        validate.covers(found.sound, extent.declared_end_ms(report, report.speech))
    validate.objects(_tracks(found.pictures, found.sound), needs.media, work.cancellation)


def _tracks(pictures: tuple[Track, ...], sound: Track | None) -> tuple[Track, ...]:
    return (*pictures, *((sound,) if sound else ()))


def _captions(work: Work, media: BlobStore) -> Captions | None:
    """None while there are none: the transcript failed, was not asked for, or is empty."""
    transcript = work.inputs.get(TRANSCRIBE)
    key = transcript.files.get("vtt") if transcript else None
    vtt = media.get(key, MAX_VTT_BYTES) if key else None
    if transcript is None or key is None or vtt is None or not captions.has_cues(vtt):
        return None
    return Captions(key=key, vtt=vtt, language=transcript.language or "und")


def _presentation(work: Work, found: Streams, spoken: Captions | None) -> Presentation:
    video = work.upload.plan.video if work.upload.plan else None
    durations = tuple(d for track in _tracks(found.pictures, found.sound) for d in track.durations)
    return Presentation(
        pictures=found.pictures,
        sound=found.sound,
        # One for all renditions: players compare them.
        target_s=playlist.target_duration(durations),
        frame_rate=float(video.grid.fps) if video else None,
        captions=spoken.language if spoken else None,
    )


def _pages(work: Work, show: Presentation, spoken: Captions | None) -> Iterator[Page]:
    """The master last: whoever finds it finds everything it names."""
    tracks = _tracks(show.pictures, show.sound)
    for track in tracks:
        path = master.uri(track.name)
        written = playlist.write(track, work.prefix + path, show.target_s)
        validate.text(track, written, work.prefix + path)
        yield Page(name=f"{track.name}/playlist", path=path, body=written.encode())
    if spoken:
        longest = max(track.seconds for track in tracks)
        yield Page(
            name="captions",
            path=f"{CAPTIONS_GROUP}/{captions.VTT_NAME}",
            body=captions.on_media_time(spoken.vtt),
            content_type=captions.VTT_TYPE,
        )
        listed = captions.playlist(longest).encode()
        yield Page(name="captions/playlist", path=master.uri(CAPTIONS_GROUP), body=listed)
    manifest = dash.write(show, work.prefix + DASH, spoken.key if spoken else None)
    if manifest:
        yield Page(name="dash", path=DASH, body=manifest, content_type=dash.CONTENT_TYPE)
    yield Page(name="master", path=MASTER, body=master.write(show).encode())
