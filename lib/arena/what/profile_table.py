"""The table of docs/profiles.md, generated from the profiles."""

from collections.abc import Sequence
from pathlib import Path

from arena.base.errors import HostError
from arena.base.reading import read_input
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.what.loads import KINDS
from arena.what.profile import Profile, load_profile, profile_names

_BEGIN = "<!-- The table is made by ./scripts/arena.sh profiles --write -->"
_END = "<!-- The end of the table -->"

_HEAD = ("profile", "kind", "call", "load", "connections", "runs", "metric", "generator")


def table(profiles: Sequence[Profile]) -> str:
    """Return a Markdown table with a row for each profile."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *map(_row, profiles)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def all_profiles(workspace: Workspace) -> list[Profile]:
    """Return the profiles of the checkout, sorted by kind, then by name."""
    found = [load_profile(workspace.profiles, name) for name in profile_names(workspace.profiles)]
    return sorted(found, key=lambda each: (list(KINDS).index(each.load.kind), each.name))


def write(workspace: Workspace) -> Path:
    """Put the table into docs/profiles.md; HostError if its place is not marked there."""
    path = workspace.root / "docs" / "profiles.md"
    text = read_input(path)
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise HostError(f"{shown(path)}: the place of the table is not marked")
    made = f"{before}{begin}\n\n{table(all_profiles(workspace))}\n{end}{after}"
    write_atomic(path, made)
    return path


def _row(profile: Profile) -> tuple[str, ...]:
    load, each_call = profile.load, profile.messages_per_call
    messages = f", {each_call:,} messages a call" if each_call > 1 else ""
    return (
        f"`{profile.name}`",
        load.kind,
        f"{profile.call_words}{', TLS' if profile.tls else ''}",
        f"{load.words}{messages}",
        ", ".join(f"{each:,}" for each in profile.connections),
        f"{profile.runs} × {load.each_run}" if load.each_run else str(profile.runs),
        profile.metric,
        profile.generator,
    )
