"""What a turn works with: its scope, its grants, and the ports of the brain it works in.

Rules: TOOL-05, TOOL-06, TOOL-10, BOUNDARY-08, BOUNDARY-10, REPORT-O5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pydantic_ai.models import Model as ChatModel

    from omnislash.brain.files import BrainFiles
    from omnislash.core.clock import Clock
    from omnislash.core.events import Event
    from omnislash.core.scopes import Scope
    from omnislash.core.verdicts import Verdict
    from omnislash.index.live import LiveIndex
    from omnislash.runtime.loop.turn_runs import RunTurn
    from omnislash.store.files import MemoryFiles
    from omnislash.store.state import State
    from omnislash.writer.jobs import Job


class Submitter(Protocol):
    """Hands a job to the brain's one writer and blocks until the verdict is there."""

    def submit(self, job: Job) -> Verdict:
        """Return the verdict."""
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """The brain that a turn works in."""

    #: The brain's directory.
    root: Path
    #: The managed files, for reading.
    files: MemoryFiles
    #: The brain's configuration as its files say now.
    config: Callable[[], BrainFiles]
    #: The state database, opened when it is first needed.
    state: Callable[[], State]
    #: The writer.
    writer: Submitter
    #: The search index, opened when it is first needed.
    index: Callable[[], LiveIndex]
    #: Seconds that a search may spend on catching up; None = as long as it takes.
    catch_up_s: float | None
    #: Told how far a long catch-up is: `words` or `vectors`, done, of all.
    on_progress: Callable[[str, int, int], None] | None
    #: The time.
    clock: Clock
    #: Makes the id of a job.
    new_job_id: Callable[[], str]
    #: Makes the id of an approval.
    new_approval_id: Callable[[], str]
    #: Makes the id of a session.
    new_session_id: Callable[[], str]
    #: Notes an event in the state database, for hooks, and tells the listeners of this process.
    emit: Callable[[Event], None]
    #: Variables of providers, harnesses and embedders.
    environment: Mapping[str, str]
    #: Runs a turn with a model: that of a sub-agent, or of a flush.
    run_turn: RunTurn
    #: Asked in the thread of a call whether nobody waits for it any more.
    is_over: Callable[[], bool] = lambda: False
    #: Makes the model of a turn from a reference; None = as the configuration says. For tests, and models of your own.
    chat_models: Callable[[str | None, BrainFiles], ChatModel] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """Who acts: fixed when the turn starts, and never changed by an argument."""

    #: What it may read and write.
    scope: Scope
    #: The role's grants.
    capabilities: frozenset[str]
    #: True in a replay: reads are live, and nothing is written (BOUNDARY-08).
    replay: bool = False
    #: `agent`, `person` or `engine`.
    actor: str = "agent"
