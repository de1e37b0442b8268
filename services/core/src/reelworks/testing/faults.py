"""Faults between the adapters and botocore: the k-th call of a run fails, loses its answer, or is the process's last.

    injector = FaultInjector(at=7, fault=Fault.KILL_AFTER)
    adapters = Adapters.from_clients(injector.wrap(clients), settings)

Only calls that go to a service count; presigning does not.
"""

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, TypeVar, cast

from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

_Clients = TypeVar("_Clients")


class Fault(Enum):
    """What happens to the chosen call."""

    BEFORE = "before"
    """It is never sent: the endpoint cannot be reached."""
    AFTER = "after"
    """It takes effect and its answer is lost: a read timeout."""
    KILL_BEFORE = "kill_before"
    """The process dies before it is sent."""
    KILL_AFTER = "kill_after"
    """The process dies after it took effect."""

    @property
    def kills(self) -> bool:
        """Whether nothing of this process runs any more."""
        return self in (Fault.KILL_BEFORE, Fault.KILL_AFTER)

    @property
    def sends(self) -> bool:
        """Whether the call takes effect."""
        return self in (Fault.AFTER, Fault.KILL_AFTER)


class Killed(BaseException):
    """The process is dead. Not an Exception: no handler may live on, none may clean up with a call."""


class Call(NamedTuple):
    """`dynamodb`, `transact_write_items`."""

    service: str
    operation: str


class FaultInjector:
    """Counts the calls of everything it wraps; thread-safe.

    `at`: which call, from 1; 0 is none. A killed process stays dead: each further call of the clients that it had
    raises Killed. `restart` begins the next incarnation, whose clients must be wrapped anew.
    """

    def __init__(self, at: int = 0, fault: Fault = Fault.BEFORE) -> None:
        self.at = at
        self.fault = fault
        self.calls: list[Call] = []
        self.fired: Call | None = None
        self._dead: set[int] = set()
        self._incarnation = 0
        self._lock = threading.Lock()

    @property
    def killed(self) -> bool:
        """Whether the current incarnation is dead."""
        return self._incarnation in self._dead

    def wrap(self, clients: _Clients) -> _Clients:
        """The same dataclass of clients, with this injector between them and their user."""
        fields: Any = dataclasses.fields(cast("Any", clients))
        proxies = {
            field.name: _Proxy(value, functools.partial(self._call, self._incarnation))
            for field in fields
            if hasattr(value := getattr(clients, field.name), "meta")
        }
        return cast("_Clients", dataclasses.replace(cast("Any", clients), **proxies))

    def restart(self) -> None:
        """The next process begins. Clients wrapped from now on belong to it."""
        with self._lock:
            self._incarnation += 1

    def _call(self, incarnation: int, call: Call, send: Callable[..., Any], **request: object) -> object:
        fault = self._count(incarnation, call)
        if fault is None:
            return send(**request)
        if fault.sends:
            with contextlib.suppress(ClientError):
                _discard(send(**request))
        if fault.kills:
            raise Killed
        raise _answer(call, fault)

    def _count(self, incarnation: int, call: Call) -> Fault | None:
        with self._lock:
            if incarnation in self._dead:
                raise Killed
            self.calls.append(call)
            if len(self.calls) != self.at:
                return None
            self.fired = call
            if self.fault.kills:
                self._dead.add(incarnation)
            return self.fault


def _answer(call: Call, fault: Fault) -> Exception:
    endpoint = f"https://{call.service}.invalid/"
    if fault is Fault.BEFORE:
        return EndpointConnectionError(endpoint_url=endpoint)
    return ReadTimeoutError(endpoint_url=endpoint, error="injected")


def _discard(answer: dict[str, Any]) -> None:
    """An answer that is lost must not keep a connection."""
    if "Body" in answer:
        answer["Body"].close()


class _Proxy:
    """A client whose operations go through the injector; all else is the client's own."""

    def __init__(self, client: Any, call: Callable[..., object]) -> None:  # noqa: ANN401
        self._client = client
        self._service: str = client.meta.service_model.service_name
        self._call = call

    def __getattr__(self, name: str) -> object:
        attribute = getattr(self._client, name)
        if name not in self._client.meta.method_to_api_mapping:
            return attribute
        return functools.partial(self._call, Call(self._service, name), attribute)
