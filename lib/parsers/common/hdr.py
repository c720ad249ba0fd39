"""Histograms of times in HdrHistogram's format: V2, deflated, in base64, as volley writes them."""

from __future__ import annotations

import base64
import binascii
import math
import struct
import zlib
from collections.abc import Iterator

# The cookies of the format, with words of one byte and more.
_DEFLATED, _PLAIN = 0x1C849314, 0x1C849313
# Cookie, length, index of normalizing, digits, lowest and highest value, ratio.
_HEAD = struct.Struct(">iiiiqqd")
_DIGITS = 3
# Values below this have a bucket each; above it, so many buckets are in half an octave and all.
_LINEAR = 2048
_MOST_BYTES = 1 << 20

# What of a histogram is kept as its tail, and how many of its buckets are one there: a percentile
# of a tail is at most 0.8 % too high.
TAIL_SHARE = 0.01
_JOINED = 8


def tail_of(text: str, most_ns: int) -> tuple[tuple[int, int], ...]:
    """Return the longest 1 % of the times, at least, as (ns, count), the longest first.

    The ns are the highest of a bucket, and at most `most_ns`. Empty without times. ValueError if
    the text is no such histogram.
    """
    counts = dict(_counts(text))
    kept, wanted = 0, math.ceil(TAIL_SHARE * sum(counts.values()))
    joined: dict[int, int] = {}
    for bucket in sorted(counts, reverse=True):
        last = bucket | (_JOINED - 1)
        if kept >= wanted and last not in joined:
            break
        joined[last] = joined.get(last, 0) + counts[bucket]
        kept += counts[bucket]
    return tuple((min(_highest(bucket), most_ns), count) for bucket, count in joined.items())


def _counts(text: str) -> Iterator[tuple[int, int]]:
    """Yield each bucket in use, and its count."""
    try:
        data = base64.b64decode(text, validate=True)
        cookie, length = struct.unpack_from(">ii", data)
        plain = zlib.decompressobj().decompress(data[8 : 8 + length], _MOST_BYTES)
        head = _HEAD.unpack_from(plain)
    except (binascii.Error, struct.error, zlib.error) as error:
        raise ValueError(f"is no HdrHistogram ({error})") from error
    if (cookie, head[0], head[2], head[3], head[4]) != (_DEFLATED, _PLAIN, 0, _DIGITS, 1):
        raise ValueError("is no HdrHistogram of three digits from 1 on")
    bucket = 0
    for count in _words(plain[_HEAD.size : _HEAD.size + head[1]]):
        if count > 0:
            yield bucket, count
        bucket += max(1, -count)


def _words(data: bytes) -> Iterator[int]:
    """Yield the numbers of a ZigZag LEB128 list, of at most nine bytes each."""
    word = shift = 0
    for byte in data:
        is_last = shift == 56  # noqa: PLR2004 - the ninth byte has eight bits
        word |= (byte if is_last else byte & 0x7F) << shift
        if byte & 0x80 and not is_last:
            shift += 7
            continue
        yield (word >> 1) ^ -(word & 1)
        word = shift = 0
    if shift:
        raise ValueError("is an HdrHistogram that was cut short")


def _highest(bucket: int) -> int:
    """Return the highest value in a bucket."""
    octave = max(0, bucket // (_LINEAR // 2) - 1)
    return ((bucket - octave * (_LINEAR // 2) + 1) << octave) - 1
