"""Plans: the sessions that a request on the command line asks for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arena.base.errors import UsageError
from arena.base.progress import progress
from arena.base.text import shown
from arena.base.units import format_duration
from arena.base.workspace import Workspace
from arena.load import generators
from arena.load.find import Located
from arena.machine import cpus
from arena.machine.cpus import CpuPlan
from arena.run.request import Request
from arena.run.runtimes import require_known
from arena.what import selection
from arena.what.environment import ENVIRONMENT, listed
from arena.what.framework import Framework
from arena.what.loads import KINDS
from arena.what.profile import MeasuredProfile, Profile, measured_profile
from arena.what.selection import Selection

# The overrides that only some kinds of load take, with the names of those kinds.
_ONLY_FOR = {
    name: [kind for kind, load in KINDS.items() if name in load.takes]
    for name in sorted(frozenset().union(*(load.takes for load in KINDS.values())))
}


@dataclass(frozen=True)
class Plan:
    """What to measure, and with which generator, overrides and framework.

    The profile's generator is the one that was located. If $GHZ is a drop-in for ghz, that is not
    the requested one: boards never mix generators.
    """

    framework: Framework
    profile: MeasuredProfile
    generator: Located
    cpus: CpuPlan
    ready_timeout_s: float
    overrides: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The subject of the measurement, as text."""
        return f"{self.framework.name} under {self.profile.label}"


# Where load comes from if not from this host: its generator, and the CPUs of each side.
Away = tuple[Located, CpuPlan]


def plan_sessions(
    workspace: Workspace,
    request: Request,
    environment: Mapping[str, str],
    selected: Selection,
    away: Callable[[], Away] | None = None,
) -> list[Plan]:
    """Settle the generators and the CPUs, and return the sessions; report what is left out.

    UsageError on bad input. `away` finds where the load comes from, if not from this host.
    """
    require_known(request.runtime)
    overrides = _overrides(request, environment)
    profiles = selection.profiles(workspace, selected, request.profiles)
    wanted = [
        (framework, _overridden(found, workspace, request))
        for framework in selected.frameworks
        if framework.enabled or framework.name in selected.named
        for found in profiles[framework.name]
    ]
    fleet, split = (
        away()
        if away
        else (None, cpus.plan_cpus(cpus.physical_cores(), environment, request.server_quota))
    )
    located = {
        name: fleet or generators.locate(name, workspace, environment)
        for name in dict.fromkeys(profile.generator for _, profile in wanted)
    }
    plans, whys = plans_of(request, wanted, located, split, overrides)
    for why in whys:
        progress().say(f"left out: {why}")
    return plans


def plans_of(
    request: Request,
    wanted: Sequence[tuple[Framework, Profile]],
    located: Mapping[str, Located],
    split: CpuPlan,
    overrides: Mapping[str, str],
) -> tuple[list[Plan], list[str]]:
    """Return the sessions, framework x profile x connections, and why others are left out.

    `located` has the generators by name. UsageError if there is no session, or for a generator that
    cannot make a load that was asked for by name.
    """
    left_out: dict[str, list[str]] = {}
    by_name = {each for word in request.profiles for each in word.split(",")}
    plans = []
    for framework, overridden in wanted:
        generator = located[overridden.generator]
        for profile, count, chosen in _with_connections(overridden, request.connections):
            measured = measured_profile(profile, count)
            needs_blocks = measured.load.needs_blocks and not request.blocks
            if why := _problem(measured, generator) or "is for blocks: --blocks 8" * needs_blocks:
                # A fleet cannot divide each load; what was asked for by name is an error.
                may_lack = (
                    profile.name not in by_name
                    if needs_blocks
                    else generator.hosts and not request.profiles
                )
                if not may_lack:
                    raise UsageError(f"{profile.name}: {why}")
                left_out.setdefault(why, []).append(measured.label)
                continue
            plans.append(
                Plan(
                    framework,
                    measured.changed(generator=generator.description.name),
                    generator,
                    split,
                    request.ready_timeout,
                    {**_in_force(overrides, profile), **chosen},
                )
            )
    whys = [f"{', '.join(dict.fromkeys(labels))}: {why}" for why, labels in left_out.items()]
    if not plans and whys:
        raise UsageError(whys[0])
    if not plans:
        named = ", ".join(f"`{each}`" for each in request.profiles) or "any profile"
        raise UsageError(f"no enabled framework subscribes to {named}")
    for name in sorted(_ONLY_FOR.keys() & overrides.keys()):
        if not any(name in each.overrides for each in plans):
            kinds = listed(sorted(_ONLY_FOR[name]))
            flag = f"{name} (--{name.lower()})"
            raise UsageError(f"{flag}: is for {kinds} loads, and none of these is one")
    return plans, whys


def _overridden(profile: Profile, workspace: Workspace, request: Request) -> Profile:
    profile = profile.overridden(
        runs=request.runs, duration_s=request.duration, requests=request.requests
    )
    if request.generator is not None:
        generators.require_known(request.generator, "--generator")
        return profile.changed(generator=request.generator)
    path = workspace.profiles / f"{profile.name}.yaml"
    generators.require_known(profile.generator, f"{shown(path)}: generator")
    return profile


def _with_connections(
    profile: Profile, wanted: Sequence[int] | None
) -> Iterator[tuple[Profile, int, dict[str, str]]]:
    """Yield the profile, the connection count and the override of each session.

    A count that the profile already has is no override.
    """
    if wanted is None or set(wanted) == set(profile.connections):
        yield from ((profile, count, {}) for count in profile.record_connections)
    elif profile.load.joins_connections:
        changed, words = profile.with_connections(wanted), ",".join(map(str, wanted))
        yield from (
            (changed, count, {"CONNECTIONS": words}) for count in changed.record_connections
        )
    else:
        for count in wanted:
            profile.with_connections([count])
            is_own = count in profile.connections
            yield profile, count, {} if is_own else {"CONNECTIONS": str(count)}


def _problem(profile: MeasuredProfile, generator: Located) -> str:
    """Return why the located generator cannot make a profile's load; empty if it can."""
    why = generator.description.problem(profile)
    name = generator.description.name
    return f"{name} cannot make this load: {why}" if why else ""


def _in_force(overrides: Mapping[str, str], profile: Profile) -> dict[str, str]:
    """Return the overrides that change this profile's load."""
    return {
        name: value
        for name, value in overrides.items()
        if name not in _ONLY_FOR or name in profile.load.takes
    }


def _overrides(request: Request, environment: Mapping[str, str]) -> dict[str, str]:
    """Return every override in force, by its name in the environment."""
    found = {name: environment[name] for name in ENVIRONMENT if environment.get(name)}
    asked = {
        "RUNS": request.runs,
        "DURATION": None if request.duration is None else format_duration(request.duration),
        "REQUESTS": request.requests,
        "RUNTIME": None if request.runtime == "auto" else request.runtime,
        "GENERATOR": request.generator,
    }
    found |= {name: str(value) for name, value in asked.items() if value is not None}
    for name, value in found.items():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"{name}: is not UTF-8 text") from error
    return found
