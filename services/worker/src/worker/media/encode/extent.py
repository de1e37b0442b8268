"""How long a stream should be, and the refusal of a file that ends before that.

ffmpeg encodes half a file and exits 0. So what came out is compared with what the container's index declares; the
tasks `audio` and `video` and the package all ask here.
"""

from reelworks.errors import Permanent
from worker.media import refusals
from worker.media.audio import INDEXED
from worker.media.report import AudioStream, MediaReport, VideoStream


def declared_end_ms(report: MediaReport, stream: AudioStream | VideoStream) -> int | None:
    """Where the stream ends by the container's own index; None where nothing trustworthy says so.

    The duration of the whole file only counts if there is no other stream to outlast this one.
    """
    if not INDEXED & set(report.formats):
        return None
    if stream.duration_ms is not None:
        return stream.start_ms + stream.duration_ms
    alone = len(report.audio) + len(report.video) == 1
    return report.duration_ms if alone else None


def tolerance_ms(declared_ms: int) -> int:
    """Encoder delay, edit lists and rounding explain less than a second, or 2 %."""
    return max(1_000, declared_ms * 2 // 100)


def cut_short(declared_ms: int | None, encoded_ms: int) -> Permanent | None:
    """The refusal, if too much is missing at the end."""
    if declared_ms is None or declared_ms - encoded_ms <= tolerance_ms(declared_ms):
        return None
    return refusals.cut_short(declared_ms=declared_ms, decoded_ms=max(0, encoded_ms))
