"""What became of an upload's pictures and sound, as far as its tasks are DONE: renditions, poster, downloads."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from reelworks.domain import poster
from reelworks.domain import snapshot as snapshots
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import TaskKind
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.upload import Upload
from reelworks.streaming import growing
from upload_api.dependencies import Dependencies

MASTER = "master.m3u8"
STORYBOARD = "storyboard.vtt"

Sign = Callable[[str], str]


class RenditionView(Struct, frozen=True, kw_only=True):
    """One size of the stream. `name`: its shorter side in pixels."""

    name: str
    width: int
    height: int


class PosterView(Struct, frozen=True, kw_only=True):
    """`url`: the poster. `chosen`: its index among `candidates`, small versions of all on offer, the best first."""

    url: str
    chosen: int
    candidates: tuple[str, ...]


class PlaybackView(Struct, frozen=True, kw_only=True):
    """Paths at this API. `hls`: the master playlist, as soon as something can be played. `growing`: more will be
    appended to it, players ask again by themselves. `storyboard`: WebVTT with the pictures for scrubbing.
    """

    hls: str | None = None
    growing: bool = False
    storyboard: str | None = None


class Results(Struct, frozen=True, kw_only=True):
    """URLs are presigned, good for about an hour; ask again for fresh ones.

    `preview`: ten seconds as MP4. `downloads`: whole files as MP4, by the rendition's name. `thumbnails`: of an image,
    by width; `preview` is the largest.
    """

    renditions: tuple[RenditionView, ...] = ()
    poster: PosterView | None = None
    playback: PlaybackView | None = None
    preview: str | None = None
    downloads: Mapping[str, str] = {}
    thumbnails: Mapping[str, str] = {}


def results(snapshot: Snapshot, deps: Dependencies) -> Results:
    """Everything that is there by now."""

    def sign(key: str) -> str:
        return deps.media.sign_get(key, deps.policy.url_expires_s)

    outputs = {task.kind: task.outputs for task in snapshots.results(snapshot).values() if task.outputs}
    return Results(
        renditions=_renditions(snapshot, outputs),
        poster=_poster(snapshot.upload, outputs.get(TaskKind.POSTER), sign),
        playback=_playback(snapshot, outputs),
        preview=_preview(outputs, sign),
        downloads=_downloads(snapshot, sign),
        thumbnails=_thumbnails(outputs.get(TaskKind.THUMBNAILS), sign),
    )


def _renditions(snapshot: Snapshot, outputs: Mapping[TaskKind, Outputs]) -> tuple[RenditionView, ...]:
    plan, earlier = snapshot.upload.plan, snapshot.upload.earlier
    if earlier is not None and not any(
        t.kind is TaskKind.PACKAGE and t.outputs for t in snapshot.tasks.values()
    ):
        plan = earlier.plan
    video = plan.video if plan else None
    if video is None or TaskKind.PACKAGE not in outputs:
        return ()
    return tuple(RenditionView(name=r.name, width=r.width, height=r.height) for r in video.rungs)


def _poster(upload: Upload, outputs: Outputs | None, sign: Sign) -> PosterView | None:
    if outputs is None or "poster" not in outputs.files:
        return None
    small = sorted(name for name in outputs.files if name.startswith("candidate-"))
    chosen = poster.shown(upload, outputs)
    return PosterView(
        url=sign(outputs.files.get(f"poster-{chosen}", outputs.files["poster"])),
        chosen=chosen,
        candidates=tuple(sign(outputs.files[name]) for name in small),
    )


def _playback(snapshot: Snapshot, outputs: Mapping[TaskKind, Outputs]) -> PlaybackView | None:
    base = f"/api/uploads/{snapshot.upload.upload_id}/playback"
    early = None if TaskKind.PACKAGE in outputs else growing.committed(snapshot)
    view = PlaybackView(
        hls=f"{base}/{MASTER}" if early or TaskKind.PACKAGE in outputs else None,
        growing=early is not None and not early.whole,
        storyboard=f"{base}/{STORYBOARD}" if TaskKind.STORYBOARD in outputs else None,
    )
    return view if view != PlaybackView() else None


def _preview(outputs: Mapping[TaskKind, Outputs], sign: Sign) -> str | None:
    for kind in (TaskKind.PREVIEW, TaskKind.THUMBNAILS):
        found = outputs.get(kind)
        if found is not None and "preview" in found.files:
            return sign(found.files["preview"])
    return None


def _downloads(snapshot: Snapshot, sign: Sign) -> dict[str, str]:
    shown = snapshots.results(snapshot).values()
    done = [task for task in shown if task.kind is TaskKind.MP4 and task.outputs]
    return {
        task.name.removeprefix("mp4-"): sign(task.outputs.files["mp4"])
        for task in done
        if task.outputs and "mp4" in task.outputs.files
    }


def _thumbnails(outputs: Outputs | None, sign: Sign) -> dict[str, str]:
    files = outputs.files if outputs else {}
    return {
        name.removeprefix("thumb-"): sign(key) for name, key in files.items() if name.startswith("thumb-")
    }
