"""Which ports to use on this machine."""

import errno
import socket
from contextlib import ExitStack

from reelworks.embedded.errors import EmbeddedError, PortTaken

HOST = "127.0.0.1"
"""Nothing here is protected, so nothing here is reachable from other machines."""


def free_ports(count: int) -> list[int]:
    """So many different ports that nobody listens on now.

    Somebody may take one before we do; the child then ends at once, and its log says why.
    """
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((HOST, 0))
        return [probe.getsockname()[1] for probe in probes]


def require_free(port: int) -> None:
    """Raises PortTaken, with what to do about it."""
    with socket.socket() as probe:
        # As servers do: connections of an earlier run that are still closing are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise _refusal(port, error) from error


def _refusal(port: int, error: OSError) -> EmbeddedError:
    other = port + 10 if 1024 <= port <= 65_000 else 8090
    advice = f"Choose another one: make demo PORT={other}"
    if error.errno == errno.EADDRINUSE:
        return PortTaken(f"Port {port} is taken by another program. {advice}")
    if error.errno == errno.EACCES:
        return PortTaken(f"Port {port} needs more rights than this user has. {advice}")
    return PortTaken(f"Port {port} cannot be used ({error.strerror}). {advice}")
