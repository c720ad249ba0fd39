"""What volley reports of a run: the member `volley` of its JSON. It counted, nothing is estimated.

Around it stands ghz's own report, which has no room for messages; lib/parse_ghz.py reads that.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pydantic
from pydantic import Field, ValidationError

from arena.measurement import Calls, Latency, Measurement
from arena.records import MeasuredProfile

_MOST_BYTES = 1 << 29

# What is told twice must agree, but may be rounded.
_ROUNDING = 1e-3

# Nothing that is counted comes near it, and every float can hold it.
_MOST = 2**63 - 1

Whole = Annotated[int, Field(ge=0, le=_MOST)]
Real = Annotated[float, Field(ge=0)]
# A gRPC code's name: letters, so that it can stand in a message and on the page.
Code = Annotated[str, Field(pattern=r"^[A-Za-z]{1,32}$")]


class _Part(pydantic.BaseModel):
    """A part of the report. What later versions add to it is nobody's mistake."""

    model_config = pydantic.ConfigDict(
        frozen=True, extra="ignore", strict=True, allow_inf_nan=False
    )


class _Calls(_Part):
    ok: Whole
    failed: dict[Code, Whole]
    cut: Whole


class _Latency(_Part):
    """Of OK calls, in nanoseconds; without a sample the figures mean nothing."""

    kind: Literal["service", "response"]
    samples: Whole
    mean: Real | None
    p50: Real | None
    p75: Real | None
    p90: Real | None
    p95: Real | None
    p99: Real | None
    p999: Real | None
    max: Real | None

    @pydantic.model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if not self.samples:
            return self
        figures = (self.p50, self.p75, self.p90, self.p95, self.p99, self.p999, self.max)
        known = [each for each in figures if each is not None]
        if len(known) < len(figures) or self.mean is None:
            raise ValueError(f"a figure is missing, though there are {self.samples} samples")
        if known != sorted(known) or self.mean > known[-1]:
            raise ValueError("its figures are not in order")
        return self


class _Volley(_Part):
    schema_version: Annotated[Literal[1], Field(alias="schema")]
    messages: Whole
    messages_per_s: Real
    window_s: Annotated[float, Field(gt=0)]
    calls: _Calls
    latency_ns: _Latency


class _Report(_Part):
    """ghz's members, as far as they must agree with volley's own.

    `total` is in nanoseconds: the window, which is over when no new call is begun, and after it
    the time in which open calls may end, if they are waited for.
    """

    count: Whole
    total: Annotated[int, Field(gt=0, le=_MOST)]
    rps: Real
    status_codes: Annotated[dict[Code, Whole] | None, Field(alias="statusCodeDistribution")] = None
    volley: _Volley

    @property
    def elapsed_s(self) -> float:
        """The seconds in which the messages were counted."""
        return self.total / 1e9

    @property
    def rate(self) -> float:
        """Messages a second."""
        return self.volley.messages / self.elapsed_s

    @pydantic.model_validator(mode="after")
    def _tells_one_story(self) -> Self:
        calls, told_rate = self.volley.calls, self.volley.messages_per_s
        if self.volley.window_s > self.elapsed_s * (1 + _ROUNDING):
            raise ValueError(f"window_s is {self.volley.window_s}, but total {self.elapsed_s} s")
        if abs(told_rate - self.rate) > _ROUNDING * max(self.rate, 1.0):
            raise ValueError(f"messages_per_s is {told_rate}, but messages ÷ total {self.rate:.1f}")
        own = {"OK": calls.ok, **calls.failed}
        own["Canceled"] = own.get("Canceled", 0) + calls.cut
        own = {code: n for code, n in own.items() if n}
        told = {code: n for code, n in (self.status_codes or {}).items() if n}
        if told != own:
            raise ValueError(f"volley.calls make {own}, but statusCodeDistribution says {told}")
        if self.count != sum(own.values()):
            raise ValueError(f"count is {self.count}, but volley.calls are {sum(own.values())}")
        return self


def measurement(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved volley output into a measurement; ValueError, one line, if it is broken.

    The messages are those that came inside the window, of calls that were cut as well. So
    there is no error bar.
    """
    del profile
    report = _read(raw)
    told, rate = report.volley, report.rate
    latency: Mapping[str, Any] = told.latency_ns.model_dump()
    if not told.latency_ns.samples:
        latency = {"kind": told.latency_ns.kind, "samples": 0}
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=Calls(
            ok=told.calls.ok,
            failed={code: n for code, n in sorted(told.calls.failed.items()) if n},
            cut=told.calls.cut,
        ),
        messages=told.messages,
        rate=rate,
        rate_low=rate,
        rate_high=rate,
        reported_calls_per_s=report.rps,
        latency_ns=Latency.model_validate(latency),
    )


def _read(raw: Path) -> _Report:
    try:
        with raw.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{raw}: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise ValueError(f"larger than {_MOST_BYTES} bytes")
    try:
        loaded = json.loads(data, parse_constant=_refuse)
        return _Report.model_validate(loaded)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # Of a key that is wrong only its place is told: it may be any text.
        path = first["loc"][:-2] if first["loc"][-1:] == ("[key]",) else first["loc"]
        where = ".".join(str(part) for part in path)
        what = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"{where}: {what}" if where else what) from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"broken or incomplete JSON: {error}") from error


def _refuse(constant: str) -> None:
    """Refuse NaN and Infinity, which Python reads though JSON does not have them."""
    raise ValueError(f"{constant} is no number")
