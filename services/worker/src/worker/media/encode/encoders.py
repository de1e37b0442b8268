"""Options of the video encoders. Whatever encoder: closed groups of pictures of exactly the plan's length."""

from enum import StrEnum

from reelworks.domain.plan import Rung, VideoPlan
from reelworks.domain.profile import PRESETS

DELAY_FRAMES = 2
"""Decoding begins so much before showing: what B-frames that others refer to need, and x264 never needs more."""


class Encoder(StrEnum):
    """Names as ffmpeg has them."""

    X264 = "libx264"
    NVENC = "h264_nvenc"
    """NVIDIA GPUs; the rest of the graph stays on the CPU, so any source works."""


def options(encoder: Encoder, plan: VideoPlan, rung: Rung) -> tuple[str, ...]:
    """`-c:v` and everything about rate and keyframes."""
    own = _x264(plan, rung) if encoder is Encoder.X264 else _nvenc(plan, rung)
    return (*own, *_cap(rung), *_keyframes(plan))


def _x264(plan: VideoPlan, rung: Rung) -> tuple[str, ...]:
    return (
        *("-c:v", "libx264", "-preset", plan.preset, "-crf", str(rung.crf)),
        # The most that every phone and browser decodes in hardware.
        *("-profile:v", "high"),
        # No keyframes at scene cuts: rungs would differ, and players switch at common ones only.
        *("-sc_threshold", "0"),
    )


def _nvenc(plan: VideoPlan, rung: Rung) -> tuple[str, ...]:
    return (
        *("-c:v", "h264_nvenc", "-preset", _nvenc_preset(plan.preset), "-tune", "hq"),
        # Constant quality is a variable rate with a target quality and no target rate.
        *("-rc", "vbr", "-cq", str(rung.crf), "-b:v", "0"),
        *("-profile:v", "high"),
        # As for x264; and forced keyframes must be IDR, or groups would stay open.
        *("-no-scenecut", "1", "-strict_gop", "1", "-forced-idr", "1", "-bf", "2"),
    )


def _nvenc_preset(preset: str) -> str:
    """x264's eight names onto p1 (fastest) to p7."""
    return f"p{min(7, PRESETS.index(preset) + 1)}"


def _cap(rung: Rung) -> tuple[str, ...]:
    """Two seconds of buffer: what players hold anyway."""
    if rung.max_kbps is None:
        return ()
    return ("-maxrate", f"{rung.max_kbps}k", "-bufsize", f"{rung.max_kbps * 2}k")


def _keyframes(plan: VideoPlan) -> tuple[str, ...]:
    gop = plan.grid.gop_frames
    return (
        *("-g", str(gop), "-keyint_min", str(gop)),
        # Counted in frames: seconds are not exact at 29.97.
        *("-force_key_frames", f"expr:gte(n,n_forced*{gop})"),
        # The muxer writes the delay of the first frame into the init segment. x264 shortens it for a chunk of one or
        # two frames, whose init segment would then differ from the others'; so decoding times are set here.
        *("-bsf:v", f"setts=pts=PTS:dts=(N-{DELAY_FRAMES})*DURATION"),
    )
