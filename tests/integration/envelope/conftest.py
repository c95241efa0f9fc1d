"""What the tests of delivery share: a brain on disk with memory of every kind, and turns in it by fresh processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash.engine import SearchOptions
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from omnislash.runtime.delivery import Delivery
    from tests.integration.conftest import SampleBrain

#: Every capability is left out: memory is delivered to a role without tools as well (DECLARE-14).
NO_TOOLS = ""
MEMORY = "# Main\n\n- Tomek is not rung before nine.\n"
TODAY = "# 2026-08-30\n\n- 08:00 The carrier comes at four.\n"
YESTERDAY = "# 2026-08-29\n\n- 10:00 The pump is dead.\n"
WEEK = "# 2026-W34\n\n- The hall was painted.\n"
CONSOLIDATION = "consolidation: {lines: {main: {periods: [week]}, ops: {periods: [week]}}, modelRef: offline}"


class Desk:
    """A harness that asks for the turns of sessions."""

    def __init__(self, sample: SampleBrain) -> None:
        self.sample = sample
        self.brain = self._open()

    def _open(self) -> Any:
        search = SearchOptions(embedders=(CountingEmbedder(),), catch_up_s=None)
        return self.sample.open(search=search)

    def restart(self) -> None:
        """Go on in a new process view; the old one is gone without having closed anything."""
        self.brain = self._open()

    def turn(self, session: str = "s", *, role: str = "nova", **options: Any) -> Delivery:
        """Return what a turn carries."""
        who = {key: options.pop(key) for key in ("heartbeat", "replay", "handed_line") if key in options}
        found: Delivery = self.brain.agent(role, **who).turn(session=session, **options)
        return found

    def sent(self, session: str = "s", **options: Any) -> list[str]:
        """Return what a turn sends, each as `why name place`."""
        return [told(block) for block in self.turn(session, **options).blocks]

    def text(self, name: str, **options: Any) -> str:
        """Return the text of one block of a new session; '' without it."""
        blocks = self.turn("new " + name, is_compacted=True, **options).blocks
        return next((block.text for block in blocks if block.name == f"agent-{name}"), "")


def told(block: Any) -> str:
    """Return why a block is sent, which one, and its path or line."""
    return f"{block.why} {block.name.removeprefix('agent-')} {block.place}".rstrip()


@pytest.fixture
def desk(sample: SampleBrain) -> Desk:
    """Return a brain whose line `main` has a MEMORY.md, two logs and a summary."""
    sample.manifest(f"{{{CONSOLIDATION}}}")
    sample.put_memory("main/MEMORY.md", MEMORY)
    sample.put_memory("main/2026/08/2026-08-30.md", TODAY)
    sample.put_memory("main/2026/08/2026-08-29.md", YESTERDAY)
    sample.put_memory("main/2026/2026-W34.md", WEEK)
    return Desk(sample)


#: What the first turn of a session sends.
EVERYTHING = ["new environment", "new memory main/MEMORY.md", "new memory-periods main", "new memory-daily main"]


@pytest.fixture
def everything() -> list[str]:
    """Return what the first turn of a session sends."""
    return list(EVERYTHING)
