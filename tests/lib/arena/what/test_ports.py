"""The ports of a server."""

import pytest

from arena.base.errors import UsageError
from arena.what.ports import STANDARD, Ports


def test_ports_are_httparenas_unless_the_environment_has_others() -> None:
    assert Ports.chosen({}) == Ports.chosen({"PORT_H2C": ""}) == STANDARD == Ports(8080, 8443)
    chosen = Ports.chosen({"PORT_H2C": "9080", "PORT_TLS": "9443"})
    assert chosen == Ports(9080, 9443)
    assert chosen.environment == {"PORT_H2C": "9080", "PORT_TLS": "9443"}
    assert Ports.chosen(chosen.environment) == chosen


def test_a_profiles_port_is_where_the_server_has_it() -> None:
    chosen = Ports(9080, 9443)
    assert [chosen.of(port) for port in (8080, 8443, 7000)] == [9080, 9443, 7000]
    assert [STANDARD.beside(1).of(port) for port in (8080, 8443)] == [8081, 8444]


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "8080.0", "9" * 30, "٣"])
def test_what_is_no_port_is_refused_by_its_variable(text: str) -> None:
    with pytest.raises(UsageError, match=r"^PORT_TLS: .* is not a port"):
        Ports.chosen({"PORT_TLS": text})
