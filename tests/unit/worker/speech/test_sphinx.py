"""pocketsphinx for real: its model is in the wheel."""

import threading
import time
from pathlib import Path

import pytest

from reelworks.errors import LeaseLost, Permanent
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from tests.unit.worker.speech.clips import WORDS, clip, demo_clip, joined, spoken
from worker.media.audio import AudioClip
from worker.media.engine import MediaEngine
from worker.speech.sphinx import PocketSphinx
from worker.speech.transcript import Transcript


@pytest.fixture(scope="module")
def sphinx() -> PocketSphinx:
    return PocketSphinx()


def heard(
    sphinx: PocketSphinx, audio: AudioClip, language: str | None = None, seen: list[float] | None = None
) -> Transcript:
    progress = (seen if seen is not None else []).append
    return sphinx.transcribe(audio, language=language, cancellation=Cancellation(), progress=progress)


def test_the_demo_clip_is_understood_word_by_word(
    sphinx: PocketSphinx, engine: MediaEngine, tmp_path: Path
) -> None:
    said = heard(sphinx, demo_clip(engine, tmp_path))

    assert said.text == WORDS
    assert (said.language, said.provider) == ("en", "pocketsphinx")


def test_words_are_heard_when_they_are_spoken(
    sphinx: PocketSphinx, engine: MediaEngine, samples: Samples, tmp_path: Path
) -> None:
    demo = demo_clip(engine, tmp_path)
    alone = heard(sphinx, demo).segments
    late = heard(sphinx, joined(tmp_path / "late.wav", samples.silence(10), demo.path)).segments

    assert [s.text for s in late] == [s.text for s in alone]
    assert 500 <= alone[0].start_ms <= 800, "the voice begins after half a second"
    assert late[0].start_ms == pytest.approx(alone[0].start_ms + 10_000, abs=60)


@pytest.mark.parametrize("voice", ["slt", "rms"])
def test_two_voices_are_understood(sphinx: PocketSphinx, samples: Samples, voice: str) -> None:
    text = "one two three four five six seven eight nine ten"

    assert heard(sphinx, clip(spoken(samples, voice, text))).text == text


def test_silence_is_no_speech(sphinx: PocketSphinx, samples: Samples) -> None:
    seen: list[float] = []

    assert heard(sphinx, clip(samples.silence(600)), seen=seen).segments == ()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_noise_is_no_speech(sphinx: PocketSphinx, samples: Samples) -> None:
    assert heard(sphinx, clip(samples.white_noise())).segments == ()


def test_a_transcript_does_not_depend_on_what_was_heard_before(
    sphinx: PocketSphinx, engine: MediaEngine, samples: Samples, tmp_path: Path
) -> None:
    demo = demo_clip(engine, tmp_path)
    fresh = heard(PocketSphinx(), demo)
    heard(sphinx, clip(samples.white_noise()))

    assert heard(sphinx, demo) == fresh


def test_two_threads_share_a_decoder_without_mixing(
    sphinx: PocketSphinx, engine: MediaEngine, samples: Samples, tmp_path: Path
) -> None:
    demo = demo_clip(engine, tmp_path)
    other = joined(tmp_path / "other.wav", samples.silence(10), demo.path, samples.silence(10), demo.path)
    expected = [heard(sphinx, demo), heard(sphinx, other)]
    found: dict[int, Transcript] = {}

    threads = [
        threading.Thread(target=lambda n=n, a=a: found.update({n: heard(sphinx, a)}))
        for n, a in enumerate((demo, other))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [found[0], found[1]] == expected


def test_a_cancelled_transcription_stops_soon_and_leaves_the_decoder_usable(
    sphinx: PocketSphinx, engine: MediaEngine, tmp_path: Path
) -> None:
    demo = demo_clip(engine, tmp_path)
    long = joined(tmp_path / "long.wav", *[demo.path] * 12)
    cancellation = Cancellation()
    asked: list[float] = []

    def cancel() -> None:
        asked.append(time.monotonic())
        cancellation.cancel(LeaseLost("taken"))

    threading.Timer(1.0, cancel).start()
    with pytest.raises(LeaseLost):
        sphinx.transcribe(long, language=None, cancellation=cancellation, progress=lambda _: None)

    # 0.6 s alone on a machine; the rest is for tests that run beside this one.
    assert time.monotonic() - asked[0] < 3
    assert heard(sphinx, demo).text == WORDS


def test_a_thread_that_waits_for_the_decoder_can_be_cancelled(engine: MediaEngine, tmp_path: Path) -> None:
    loading, go_on = threading.Event(), threading.Event()

    def slow() -> object:
        loading.set()
        go_on.wait(20)
        raise ZeroDivisionError

    sphinx = PocketSphinx(slow)  # type: ignore[arg-type]
    demo = demo_clip(engine, tmp_path)

    def first() -> None:
        with pytest.raises(ZeroDivisionError):
            heard(sphinx, demo)

    holder = threading.Thread(target=first)
    holder.start()
    loading.wait(20)
    cancellation = Cancellation()
    threading.Timer(0.2, cancellation.cancel, [LeaseLost("taken")]).start()
    with pytest.raises(LeaseLost):
        sphinx.transcribe(demo, language=None, cancellation=cancellation, progress=lambda _: None)
    go_on.set()
    holder.join()


@pytest.mark.parametrize("language", ["en", "en-GB", "EN-us"])
def test_english_is_understood_under_all_its_names(
    sphinx: PocketSphinx, samples: Samples, language: str
) -> None:
    assert heard(sphinx, clip(samples.silence(1)), language).language == "en"


def test_other_languages_are_refused_in_words(sphinx: PocketSphinx, samples: Samples) -> None:
    with pytest.raises(Permanent, match="English only, not 'de-AT'") as refused:
        heard(sphinx, clip(samples.silence(1)), "de-AT")

    assert refused.value.code == "language_unsupported"
