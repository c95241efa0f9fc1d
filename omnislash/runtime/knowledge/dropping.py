"""What a save of a MEMORY.md over its budget would cost, before it is made: the writer's own plan, and nothing written.

Rules: DASH-05, BUDGET-05 to BUDGET-07.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omnislash.core.budgets import Reading, count_chars
from omnislash.core.events import MemoryCompacted
from omnislash.errors import OmnislashError
from omnislash.runtime.settings import writer_settings
from omnislash.store.hashing import hash_bytes
from omnislash.writer.planning import plan_job
from omnislash.writer.views import BatchView, UnitCache

if TYPE_CHECKING:
    from datetime import date

    from omnislash.runtime.turns import Ports
    from omnislash.writer.jobs import Job, WriteFileRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Dated sections that a save would drop."""

    path: str
    #: Their days, in the order in which they go.
    dates: tuple[date, ...]
    #: Size of the text that was typed, and how much of it would be left, in UTF-16 units with the budget.
    chars: int
    reading: Reading
    #: SHA-256 of what would be saved: a save that hands it in agrees to exactly that.
    agreed: str

    @property
    def message(self) -> str:
        """Say what would go and ask, in plain sentences."""
        listed = ", ".join(on.isoformat() for on in self.dates)
        sections = "this dated section goes" if len(self.dates) == 1 else "these dated sections go"
        return (
            f"Not saved yet: the text has {self.chars} chars, and {self.path} may have {self.reading.limit}. "
            f"If you save it, {sections}: {listed}. MEMORY.md is then {self.reading.render()}. "
            "Shorten the text to keep everything, or save and drop what is named."
        )

    def to_json(self) -> dict[str, Any]:
        """Return `{dates, chars, charsAfter, fileMaxChars, agreed}`; `agreed` is what the next save hands in."""
        return {
            "dates": [on.isoformat() for on in self.dates],
            "chars": self.chars,
            "charsAfter": self.reading.chars,
            "fileMaxChars": self.reading.limit,
            "agreed": self.agreed,
        }


def preview_drop(ports: Ports, job: Job, request: WriteFileRequest) -> Drop | None:
    """Return what a save would drop, planned as the writer plans it; None when it drops nothing or would be refused."""
    try:
        unasked = replace(job, request=replace(request, agreed=None))
        plan = plan_job(unasked, BatchView(ports.files, UnitCache()), writer_settings(ports.config()))
    except OmnislashError:  # the writer meets the same and says it
        return None
    found = next((event for event in plan.events if isinstance(event, MemoryCompacted)), None)
    if found is None or plan.verdict.budget is None:
        return None
    return Drop(
        path=request.path,
        dates=found.dates,
        chars=count_chars(request.content),
        reading=plan.verdict.budget,
        agreed=hash_bytes(plan.changes[0].after),
    )
