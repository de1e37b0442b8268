import wave
from itertools import pairwise
from pathlib import Path

import pytest

from tests.media.samples import Samples
from tests.unit.worker.speech.clips import demo_clip, joined
from worker.media.engine import MediaEngine
from worker.speech.utterances import BYTES_PER_S, MAX_BYTES, Utterance, quietest, utterances


def found_in(path: Path) -> list[Utterance]:
    return [utterance for heard in utterances(path) for utterance in heard.ended]


def pcm_of(path: Path) -> bytes:
    with wave.open(str(path)) as wav:
        return bytes(wav.readframes(wav.getnframes()))


def test_silence_has_no_utterance(samples: Samples) -> None:
    assert found_in(samples.silence(10)) == []


def test_speech_is_found_where_it_is(engine: MediaEngine, samples: Samples, tmp_path: Path) -> None:
    demo = demo_clip(engine, tmp_path)
    twice = joined(tmp_path / "twice.wav", samples.silence(10), demo.path, samples.silence(10), demo.path)

    first, second = found_in(twice.path)

    assert first.start_ms == pytest.approx(10_400, abs=400)
    assert second.start_ms - first.start_ms == pytest.approx(10_000 + demo.duration_ms, abs=60)


def test_an_utterance_is_a_piece_of_the_sound(engine: MediaEngine, tmp_path: Path) -> None:
    demo = demo_clip(engine, tmp_path)
    pcm = pcm_of(demo.path)

    (utterance,) = found_in(demo.path)

    at = utterance.start_ms * BYTES_PER_S // 1000
    assert pcm[at : at + len(utterance.pcm)] == utterance.pcm


@pytest.mark.parametrize("cut_bytes", [960 * 33 * 2, 960 * 50, 960 * 50 + 2, 2])
def test_speech_that_runs_to_the_end_is_not_lost(engine: MediaEngine, tmp_path: Path, cut_bytes: int) -> None:
    """Whether the file ends with a whole second, a whole frame, or in between."""
    short = tmp_path / "short.wav"
    with wave.open(str(short), "wb") as out:
        out.setparams((1, 2, 16_000, 0, "NONE", ""))
        out.writeframes(pcm_of(demo_clip(engine, tmp_path).path)[32_000 : 32_000 + cut_bytes])

    heard = list(utterances(short))

    assert heard[-1].position_ms == cut_bytes * 1000 // BYTES_PER_S
    assert sum(len(h.ended) for h in heard) == (1 if cut_bytes > 960 * 40 else 0)


def test_endless_speech_is_cut_without_losing_a_sample(samples: Samples) -> None:
    noise = pcm_of(samples.white_noise())
    long = samples.made("long-noise.wav", lambda path: joined(path, *[samples.white_noise()] * 8))

    found = found_in(long)

    assert len(found) > 1
    assert all(len(u.pcm) <= MAX_BYTES + BYTES_PER_S for u in found)
    assert b"".join(u.pcm for u in found) in noise * 8
    for before, after in pairwise(found):
        assert after.start_ms == pytest.approx(before.start_ms + len(before.pcm) * 1000 / BYTES_PER_S, abs=1)


def test_the_cut_is_made_where_it_is_quiet() -> None:
    second = (10_000).to_bytes(2, "little") * 16_000
    quiet = bytes(3_200)

    at = quietest(second * 3 + quiet + second)

    assert 3 * BYTES_PER_S < at < 3 * BYTES_PER_S + len(quiet)
    assert at % 2 == 0


def test_progress_covers_the_file(samples: Samples) -> None:
    positions = [heard.position_ms for heard in utterances(samples.silence(10))]

    assert positions == sorted(positions)
    assert positions[-1] == 10_000
    assert len(positions) >= 10
