"""How much the contract takes before it gives a stream up."""

import pytest

from arena.measure.contract import Call, Scope, flow_control, values
from arena.measure.contract.client import Client
from arena.measure.contract.expected import stream_request
from arena.measure.contract.messages import WrongError
from arena.measure.contract.wire import Answer
from tests.lib.arena.measure.contract.honest import changed
from tests.lib.arena.measure.contract.lies import without_end
from tests.lib.arena.measure.contract.lying_server import serving
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


def test_a_long_stream_without_an_end_is_given_up_soon_after_its_time(
    answers: list[Answer],
) -> None:
    said = f"^there are more than {LONG} replies$"
    with serving(streaming(changed(without_end))) as server, pytest.raises(WrongError, match=said):
        flow_control.long_stream(Scope(server.port, tls=False, calls=CALLS))
    assert LONG < len(answers[0].messages) < 4 * LONG


def test_so_is_a_short_one(answers: list[Answer]) -> None:
    said = r"^there are more than 10 replies$"
    with serving(streaming(changed(without_end))) as server, pytest.raises(WrongError, match=said):
        values.stream(Scope(server.port, tls=False, calls=CALLS), stream_request(10))
    assert len(answers[0].messages) < 4 * LONG
