"""What is checked on each port of a server, derived from its framework's profiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from arena.what.framework import Framework
from arena.what.profile import Profile

Call = Literal["GetSum", "StreamSum", "CollectSum", "EchoSum"]


@dataclass(frozen=True)
class Scope:
    """One port of a server, and the calls that are checked there.

    `requests` are the profiles' exact StreamSum requests: the generators rely on the replies'
    length. `own` are the profiles with a .proto of their own, whose calls are checked too. If
    there are no other `calls`, these take the place of GetSum. A `light` scope has only the
    values and TLS: another port has all the other checks. Without calls, it is a scenario's.
    """

    port: int
    tls: bool
    calls: frozenset[Call] = frozenset({"GetSum"})
    requests: tuple[Mapping[str, Any], ...] = ()
    own: tuple[Profile, ...] = ()
    light: bool = False

    @property
    def is_grpc(self) -> bool:
        """Whether there are calls to check."""
        return bool(self.calls or self.own)


def scope_of(profile: Profile) -> Scope:
    """Return what must be right before and after a profile is measured."""
    if not profile.load.makes_calls:
        return Scope(profile.port, profile.tls, frozenset())
    if profile.proto:
        return Scope(profile.port, profile.tls, frozenset(), own=(profile,))
    calls = {call for call in get_args(Call) if call in {"GetSum", profile.method}}
    exact = (profile.request,) if profile.method == "StreamSum" else ()
    return Scope(profile.port, profile.tls, frozenset(calls), exact)


def scopes_of(framework: Framework, profiles: Sequence[Profile]) -> list[Scope]:
    """Return a scope for each port of the given profiles that a framework subscribes to.

    It has all checks that these profiles need. The port without TLS comes first.
    """
    found: dict[tuple[int, bool], Scope] = {}
    for scope in (scope_of(each) for each in profiles if each.name in framework.tests):
        before = found.setdefault((scope.port, scope.tls), scope)
        more = tuple(each for each in scope.requests if each not in before.requests)
        found[scope.port, scope.tls] = replace(
            before,
            calls=before.calls | scope.calls,
            requests=before.requests + more,
            own=before.own + tuple(each for each in scope.own if each not in before.own),
        )
    plain = [scope for scope in found.values() if not scope.tls]
    done = {call for scope in plain for call in _checked(scope)}
    secure = [scope for scope in found.values() if scope.tls]
    return plain + [replace(each, light=_checked(each) <= done) for each in secure]


def _checked(scope: Scope) -> set[str]:
    return {*scope.calls, *(each.call for each in scope.own)}
