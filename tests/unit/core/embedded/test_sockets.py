import socket

import pytest

from reelworks.embedded.errors import PortTaken
from reelworks.embedded.sockets import HOST, free_ports, require_free


def test_free_ports_are_different_and_free() -> None:
    ports = free_ports(4)
    assert len(set(ports)) == 4
    for port in ports:
        require_free(port)


def test_a_taken_port_is_refused_with_what_to_do() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"Port {port} is taken.*make demo PORT=\d+"):
            require_free(port)
