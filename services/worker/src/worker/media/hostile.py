"""The options that every ffmpeg and ffprobe run gets before an uploaded file.

Uploaded bytes decide which demuxer opens them, whatever they are called, and some demuxers open what a file
*names*: other files, URLs, devices. So nothing is opened that is not on a list.
"""

from pathlib import Path

DEMUXERS = (
    # Each name as `ffmpeg -demuxers` prints it; of a comma-separated family any one name admits all.
    "mov",  # mp4, m4a, 3gp, QuickTime. References to outside tracks stay off (`enable_drefs`, default false).
    "matroska",  # mkv, webm, mka
    "avi",
    "flv",
    "asf",  # wmv, wma
    "mpegts",  # camcorders (mts, m2ts), broadcast
    "mpeg",  # program streams: vob, mpg
    "mxf",
    "ogg",
    "gif",  # animated; still pictures: PICTURE_DEMUXERS
    "mp3",
    "aac",
    "ac3",
    "eac3",
    "flac",
    "wav",
    "w64",
    "aiff",
    "au",
    "caf",
    "amr",
    "wv",
)
"""Self-contained audio and video. Left out on purpose: hls, dash, concat, sdp, rtsp, imf and webm_dash_manifest (they
fetch what they name), image2 and the *_pipe family (patterns, bombs), lavfi and devices, tedcaptions and the other
subtitle formats (text that looks like media), and exotic game formats (decoders nobody fuzzes)."""

PICTURE_DEMUXERS = ("jpeg_pipe", "png_pipe", "webp_pipe")
"""Still pictures whose first bytes were recognised; never on the list above, always forced by name, so that no
picture is opened by a guess. They read the one file they are given. SVG can name others and is never decoded."""

MAX_PIXELS = 40_000_000
"""Per picture: 8K UHD is 33 million. A 16000x16000 jpeg of 1.5 MB took 400 MB to decode, refused it took 11 MB."""

MAX_BLOCK_BYTES = 512 * 1024 * 1024
"""The largest single allocation: a 40-megapixel 4:4:4 picture of 16 bit needs 240 MB, a lying header asks for more."""


def input_options(*, max_pixels: int = MAX_PIXELS, demuxers: tuple[str, ...] = DEMUXERS) -> tuple[str, ...]:
    """Options that go before `-i` (ffmpeg) or before the file name (ffprobe)."""
    return (
        # Local files only: http, tcp, concat, subfile, data … are refused even if a demuxer asks for them.
        "-protocol_whitelist",
        "file",
        "-format_whitelist",
        ",".join(demuxers),
        "-max_pixels",
        str(max_pixels),
    )


def picture_options(demuxer: str, *, max_pixels: int = MAX_PIXELS) -> tuple[str, ...]:
    """The same for a picture file that `sniff` recognised, one of PICTURE_DEMUXERS."""
    return (*input_options(max_pixels=max_pixels, demuxers=(demuxer,)), "-f", demuxer)


def options_for(formats: tuple[str, ...], *, max_pixels: int = MAX_PIXELS) -> tuple[str, ...]:
    """The same for a file that was probed, by the formats of its report."""
    if formats[0] in PICTURE_DEMUXERS:
        return picture_options(formats[0], max_pixels=max_pixels)
    return input_options(max_pixels=max_pixels)


def file_url(path: Path) -> str:
    """A name that ffmpeg takes for a file, even if it begins with `-` or contains `:` or `%d`."""
    return f"file:{path}"
