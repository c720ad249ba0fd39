"""The table of docs/profiles.md, made from the profiles themselves."""

from collections.abc import Sequence
from pathlib import Path

from arena.base.durations import format_duration
from arena.base.errors import HostError
from arena.base.reading import read_input
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.what.profile import Profile, load_profile, profile_names
from arena.what.schedule import Schedule

_BEGIN = "<!-- The table is made by ./scripts/arena.sh profiles --write -->"
_END = "<!-- The end of the table -->"

_HEAD = ("profile", "kind", "call", "load", "connections", "runs", "metric", "generator")


def table(profiles: Sequence[Profile]) -> str:
    """Return a Markdown table with a row for each profile."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *map(_row, profiles)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def all_profiles(workspace: Workspace) -> list[Profile]:
    """Return the profiles of the checkout by name, the kinds one after the other."""
    found = [load_profile(workspace.profiles, name) for name in profile_names(workspace.profiles)]
    return sorted(found, key=lambda each: (list(_LOADS).index(each.kind), each.name))


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
    seconds = format_duration(profile.window_s) if profile.kind == "closed" else ""
    runs = f"{profile.runs} × {seconds}" if seconds else str(profile.runs)
    return (
        f"`{profile.name}`",
        profile.kind,
        f"{profile.method}{', TLS' if profile.tls else ''}",
        _LOADS[profile.kind](profile),
        ", ".join(f"{each:,}" for each in profile.connections),
        runs,
        profile.metric,
        profile.generator,
    )


def _closed(profile: Profile) -> str:
    """Say how many calls are open, and what each of them moves."""
    if profile.concurrency:
        load = f"{profile.concurrency:,} calls at a time"
    else:
        load = f"{profile.streams_per_connection:,} calls at a time on each connection"
    if profile.messages_per_call > 1:
        load += f", {profile.messages_per_call:,} messages a call"
    return load


def _scheduled(profile: Profile) -> str:
    if profile.schedule is None:
        return ""
    words = _schedule(profile.schedule)
    return f"{profile.requests:,} calls in {profile.window_s:.0f} s: {words}"


def _schedule(schedule: Schedule) -> str:
    if schedule.shape == "const":
        return f"{schedule.rps} a second"
    every = "each second"
    if schedule.shape == "step":
        every = f"every {format_duration(schedule.step_duration_s or 1)}"
    words = f"from {schedule.start} a second, {schedule.step:+} {every}"
    if schedule.end:
        words += f", to {schedule.end}"
    if schedule.max_duration_s:
        words += f", for {format_duration(schedule.max_duration_s)}"
    return words + (", then held" if schedule.end or schedule.max_duration_s else "")


def _blast(profile: Profile) -> str:
    ways = f"{profile.repetitions} times each"
    return f"{profile.sweep[0]:,} to {profile.sweep[-1]:,} calls at once, {ways}"


_LOADS = {"closed": _closed, "scheduled": _scheduled, "blast": _blast}
