"""What volley reports of a run: ghz's JSON with the member `volley`, in which it counts."""

from pathlib import Path

import parse_ghz
from arena.measure.generators.ghz_report import measurement_of
from arena.record.measurement import Measurement
from arena.what.measured import MeasuredProfile


def measurement(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved volley output into a measurement; ValueError, one line, if it is broken.

    The messages are those that came inside the window, of calls that were cut as well. So
    there is no error bar. A report without them is refused: it would have to be estimated.
    """
    report = parse_ghz.parse_file(raw)
    if report.messages is None:
        raise ValueError(f"{raw}: key `volley` is missing: not volley's JSON report")
    return measurement_of(report, profile)
