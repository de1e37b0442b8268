"""From the environment to settings: exact names, clear refusals."""

import pytest

from reelworks.errors import InvalidSettings
from reelworks.runtime.settings import Settings, variables


def test_without_variables_there_are_the_defaults() -> None:
    assert Settings.load({"PATH": "/bin"}) == Settings()


def test_values_are_read_into_their_groups() -> None:
    settings = Settings.load(
        {
            "REELWORKS_API_PORT": "9",
            "REELWORKS_WORKER_LANES": "fast, speech",
            "REELWORKS_LEASE_SKEW_S": "1.5",
            "REELWORKS_EVENTBRIDGE_ENABLED": "false",
            "REELWORKS_SPEECH_LANGUAGE": "de",
        }
    )
    assert settings.api.port == 9
    assert settings.worker.lanes == ("fast", "speech")
    assert settings.lease.rules().skew_ms == 1_500
    assert not settings.eventbridge.enabled
    assert settings.speech.language == "de"


def test_typo_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidSettings, match="Did you mean REELWORKS_WORKER_LANES"):
        Settings.load({"REELWORKS_WORKR_LANES": "fast"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_PORT", "x"),
        ("API_PORT", "70000"),
        ("WORKER_IDLE_WAIT_S", "21"),
        ("WORKER_SLOTS", "0"),
        ("SPEECH_PROVIDER", "whisper"),
        ("AWS_READ_TIMEOUT_S", "-1"),
        ("S3_ADDRESSING", "dns"),
        ("LEASE_HEARTBEAT_S", "soon"),
    ],
)
def test_value_out_of_range_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidSettings, match=f"REELWORKS_{name}: '{value}'"):
        Settings.load({f"REELWORKS_{name}": value})


def test_key_is_never_shown() -> None:
    known = [name for name in variables() if name.endswith("_KEY")]
    assert known == ["REELWORKS_SPEECH_API_KEY"]
    assert "s3cret" not in repr(Settings.load({"REELWORKS_SPEECH_API_KEY": "s3cret"}))


def test_empty_variable_counts_as_not_set() -> None:
    assert Settings.load({"REELWORKS_API_PORT": ""}) == Settings()


def test_lease_of_fewer_than_six_heartbeats_is_refused() -> None:
    settings = Settings.load({"REELWORKS_LEASE_LENGTH_S": "30"})
    with pytest.raises(InvalidSettings, match="REELWORKS_LEASE"):
        settings.lease.rules()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "virtual"),
        ({"REELWORKS_AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "path"),
        ({"REELWORKS_S3_ADDRESSING": "path"}, "path"),
    ],
)
def test_addressing_follows_the_endpoint(environment: dict[str, str], expected: str) -> None:
    assert Settings.load(environment).addressing == expected
