"""A session on the server host of a rack: it reads what was asked, and leaves files."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from arena.base.errors import HostError
from arena.base.progress import progress, report_error
from arena.base.workspace import Workspace
from arena.judge.archive import open_archive
from arena.load.find import Located
from arena.load.generators import Generator
from arena.night.diary import Log, append_line
from arena.night.engine import Engine, ends_here
from arena.night.expected import Expected
from arena.night.history import History
from arena.night.planning import by_load, problem_of
from arena.run.plan import Plan, plan_sessions
from arena.run.runner import Outcome, Runner, only_here
from arena.what import selection
from arena.what.framework import source_sha256
from arena_fleet.rack import Asked, AskedBlock
from arena_fleet.racks import RequestedFleet
from arena_fleet.references import OWN_SERVER

# The files of a session's folder: what was asked, its records, and the events of a block.
_ASKED, RESULTS, EVENTS = "asked.json", "results", "events.jsonl"


def own_server(sessions: Path) -> Path:
    """Return the folder of `volley serve` as a framework, beside that of all sessions."""
    return sessions.parent / "frameworks" / OWN_SERVER


def prepare(folder: Path, asked: Asked) -> None:
    """Write what a session in this folder needs."""
    (folder / RESULTS).mkdir()
    (folder / EVENTS).touch()
    (folder / _ASKED).write_text(asked.model_dump_json())


def work(root: Workspace, folder: Path, environment: Mapping[str, str]) -> int:
    """Run the session that a folder was prepared for; return its exit code."""
    asked = Asked.model_validate_json((folder / _ASKED).read_bytes())
    workspace = Workspace(root.root, folder / RESULTS, {OWN_SERVER: own_server(folder.parent)})
    request, shows = asked.request, progress()
    fleet = RequestedFleet(workspace, request.fleet or "", request, environment, shows)
    selected = selection.frameworks(workspace, request.selected)
    plans = plan_sessions(workspace, request, environment, selected, fleet.joined)
    codes = [0]

    def ended(outcome: Outcome) -> None:
        codes.append(outcome.code)

    with only_here(workspace, request, f"a session of the night {asked.night}", shows) as runner:
        fit = runner.runnable(plans)
        found = runner.find_generators(fit)
        if asked.block is None:
            runner.run(fit, found, ended=ended)
            return max(codes)
        try:
            return _block(asked, asked.block, runner.once(), fit, found, folder / EVENTS)
        except HostError as error:
            report_error(ends_here(str(error)))
            return error.exit_code


def _block(
    asked: Asked,
    block: AskedBlock,
    runner: Runner,
    plans: Sequence[Plan],
    found: Mapping[Located, Generator],
    events: Path,
) -> int:
    """Make one block, and return the worst exit code of its frameworks.

    HostError if the host cannot go on, or if this is not as the night was planned.
    """
    workspace, planned = runner.workspace, block.planned
    of_loads = by_load([each for each in plans if each.generator in found])
    host_class = partial(runner.host_class, plans[0], {})
    if (here := host_class()) != planned.host_class:
        raise HostError(f"this host is of the class {here}, and the night of {planned.host_class}")
    sources = {name: source_sha256(workspace.framework(name)) for name in planned.sources}
    if why := problem_of(planned, of_loads, sources):
        raise HostError(f"this is not as the night was planned: {why}")
    log = Log([each.model_dump() for each in block.before], partial(append_line, events))
    history = History(open_archive(workspace.results), planned.host_class, found)
    Engine(
        shows=runner.shows,
        night=asked.night,
        planned=planned,
        plans=of_loads,
        log=log,
        expected=Expected(history, of_loads),
        quiet_wait_s=asked.request.quiet_wait_s,
        left_s=lambda: math.inf,
        load_ended=lambda _: None,
        runner=runner,
        found=found,
        host_class=host_class,
        only=(planned.loads[0].load, block.number),
    ).run()
    return max((each.code for own in log.dropped.values() for each in own.values()), default=0)
