"""From settings to a speech engine. Called by bootstrap; engines load nothing before their first task."""

from typing import Literal

import httpx
from msgspec import Struct

from reelworks.errors import InvalidSettings
from worker.speech.fake import FakeSpeech
from worker.speech.openai import OpenAIOptions, OpenAISpeech, Shrink
from worker.speech.provider import SpeechProvider

ProviderName = Literal["fake", "pocketsphinx", "openai"]


class SpeechOptions(Struct, frozen=True, kw_only=True):
    """Which engine, and what it needs."""

    provider: ProviderName = "pocketsphinx"
    fake_text: str = "this is a fake transcript"
    openai: OpenAIOptions = OpenAIOptions()


def make_provider(options: SpeechOptions, *, shrink: Shrink | None = None) -> SpeechProvider:
    """The configured engine. `shrink` lets `openai` take recordings that are too large as WAV.

    Raises `InvalidSettings` for an engine that cannot work as configured.
    """
    match options.provider:
        case "fake":
            return FakeSpeech(text=options.fake_text)
        case "openai":
            _check_url(options.openai.base_url)
            return OpenAISpeech(options.openai, shrink=shrink)
        case "pocketsphinx":
            return _pocketsphinx()


def _check_url(text: str) -> None:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise InvalidSettings("The base URL of the speech service is no URL.") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidSettings("The base URL of the speech service must be like https://host/v1.")


def _pocketsphinx() -> SpeechProvider:
    """Imported when chosen: an image that asks a service for its transcripts needs no 60 MB of model."""
    try:
        from worker.speech.sphinx import PocketSphinx  # noqa: PLC0415
    except ImportError as error:
        raise InvalidSettings(
            "The package pocketsphinx is not installed. Install it, or choose another provider."
        ) from error
    return PocketSphinx()
