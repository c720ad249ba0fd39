"""What may be overridden, by flag or from the environment, by the names in the environment."""

from collections.abc import Sequence

# Every generator; arena.measure.generators has a module for each.
GENERATORS = ("ghz", "h2load", "volley")

# The overrides that make another load of a profile, so that its records are trials; their flags.
TRIAL = {
    "RUNS": "--runs",
    "DURATION": "--duration",
    "REQUESTS": "--requests",
    "CONNECTIONS": "--connections",
}

CPUS = ("SERVER_CPUS", "LOADGEN_CPUS")


def program_variable(generator: str) -> str:
    """Return the variable that names a generator's program."""
    return generator.upper()


def image_variable(generator: str) -> str:
    """Return the variable that names a generator's image."""
    return f"{generator.upper()}_IMAGE"


# Where a program lies on one machine is no part of what repeats a record on another.
PROGRAMS = tuple(map(program_variable, GENERATORS))
IMAGES = tuple(map(image_variable, GENERATORS))
REPEATABLE = (*IMAGES, "LOADGEN_DOCKER", *CPUS)

# What is read from the environment, beside the variables of flags.
ENVIRONMENT = (*PROGRAMS, *REPEATABLE)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names in a sentence: `ghz, h2load and volley`."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
