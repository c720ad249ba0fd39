"""What is checked on each port of a server, and what its clients look like.

A check must look to a server as the load does: a test holds each `Disguise` against what the load
generators themselves send.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from hyperframe.frame import SettingsFrame

from arena.what.framework import Framework
from arena.what.loads import Scenario
from arena.what.profile import Profile

DEFAULT_WINDOW = 65_535

# The scenario whose service is known: items (requests/crud.openapi.yaml).
_ITEMS = "requests/crud.yaml"

_ENABLE_PUSH = SettingsFrame.ENABLE_PUSH
_INITIAL_WINDOW = SettingsFrame.INITIAL_WINDOW_SIZE
_MAX_FIELDS = SettingsFrame.MAX_HEADER_LIST_SIZE


@dataclass(frozen=True)
class Disguise:
    """A generator as a server sees it: its SETTINGS, its windows, and its request's fields.

    `fields` are in their order, with `{…}` for what depends on the call. `connection` is the
    connection's window in bytes, which a WINDOW_UPDATE opens if it is not the default. One that
    `counts_down` announces what is left of a call's limit when it is sent.
    """

    generator: str
    settings: tuple[tuple[int, int], ...]
    connection: int
    fields: tuple[tuple[str, str], ...]
    counts_down: bool = False

    @property
    def window(self) -> int:
        """The window of each stream, in bytes."""
        return dict(self.settings).get(_INITIAL_WINDOW, DEFAULT_WINDOW)

    def announced_us(self, limit_us: int) -> int:
        """Return the limit of a call as it is announced."""
        spent_us = random.randrange(20, 800) if self.counts_down else 0  # noqa: S311 - no secret
        return limit_us - spent_us

    @property
    def agent(self) -> str:
        """The user agent."""
        return dict(self.fields)["user-agent"]

    @property
    def accepts(self) -> str:
        """The compression that its requests offer; empty for none."""
        return dict(self.fields).get("grpc-accept-encoding", "")


_START = (
    (":method", "POST"), (":scheme", "{scheme}"), (":path", "{path}"),
    (":authority", "{authority}"),
)  # fmt: skip
GHZ = Disguise("ghz", settings=(), connection=DEFAULT_WINDOW, counts_down=True, fields=(
    *_START, ("content-type", "{type}"), ("user-agent", "grpc-go/1.56.3"), ("te", "trailers"),
    ("grpc-accept-encoding", "gzip"), ("grpc-timeout", "{timeout}"),
))  # fmt: skip
VOLLEY = Disguise("volley", connection=16 << 20, settings=(
    (_ENABLE_PUSH, 0), (_INITIAL_WINDOW, 16 << 20), (_MAX_FIELDS, 64 << 10),
), fields=(
    *_START, ("te", "trailers"), ("content-type", "{type}"), ("user-agent", "volley/0.1.0"),
    ("grpc-timeout", "{timeout}"), ("grpc-accept-encoding", "gzip"),
))  # fmt: skip
H2LOAD = Disguise("h2load", connection=(1 << 30) - 1, settings=(
    (_ENABLE_PUSH, 0), (_INITIAL_WINDOW, (1 << 30) - 1),
), fields=(
    (":path", "{path}"), (":scheme", "{scheme}"), (":authority", "{authority}"),
    (":method", "POST"), ("user-agent", "h2load nghttp2/1.52.0"), ("content-type", "{type}"),
    ("te", "trailers"), ("content-length", "{length}"),
))  # fmt: skip
ALL = (GHZ, VOLLEY, H2LOAD)


def disguise_of(generator: str = "", version: str = "") -> Disguise:
    """Return the look of a generator by its name, also in a fleet; without one, any look.

    The user agent of h2load and volley has their `version`; that of ghz has its library's.
    """
    found = [each for each in ALL if each.generator in generator]
    look = found[0] if found else random.choice(ALL)  # noqa: S311 - not a secret
    if not found or not version or look is GHZ:
        return look
    agent = look.agent.rpartition("/")[0] + "/" + version
    fields = tuple((name, agent if name == "user-agent" else each) for name, each in look.fields)
    return replace(look, fields=fields)


Call = Literal["GetSum", "StreamSum", "CollectSum", "EchoSum"]
Version = Literal["h1", "h2"]  # HTTP/1.1 and HTTP/2


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
    every = [scope_of(each) for each in profiles if each.is_of(framework.tests)]
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
