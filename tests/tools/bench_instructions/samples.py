"""An outcome to judge and to print."""

from tools.bench_instructions.judging import Committed, Conditions, Measured, Outcome

CONDITIONS = Conditions(
    build="release; features: none",
    rustc="1.95.0",
    glibc="2.36",
    valgrind="3.19.0",
    cpu="x86_64 avx2",
)


def an_outcome(*ratios: float) -> Outcome:
    """Return figures a, b, …, each as a multiple of its committed one, which is 1,000."""
    names = "abcdefghij"[: len(ratios)]
    measured = [
        Measured(name, [ratio * 1000, ratio * 1000 - 5, ratio * 1000 + 5])
        for name, ratio in zip(names, ratios, strict=True)
    ]
    return Outcome(CONDITIONS, measured, Committed(CONDITIONS, dict.fromkeys(names, 1000.0)))
