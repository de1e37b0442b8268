"""Clips for pictures: small, and each of one kind of difficulty. `samples` makes them once a session."""

from pathlib import Path

from tests.media.samples import Samples

ULTRAFAST = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
EVERY_SECOND = (*ULTRAFAST, "-g", "10")
"""A keyframe a second, at ten frames a second."""
SCENE = "testsrc2=s=320x180:r=10"
"""Even, colourful, moving."""


def clip(
    samples: Samples, name: str, filters: str = "null", *, seconds: int = 10, scene: str = SCENE
) -> Path:
    """Ten keyframes of a scene, seen through filters."""
    source = ("-f", "lavfi", "-i", f"{scene}:d={seconds}")
    return samples.encoded(name, *source, "-vf", filters, *EVERY_SECOND)


def black_intro(samples: Samples) -> Path:
    """Four seconds of black, then the scene."""
    return clip(samples, "black-intro.mp4", "drawbox=c=black:t=fill:enable='lt(t,4)'")


def mostly_blurred(samples: Samples) -> Path:
    """Sharp from 6 s to 7 s only."""
    return clip(samples, "blurred.mp4", "gblur=sigma=6:enable='not(between(t,5.95,6.95))'")


def mostly_overexposed(samples: Samples) -> Path:
    """As it should be from 6 s to 7 s only."""
    return clip(samples, "overexposed.mp4", "lutyuv=y='min(val*2+60,235)':enable='not(between(t,5.95,6.95))'")


def three_scenes(samples: Samples) -> Path:
    """Three plain-looking but different pictures."""
    moods = "hue=h=120:enable='between(t,3,6)',hflip=enable='gt(t,6)'"
    return clip(samples, "scenes.mp4", moods)


def one_keyframe(samples: Samples, seconds: int = 6) -> Path:
    source = ("-f", "lavfi", "-i", f"{SCENE}:d={seconds}")
    return samples.encoded(f"one-key-{seconds}.mp4", *source, *ULTRAFAST, "-g", "9999", "-keyint_min", "9999")


def red_left_blue_right(
    samples: Samples, name: str = "sides.mp4", *options: str, filters: str = "null"
) -> Path:
    """Left half red, right half blue, 320x180."""
    source = ("-f", "lavfi", "-i", "color=red:s=320x180:r=10:d=2")
    sides = f"drawbox=x=160:w=160:c=blue:t=fill,{filters}"
    return samples.encoded(name, *source, "-vf", sides, *EVERY_SECOND, *options)


def portrait(samples: Samples) -> Path:
    """Filmed upright: stored as landscape, to be turned a quarter to the right."""
    flat = red_left_blue_right(samples)
    return samples.encoded("portrait.mp4", "-display_rotation", "-90", "-i", flat, "-c", "copy")


def anamorphic(samples: Samples) -> Path:
    """320x180 whose pixels are twice as wide as high."""
    return red_left_blue_right(samples, "anamorphic.mp4", filters="setsar=2")


def hdr(samples: Samples) -> Path:
    """PQ in BT.2020, ten bits: half of it grey at about 100 nits, half black."""
    tags = "setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc:range=limited"
    source = ("-f", "lavfi", "-i", "color=gray:s=320x180:r=10:d=1")
    half = "drawbox=x=160:w=160:c=black:t=fill,format=yuv420p10le"
    codec = ("-c:v", "libvpx-vp9", "-cpu-used", "8", "-deadline", "realtime", "-pix_fmt", "yuv420p10le")
    return samples.encoded("hdr.mkv", *source, "-vf", f"{half},{tags}", *codec, "-colorspace", "bt2020nc")


def interlaced(samples: Samples) -> Path:
    """A white box that is in only one field of every frame."""
    move = "drawbox=x=0:y=40:w=80:h=100:c=white:t=fill:enable='mod(n,2)'"
    source = ("-f", "lavfi", "-i", "color=black:s=320x180:r=20:d=2")
    fields = "tinterlace=interleave_top,setfield=tff"
    return samples.encoded(
        "interlaced.mp4", *source, "-vf", f"{move},{fields}", *ULTRAFAST, "-g", "5", "-flags", "+ildct+ilme"
    )
