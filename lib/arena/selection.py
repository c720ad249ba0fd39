"""What a person named: one framework or `all`, one profile or every one subscribed to."""

import difflib
from dataclasses import dataclass

from arena.errors import UsageError
from arena.files import shown
from arena.frameworks import Framework, framework_names, load_framework
from arena.profiles import Profile, load_profile, profile_names
from arena.progress import Progress
from arena.workspace import Workspace

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
    workspace: Workspace, framework: Framework, name: str | None, *, of_all: bool
) -> list[Profile]:
    """Return the profile of that name if the framework subscribes to it; without a name, all.

    None is a UsageError if the framework was named itself, and nothing to do if it is one `of_all`.
    """
    if name:
        named = load_profile(workspace.profiles, name)
        if named.name in framework.tests:
            return [named]
        if of_all:
            return []
        raise UsageError(
            f"{framework.name} does not subscribe to {named.name}: "
            f"its meta.json has tests: {', '.join(framework.tests) or 'none'}"
        )
    known = profile_names(workspace.profiles)
    subscribed = [each for each in framework.tests if each in known]
    if not subscribed and not of_all:
        raise none_subscribed(workspace, framework)
    return [load_profile(workspace.profiles, each) for each in subscribed]


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
