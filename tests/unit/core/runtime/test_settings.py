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


URLS = ["AWS_ENDPOINT_URL", "S3_PUBLIC_ENDPOINT_URL", "SPEECH_BASE_URL"]


@pytest.mark.parametrize("name", URLS)
@pytest.mark.parametrize(
    "value",
    [
        "localhost:4566",
        "ftp://localhost",
        "http://",
        "http:///v1",
        "http://a b",
        "http://a..b",
        "http://[::1",
        "http://localhost:x",
        "http://localhost:65536",
        "http://localhost?x=1",
        "http://localhost\n",
    ],
)
def test_what_is_no_url_is_refused_in_words(name: str, value: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        Settings.load({f"REELWORKS_{name}": value})
    assert str(caught.value).startswith(f"REELWORKS_{name}: {value!r} does not do: Expected a URL, ")
    assert "regex" not in str(caught.value)


@pytest.mark.parametrize("name", URLS)
@pytest.mark.parametrize(
    "value",
    [
        "http://localhost",
        "http://localhost:65535/",
        "HTTPS://S3.example.org/v1",
        "http://[::1]:4566",
        "http://10.0.0.1:9000",
    ],
)
def test_url_with_scheme_and_host_is_taken(name: str, value: str) -> None:
    assert Settings.load({f"REELWORKS_{name}": value}) != Settings()


def test_only_boto3_minds_underscores_in_hosts() -> None:
    assert Settings.load({"REELWORKS_SPEECH_BASE_URL": "http://my_whisper:8000/v1"}) != Settings()
    with pytest.raises(InvalidSettings, match="no underscores"):
        Settings.load({"REELWORKS_AWS_ENDPOINT_URL": "http://my_stack:4566"})


@pytest.mark.parametrize(
    "region",
    ["us-east-1", "us-gov-west-1", "cn-north-1", "eusc-de-east-1", "us-isob-east-1", "ap-southeast-2"],
)
def test_region_of_every_partition_is_taken(region: str) -> None:
    assert Settings.load({"REELWORKS_AWS_REGION": region}).aws.region == region


@pytest.mark.parametrize(
    "region", ["us east", "us-east", "us-east-1a", "US-EAST-1", "us-east-1\n", "useast1"]
)
def test_what_is_no_region_is_refused_in_words(region: str) -> None:
    with pytest.raises(InvalidSettings, match=r"REELWORKS_AWS_REGION: .* Expected a name of a region, like"):
        Settings.load({"REELWORKS_AWS_REGION": region})


def durations() -> list[str]:
    return [name for name, (group, field) in variables().items() if is_float(group, field)]


def is_float(group: str, field: str) -> bool:
    return isinstance(getattr(getattr(Settings(), group), field), float)


@pytest.mark.parametrize("name", durations())
@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e400", "604801"])
def test_no_duration_is_endless(name: str, value: str) -> None:
    with pytest.raises(InvalidSettings, match=name):
        Settings.load({name: value})


def test_a_week_is_the_longest_duration() -> None:
    settings = Settings.load({"REELWORKS_LEASE_LENGTH_S": "604800"})
    assert settings.lease.rules().lease_ms == 604_800_000


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
