"""One frame of a video as JPEG files of several sizes, by one decode."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from reelworks.domain.geometry import Size
from reelworks.errors import Permanent
from worker.media.command import Command
from worker.media.hostile import file_url
from worker.media.pictures import filters, jpeg
from worker.media.pictures.sampling import Source, decode_options, refuse_crash

QUALITY = "3"
"""mjpeg's quantiser, 2 (best) to 31; about 90 of libjpeg's scale."""
STILL_TIMEOUT_S = 120.0
MAX_JPEG_BYTES = 32 * 1024 * 1024
"""Far above what 40 megapixels take; a bound on the scratch disk."""


def save(source: Source, time_ms: int, wanted: Mapping[Path, Size], *, key: bool) -> None:
    """Write the frame at that time, else the nearest before that can be had, else the first.

    `key`: it is known to be a keyframe. Raises `Permanent` (`undecodable_video`), if there is none at all.
    """
    for seek, only_key in _places(time_ms, key=key):
        command = _command(source, seek, wanted, key=only_key)
        refuse_crash(source.engine.runner.run(command, cancellation=source.cancellation))
        if all(jpeg.size_of(path) == size for path, size in wanted.items()):
            return
    raise undecodable(source)


def undecodable(source: Source) -> Permanent:
    """For a file that has a picture of which not one frame decodes."""
    return Permanent(
        f"The picture of this file ({source.stream.codec}) cannot be decoded. "
        "Export it as MP4 with H.264 and upload it again.",
        code="undecodable_video",
    )


def _places(time_ms: int, *, key: bool) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Where to look, and whether only at keyframes."""
    # A millisecond early: times are rounded, and a seek ends at the first frame that is not before it.
    exact = ("-ss", f"{max(0, time_ms - 1) / 1000:.3f}")
    if key:
        yield exact, True
    yield exact, False
    yield ("-noaccurate_seek", *exact), False
    yield (), False


def _command(source: Source, seek: tuple[str, ...], wanted: Mapping[Path, Size], *, key: bool) -> Command:
    outputs: list[str] = []
    for path, size in wanted.items():
        path.unlink(missing_ok=True)
        outputs += ["-map", f"0:{source.stream.index}", "-an", "-sn", "-dn"]
        outputs += ["-vf", filters.picture(source.stream, size), "-frames:v", "1"]
        outputs += jpeg_output(path, source.engine.tools.threads)
    return Command(
        argv=(*decode_options(source, key=key), *seek, "-i", file_url(source.file.path), *outputs),
        timeout_s=STILL_TIMEOUT_S,
        max_file_bytes=MAX_JPEG_BYTES,
    )


def jpeg_output(path: Path, threads: int) -> tuple[str, ...]:
    """Options of one JPEG file, full range and without a word about where it came from."""
    return (
        *("-c:v", "mjpeg", "-q:v", QUALITY, "-color_range", "pc", "-threads", str(threads)),
        *("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"),
        # `update`: the name is a name and no pattern.
        *("-f", "image2", "-update", "1", file_url(path)),
    )
