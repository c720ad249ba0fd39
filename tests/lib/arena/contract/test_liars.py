"""A liar for every check, caught by name."""

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from arena.contract import Call, Scope, check, checks
from arena.contract.messages import frame, hexadecimal
from arena.record.record import Check
from arena.what.benchmark_pb2 import SumReply
from tests.lib.arena.contract.liars_of_flow import FLOW, GARBAGE
from tests.lib.arena.contract.liars_of_values import REQUESTS, STREAMS, TLS, UNARY
from tests.lib.arena.contract.lies import PROFILE, Liar
from tests.lib.arena.contract.lying_server import (
    Clock,
    Outside,
    Server,
    Tls,
    context_of,
    serving,
)

LIARS = [*UNARY, *STREAMS, *FLOW, *GARBAGE, *REQUESTS, *TLS]


class EnoughError(Exception):
    """The first finding is enough."""


def found_of(liar: Liar, server: Server, clock: Clock, certificates: Path) -> list[Check]:
    """Return what the contract reports of a liar; if it is not `alone`, only the first."""
    scope = scope_of(liar, server.port)
    due = iter(names(scope))
    found: list[Check] = []
    patch = pytest.MonkeyPatch()

    def prepare() -> None:
        """Make ready for the next check: only while the liar's own is made, time is short."""
        patch.undo()
        its_own = next(due, "") == liar.check
        for name, time_s in liar.short.items() if its_own else ():
            patch.setattr(f"arena.contract.{name}", time_s)
        if liar.tls:
            lies = its_own or not liar.alone
            server.tls = context_of(liar.tls if lies else Tls(), certificates)
            server.next_tls = [context_of(Tls(), certificates)] * (liar.tls.honest if lies else 0)

    def tell(made: Check) -> None:
        if made.status != "pass":
            found.append(made)
            if not liar.alone:
                raise EnoughError
        prepare()

    prepare()
    try:
        report = check(scope, Outside(server, clock) if liar.watched else None, tell)
    except EnoughError:
        return found
    finally:
        patch.undo()
    assert [each for each in report.checks if each.status != "pass"] == found
    return found


def scope_of(liar: Liar, port: int) -> Scope:
    """Return the smaller scope, if it has the liar's check."""
    tls = liar.tls is not None
    light = Scope(port, tls=tls, calls=liar.calls, requests=(PROFILE,), light=True)
    return light if liar.check in names(light) else replace(light, light=False)


def names(scope: Scope) -> list[str]:
    return [name for name, _ in checks._checks(scope, None, [])]


def wire_of(liar: Liar, detail: str) -> str:
    """Return the pattern of the bytes: a wrong value is shown as the reply that holds it."""
    value = re.search(r"reply \d+ is (-?\d+), not (-?\d+)$", detail)
    if value is None or liar.status == "warn":
        return liar.wire
    assert value[1] != value[2]
    return hexadecimal(frame(SumReply(result=int(value[1])).SerializeToString()))


@pytest.mark.parametrize("liar", LIARS, ids=str)
def test_a_liar_is_caught_by_name(liar: Liar, clock: Clock, certificates: Path) -> None:
    with warnings.catch_warnings(), serving(liar.manner) as server:
        # One of the lies is a deprecated version of TLS.
        warnings.simplefilter("ignore", DeprecationWarning)
        found = found_of(liar, server, clock, certificates)
    assert [(each.check, each.status) for each in found] == [(liar.check, liar.status)], found
    assert re.fullmatch(liar.words, found[0].detail), found
    assert re.fullmatch(wire_of(liar, found[0].detail), found[0].wire), found


def test_every_check_has_a_liar() -> None:
    of_all = Scope(0, tls=True, calls=frozenset(get_args(Call)), requests=(PROFILE,))
    assert {liar.check for liar in LIARS} == set(names(of_all))


def test_no_two_liars_are_the_same() -> None:
    assert len({str(liar) for liar in LIARS}) == len(LIARS)
