"""The record of a session, built from what the session observed."""

from dataclasses import dataclass, field
from pathlib import Path

from arena.base.errors import StageError
from arena.base.workspace import Workspace
from arena.contract import Report
from arena.load.generators import Generator, WarmUp
from arena.machine import facts
from arena.machine.facts import epoch_of
from arena.machine.sentinel import Limits
from arena.record.measurement import Run
from arena.record.record import (
    Failure,
    MeasuredFramework,
    Offers,
    Provenance,
    Record,
    RuntimeInfo,
    Visit,
    record_key,
)
from arena.run.plan import Plan
from arena.run.runtimes import Built, Runtime
from arena.what.releases import Release


@dataclass
class Observed:
    """What a session has observed so far.

    `idle_bytes` are the server's anonymous memory from after its first answer. `stages_s` are
    seconds by stage; `warm_up` is what the generator of a visit was told. `release` is what the
    entry says of its library.
    """

    started_at: str
    source_sha256: str
    release: Release | None = None
    built: Built = field(default_factory=Built)
    server_argv: tuple[str, ...] = ()
    idle_bytes: int | None = None
    before: Report | None = None
    after: Report | None = None
    offers: Offers | None = None
    runs: list[Run] = field(default_factory=list)
    stages_s: dict[str, float] = field(default_factory=dict)
    visit: Visit | None = None
    warm_up: WarmUp | None = None


def record_of(
    workspace: Workspace,
    plan: Plan,
    runtime: Runtime,
    generator: Generator,
    seen: Observed,
    limits: Limits,
    error: StageError | None,
) -> Record:
    """Return the record of a session that succeeded, or ended with a failed stage."""
    return Record(
        status="ok" if error is None else error.status,
        started_at=seen.started_at,
        failure=None if error is None else _failure(plan, seen, error),
        framework=MeasuredFramework(
            **dict(plan.framework),
            source_sha256=seen.source_sha256,
            image_digest=seen.built.image_digest,
            release=_release(runtime, seen),
        ),
        profile=plan.profile,
        runs=tuple(seen.runs),
        limits=limits.recorded if any(run.watch for run in seen.runs) else None,
        contract=seen.before.checks if seen.before else (),
        contract_after=seen.after.checks if seen.after else (),
        offers=seen.offers,
        messages_per_data_frame=seen.before.messages_per_data_frame if seen.before else None,
        visit=seen.visit,
        provenance=_provenance(workspace, plan, runtime, generator, seen),
    )


def saved_as(plan: Plan, started_at: str, file: Path) -> str:
    """Return the path below results/ at which a file of a session's draft will be saved."""
    return f"{record_key(plan.profile, plan.framework)}/{started_at}/{file.name}"


def _release(runtime: Runtime, seen: Observed) -> str | None:
    """Return the release that ran; None if it is what the host or a stand-in image has."""
    it = seen.release
    if it is None or (it.of_image and (runtime.name != "docker" or seen.built.standin)):
        return None
    return it.words


def _failure(plan: Plan, seen: Observed, error: StageError) -> Failure:
    log = None
    if error.log and error.log.exists() and error.log.stat().st_size:
        log = saved_as(plan, seen.started_at, error.log)
    return Failure(stage=error.stage, reason=error.reason, log=log)


def _provenance(
    workspace: Workspace, plan: Plan, runtime: Runtime, generator: Generator, seen: Observed
) -> Provenance:
    docker_version = None
    if runtime.name == "docker":
        from arena.machine.docker import daemon_version

        docker_version, _ = daemon_version()
    return Provenance(
        git=facts.git_state(workspace.root),
        generator=generator.info(plan.profile, seen.warm_up),
        host=facts.describe(docker_version),
        cpus=plan.cpus.record(),
        runtime=RuntimeInfo(
            name=runtime.name,
            argv=seen.server_argv,
            standin=seen.built.standin,
            image_bytes=seen.built.image_bytes,
        ),
        overrides=dict(plan.overrides),
        stages_s={name: round(seconds, 3) for name, seconds in seen.stages_s.items()},
        epoch=epoch_of(workspace, plan.framework.name, _tools(plan, runtime)),
        generator_hosts=plan.generator.hosts,
    )


def _tools(plan: Plan, runtime: Runtime) -> list[str]:
    """Return what builds and runs the server on this host, and what builds the generator."""
    native = plan.framework.native if runtime.name == "native" else None
    build = plan.generator.description.build
    tools = [*(native.needs if native else ()), *([build.tool] if build else [])]
    return list(dict.fromkeys(tools))
