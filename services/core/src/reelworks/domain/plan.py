"""The task graph of an upload: a pure function of what the probe found and the profile."""

import math
from collections.abc import Callable, Iterator
from enum import StrEnum

from msgspec import Struct

from reelworks.domain import geometry, timeline
from reelworks.domain.geometry import Size
from reelworks.domain.profile import Profile, VideoOptions
from reelworks.domain.timeline import CHUNKING, Chunking, Grid
from reelworks.errors import Permanent

INGEST = "ingest"
"""The task that checks an arrived object and makes the plan. It has a row like any other, made at its first claim."""

MAX_TASKS = 90
"""DynamoDB takes 100 items in a transaction; the upload, the ingest task and some room are left out."""

HOLD_ABOVE_MS = 1_000
"""Encoders pad sound by a few frames; a player that runs out of pictures for longer would stop."""

RATE_BY_PIXELS = 0.75
"""Four times the pixels need about three times the bits at the same quality: detail grows more slowly than area."""


class TaskKind(StrEnum):
    """What a task does, whatever its name; a label of metrics, so the set is closed."""

    INGEST = "ingest"
    TRANSCRIBE = "transcribe"
    POSTER = "poster"
    STORYBOARD = "storyboard"
    THUMBNAILS = "thumbnails"
    AUDIO = "audio"
    VIDEO = "video"
    PACKAGE = "package"
    PREVIEW = "preview"
    MP4 = "mp4"


class Lane(StrEnum):
    """The queues every installation has. A high-priority twin is another queue, by configuration."""

    EVENTS = "events"
    """S3 notifications, and ingest tasks sent again by a sweep."""
    FAST = "fast"
    """Tasks of seconds."""
    ENCODE = "encode"
    """Tasks that keep all cores busy for minutes."""
    SPEECH = "speech"
    """Transcription."""


class MediaType(StrEnum):
    """What people would call the file."""

    VIDEO = "video"
    AUDIO = "audio"
    IMAGE = "image"


class ObjectFacts(Struct, frozen=True, kw_only=True):
    """The object that the ingest saw. Later reads insist on this ETag (or version): no other bytes are processed."""

    size_bytes: int
    etag: str
    version_id: str | None = None


class MediaSummary(Struct, frozen=True, kw_only=True):
    """What the plan needs to know of a file. The whole report is in S3 at `report_key`.

    `duration_ms`: of the longest stream; None where that cannot be found out. `picture_ms`: where the pictures end, if
    the container says: sound often goes on for a moment, or for an hour. `width`, `height`: as displayed, 0 without
    pictures. `frame_rate`: the constant one it is encoded at, exact ("30000/1001").
    """

    format: str
    has_audio: bool
    has_video: bool
    type: MediaType = MediaType.VIDEO
    duration_ms: int | None = None
    picture_ms: int | None = None
    width: int = 0
    height: int = 0
    frame_rate: str | None = None
    report_key: str | None = None


class TaskSpec(Struct, frozen=True, kw_only=True):
    """One node of the graph. `depends_on`: tasks that must be DONE. `after`: tasks that must have ended, somehow."""

    name: str
    kind: TaskKind
    lane: str
    depends_on: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Rung(Struct, frozen=True, kw_only=True):
    """One rendition. `name`: its shorter side in pixels ("720"). `max_kbps`: cap, None leaves it to the encoder."""

    name: str
    width: int
    height: int
    crf: int
    max_kbps: int | None = None


class VideoPlan(Struct, frozen=True, kw_only=True):
    """How the pictures are encoded, the same in every chunk."""

    rungs: tuple[Rung, ...]
    grid: Grid
    preset: str
    codec: str = "h264"


class Plan(Struct, frozen=True, kw_only=True):
    """Tasks in an order in which each comes after what it depends on."""

    profile: str
    tasks: tuple[TaskSpec, ...]
    video: VideoPlan | None = None


CHUNK = "video-{:03d}"


def chunk_number(task: str) -> int:
    """`video-007` → 7."""
    return int(task.partition("-")[2])


Fit = Callable[[VideoPlan, frozenset[str]], VideoPlan]
"""Fits a ladder to the pictures. Gets the names of the rungs that must stay; see `domain.per_title`."""


def make_plan(
    media: MediaSummary, profile: Profile, chunking: Chunking = CHUNKING, fit: Fit | None = None
) -> Plan:
    """The tasks for this media. A file without sound still gets its (empty) transcript, which takes no time."""
    if media.type is MediaType.IMAGE:
        thumbnails = TaskSpec(name="thumbnails", kind=TaskKind.THUMBNAILS, lane=Lane.FAST)
        return Plan(profile=profile.name, tasks=(thumbnails,))
    video = _video_plan(media, profile.video, chunking)
    if video is not None and profile.video is not None and profile.video.per_title and fit is not None:
        video = fit(video, frozenset(str(height) for height in profile.mp4))
    return checked(Plan(profile=profile.name, tasks=tuple(_tasks(media, profile, video)), video=video))


def _video_plan(media: MediaSummary, options: VideoOptions | None, chunking: Chunking) -> VideoPlan | None:
    if options is None or media.type is not MediaType.VIDEO or media.frame_rate is None:
        return None
    if not (media.width and media.height):
        return None
    sizes = geometry.ladder(Size(width=media.width, height=media.height), options.heights)
    rungs = tuple(
        Rung(
            name=str(s.short),
            width=s.width,
            height=s.height,
            crf=options.crf,
            max_kbps=_cap(options.max_kbps, s, sizes[-1]),
        )
        for s in sizes
    )
    grid = timeline.grid(media.frame_rate, _lasts_ms(media), options.segment_s, chunking)
    return VideoPlan(rungs=rungs, grid=grid, preset=options.preset, codec=options.codec)


def _cap(highest_kbps: int | None, size: Size, top: Size) -> int | None:
    """Of a rung, if the highest one may have so many kilobits a second."""
    if highest_kbps is None:
        return None
    share = (size.width * size.height) / (top.width * top.height)
    return max(1, round(highest_kbps * math.pow(share, RATE_BY_PIXELS)))


def _lasts_ms(media: MediaSummary) -> int:
    """Sound that goes on for a moment adds no frames; if it goes on for longer, the last picture is held."""
    pictures, everything = media.picture_ms or 0, media.duration_ms or 0
    held = not pictures or everything - pictures > HOLD_ABOVE_MS
    return max(1, everything if held else pictures)


def _tasks(media: MediaSummary, profile: Profile, video: VideoPlan | None) -> Iterator[TaskSpec]:
    """Quick things first: messages are sent in this order."""
    streams: list[str] = []
    if video is not None and profile.pictures:
        yield TaskSpec(name="poster", kind=TaskKind.POSTER, lane=Lane.FAST)
        yield TaskSpec(name="storyboard", kind=TaskKind.STORYBOARD, lane=Lane.FAST)
    if media.has_audio and profile.stream_audio:
        streams.append("audio")
        yield TaskSpec(name="audio", kind=TaskKind.AUDIO, lane=Lane.FAST)
    for number in range(video.grid.chunks if video else 0):
        streams.append(CHUNK.format(number))
        yield TaskSpec(name=streams[-1], kind=TaskKind.VIDEO, lane=Lane.ENCODE)
    if profile.transcribe:
        lane = Lane.SPEECH if media.has_audio else Lane.FAST
        yield TaskSpec(name="transcribe", kind=TaskKind.TRANSCRIBE, lane=lane)
    if streams:
        yield from _packaged(profile, video, tuple(streams))


def _packaged(profile: Profile, video: VideoPlan | None, streams: tuple[str, ...]) -> Iterator[TaskSpec]:
    """A stream does not wait for its captions' success, only for their end."""
    captions = ("transcribe",) if profile.transcribe else ()
    yield TaskSpec(name="package", kind=TaskKind.PACKAGE, lane=Lane.FAST, depends_on=streams, after=captions)
    if video is None:
        return
    if profile.preview:
        yield TaskSpec(name="preview", kind=TaskKind.PREVIEW, lane=Lane.FAST, depends_on=streams)
    names = {rung.name for rung in video.rungs}
    for height in profile.mp4:
        if str(height) in names:
            yield TaskSpec(name=f"mp4-{height}", kind=TaskKind.MP4, lane=Lane.FAST, depends_on=streams)


def checked(plan: Plan) -> Plan:
    """The plan itself, if each dependency comes before its dependents and it fits one transaction."""
    seen: set[str] = {INGEST}
    for task in plan.tasks:
        if task.name in seen:
            raise Permanent(f"The plan names the task {task.name!r} twice.", code="invalid_plan")
        if missing := {*task.depends_on, *task.after} - seen:
            raise Permanent(
                f"Task {task.name!r} depends on {sorted(missing)}, not planned before it.",
                code="invalid_plan",
            )
        seen.add(task.name)
    if len(plan.tasks) > MAX_TASKS:
        raise Permanent(
            f"The plan has {len(plan.tasks)} tasks; at most {MAX_TASKS} fit.", code="invalid_plan"
        )
    return plan
