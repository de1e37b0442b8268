"""The application on in-memory ports, and a client that speaks to it."""

from collections.abc import Iterator

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from reelworks.testing import FakeClock, InMemory
from tests.unit.upload_api.api import Api, make_app


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(clock: FakeClock) -> InMemory:
    return InMemory.make(clock)


@pytest.fixture
def app(memory: InMemory) -> Litestar:
    return make_app(memory)


@pytest.fixture
def client(app: Litestar) -> Iterator[TestClient[Litestar]]:
    with TestClient(app) as client:
        yield client


@pytest.fixture
def api(client: TestClient[Litestar], memory: InMemory, clock: FakeClock) -> Api:
    return Api(client=client, memory=memory, clock=clock)
