"""Sound of every kind: alone, with a cover, in several tracks, in more channels than players like."""

import dataclasses

import pytest

from reelworks.runtime.settings import Speech
from tests.cases.stage import Published, Stage
from tests.media.samples import Samples


@pytest.mark.parametrize("extension", ["m4a", "mp3", "wav", "flac", "ogg"])
def test_sound_alone(stage: Stage, samples: Samples, extension: str) -> None:
    """An audio stream and a transcript; nothing about pictures is planned."""
    shown = stage.published(samples.audio(extension)).completed()
    kinds = {task.kind for task in shown.snapshot.tasks.values()}
    assert kinds == {"ingest", "audio", "package", "transcribe"}
    assert shown.tracks == ["audio"]
    assert float(shown.frames("audio")[-1].pts) == pytest.approx(1 + 4, abs=0.1)
    assert shown.view.transcript


def test_cover_art(stage: Stage, samples: Samples) -> None:
    """A picture attached to a song is no video."""
    shown = stage.published(samples.audio_with_cover()).completed()
    assert shown.tracks == ["audio"]
    assert shown.view.renditions == ()


def test_two_languages(stage: Stage, samples: Samples) -> None:
    """The default track is the one that is heard, whatever its place; the other one is silent here."""
    shown = stage.published(samples.two_languages(), content_type="audio/x-matroska").completed()
    assert shown.player.heard_from_s(shown.path("audio")) < 1.1


def test_surround(stage: Stage, samples: Samples) -> None:
    """5.1 becomes stereo: web players break on more."""
    shown = stage.published(samples.surround()).completed()
    assert shown.facts("audio")["channels"] == 2


def test_silence_is_no_error(stage: Stage, samples: Samples) -> None:
    """A silent track: a stream as usual, and a transcript in which nobody speaks."""
    real = dataclasses.replace(stage.pipeline, speech=Speech(provider="pocketsphinx"))
    file = samples.video_with_silence()
    shown = Published(
        real, real.run(file, content_type="video/mp4", profile="default"), file.parent
    ).completed()
    assert shown.view.transcript == ""
    assert "audio" in shown.tracks
