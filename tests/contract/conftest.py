"""The three worlds that the contract tests run in, each test in fresh buckets, queues and table."""

from collections.abc import Callable, Iterator

import pytest

from reelworks.adapters.clients import Clients
from reelworks.testing import FakeClock, InMemory
from tests.contract.worlds import MINISTACK, MOTO, AnyPorts, Emulated, Emulation, Remembered, World
from tests.servers import KEYS, ministack, moto, settings_for

__all__ = ["ministack", "moto"]

EMULATIONS: dict[str, Emulation] = {"ministack": MINISTACK, "moto": MOTO}


@pytest.fixture(scope="session")
def clients() -> Iterator[Callable[[str], Clients]]:
    """The clients of an endpoint, made once: that takes longer than most tests."""
    made: dict[str, Clients] = {}

    def get(endpoint: str) -> Clients:
        if endpoint not in made:
            made[endpoint] = Clients.from_settings(settings_for(endpoint), KEYS)
        return made[endpoint]

    yield get
    for each in made.values():
        each.close()


@pytest.fixture(
    params=["memory", pytest.param("ministack", marks=pytest.mark.needs_ministack), "moto"],
)
def world(request: pytest.FixtureRequest, clients: Callable[[str], Clients]) -> World:
    """Ports, and what a test needs besides: time that passes, a client that sends files."""
    if request.param == "memory":
        clock = FakeClock()
        return Remembered(InMemory.make(clock), clock)
    endpoint: str = request.getfixturevalue(request.param)
    return Emulated.made(endpoint, clients(endpoint), EMULATIONS[request.param])


@pytest.fixture
def ports(world: World) -> AnyPorts:
    """The ports themselves."""
    return world.ports


@pytest.fixture(params=[pytest.param("ministack", marks=pytest.mark.needs_ministack), "moto"])
def emulated(request: pytest.FixtureRequest, clients: Callable[[str], Clients]) -> Emulated:
    """For what only makes sense with a wire between."""
    endpoint: str = request.getfixturevalue(request.param)
    return Emulated.made(endpoint, clients(endpoint), EMULATIONS[request.param])
