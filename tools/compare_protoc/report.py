"""What was compared, for people."""

from tools.compare_protoc.asking import Tally


def summary(tally: Tally) -> str:
    """Return one line: what was asked, and how much differs."""
    counts, differences = tally.counts, tally.differences.values()
    known = sum(each.count for each in differences if tally.is_allowed(each.kind))
    others = sum(each.count for each in differences) - known
    kinds = sum(not tally.is_allowed(each.kind) for each in differences)
    return (
        f"{counts['cases']} files ({counts['accepted']} accepted by protoc, "
        f"{counts['refused']} refused), {counts['messages']} messages; "
        f"{others} differences of {kinds} kinds, {known} allowed ones"
    )


def to_text(tally: Tally, *, show_all: bool = False) -> str:
    """Return each kind of difference with its first example, then the summary."""
    shown = [
        each for each in tally.differences.values() if show_all or not tally.is_allowed(each.kind)
    ]
    parts = [
        f"### {each.kind}\n{each.count} times, first: {each.case}\n{each.example.rstrip()}\n"
        for each in sorted(shown, key=lambda each: (each.kind.split("/")[0], -each.count))
    ]
    return "\n".join([*parts, summary(tally)])
