"""What the terminal shows of a load after its last block."""

from collections import defaultdict

from arena.base.text import columns
from arena.base.workspace import Workspace
from arena.judge.archive import open_archive
from arena.judge.figure_words import value_words
from arena.measure.blocks.log import Log
from arena.measure.blocks.order import Slot
from arena.measure.blocks.planned import PlannedLoad
from arena.record.figures import figure_of


def table_of(workspace: Workspace, night: str, load: PlannedLoad, log: Log) -> list[str]:
    """Return the rates of each framework by block, and how many visits were void."""
    archive = open_archive(workspace.results)
    rates: dict[Slot, dict[int, str]] = defaultdict(dict)
    for path, entry in archive.entries.items():
        if entry.started_at < night or entry.framework not in load.frameworks:
            continue
        record = archive.read(path)
        visit = record.visit
        if visit and visit.night == night and record.runs and not visit.is_void:
            metric = record.profile.metric
            words = value_words(metric, figure_of(metric, record.runs[0])[0], 0)
            rates[Slot(entry.framework, visit.is_twin)][visit.block] = words
    blocks = range(1, load.blocks + 1)
    rows = [[f"{load.load}, block", *map(str, blocks)]]
    rows += [
        [str(slot), *(rates[slot].get(block, "–") for block in blocks)] for slot in sorted(rates)
    ]
    lines = columns(rows, right=range(1, load.blocks + 1))
    lines.append(f"{log.voids[load.load]} of {log.visits[load.load]} visits were void")
    lines += [
        f"block {block} is lost: {why}"
        for (name, block), why in sorted(log.ended.items())
        if name == load.load and why
    ]
    return lines
