"""From records to what people see: results/leaderboard.json and the page."""

from pathlib import Path

from arena.files import shown, to_json, write_atomic
from arena.leaderboard import rank
from arena.progress import Progress
from arena.records import Record, read_records
from arena.site import render
from arena.workspace import Workspace


def publish(workspace: Workspace, progress: Progress) -> Path:
    """Write the leaderboard and its page anew from all records; return the page's path.

    A broken record is left out, and said; the others stand.
    """
    good: list[Record] = []
    for name, found in read_records(workspace.results):
        if isinstance(found, Record):
            good.append(found)
        else:
            progress.say(f"warning: {shown(workspace.results / name)} is left out: {found}")
    leaderboard = rank(good)
    write_atomic(workspace.results / "leaderboard.json", to_json(leaderboard))
    page = workspace.site / "public" / "index.html"
    last_page = page.read_text(errors="replace") if page.is_file() else ""
    write_atomic(page, render(leaderboard, workspace.site / "templates", last_page))
    return page
