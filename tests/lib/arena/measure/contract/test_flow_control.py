"""How much the contract takes before it gives a stream up."""

from collections.abc import Callable

import pytest

from arena.measure.contract import Call, Scope, flow_control, values
from arena.measure.contract.client import Client
from arena.measure.contract.expected import stream_request
from arena.measure.contract.wire import Answer
from tests.lib.arena.measure.contract.honest import changed
from tests.lib.arena.measure.contract.lies import without_end
from tests.lib.arena.measure.contract.lying_server import serving
from tests.lib.arena.measure.contract.peer import wrong
from tests.lib.arena.measure.contract.short import LONG
from tests.lib.arena.measure.contract.when import streaming

CALLS = frozenset[Call]({"GetSum", "StreamSum"})


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Answer]:
    """Collect what the contract is answered."""
    found = []
    call = Client.call

    def noting(*arguments: object, **options: object) -> Answer:
        found.append(call(*arguments, **options))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(Client, "call", noting)
    return found


@pytest.mark.parametrize(
    ("ask", "count"),
    [
        (flow_control.long_stream, LONG),
        (lambda scope: values.stream(scope, stream_request(10)), 10),
    ],
)
def test_a_stream_without_an_end_is_given_up_soon_after_its_time(
    ask: Callable[[Scope], object], count: int, answers: list[Answer]
) -> None:
    with serving(streaming(changed(without_end))) as server:
        error = wrong(ask, Scope(server.port, tls=False, calls=CALLS))
    assert error.detail == f"there are more than {count} replies"
    assert count < len(answers[0].messages) < 4 * LONG
