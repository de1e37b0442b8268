"""What a request changes of its profile, and what the two make together."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct, structs

from reelworks.domain.profile import (
    CRF,
    HEIGHTS,
    KILOBITS,
    LOUDNESS_LUFS,
    PRESETS,
    SEGMENT_SECONDS,
    Profile,
    VideoOptions,
    named,
)
from reelworks.errors import Permanent

ALLOWED: Mapping[str, str] = MappingProxyType(
    {
        "heights": f"a list of different heights out of {', '.join(map(str, HEIGHTS))}",
        "codec": "h264, the only codec in this version",
        "crf": f"a whole number from {CRF[0]} to {CRF[1]}; the smaller, the better the pictures, and the more bytes",
        "maxKbps": f"a whole number from {KILOBITS[0]} to {KILOBITS[1]:,}, the most kilobits a second at the top",
        "preset": f"one of x264's presets: {', '.join(PRESETS)}",
        "segmentSeconds": f"an even number from {SEGMENT_SECONDS[0]} to {SEGMENT_SECONDS[1]}",
        "perTitle": "true, to fit the ladder to the pictures, or false, to take it as it is",
        "mp4": "a list of different heights, each one of the renditions, or an empty list for no downloads",
        "preview": "true or false: a ten-second preview",
        "pictures": "true or false: poster and storyboard",
        "captions": "true or false: a transcript, and captions in the stream",
        "language": "the tag of the language that is spoken, like en or de-AT (BCP 47)",
        "loudnessLufs": f"a number from {LOUDNESS_LUFS[0]} to {LOUDNESS_LUFS[1]}, its loudness afterwards (EBU R128)",
    }
)
"""What each may be, for people: in the documentation and in errors. The names are those of requests."""

VIDEO = (
    "heights",
    "codec",
    "crf",
    "maxKbps",
    "preset",
    "segmentSeconds",
    "perTitle",
    "mp4",
    "preview",
    "pictures",
)
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")


class Options(
    Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """Changes of a profile; None leaves it as it is. Stored with the upload as they were given.

    A worker that does not know an option yet must not do without it, so unknown ones are an error.
    """

    heights: tuple[int, ...] | None = None
    codec: str | None = None
    crf: int | None = None
    max_kbps: int | None = None
    preset: str | None = None
    segment_seconds: int | None = None
    per_title: bool | None = None
    mp4: tuple[int, ...] | None = None
    preview: bool | None = None
    pictures: bool | None = None
    captions: bool | None = None
    language: str | None = None
    loudness_lufs: float | None = None


def resolved(name: str, options: Options | None) -> Profile:
    """The profile of that name with these changes. Permanent (`unknown_profile`, `invalid_options`)."""
    profile = named(name)
    if options is None or options == Options():
        return profile
    if wrong := problems(profile, options):
        field, message = next(iter(wrong.items()))
        raise Permanent(f"The option {field} {message}", code="invalid_options")
    return _changed(profile, options)


def problems(profile: Profile, options: Options) -> dict[str, str]:
    """Field → what is wrong with it, as the rest of a sentence; empty if all is well."""
    given = {field.encode_name: getattr(options, field.name) for field in structs.fields(options)}
    given = {name: value for name, value in given.items() if value is not None}
    found = {name: f"must be {ALLOWED[name]}." for name, value in given.items() if not _allowed(name, value)}
    for name, message in _contradictions(profile, options, set(given)):
        found.setdefault(name, message)
    return found


def _allowed(name: str, value: object) -> bool:
    match name, value:
        case "heights", tuple():
            return len(set(value)) == len(value) > 0 and set(value) <= set(HEIGHTS)
        case "mp4", tuple():
            return len(set(value)) == len(value)
        case "codec", _:
            return value == "h264"
        case "crf", int():
            return CRF[0] <= value <= CRF[1]
        case "maxKbps", int():
            return KILOBITS[0] <= value <= KILOBITS[1]
        case "preset", _:
            return value in PRESETS
        case "segmentSeconds", int():
            return SEGMENT_SECONDS[0] <= value <= SEGMENT_SECONDS[1] and value % 2 == 0
        case "language", str():
            return _TAG.fullmatch(value) is not None
        case "loudnessLufs", float():
            return LOUDNESS_LUFS[0] <= value <= LOUDNESS_LUFS[1]
        case _:
            return True


def _contradictions(profile: Profile, options: Options, given: set[str]) -> Iterator[tuple[str, str]]:
    """What each alone may be, but not together, or not with this profile."""
    if profile.video is None:
        for name in [name for name in VIDEO if name in given]:
            yield name, f"needs a profile with pictures; {profile.name} has none."
    else:
        ladder = options.heights or profile.video.heights
        if foreign := sorted(set(options.mp4 or ()) - set(ladder)):
            shown = ", ".join(map(str, sorted(ladder)))
            yield "mp4", f"names {foreign[0]}, but the renditions are {shown}."
    if "loudnessLufs" in given and not profile.stream_audio:
        yield "loudnessLufs", f"needs a profile with a stream; {profile.name} has none."
    transcribed = profile.transcribe if options.captions is None else options.captions
    if "language" in given and not transcribed:
        yield "language", "needs captions, which are off."
    if not transcribed and not profile.stream_audio and profile.video is None:
        yield "captions", f"must not be false with the profile {profile.name}: there would be nothing to do."


def _changed(profile: Profile, options: Options) -> Profile:
    video = _changed_video(profile.video, options) if profile.video else None
    mp4 = options.mp4 if options.mp4 is not None else profile.mp4
    return structs.replace(
        profile,
        video=video,
        mp4=tuple(height for height in mp4 if video is None or height in video.heights),
        **_given(
            preview=options.preview,
            pictures=options.pictures,
            transcribe=options.captions,
            language=options.language,
            loudness_lufs=options.loudness_lufs,
        ),
    )


def _changed_video(video: VideoOptions, options: Options) -> VideoOptions:
    return structs.replace(
        video,
        **_given(
            heights=tuple(sorted(options.heights)) if options.heights else None,
            crf=options.crf,
            max_kbps=options.max_kbps,
            preset=options.preset,
            segment_s=options.segment_seconds,
            per_title=options.per_title,
        ),
    )


def _given(**values: object) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}
