"""The course of a record: what its headline's run did over time, or over N."""

from arena.publish.charts.blast import blast_picture
from arena.publish.charts.picture import Picture
from arena.publish.charts.scheduled import latency_ticks, scheduled_picture
from arena.publish.charts.sustained import is_sustained, sustained_picture
from arena.record.record import Record


def course_picture(record: Record) -> Picture | None:
    """Return the picture of the headline's run; None if it has no course to show."""
    if record.headline is None:
        return None
    run, kind = record.runs[record.headline.run - 1], record.profile.kind
    name = record.framework.display_name
    which = f", run {record.headline.run}" if len(record.runs) > 1 else ""
    if kind == "blast" and run.points:
        return blast_picture(f"Calls at once{which}", name, run.points, {})
    title = f"Second by second{which}"
    if kind == "scheduled" and run.seconds:
        return scheduled_picture(title, name, run.seconds, latency_ticks(run.seconds))
    if kind == "closed" and is_sustained(run.seconds, run.rate):
        return sustained_picture(title, name, record.profile.metric, run.seconds, run.rate)
    return None
