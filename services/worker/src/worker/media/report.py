"""What a media file contains, as far as anyone downstream asks. Made by `probe`, kept in S3 with the upload."""

from typing import Literal

from msgspec import Struct

from worker.media.hostile import PICTURE_DEMUXERS


class AudioStream(Struct, frozen=True, kw_only=True):
    """`index` as in `-map 0:index`. `start_ms` on the file's presentation timeline; `duration_ms` None: unknown.

    `language` as the file has it (ISO 639-2, mostly), None for none and for `und`.
    """

    index: int
    codec: str
    channels: int
    sample_rate: int
    default: bool = False
    language: str | None = None
    start_ms: int = 0
    duration_ms: int | None = None


class VideoStream(Struct, frozen=True, kw_only=True):
    """`width` and `height` as coded (0: unknown). `rotation`: degrees clockwise to turn it for showing, after mirroring
    it left to right if `flipped`. `attached_pic`: cover art, or a single frame beside longer sound.

    `sar`: sample aspect ratio, "1:1" for square pixels. `display_width`, `display_height`: after rotation and aspect.
    `frame_rate` an exact average like `30000/1001`, None: unknown; `constant_rate`: the sane one to encode at (never
    None for a picture that moves). `variable`: frames do not come at one rate. `field_order`: as ffprobe names it, None
    if it is progressive or unknown. Colour names as ffprobe gives them, None where the file says nothing.
    """

    index: int
    codec: str
    width: int
    height: int
    default: bool = False
    attached_pic: bool = False
    rotation: Literal[0, 90, 180, 270] = 0
    flipped: bool = False
    sar: str = "1:1"
    display_width: int = 0
    display_height: int = 0
    frame_rate: str | None = None
    constant_rate: str | None = None
    variable: bool = False
    field_order: str | None = None
    pixel_format: str | None = None
    bits: int = 8
    alpha: bool = False
    color_primaries: str | None = None
    color_transfer: str | None = None
    color_space: str | None = None
    color_range: str | None = None
    start_ms: int = 0
    duration_ms: int | None = None
    frames: int | None = None

    @property
    def end_ms(self) -> int | None:
        """Where it ends on the presentation timeline."""
        return None if self.duration_ms is None else self.start_ms + self.duration_ms

    @property
    def hdr(self) -> bool:
        """PQ or HLG: must be tone-mapped for people without an HDR screen."""
        return self.color_transfer in ("smpte2084", "arib-std-b67")

    @property
    def interlaced(self) -> bool:
        """Fields instead of frames."""
        return self.field_order in ("tt", "bb", "tb", "bt")


class MediaReport(Struct, frozen=True, kw_only=True):
    """`formats`: the demuxer's family of names (`mov`, `mp4`, …). `other_streams` counts data and subtitles."""

    formats: tuple[str, ...]
    size_bytes: int
    duration_ms: int | None = None
    audio: tuple[AudioStream, ...] = ()
    video: tuple[VideoStream, ...] = ()
    other_streams: int = 0

    @property
    def image(self) -> bool:
        """A still picture and nothing else: a picture file, or a GIF that does not move."""
        picture = self.picture
        if self.audio or picture is None:
            return False
        return self.formats[0] in PICTURE_DEMUXERS or (self.formats[0] == "gif" and picture.frames == 1)

    @property
    def speech(self) -> AudioStream | None:
        """The audio track people hear: marked as default, then with most channels, then first."""
        return max(self.audio, key=lambda a: (a.default, a.channels, -a.index), default=None)

    @property
    def picture(self) -> VideoStream | None:
        """The moving picture: default, then largest. Cover art is none, such a file is audio. Nor is what
        has no size: nothing here can decode it."""
        moving = [v for v in self.video if not v.attached_pic and v.width and v.height]
        return max(moving, key=lambda v: (v.default, v.width * v.height, -v.index), default=None)
