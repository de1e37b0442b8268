from pathlib import Path

import pytest

from reelworks.embedded.environment import Place, for_ministack, for_services
from reelworks.embedded.programs import stages
from reelworks.errors import InvalidSettings
from reelworks.runtime.settings import Settings

PLACE = Place(
    endpoint="http://127.0.0.1:4001",
    api_port=4002,
    worker_port=4003,
    janitor_port=4004,
    folder=Path("/tmp/somewhere"),
)


def test_services_are_told_addresses_that_their_settings_understand() -> None:
    settings = Settings.load(for_services({}, PLACE))
    assert settings.aws.endpoint_url == "http://127.0.0.1:4001"
    assert settings.s3.addressing == "path"
    assert (settings.api.port, settings.worker.port, settings.janitor.port) == (4002, 4003, 4004)
    assert settings.worker.scratch_dir == "/tmp/somewhere/scratch"


def test_all_listeners_are_on_loopback() -> None:
    settings = Settings.load(for_services({"REELWORKS_API_HOST": "0.0.0.0"}, PLACE))
    assert {settings.api.host, settings.worker.host, settings.janitor.host} == {"127.0.0.1"}
    assert for_ministack({}, PLACE, 4001)["BIND_HOST"] == "127.0.0.1"


def test_real_credentials_reach_no_child() -> None:
    shell = {
        "AWS_ACCESS_KEY_ID": "AKIAREAL",
        "AWS_SECRET_ACCESS_KEY": "real",
        "AWS_SESSION_TOKEN": "real",
        "AWS_PROFILE": "production",
        "AWS_ENDPOINT_URL_S3": "https://s3.example",
    }
    for environment in (for_services(shell, PLACE), for_ministack(shell, PLACE, 4001)):
        assert environment["AWS_ACCESS_KEY_ID"] == environment["AWS_SECRET_ACCESS_KEY"] == "test"
        assert not {"AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL_S3"} & set(environment)
        assert environment["AWS_CONFIG_FILE"] == "/dev/null"


def test_the_shell_may_choose_a_provider_and_an_interval_but_no_endpoint() -> None:
    shell = {
        "REELWORKS_SPEECH_PROVIDER": "fake",
        "REELWORKS_JANITOR_INTERVAL_S": "2",
        "REELWORKS_AWS_ENDPOINT_URL": "https://sqs.eu-west-1.amazonaws.com",
        "REELWORKS_S3_PUBLIC_ENDPOINT_URL": "https://cdn.example",
    }
    settings = Settings.load(for_services(shell, PLACE))
    assert settings.speech.provider == "fake"
    assert settings.janitor.interval_s == 2
    assert settings.aws.endpoint_url == settings.s3.public_endpoint_url == "http://127.0.0.1:4001"


def test_an_empty_variable_of_the_shell_leaves_our_preference() -> None:
    settings = Settings.load(for_services({"REELWORKS_JANITOR_INTERVAL_S": ""}, PLACE))
    assert settings.janitor.interval_s == 5


def test_a_misspelt_variable_is_named() -> None:
    with pytest.raises(InvalidSettings, match="REELWORKS_SPEECH_PROVIDER"):
        Settings.load(for_services({"REELWORKS_SPEACH_PROVIDER": "fake"}, PLACE))


@pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
def test_nothing_on_loopback_goes_through_a_proxy(name: str) -> None:
    environment = for_services({"HTTP_PROXY": "http://proxy:3128", name: "intranet.example"}, PLACE)
    assert environment["no_proxy"] == environment["NO_PROXY"] == "intranet.example,127.0.0.1,localhost"


def test_ministack_sees_no_variable_that_only_has_the_name_of_one_of_its_own() -> None:
    environment = for_ministack({"AUTH": "true", "USE_SSL": "1", "PATH": "/bin"}, PLACE, 4001)
    assert not {"AUTH", "USE_SSL"} & set(environment)
    assert environment["PATH"] == "/bin"
    assert environment["GATEWAY_PORT"] == "4001"


def test_logs_are_pretty_for_a_person_unless_the_shell_says_otherwise() -> None:
    def log_format(shell: dict[str, str], *, pretty: bool) -> str:
        return Settings.load(for_services(shell, PLACE, pretty=pretty)).log.format

    assert log_format({}, pretty=True) == "console"
    assert log_format({}, pretty=False) == "auto"
    assert log_format({"REELWORKS_LOG_FORMAT": "json"}, pretty=True) == "json"


def test_an_emulator_of_somebody_else_is_not_started_again() -> None:
    own = stages({}, PLACE, ministack_port=4001)
    foreign = stages({}, PLACE)
    names = [[program.name for program in stage] for stage in own]
    assert names == [["ministack"], ["resources"], ["upload-api", "worker", "dlq-janitor"]]
    assert [[program.name for program in stage] for stage in foreign] == names[1:]
