from pathlib import Path

import pytest

from reelworks.errors import InvalidSettings, LeaseLost
from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import AudioClip
from worker.speech.factory import ProviderName, SpeechOptions, make_provider
from worker.speech.fake import FakeSpeech
from worker.speech.openai import OpenAIOptions, OpenAISpeech
from worker.speech.provider import SpeechProvider
from worker.speech.sphinx import PocketSphinx

CLIP = AudioClip(path=Path("unused.wav"), duration_ms=2_000)


@pytest.mark.parametrize(
    ("name", "kind"), [("fake", FakeSpeech), ("pocketsphinx", PocketSphinx), ("openai", OpenAISpeech)]
)
def test_the_configured_engine_is_made(name: ProviderName, kind: type[SpeechProvider]) -> None:
    assert isinstance(make_provider(SpeechOptions(provider=name)), kind)


@pytest.mark.parametrize("url", ["", "ftp://x/v1", "localhost:8000/v1", "http://", "http://[::1/v1"])
def test_a_base_url_that_cannot_work_is_a_setting_to_correct(url: str) -> None:
    with pytest.raises(InvalidSettings, match="base URL"):
        make_provider(SpeechOptions(provider="openai", openai=OpenAIOptions(base_url=url)))


def test_the_key_is_not_in_what_is_logged() -> None:
    options = SpeechOptions(openai=OpenAIOptions(api_key="sk-secret"))

    assert "sk-secret" not in repr(options)


def test_the_fake_says_what_it_is_told_to() -> None:
    fake = make_provider(SpeechOptions(provider="fake", fake_text="hello there"))
    seen: list[float] = []

    said = fake.transcribe(CLIP, language="de", cancellation=Cancellation(), progress=seen.append)

    assert (said.text, said.language, said.segments[0].end_ms, seen) == ("hello there", "de", 2_000, [1.0])


def test_the_fake_can_be_silent_and_cancelled() -> None:
    cancellation = Cancellation()
    fake = FakeSpeech(text="")
    assert (
        fake.transcribe(CLIP, language=None, cancellation=cancellation, progress=lambda _: None).segments
        == ()
    )

    cancellation.cancel(LeaseLost("taken"))
    with pytest.raises(LeaseLost):
        fake.transcribe(CLIP, language=None, cancellation=cancellation, progress=lambda _: None)
