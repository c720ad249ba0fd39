"""Plans: the sessions that a request on the command line asks for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from arena.base.durations import format_duration
from arena.base.errors import UsageError
from arena.base.progress import progress
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.load import generators
from arena.load.find import Located
from arena.machine import cpus
from arena.machine.cpus import CpuPlan
from arena.run.asked import BlockOptions
from arena.run.runtimes import require_known
from arena.what import selection
from arena.what.framework import Framework
from arena.what.loads import KINDS
from arena.what.measured import MeasuredProfile, measured_profile
from arena.what.overrides import CPUS, ENVIRONMENT, FLEET_GENERATOR, listed
from arena.what.profile import Profile
from arena.what.selection import Selection

# The overrides that only some kinds of load take, with the names of those kinds.
_ONLY_FOR = {
    name: [kind for kind, load in KINDS.items() if name in load.takes]
    for name in sorted(frozenset().union(*(load.takes for load in KINDS.values())))
}


@dataclass(frozen=True)
class RunOptions:
    """The user's request on the command line; None leaves a choice to the profile.

    `night` is for a session that a rack makes for that night.
    """

    frameworks: str = selection.ALL
    profiles: tuple[str, ...] = ()
    runs: int | None = None
    duration: float | None = None
    requests: int | None = None
    connections: tuple[int, ...] | None = None
    runtime: str = "auto"
    generator: str | None = None
    fleet: str | None = None
    rack: str | None = None
    ready_timeout: float = 60.0
    wait: bool = False
    dry_run: bool = False
    no_save: bool = False
    resume: bool = False
    night: str | None = None
    blocks: BlockOptions = field(default_factory=BlockOptions)

    @property
    def made_by(self) -> str | None:
        """The generator of all loads, if the user has chosen one."""
        return FLEET_GENERATOR if self.fleet else self.generator


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


def plan_sessions(
    workspace: Workspace,
    options: RunOptions,
    environment: Mapping[str, str],
    selected: Selection,
    rack: tuple[Located, CpuPlan] | None = None,
) -> list[Plan]:
    """Return the sessions to run: framework x profile x connections. UsageError on bad input.

    Disabled frameworks are left out unless they were named. `rack` is where the sessions will run,
    if that is not here: its generator and CPUs.
    """
    require_known(options.runtime)
    fleet, split = rack or _joined(workspace, options, environment)
    overrides = _overrides(options, environment)
    profiles = selection.profiles(workspace, selected, options.profiles)
    left_out: dict[str, list[str]] = {}
    located = cache(partial(generators.locate, workspace=workspace, environment=environment))
    plans = [
        Plan(
            framework,
            _loaded(measured_profile(profile, count), generator),
            generator,
            split,
            options.ready_timeout,
            {**_in_force(overrides, profile), **chosen},
        )
        for framework in selected.frameworks
        if framework.enabled or framework.name in selected.named
        for found in profiles[framework.name]
        for overridden in [_overridden(found, workspace, options)]
        for profile, count, chosen in _with_connections(overridden, options.connections)
        for generator in [fleet or located(profile.generator)]
        if options.profiles or not _is_left_out(fleet, profile, count, left_out)
    ]
    whys = [f"{', '.join(dict.fromkeys(labels))}: {why}" for why, labels in left_out.items()]
    if not plans and whys:
        raise UsageError(whys[0])
    for why in whys:
        progress().say(f"left out: {why}")
    if not plans:
        wanted = ", ".join(f"`{each}`" for each in options.profiles) or "any profile"
        raise UsageError(f"no enabled framework subscribes to {wanted}")
    for name in sorted(_ONLY_FOR.keys() & overrides.keys()):
        if not any(name in each.overrides for each in plans):
            kinds = listed(sorted(_ONLY_FOR[name]))
            flag = f"{name} (--{name.lower()})"
            raise UsageError(f"{flag}: is for {kinds} loads, and none of these is one")
    return plans


def _is_left_out(
    fleet: Located | None, profile: Profile, connections: int, left_out: dict[str, list[str]]
) -> bool:
    """Return whether a fleet cannot make this load, and add it to those `left_out`, by why.

    One that was asked for by name is an error.
    """
    measured = measured_profile(profile, connections)
    why = fleet and _problem(measured, fleet)
    if why:
        left_out.setdefault(why, []).append(measured.label)
    return bool(why)


def _joined(
    workspace: Workspace, options: RunOptions, environment: Mapping[str, str]
) -> tuple[Located | None, CpuPlan]:
    """Return the fleet that makes the load, if one is to, and the CPUs of each side."""
    if options.fleet is None:
        if options.rack:
            raise UsageError("--rack: is for a fleet (add --fleet ADDRESS)")
        return None, cpus.plan_cpus(cpus.physical_cores(), environment)
    require_fleets(options.generator, environment)
    from arena.fleet.generator import joined

    return joined(workspace, options.fleet, environment, progress(), options.rack)


def require_fleets(generator: str | None, environment: Mapping[str, str]) -> None:
    """Raise UsageError for a choice that a fleet does not leave."""
    if generator not in {None, "volley"}:
        raise UsageError(f"--generator: a fleet runs volley, not {generator}")
    for name in filter(environment.get, CPUS):
        raise UsageError(f"{name}: with --fleet, the server has all CPUs of its host")


def _overridden(profile: Profile, workspace: Workspace, options: RunOptions) -> Profile:
    profile = profile.overridden(
        runs=options.runs, duration_s=options.duration, requests=options.requests
    )
    if options.generator is not None:
        generators.require_known(options.generator, "--generator")
        return profile.changed(generator=options.generator)
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


def _loaded(profile: MeasuredProfile, generator: Located) -> MeasuredProfile:
    """Return the profile with the located generator; UsageError if that cannot make its load."""
    if why := _problem(profile, generator):
        raise UsageError(f"{profile.name}: {why}")
    return profile.changed(generator=generator.description.name)


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


def _overrides(options: RunOptions, environment: Mapping[str, str]) -> dict[str, str]:
    """Return every override in force, by its name in the environment."""
    found = {name: environment[name] for name in ENVIRONMENT if environment.get(name)}
    asked = {
        "RUNS": options.runs,
        "DURATION": None if options.duration is None else format_duration(options.duration),
        "REQUESTS": options.requests,
        "RUNTIME": None if options.runtime == "auto" else options.runtime,
        "GENERATOR": options.generator,
    }
    found |= {name: str(value) for name, value in asked.items() if value is not None}
    for name, value in found.items():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"{name}: is not UTF-8 text") from error
    return found
