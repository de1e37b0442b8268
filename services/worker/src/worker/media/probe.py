"""What is in an uploaded file, or the reason why it is refused. The ingest handler calls this first of all."""

from pathlib import Path

import msgspec

from reelworks.errors import Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media import refusals
from worker.media.command import Command, Finished
from worker.media.engine import MediaEngine, MediaLimits
from worker.media.ffprobe_json import ENTRIES, FRAME_ENTRIES, Document, to_image_report, to_report
from worker.media.hostile import MAX_BLOCK_BYTES, file_url, input_options, picture_options
from worker.media.reality import verified
from worker.media.report import MediaReport
from worker.media.sniff import Content, picture_demuxer, png_size, sniff

_OPENABLE = frozenset({Content.ISO_MEDIA, Content.UNKNOWN, Content.TEXT})
"""What ffprobe may look at. Text is among them since what looks like text may still be media; ffprobe's refusal
then gets the better explanation."""


def probe(path: Path, *, engine: MediaEngine, cancellation: Cancellation) -> MediaReport:
    """Describe a local file.

    Raises `Permanent` with a code of `refusals` and a sentence for its owner; `Temporary` when ffprobe crashed or
    hung (`probe_crashed`, `media_timeout`); whatever cancelled it.
    """
    content = sniff(path)
    demuxer = picture_demuxer(path)
    if demuxer is not None:
        return _picture(path, demuxer, engine, cancellation)
    if content not in _OPENABLE:
        raise refusals.unreadable(content)
    options = (*input_options(max_pixels=engine.limits.max_pixels), "-show_entries", ENTRIES)
    finished = _run(path, options, engine, cancellation)
    if finished.exit_code != 0:
        raise _refusal(content, finished.stderr_tail, engine.limits)
    report = _parse(finished, content)
    _enforce(report, engine.limits, finished.stderr_tail)
    report = verified(path, report, engine=engine, cancellation=cancellation)
    _enforce_length(report, engine.limits)
    return report


def _picture(path: Path, demuxer: str, engine: MediaEngine, cancellation: Cancellation) -> MediaReport:
    """One frame is decoded: Exif turns it, and a picture that cannot be decoded is of no use."""
    options = (
        *picture_options(demuxer, max_pixels=engine.limits.max_pixels),
        *("-read_intervals", "%+#1"),
        *("-show_entries", ENTRIES + FRAME_ENTRIES),
    )
    finished = _run(path, options, engine, cancellation)
    if "max pixel count" in finished.stderr_tail:
        raise refusals.too_many_pixels(engine.limits.max_pixels)
    # Builds of ffmpeg without zlib know no PNG; the thumbnails do without its decoder too.
    size = png_size(path) if demuxer == "png_pipe" else None
    if size and size[0] * size[1] > engine.limits.max_pixels:
        raise refusals.too_many_pixels(engine.limits.max_pixels, *size)
    report = to_image_report(_decoded(finished, Content.IMAGE), size)
    if report is None or report.picture is None:
        raise refusals.undecodable_picture(demuxer.removesuffix("_pipe").upper())
    return report


def _run(path: Path, options: tuple[str, ...], engine: MediaEngine, cancellation: Cancellation) -> Finished:
    finished = engine.runner.run(_command(path, options, engine), cancellation=cancellation)
    if finished.crashed:
        raise Temporary(f"Reading the file failed (signal {-finished.exit_code}).", code="probe_crashed")
    return finished


def _command(path: Path, options: tuple[str, ...], engine: MediaEngine) -> Command:
    return Command(
        argv=(
            engine.tools.ffprobe,
            "-hide_banner",
            *("-v", "error"),
            *("-max_alloc", str(MAX_BLOCK_BYTES)),
            # Probing decodes a frame or two: more threads would only cost memory.
            *("-threads", "1"),
            *options,
            *("-of", "json=compact=1"),
            file_url(path),
        ),
        timeout_s=engine.limits.probe_timeout_s,
    )


def _refusal(content: Content, stderr: str, limits: MediaLimits) -> Exception:
    """What ffprobe's refusal means; its wording is stable (libavformat/mov.c, demux.c) and only refines a message."""
    if "No such file" in stderr:
        return Temporary("The downloaded file disappeared from the scratch directory.", code="scratch_lost")
    if "Format not on whitelist" in stderr and any(f"[{name} @" in stderr for name in _REFERENCING):
        return refusals.unreadable(Content.PLAYLIST)
    if "max pixel count" in stderr:
        return refusals.too_many_pixels(limits.max_pixels)
    if content is Content.ISO_MEDIA and "moov atom not found" in stderr:
        return refusals.index_missing()
    return refusals.unreadable(content)


_REFERENCING = ("hls", "concat", "dash", "sdp", "rtsp", "imf", "webm_dash_manifest")


def _parse(finished: Finished, content: Content) -> MediaReport:
    try:
        return to_report(_decoded(finished, content))
    except ValueError as error:
        raise refusals.unreadable(content) from error


def _decoded(finished: Finished, content: Content) -> Document:
    try:
        return msgspec.json.decode(finished.stdout, type=Document)
    except msgspec.MsgspecError as error:
        raise refusals.unreadable(content) from error


def _enforce(report: MediaReport, limits: MediaLimits, stderr: str) -> None:
    count = len(report.audio) + len(report.video) + report.other_streams
    if count > limits.max_streams:
        raise refusals.too_many_streams(count, limits.max_streams)
    _enforce_pixels(report, limits, stderr)
    if report.speech is None and report.picture is None:
        raise _nothing(report)


def _nothing(report: MediaReport) -> Exception:
    """Cover art alone is no picture that moves; a picture without a size is one that nothing here decodes."""
    unseen = [video.codec for video in report.video if not video.attached_pic]
    return refusals.undecodable_picture(unseen[0]) if unseen else refusals.no_streams()


def _enforce_length(report: MediaReport, limits: MediaLimits) -> None:
    if report.duration_ms is not None and report.duration_ms > limits.max_duration_ms:
        raise refusals.too_long(limits.max_duration_ms, report.duration_ms)


def _enforce_pixels(report: MediaReport, limits: MediaLimits, stderr: str) -> None:
    for video in report.video:
        # A decoder that refuses the size leaves it unset and says so on stderr. Cover art is never decoded.
        refused = not video.width and "max pixel count" in stderr
        if not video.attached_pic and (refused or video.width * video.height > limits.max_pixels):
            raise refusals.too_many_pixels(limits.max_pixels, video.width, video.height)
