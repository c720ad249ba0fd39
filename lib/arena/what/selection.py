"""What a person named: one framework or `all`; some profiles, or every one subscribed to."""

import difflib
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.base.errors import UsageError
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.what.framework import Framework, framework_names, load_framework
from arena.what.measured import measured_profile
from arena.what.profile import Profile, load_profile, profile_names

ALL = "all"


@dataclass(frozen=True)
class Broken:
    """A framework whose meta.json cannot be read: what is wrong with it names file and key."""

    name: str
    error: UsageError


@dataclass(frozen=True)
class Selection:
    """The frameworks that were named, sorted, and of `all` those that cannot be read."""

    frameworks: tuple[Framework, ...]
    broken: tuple[Broken, ...] = ()


def frameworks(workspace: Workspace, name: str) -> Selection:
    """Return one framework by its name, or `all`, the disabled ones among them.

    A broken meta.json is a UsageError if its framework was named; it does not end `all`.
    """
    if name != ALL:
        return Selection((load_framework(workspace.frameworks, name),))
    found: list[Framework] = []
    broken: list[Broken] = []
    for each in framework_names(workspace.frameworks):
        try:
            found.append(load_framework(workspace.frameworks, each))
        except UsageError as error:
            broken.append(Broken(each, error))
    return Selection(tuple(found), tuple(broken))


def profiles(
    workspace: Workspace, framework: Framework, wanted: Sequence[str], *, of_all: bool
) -> list[Profile]:
    """Return the profiles that were named, or match, and that the framework subscribes to.

    Without a name, all of them; the light ones first, and each one once. A name without a match
    is a UsageError. If the framework was named itself, so is one that it does not subscribe to.
    """
    known = profile_names(workspace.profiles)
    if not wanted:
        names = {each for each in framework.tests if each in known}
        if not names and not of_all:
            raise none_subscribed(workspace, framework)
        return _light_first(load_profile(workspace.profiles, each) for each in names)
    names = set()
    for pattern in wanted:
        matches = _matching(workspace, pattern, known)
        subscribed = [each for each in matches if each in framework.tests]
        if not subscribed and not of_all:
            raise UsageError(
                f"{framework.name} does not subscribe to {pattern}: "
                f"its meta.json has tests: {', '.join(framework.tests) or 'none'}"
            )
        names.update(subscribed)
    return _light_first(load_profile(workspace.profiles, each) for each in names)


def _matching(workspace: Workspace, pattern: str, known: Sequence[str]) -> list[str]:
    """Return the profiles of a name, or of a pattern like `load-*`; UsageError if there is none."""
    if not set(pattern) & set("*?["):
        return [load_profile(workspace.profiles, pattern).name]
    matches = fnmatch.filter(known, pattern)
    if not matches:
        raise UsageError(f"no profile matches `{pattern}` (there are: {', '.join(known)})")
    return matches


def _light_first(profiles: Iterable[Profile]) -> list[Profile]:
    """Order by the calls that are in flight, then by how long it takes, then by name."""

    def weight(profile: Profile) -> tuple[int, float, str]:
        in_flight = max(
            measured_profile(profile, connections).in_flight
            for connections in profile.record_connections
        )
        return in_flight, profile.runs * profile.window_s, profile.name

    return sorted(profiles, key=weight)


def none_subscribed(workspace: Workspace, framework: Framework) -> UsageError:
    """Return the error that says that there is nothing to do for a framework."""
    known = ", ".join(profile_names(workspace.profiles))
    return UsageError(
        f"{framework.name} subscribes to no profile of this runner (there are: {known})"
    )


def warn_of_typos(workspace: Workspace, framework: Framework, shows: Progress) -> None:
    """Say where a subscription looks like a misspelt profile; others may be of another runner."""
    known = profile_names(workspace.profiles)
    for name in sorted(set(framework.tests) - set(known)):
        if close := difflib.get_close_matches(name, known, n=1, cutoff=0.9):
            path = shown(workspace.framework(framework.name) / "meta.json")
            shows.say(f"warning: {path}: tests: no profile `{name}` (did you mean {close[0]}?)")
