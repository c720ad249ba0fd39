"""What is checked of a server, and where: taken from what its framework subscribes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from arena.what.framework import Framework
from arena.what.profile import Profile

Call = Literal["GetSum", "StreamSum", "CollectSum", "EchoSum"]


@dataclass(frozen=True)
class Scope:
    """One port of a server, and the calls that are checked there.

    `request` is a profile's own StreamSum request, asked to the letter: the generators count on
    its length. A `light` scope is only the values and TLS: another port has had all the rest.
    """

    port: int
    tls: bool
    calls: frozenset[Call] = frozenset({"GetSum"})
    request: Mapping[str, int] | None = None
    light: bool = False


def scope_of(profile: Profile) -> Scope:
    """Return what must be right before, and after, a profile is measured."""
    calls = {call for call in get_args(Call) if call in {"GetSum", profile.method}}
    request = {str(key): value for key, value in profile.request.items()}
    exact = request if profile.method == "StreamSum" else None
    return Scope(profile.port, profile.tls, frozenset(calls), exact)


def scopes_of(framework: Framework, profiles: Sequence[Profile]) -> list[Scope]:
    """Return all that a framework subscribes to, the port without TLS first.

    A test without a profile is another runner's.
    """
    known = {profile.name: scope_of(profile) for profile in profiles}
    found: dict[tuple[int, bool], Scope] = {}
    for test in framework.tests:
        scope = known.get(test)
        if scope is None:
            continue
        before = found.setdefault((scope.port, scope.tls), scope)
        found[scope.port, scope.tls] = replace(
            before, calls=before.calls | scope.calls, request=before.request or scope.request
        )
    plain = [scope for scope in found.values() if not scope.tls]
    done: frozenset[Call] = frozenset().union(*(scope.calls for scope in plain))
    return plain + [
        replace(scope, light=scope.calls <= done) for scope in found.values() if scope.tls
    ]
