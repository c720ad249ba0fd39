"""What is checked on each port of a server, derived from its framework's profiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from arena.contract.disguise import Disguise
from arena.what.framework import Framework
from arena.what.loads import Scenario
from arena.what.profile import Profile

Call = Literal["GetSum", "StreamSum", "CollectSum", "EchoSum"]
# HTTP/1.1 and HTTP/2.
Version = Literal["h1", "h2"]

# The scenario whose service is known: items (requests/crud.openapi.yaml).
_ITEMS = "requests/crud.yaml"


@dataclass(frozen=True)
class Scope:
    """One port of a server, and the calls that are checked there.

    `requests` are the profiles' exact StreamSum requests: the generators rely on the replies'
    length. `own` are the profiles with a .proto of their own, whose calls are checked too. If
    there are no other `calls`, these take the place of GetSum. A `light` scope has only the
    values and TLS: another port has all the other checks. Clients look like `disguise`, or like any
    generator.
    """

    port: int
    tls: bool
    calls: frozenset[Call] = frozenset({"GetSum"})
    requests: tuple[Mapping[str, Any], ...] = ()
    own: tuple[Profile, ...] = ()
    light: bool = False
    disguise: Disguise | None = None


@dataclass(frozen=True)
class ItemScope:
    """One port of a server that has items, and the versions of HTTP that are checked there.

    A `light` scope has only the values and TLS: another port has all the other checks. Unless it
    `is_known`, the scenario needs another service, and nothing but its being there is checked.
    """

    port: int
    tls: bool
    versions: tuple[Version, ...]
    light: bool = False
    is_known: bool = True
    disguise: Disguise | None = None


AnyScope = Scope | ItemScope


def scope_of(profile: Profile) -> AnyScope:
    """Return what must be right before and after a profile is measured."""
    if isinstance(load := profile.load, Scenario):
        version: Version = "h1" if load.http_version == 1 else "h2"
        is_known = load.scenario.file == _ITEMS
        return ItemScope(profile.port, profile.tls, (version,), is_known=is_known)
    return _scope_of_calls(profile)


def _scope_of_calls(profile: Profile) -> Scope:
    if profile.proto:
        return Scope(profile.port, profile.tls, frozenset(), own=(profile,))
    calls = {call for call in get_args(Call) if call in {"GetSum", profile.method}}
    exact = (profile.request,) if profile.method == "StreamSum" else ()
    return Scope(profile.port, profile.tls, frozenset(calls), exact)


def scopes_of(framework: Framework, profiles: Sequence[Profile]) -> list[AnyScope]:
    """Return a scope for each port of the given profiles that a framework subscribes to.

    It has all checks that these profiles need. A port with both calls and items has two. Ports
    without TLS come first.
    """
    every = [scope_of(each) for each in profiles if each.name in framework.tests]
    calls = _of_calls([each for each in every if isinstance(each, Scope)])
    over_http = [each for each in every if isinstance(each, ItemScope)]
    items = _of_items([each for each in over_http if each.is_known])
    known: list[AnyScope] = [*calls, *items]
    ports = {(each.port, each.tls) for each in known}
    others = {each for each in over_http if (each.port, each.tls) not in ports}
    return sorted([*known, *others], key=lambda scope: scope.tls)


def _of_calls(scopes: Sequence[Scope]) -> list[Scope]:
    found: dict[tuple[int, bool], Scope] = {}
    for scope in scopes:
        before = found.setdefault((scope.port, scope.tls), scope)
        more = tuple(each for each in scope.requests if each not in before.requests)
        found[scope.port, scope.tls] = replace(
            before,
            calls=before.calls | scope.calls,
            requests=before.requests + more,
            own=before.own + tuple(each for each in scope.own if each not in before.own),
        )
    done = {call for scope in found.values() if not scope.tls for call in _checked(scope)}
    return [replace(each, light=each.tls and _checked(each) <= done) for each in found.values()]


def _checked(scope: Scope) -> set[str]:
    return {*scope.calls, *(each.call for each in scope.own)}


def _of_items(scopes: Sequence[ItemScope]) -> list[ItemScope]:
    found: dict[tuple[int, bool], set[Version]] = {}
    for scope in scopes:
        found.setdefault((scope.port, scope.tls), set()).update(scope.versions)
    done = {each for (_, tls), versions in found.items() if not tls for each in versions}
    return [
        ItemScope(port, tls, tuple(sorted(versions)), light=tls and versions <= done)
        for (port, tls), versions in found.items()
    ]
