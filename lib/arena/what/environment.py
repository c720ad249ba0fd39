"""What the environment sets: overrides, which have flags too, and the ports of a server."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from arena.base.errors import UsageError

# Every generator: `arena.load.<name>` describes it as `<NAME>`.
GENERATORS = ("ghz", "h2load", "volley")

# The generator of the loads that a fleet makes (docs/fleet.md).
FLEET_GENERATOR = "volley-fleet"

# The overrides that change a profile's load, with their flags. Such records are trials.
TRIAL = {
    "RUNS": "--runs", "DURATION": "--duration", "REQUESTS": "--requests",
    "CONNECTIONS": "--connections",
}  # fmt: skip

CPUS = ("SERVER_CPUS", "LOADGEN_CPUS", "CPU_IDLE")


def program_variable(generator: str) -> str:
    """Return the variable that names a generator's program."""
    return generator.upper()


def image_variable(generator: str) -> str:
    """Return the variable that names a generator's image."""
    return f"{generator.upper()}_IMAGE"


# The path of a program on one machine does not help to repeat a record on another.
PROGRAMS = tuple(map(program_variable, GENERATORS))
IMAGES = tuple(map(image_variable, GENERATORS))
REPEATABLE = (*IMAGES, "LOADGEN_DOCKER", *CPUS)

# The environment variables in addition to those of flags.
ENVIRONMENT = (*PROGRAMS, *REPEATABLE)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names in a sentence: `ghz, h2load and volley`."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


_HIGHEST = 65535


@dataclass(frozen=True)
class Ports:
    """Where a server listens: in clear text, and with TLS."""

    h2c: int = 8080
    tls: int = 8443

    @classmethod
    def chosen(cls, environment: Mapping[str, str]) -> Self:
        """Return the ports of PORT_H2C and PORT_TLS; UsageError if one is none, or both are one."""
        found = cls(
            _port(environment, "PORT_H2C", STANDARD.h2c),
            _port(environment, "PORT_TLS", STANDARD.tls),
        )
        if found.h2c == found.tls:
            raise UsageError(f"PORT_H2C and PORT_TLS: both are {found.h2c}")
        return found

    def several(self, count: int, taken: Container[int]) -> list["Ports"]:
        """Return the ports of up to `count` servers that run at once, these first.

        The others have no port that is `taken`, and no standard one: a server that cannot move may
        be the first.
        """
        found = [self]
        used = {self.h2c, self.tls, STANDARD.h2c, STANDARD.tls}
        for number in range(1, _HIGHEST - max(self.h2c, self.tls) + 1):
            if len(found) == count:
                break
            own = {self.h2c + number, self.tls + number}
            if not any(port in used or port in taken for port in own):
                found.append(Ports(self.h2c + number, self.tls + number))
                used |= own
        return found

    def given_to(self, kind: Literal["fixed", "environment"]) -> "Ports":
        """Return the ports of a server; those of one that cannot move are the standard ones."""
        return self if kind == "environment" else STANDARD

    def of(self, port: int) -> int:
        """Return where the server has a port of a profile."""
        return {STANDARD.h2c: self.h2c, STANDARD.tls: self.tls}.get(port, port)

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
