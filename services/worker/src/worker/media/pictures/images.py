"""Uploaded images in sizes for the web: upright, opaque, never enlarged, and without what the camera wrote into them.

Only what looks like one of these formats is opened, and then by the demuxer of that format alone: ffmpeg's own guess
would also know SVG and file-name patterns.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from reelworks.errors import Permanent
from reelworks.runtime.cancellation import Cancellation
from worker.media import refusals
from worker.media.command import Command, Finished
from worker.media.engine import MediaEngine
from worker.media.hostile import MAX_BLOCK_BYTES, file_url, input_options
from worker.media.pictures import jpeg, png
from worker.media.pictures.filters import ANONYMOUS, JPEG_COLOURS, ON_WHITE
from worker.media.pictures.sampling import refuse_crash
from worker.media.pictures.stills import MAX_JPEG_BYTES, STILL_TIMEOUT_S, jpeg_output
from worker.media.sniff import HEAD_BYTES, Content, classify

DEMUXERS: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("jpeg_pipe", re.compile(rb"\xff\xd8\xff")),
    ("png_pipe", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("webp_pipe", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
    ("gif", re.compile(rb"GIF8[79]a")),
    ("bmp_pipe", re.compile(rb"BM.{4}\0{4}", re.DOTALL)),
    ("tiff_pipe", re.compile(rb"II\*\0|MM\0\*")),
)
"""By the first bytes. HEIC and AVIF are missing: ffmpeg puts their tiles together only since version 8, in part."""

ACCEPTED = "Upload a JPEG, PNG, WebP, GIF, BMP or TIFF file."


def demuxer_of(path: Path) -> str:
    """The one that may open it. Raises `Permanent` with a sentence for the person who uploaded it."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    for demuxer, signature in DEMUXERS:
        if signature.match(head):
            return demuxer
    content = classify(head)
    if content in (Content.EMPTY, Content.PLAYLIST):
        raise refusals.unreadable(content)
    raise Permanent(
        f"This is not a picture in a format that can be read. {ACCEPTED}", code="unreadable_picture"
    )


def resize(
    source: Path, wanted: Mapping[Path, int], *, engine: MediaEngine, cancellation: Cancellation
) -> None:
    """Write JPEG files, each with its longer side at most so many pixels; the first of them is the largest.

    Of an animation the first picture. Raises `Permanent` (`too_many_pixels`, `undecodable_picture`, …).
    """
    for path in wanted:
        path.unlink(missing_ok=True)
    demuxer, limit = demuxer_of(source), engine.limits.max_pixels
    whitelist = input_options(max_pixels=limit, demuxers=(demuxer,))
    finished = _run((*whitelist, "-f", demuxer, "-i", file_url(source)), wanted, engine, cancellation)
    if demuxer == "png_pipe" and NO_DECODER in finished.stderr_tail:
        finished = _run(_unpacked(source, limit, cancellation), wanted, engine, cancellation)
    if all(jpeg.size_of(path) for path in wanted):
        return
    if "max pixel count" in finished.stderr_tail or "Picture size" in finished.stderr_tail:
        raise refusals.too_many_pixels(limit)
    raise png.damaged()


NO_DECODER = "no decoder found for: png"
"""libavformat and fftools, in a build without zlib."""


def _unpacked(source: Path, max_pixels: int, cancellation: Cancellation) -> tuple[str, ...]:
    """Input options for the pixels of a PNG. They are ours, so the whitelist for uploads does not apply."""
    raw = source.with_name("pixels.raw")
    header = png.unpack(source, raw, max_pixels=max_pixels, check=cancellation.check)
    size = f"{header.width}x{header.height}"
    shape = ("-f", "rawvideo", "-pixel_format", header.pixel_format, "-video_size", size)
    return ("-protocol_whitelist", "file", *shape, "-i", file_url(raw))


def _run(
    source: tuple[str, ...], wanted: Mapping[Path, int], engine: MediaEngine, cancellation: Cancellation
) -> Finished:
    """One decode, all sizes."""
    tools = engine.tools
    outputs: list[str] = []
    for number, path in enumerate(wanted):
        outputs += ["-map", f"[{number}]", "-frames:v", "1", *jpeg_output(path, tools.threads)]
    command = Command(
        argv=(
            *(tools.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-y", "-v", "error"),
            *("-max_alloc", str(MAX_BLOCK_BYTES), "-threads", str(tools.threads)),
            *("-filter_complex_threads", str(tools.threads)),
            *source,
            *("-filter_complex", _graph(tuple(wanted.values()))),
            *outputs,
        ),
        timeout_s=STILL_TIMEOUT_S,
        max_file_bytes=MAX_JPEG_BYTES,
    )
    finished = engine.runner.run(command, cancellation=cancellation)
    refuse_crash(finished)
    return finished


def _graph(longest: tuple[int, ...]) -> str:
    """The largest from the source, which is then gone from memory; the others from the largest."""
    names = [f"large{number}" for number in range(len(longest))]
    largest = f"[0:0]{_shrink(longest[0])},{ON_WHITE},split={len(names)}{''.join(f'[{n}]' for n in names)}"
    finish = f"scale={JPEG_COLOURS},format=yuv420p,setsar=1,{ANONYMOUS}"
    parts = (f"[{n}]{_shrink(s)},{finish}[{i}]" for i, (n, s) in enumerate(zip(names, longest, strict=True)))
    return ";".join((largest, *parts))


def _shrink(longest: int) -> str:
    """After ffmpeg has turned it upright. Pixels of pictures are square, whatever their header says: so browsers do."""
    box = rf"w=min({longest}\,iw):h=min({longest}\,ih)"
    return f"setsar=1,scale={box}:force_original_aspect_ratio=decrease:flags=area+accurate_rnd"
