"""What a record says of this host."""

import os

from arena.machine import facts


def test_the_description_names_no_machine() -> None:
    found = facts.describe("29.1").model_dump_json()
    assert os.uname().nodename not in found
    assert '"docker":"29.1"' in found
