"""Text lines for sessions and runs."""

from collections.abc import Iterator

from arena.judge.figure_words import bar_of, figure_words, latency_words, value_words
from arena.judge.flags import UNRANKED, WORDS, disturbed_words, missed, stalled_words
from arena.record.measurement import SATURATED, Run, figure_of
from arena.record.record import Record
from arena.what.metrics import Metric


def headline_line(record: Record) -> str:
    """Return the result as one line, with its rule, range and flags."""
    headline, spread = record.headline, record.spread
    if headline is None or spread is None:
        raise ValueError("a good record has a headline")
    profile = record.profile
    figure = figure_words(profile.metric, headline.value, headline.at_most, record.flags)
    middle = ""
    if len(record.runs) > 1:
        known = spread.median
        # The generator bounds only the best run.
        bounds = record.flags if profile.metric.is_latency else ()
        middle = f"median {value_words(profile.metric, known, 0, bounds) if known else 'unknown'}"
    bar = bar_of(profile.metric, profile.load, headline.at_least, headline.at_most)
    flags = ", ".join(record.flags)
    trial = "a trial" if record.is_trial else ""
    how = "; ".join(part for part in (headline.rule, bar, middle, trial, flags) if part)
    return f"{record.framework.name} {profile.label}: {figure} ({how})"


def run_line(run: Run, metric: Metric) -> str:
    """Return one run as one line."""
    p99 = latency_words(run.latency_ns, "p99")
    if metric.is_latency:
        parts = [metric.of(p99)]
    else:
        value, _, at_most = figure_of(metric, run)
        parts = [figure_words(metric, value, at_most)]
        parts += [f"p99 {p99}"] * (run.latency_ns.p99 is not None)
    parts.append(f"CPU server {run.server.cpu_s:.1f} s, generator {run.generator.cpu_s:.1f} s")
    if run.calls.cut:
        parts.append(f"calls cut: {run.calls.cut}")
    parts += [f"calls failed: {n} x {code}" for code, n in run.calls.failed.items()]
    return "; ".join(parts)


def notes(record: Record) -> Iterator[str]:
    """Yield what disturbed a record, where it stalled, and the reasons why it has no rank."""
    if disturbed := disturbed_words(record.runs):
        yield f"disturbed: {disturbed}"
    if "stalled" in record.flags and (stalled := stalled_words(record.runs)):
        yield f"stalled: nothing arrived for whole seconds: {stalled}"
    if "missed-schedule" in record.flags and record.headline:
        seconds = record.runs[record.headline.run - 1].seconds
        count = f"{sum(map(missed, seconds))} of {len(seconds)} seconds"
        yield f"{count} did not have the calls that were due, so there is no rank"
    if "client-bound" in record.flags and record.headline:
        hosts = record.runs[record.headline.run - 1].generators
        numbers = [str(each.number) for each in hosts if SATURATED in each.flags]
        if numbers:
            yield f"client-bound: of {len(hosts)} generators, at their limit: {', '.join(numbers)}"
    if "cost-unknown" in record.flags:
        yield f"cost-unknown: {record.framework.name}: {WORDS['cost-unknown']}"
    for name in record.flags:
        if name in UNRANKED - {"missed-schedule"}:
            yield f"{name}: {WORDS[name]}"
