"""What the contract found."""

from dataclasses import dataclass
from typing import Literal

from arena.record.record import Check


@dataclass(frozen=True)
class Report:
    """Every check that was made, in order.

    `messages_per_data_frame` is that of StreamSum(5000) with an open window; None without it.
    """

    checks: tuple[Check, ...]
    messages_per_data_frame: float | None = None

    @property
    def verdict(self) -> Literal["pass", "warn", "fail"]:
        """The worst of all."""
        found = {check.status for check in self.checks}
        return "fail" if "fail" in found else "warn" if "warn" in found else "pass"

    @property
    def first_failure(self) -> Check | None:
        """The check that failed first; None if none did."""
        return next((check for check in self.checks if check.status == "fail"), None)
