"""What the processes of the embedded mode are told. The only module here that reads the environment.

The services get what the shell had, so that any REELWORKS_ variable can be tried out, minus everything that could
lead them to real AWS. MiniStack gets next to nothing of it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from reelworks.embedded.sockets import HOST
from reelworks.runtime.settings import PREFIX

Environment = Mapping[str, str]

API_GRACE_S = 3
WORKER_GRACE_S = 5
"""A person who pressed Ctrl-C waits for these; what is not finished by then would be lost with MiniStack anyway."""
JANITOR_INTERVAL_S = 5

_MINISTACK_SERVICES = "s3,sqs,dynamodb,events,sts"
_PASSED_TO_MINISTACK = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME")


class Place(Struct, frozen=True, kw_only=True):
    """Where everything is: the emulator, a port for each service, and a folder for logs and data."""

    endpoint: str
    api_port: int
    worker_port: int
    janitor_port: int
    folder: Path

    @property
    def api_url(self) -> str:
        """For programs."""
        return f"http://{HOST}:{self.api_port}"

    @property
    def page_url(self) -> str:
        """For people."""
        return f"http://localhost:{self.api_port}"


def inherited() -> dict[str, str]:
    """A copy of this process's own environment."""
    return os.environ.copy()


def for_services(base: Environment, place: Place, *, pretty: bool = False) -> dict[str, str]:
    """The same for all three: each reads its own group. `base` may override our preferences, not our addresses.

    `pretty`: logs for a person at a terminal, which the services cannot see.
    """
    preferences = {
        "LOG_FORMAT": "console" if pretty else "auto",
        "API_SHUTDOWN_GRACE_S": API_GRACE_S,
        "WORKER_GRACE_S": WORKER_GRACE_S,
        "JANITOR_INTERVAL_S": JANITOR_INTERVAL_S,
    }
    addresses = {
        "AWS_ENDPOINT_URL": place.endpoint,
        "S3_PUBLIC_ENDPOINT_URL": place.endpoint,
        "S3_ADDRESSING": "path",  # no name server knows bucket.127.0.0.1
        "API_HOST": HOST,
        "API_PORT": place.api_port,
        "WORKER_HOST": HOST,
        "WORKER_PORT": place.worker_port,
        "WORKER_SCRATCH_DIR": place.folder / "scratch",
        "JANITOR_HOST": HOST,
        "JANITOR_PORT": place.janitor_port,
    }
    return {**_prefixed(preferences), **_without_aws(base), **_prefixed(addresses), **_dummy_keys()}


def for_ministack(base: Environment, place: Place, port: int) -> dict[str, str]:
    """Its variables have plain names (AUTH, SERVICES, USE_SSL) that may mean something else in `base`: it sees few."""
    data = place.folder / "ministack"
    return {
        **{name: base[name] for name in _PASSED_TO_MINISTACK if name in base},
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        # Queue URLs and S3 virtual hosts are made of this name.
        "MINISTACK_HOST": HOST,
        "SERVICES": _MINISTACK_SERVICES,
        # Listeners that nobody asked for, on fixed ports.
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "PERSIST_STATE": "0",
        "S3_PERSIST": "0",
        "S3_DATA_DIR": str(data / "s3"),
        "STATE_DIR": str(data / "state"),
        "TMPDIR": str(data),
        # It tidies up containers at its start; a socket that is not there keeps it away from this machine's.
        "DOCKER_HOST": f"unix://{data}/no-docker",
        "LOG_LEVEL": "WARNING",
        "PYTHONUNBUFFERED": "1",
        **_dummy_keys(),
    }


def _prefixed(values: Mapping[str, object]) -> dict[str, str]:
    return {f"{PREFIX}{name}": str(value) for name, value in values.items()}


def _without_aws(base: Environment) -> dict[str, str]:
    """Real credentials, profiles and endpoints stay here; and nothing on loopback goes through a proxy."""
    kept = {
        name: value
        for name, value in base.items()
        if not name.startswith("AWS_") and not (name.startswith(PREFIX) and value == "")
    }
    direct = ",".join(filter(None, (base.get("no_proxy") or base.get("NO_PROXY"), HOST, "localhost")))
    return {**kept, "NO_PROXY": direct, "no_proxy": direct, "PYTHONUNBUFFERED": "1"}


def _dummy_keys() -> dict[str, str]:
    """What every emulator takes. The files are named so that ~/.aws is not read."""
    return {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
