"""In which order a sweep's points are measured: the one that `volley blast` has for that seed.

Fisher and Yates' shuffle (Knuth, The Art of Computer Programming, vol. 2, 3.4.2, algorithm P)
with the numbers of SplitMix64 (Steele, Lea and Flood 2014,
https://doi.org/10.1145/2660193.2660195), so that it is the same on every machine.
"""

from collections.abc import Iterator

_MASK = (1 << 64) - 1


def shuffled(count: int, numbers: Iterator[int]) -> list[int]:
    """Return the numbers below `count`, each once, as so many less one of `numbers` say."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        # The high half of a product, whose bias is below count in 2^64.
        other = next(numbers) * (last + 1) >> 64
        order[last], order[other] = order[other], order[last]
    return order


def split_mix(seed: int) -> Iterator[int]:
    """Yield SplitMix64's numbers, of 64 bits each."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)
