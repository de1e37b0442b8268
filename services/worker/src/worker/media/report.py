"""What a media file contains, as far as anyone downstream asks. Made by `probe`, kept in S3 with the upload."""

from msgspec import Struct


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
    """`width` and `height` as coded (0: unknown); `frame_rate` an exact average like `30000/1001`, None: unknown."""

    index: int
    codec: str
    width: int
    height: int
    default: bool = False
    attached_pic: bool = False
    frame_rate: str | None = None
    start_ms: int = 0
    duration_ms: int | None = None


class MediaReport(Struct, frozen=True, kw_only=True):
    """`formats`: the demuxer's family of names (`mov`, `mp4`, …). `other_streams` counts data and subtitles."""

    formats: tuple[str, ...]
    size_bytes: int
    duration_ms: int | None = None
    audio: tuple[AudioStream, ...] = ()
    video: tuple[VideoStream, ...] = ()
    other_streams: int = 0

    @property
    def speech(self) -> AudioStream | None:
        """The audio track people hear: marked as default, then with most channels, then first."""
        return max(self.audio, key=lambda a: (a.default, a.channels, -a.index), default=None)

    @property
    def picture(self) -> VideoStream | None:
        """The moving picture: default, then largest. Cover art is none, such a file is audio."""
        moving = [v for v in self.video if not v.attached_pic]
        return max(moving, key=lambda v: (v.default, v.width * v.height, -v.index), default=None)
