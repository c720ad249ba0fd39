"""Frameworks and profiles as the command line names them: names, patterns, commas, or `all`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

from arena.base.errors import UsageError
from arena.base.progress import Progress
from arena.base.text import nearest, printable, shown, typing_errors
from arena.base.workspace import Workspace
from arena.what.framework import Framework, framework_names, load_framework, misnamed_folders
from arena.what.profile import Profile, likes, load_profile, measured_profile, profile_names

ALL = "all"

# A subscription with at most this many typing errors is a misspelt profile. The names of
# HttpArena's other tests (baseline-h2, json-tls, echo-ws …) differ more.
_MOST_TYPING_ERRORS = 2


@dataclass(frozen=True)
class Broken:
    """A framework whose meta.json cannot be read; the error names the file and the key."""

    name: str
    error: UsageError


@dataclass(frozen=True)
class Selection:
    """The selected frameworks, sorted by name.

    `named` holds those that were spelt out, not matched by a pattern or `all`. `broken` holds those
    that a pattern or `all` matched but that cannot be read.
    """

    frameworks: tuple[Framework, ...]
    broken: tuple[Broken, ...] = ()
    named: frozenset[str] = frozenset()

    @property
    def is_one(self) -> bool:
        """Whether exactly one framework was named and nothing else."""
        return len(self.named) == len(self.frameworks) == 1 and not self.broken


def frameworks(workspace: Workspace, words: str) -> Selection:
    """Return the frameworks of a comma-separated list of names and patterns, or `all`.

    Disabled frameworks are included. UsageError if a word matches nothing, or if the meta.json of a
    named framework is broken.
    """
    known = framework_names(workspace.frameworks)
    named: set[str] = set()
    matched: set[str] = set()
    for word in _split(words):
        if word == ALL:
            matched.update(known)
        elif _is_pattern(word):
            matched.update(_matches(word, known, "framework"))
        elif word not in known and word in profile_names(workspace.profiles):
            raise UsageError(f"`{word}` is a profile: frameworks come first, as in `all {word}`")
        else:
            named.add(word)
    found: list[Framework] = []
    broken: list[Broken] = []
    for name in sorted(named | matched):
        try:
            found.append(_loaded(workspace, name))
        except UsageError as error:
            if name in named:
                raise
            broken.append(Broken(name, error))
    return Selection(tuple(found), tuple(broken), frozenset(named))


def _loaded(workspace: Workspace, name: str) -> Framework:
    if name == ALL:
        where = shown(workspace.framework(name))
        raise UsageError(f"{where}: `{ALL}` stands for all frameworks: rename the folder")
    return load_framework(workspace.framework(name).parent, name)


def profiles(
    workspace: Workspace, selected: Selection, words: Sequence[str]
) -> dict[str, list[Profile]]:
    """Return, by framework, the matching profiles that it subscribes to, lightest first.

    Each word is a comma-separated list of names and patterns; without words every profile matches.
    UsageError if a word matches no profile, or none to which a named framework subscribes.
    """
    known = profile_names(workspace.profiles)
    wanted = {
        word: _profiles_of(workspace, word, known)
        for each in words
        for word in _split(each)
    } or {"": known}  # fmt: skip
    names: dict[str, set[str]] = {}
    like = likes(workspace.profiles, known)
    for framework in selected.frameworks:
        names[framework.name] = set()
        for word, matches in wanted.items():
            tests = framework.tests
            subscribed = {each for each in matches if each in tests or like.get(each) in tests}
            if not subscribed and framework.name in selected.named:
                raise _not_subscribed(framework, word, known)
            names[framework.name] |= subscribed
    loaded = {
        name: load_profile(workspace.profiles, name)
        for name in sorted(set().union(*names.values()))
    }
    return {
        framework: sorted((loaded[name] for name in subscribed), key=_weight)
        for framework, subscribed in names.items()
    }


def by_kind(workspace: Workspace, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split words into those for frameworks and those for profiles.

    If a word matches both kinds, its position decides: frameworks come first, then profiles.
    UsageError if such a word stands alone, or if a word matches neither.
    """
    of_frameworks: list[str] = []
    of_profiles: list[str] = []
    frameworks_known = sorted({ALL, *framework_names(workspace.frameworks)})
    profiles_known = profile_names(workspace.profiles)
    for word in words:
        is_framework, is_profile = (
            all(any(fnmatchcase(name, part) for name in known) for part in _split(word))
            for known in (frameworks_known, profiles_known)
        )
        if not is_framework and not is_profile:
            known = [*frameworks_known, *profiles_known]
            for part in _split(word):
                _matches(part, known, "framework or profile")
            raise UsageError(f"`{word}`: write the frameworks first, then the profiles")
        if is_framework and is_profile and len(words) == 1:
            raise UsageError(
                f"`{word}` matches both frameworks and profiles: "
                f"write `'{word}' '*'` for the frameworks, or `all '{word}'` for the profiles"
            )
        if is_framework and not (is_profile and of_frameworks):
            of_frameworks += _split(word)
        else:
            of_profiles += _split(word)
    return of_frameworks, of_profiles


def warn_of_typos(workspace: Workspace, selected: Iterable[Framework], shows: Progress) -> None:
    """Warn of each folder that is no framework because of its name, and of misspelt profiles.

    Subscriptions that look like no profile at all may be HttpArena's. Warn of a display name that
    another one of the frameworks has, too: boards then add the folder.
    """
    for folder in misnamed_folders(workspace.frameworks):
        why = "its name is none of a framework: write letters and digits, with single . _ or -"
        shows.say(printable(f"warning: {shown(folder)} is left out: {why}"))
    known = profile_names(workspace.profiles)
    first: dict[str, str] = {}
    for framework in selected:
        other = first.setdefault(framework.display_name.casefold(), framework.name)
        if other != framework.name:
            path = shown(workspace.framework(framework.name) / "meta.json")
            name = printable(framework.display_name)
            shows.say(f"warning: {path}: display_name: {other} is called `{name}`, too")
        for name in sorted(set(framework.tests) - set(known)):
            # All others differ too much in length alone.
            near = [each for each in known if abs(len(each) - len(name)) <= _MOST_TYPING_ERRORS]
            closest = min(near, key=partial(typing_errors, name.lower()), default="")
            if closest and typing_errors(name.lower(), closest) <= _MOST_TYPING_ERRORS:
                path = shown(workspace.framework(framework.name) / "meta.json")
                shows.say(f"warning: {path}: tests: no profile `{name}` (did you mean {closest}?)")


def _split(words: str) -> list[str]:
    return [word for word in words.split(",") if word] or [words]


def _is_pattern(word: str) -> bool:
    return not set(word).isdisjoint("*?[")


def _matches(word: str, known: Sequence[str], what: str) -> list[str]:
    """Return the names that a name or pattern matches; UsageError if there are none."""
    found = [name for name in known if fnmatchcase(name, word)]
    if not found:
        no = f"no {what} matches" if _is_pattern(word) else f"there is no {what}"
        raise UsageError(f"{no} `{word}`{nearest(word, list(known))}")
    return found


def _profiles_of(workspace: Workspace, word: str, known: Sequence[str]) -> list[str]:
    if word not in known and word in framework_names(workspace.frameworks):
        raise UsageError(f"`{word}` is a framework: separate frameworks by commas, without spaces")
    return _matches(word, known, "profile")


def _not_subscribed(framework: Framework, word: str, known: Sequence[str]) -> UsageError:
    if not word:
        names = ", ".join(known)
        return UsageError(
            f"{framework.name} subscribes to no profile of this runner (there are: {names})"
        )
    return UsageError(
        f"{framework.name} does not subscribe to {word}: "
        f"its meta.json has tests: {', '.join(framework.tests) or 'none'}"
    )


def _weight(profile: Profile) -> tuple[int, float, str]:
    """Return the sort key: calls in flight, then seconds of all runs, then name."""
    in_flight = max(
        measured_profile(profile, connections).in_flight
        for connections in profile.record_connections
    )
    return in_flight, profile.runs * profile.window_s, profile.name
