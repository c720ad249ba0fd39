"""The ports of a server."""

import pytest

from arena.base.errors import UsageError
from arena.what.environment import STANDARD, Ports


def test_ports_are_httparenas_unless_the_environment_has_others() -> None:
    assert Ports.chosen({}) == Ports.chosen({"PORT_H2C": ""}) == STANDARD == Ports(8080, 8443)
    chosen = Ports.chosen({"PORT_H2C": "9080", "PORT_TLS": "9443"})
    assert chosen == Ports(9080, 9443)
    assert chosen.environment == {"PORT_H2C": "9080", "PORT_TLS": "9443"}
    assert Ports.chosen(chosen.environment) == chosen


def test_a_profiles_port_is_where_the_server_has_it() -> None:
    chosen = Ports(9080, 9443)
    assert [chosen.of(port) for port in (8080, 8443, 7000)] == [9080, 9443, 7000]


def test_servers_that_run_at_once_have_different_ports_and_the_first_has_these() -> None:
    assert STANDARD.several(3, ()) == [STANDARD, Ports(8081, 8444), Ports(8082, 8445)]
    assert STANDARD.several(2, {8080, 8081, 8445}) == [STANDARD, Ports(8083, 8446)]
    # A server that cannot move may have the standard ports meanwhile.
    assert Ports(8079, 9443).several(2, ()) == [Ports(8079, 9443), Ports(8081, 9445)]
    assert Ports(8442, 8444).several(2, ()) == [Ports(8442, 8444), Ports(8445, 8447)]
    assert Ports(8080, 65535).several(2, ()) == [Ports(8080, 65535)]


def test_a_server_that_cannot_move_has_the_standard_ports() -> None:
    chosen = Ports(9080, 9443)
    assert chosen.given_to("environment") == chosen
    assert chosen.given_to("fixed") == STANDARD


def test_two_ports_that_are_one_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^PORT_H2C and PORT_TLS: both are 8443$"):
        Ports.chosen({"PORT_H2C": "8443"})


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "8080.0", "9" * 30, "٣"])
def test_what_is_no_port_is_refused_by_its_variable(text: str) -> None:
    with pytest.raises(UsageError, match=r"^PORT_TLS: .* is not a port"):
        Ports.chosen({"PORT_TLS": text})
