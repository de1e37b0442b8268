"""Named processing options. A request names a profile and may change some of it (see `options`); the plan follows."""

from typing import Literal

from msgspec import Struct

from reelworks.errors import Permanent

HEIGHTS = (360, 480, 720, 1080, 1440, 2160)
"""The rungs there are, by their shorter side: a portrait video of "720" is 720 wide."""
PRESETS = ("ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower")

CRF = (10, 40)
"""Below, files are larger than what was uploaded; above, nobody wants to look."""
KILOBITS = (100, 60_000)
"""From 240p of a talking head to 2160p of confetti."""
SEGMENT_SECONDS = (2, 10)
"""Even: each segment has groups of pictures of two seconds. Players want to switch at least every ten."""
LOUDNESS_LUFS = (-70, -5)
"""What ffmpeg's loudnorm takes; broadcasts have -23, podcasts -16, music services -14."""


class VideoOptions(Struct, frozen=True, kw_only=True):
    """The ladder.

    `heights`: of the rungs, shorter side, each of HEIGHTS. `crf`: x264's constant rate factor, 23 is its default.
    `max_kbps`: cap of the highest rung, lower ones in proportion to their pixels; None leaves it to the complexity of
    the pictures. `segment_s`: length of HLS segments, even, since groups of pictures last two seconds. `per_title`: fit
    caps and rungs to what the pictures need.
    """

    heights: tuple[int, ...] = (360, 720, 1080)
    codec: Literal["h264"] = "h264"
    crf: int = 23
    max_kbps: int | None = None
    preset: str = "fast"
    segment_s: int = 4
    per_title: bool = True


class Profile(Struct, frozen=True, kw_only=True):
    """What to make of an upload.

    `video`: the ladder, None for no stream of pictures. `stream_audio`: an audio rendition (the stream of a file
    without pictures). `transcribe`, `language`: BCP 47 tag the speech is expected in, None lets the provider decide.
    `pictures`: poster and storyboard (thumbnails of an image). `preview`: ten seconds as MP4. `mp4`: progressive
    downloads, rungs by height; those the ladder lacks are left out. `loudness_lufs`: normalise to EBU R128's
    integrated loudness, None leaves the sound alone.
    """

    name: str
    video: VideoOptions | None = None
    stream_audio: bool = False
    transcribe: bool = True
    language: str | None = None
    pictures: bool = False
    preview: bool = False
    mp4: tuple[int, ...] = ()
    loudness_lufs: float | None = None


DEFAULT = Profile(
    name="default", video=VideoOptions(), stream_audio=True, pictures=True, preview=True, mp4=(720,)
)
AUDIO = Profile(name="audio", stream_audio=True)
"""Podcasts and voice notes: sound and transcript, whatever pictures come with it."""
PREVIEW = Profile(
    name="preview",
    video=VideoOptions(heights=(360,), preset="veryfast", per_title=False),
    stream_audio=True,
    transcribe=False,
    pictures=True,
    preview=True,
)
"""Quick and small: for moderation queues and editors."""
ARCHIVE = Profile(
    name="archive",
    video=VideoOptions(heights=(360, 720, 1080, 1440, 2160), crf=20, preset="slow", segment_s=6),
    stream_audio=True,
    pictures=True,
    mp4=(1080,),
)
"""Quality before time."""
TRANSCRIPT = Profile(name="transcript")
"""What is said, and nothing else."""
PROFILES: dict[str, Profile] = {p.name: p for p in (DEFAULT, AUDIO, TRANSCRIPT, PREVIEW, ARCHIVE)}


def named(name: str) -> Profile:
    """The profile of that name, or Permanent that says which there are."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(sorted(PROFILES))
        raise Permanent(
            f"There is no profile {name!r}. Use one of: {known}.", code="unknown_profile"
        ) from None
