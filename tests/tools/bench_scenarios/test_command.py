"""The options of the bench."""

import pytest
from click.testing import CliRunner

from tools.bench_scenarios.__main__ import command


@pytest.mark.parametrize("duration", ["1500ms", "500ms", "0.5s"])
def test_a_length_is_in_whole_seconds(duration: str) -> None:
    ended = CliRunner().invoke(command, ["--duration", duration])
    assert ended.exit_code == 2
    assert f"'{duration}' is not in whole seconds, such as 5s" in ended.output
