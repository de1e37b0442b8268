"""Sounds for speech tests."""

import shutil
import subprocess
import wave
from pathlib import Path

import pytest

from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import CLIPS, Samples
from worker.media.audio import AudioClip, MediaFile, extract_speech_audio, wav_duration_ms
from worker.media.engine import MediaEngine
from worker.media.probe import probe

WORDS = (CLIPS / "speech.txt").read_text().strip()


def clip(path: Path) -> AudioClip:
    return AudioClip(path=path, duration_ms=wav_duration_ms(path))


def demo_clip(engine: MediaEngine, directory: Path) -> AudioClip:
    """The sound of the checked-in demo clip."""
    source = CLIPS / "speech.mp4"
    file = MediaFile(path=source, report=probe(source, engine=engine, cancellation=Cancellation()))
    found = extract_speech_audio(file, directory / "demo.wav", engine=engine, cancellation=Cancellation())
    assert found
    return found


def joined(path: Path, *parts: Path) -> AudioClip:
    """One WAV after the other."""
    with wave.open(str(path), "wb") as out:
        for part in parts:
            with wave.open(str(part), "rb") as wav:
                if not out.getnframes():
                    out.setparams(wav.getparams())
                out.writeframes(wav.readframes(wav.getnframes()))
    return clip(path)


def spoken(samples: Samples, voice: str, text: str) -> Path:
    """Speech by flite; the test is skipped without it."""
    flite = shutil.which("flite")
    if flite is None:
        pytest.skip("flite is not installed")
    made = samples.made(
        f"{voice}-{abs(hash(text))}.wav",
        lambda path: subprocess.run([flite, "-voice", voice, "-t", text, "-o", path], check=True, timeout=60),
    )
    return samples.encoded(f"16k-{made.name}", "-i", made, "-ar", "16000", "-ac", "1", "-c:a", "pcm_s16le")
