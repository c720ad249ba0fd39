"""The overrides, by flag or from the environment, under their environment variables."""

from collections.abc import Sequence

# Every generator: `arena.load.<name>` describes it as `<NAME>`.
GENERATORS = ("ghz", "h2load", "volley")

# The generator of the loads that a fleet makes (docs/fleet.md).
FLEET_GENERATOR = "volley-fleet"

# The overrides that change a profile's load, with their flags. Such records are trials.
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


# The path of a program on one machine does not help to repeat a record on another.
PROGRAMS = tuple(map(program_variable, GENERATORS))
IMAGES = tuple(map(image_variable, GENERATORS))
REPEATABLE = (*IMAGES, "LOADGEN_DOCKER", *CPUS)

# The environment variables in addition to those of flags.
ENVIRONMENT = (*PROGRAMS, *REPEATABLE)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names in a sentence: `ghz, h2load and volley`."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
