"""How each load generator looks to a server: a check must look as the load does.

A test holds these against what the programs themselves send.
"""

import random
from dataclasses import dataclass, replace

from hyperframe.frame import SettingsFrame

DEFAULT_WINDOW = 65_535

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
    (":method", "POST"),
    (":scheme", "{scheme}"),
    (":path", "{path}"),
    (":authority", "{authority}"),
)

GHZ = Disguise(
    "ghz",
    settings=(),
    connection=DEFAULT_WINDOW,
    fields=(
        *_START,
        ("content-type", "{type}"),
        ("user-agent", "grpc-go/1.56.3"),
        ("te", "trailers"),
        ("grpc-accept-encoding", "gzip"),
        ("grpc-timeout", "{timeout}"),
    ),
    counts_down=True,
)
VOLLEY = Disguise(
    "volley",
    settings=((_ENABLE_PUSH, 0), (_INITIAL_WINDOW, 16 << 20), (_MAX_FIELDS, 64 << 10)),
    connection=16 << 20,
    fields=(
        *_START,
        ("te", "trailers"),
        ("content-type", "{type}"),
        ("user-agent", "volley/0.1.0"),
        ("grpc-timeout", "{timeout}"),
        ("grpc-accept-encoding", "gzip"),
    ),
)
H2LOAD = Disguise(
    "h2load",
    settings=((_ENABLE_PUSH, 0), (_INITIAL_WINDOW, (1 << 30) - 1)),
    connection=(1 << 30) - 1,
    fields=(
        (":path", "{path}"),
        (":scheme", "{scheme}"),
        (":authority", "{authority}"),
        (":method", "POST"),
        ("user-agent", "h2load nghttp2/1.52.0"),
        ("content-type", "{type}"),
        ("te", "trailers"),
        ("content-length", "{length}"),
    ),
)
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
