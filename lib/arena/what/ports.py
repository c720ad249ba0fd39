"""The ports of a server: HttpArena's, or others that the server takes from its environment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from arena.base.errors import UsageError

_HIGHEST = 65535


@dataclass(frozen=True)
class Ports:
    """Where a server listens: in clear text, and with TLS."""

    h2c: int = 8080
    tls: int = 8443

    @classmethod
    def chosen(cls, environment: Mapping[str, str]) -> Self:
        """Return the ports of PORT_H2C and PORT_TLS; UsageError if one is none."""
        standard = cls()
        return cls(
            _port(environment, "PORT_H2C", standard.h2c),
            _port(environment, "PORT_TLS", standard.tls),
        )

    def beside(self, number: int) -> "Ports":
        """Return the ports of another server, the `number`th that runs beside this one."""
        return Ports(self.h2c + number, self.tls + number)

    def of(self, port: int) -> int:
        """Return where the server has a port of a profile."""
        standard = Ports()
        return {standard.h2c: self.h2c, standard.tls: self.tls}.get(port, port)

    @property
    def environment(self) -> dict[str, str]:
        """What tells a server its ports."""
        return {"PORT_H2C": str(self.h2c), "PORT_TLS": str(self.tls)}


STANDARD = Ports()


def _port(environment: Mapping[str, str], name: str, otherwise: int) -> int:
    text = environment.get(name) or str(otherwise)
    if not re.fullmatch("[0-9]{1,6}", text) or not 0 < int(text) <= _HIGHEST:
        raise UsageError(f"{name}: {text!r:.40} is not a port (1 to {_HIGHEST})")
    return int(text)
