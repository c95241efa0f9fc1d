"""What a person asks of a brain, beside acting as an agent: its log, approvals, sessions, summaries, git and heartbeats.

Rules: TOOL-16, BOUNDARY-O3, BOUNDARY-08; interface.md, "Command line".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from omnislash.core.verdicts import Verdict
    from omnislash.runtime.approvals import Approval
    from omnislash.runtime.background import Background
    from omnislash.runtime.beats.beat_runs import BeatRun
    from omnislash.runtime.beats.listing import BeatList
    from omnislash.runtime.examinations import Examinations
    from omnislash.runtime.knowledge.knowledge import Knowledge
    from omnislash.runtime.ladder.consolidation import Models, Progress
    from omnislash.runtime.ladder.tick_answers import LadderView, TickAnswer
    from omnislash.runtime.loop.run_values import RunOptions
    from omnislash.runtime.loop.turn_runs import RunTurn
    from omnislash.runtime.loop_floor import DeniedPath
    from omnislash.runtime.manifest_editing import ManifestEditor
    from omnislash.runtime.session_listing import SessionList, SessionView
    from omnislash.runtime.syncing.status import SyncStatus
    from omnislash.runtime.syncing.syncing import SyncOptions
    from omnislash.runtime.syncing.values import SyncAnswer
    from omnislash.runtime.tools.auditing import AuditPage
    from omnislash.runtime.turns import Ports


class PersonSide(ABC):
    """The half of a brain that a person asks; the other half wires the rooms."""

    _background: Background

    @abstractmethod
    def _ports(self) -> Ports:
        """Return what the rooms work with."""

    @abstractmethod
    def _prepare(self) -> None:
        """Make the brain's `.omnislash/`, hidden from git."""

    def sessions(self, *, role: str | None = None, limit: int = 50) -> SessionList:
        """Return the sessions that are kept, the last used first; of one role, or of all for None."""
        from omnislash.runtime import session_listing  # noqa: PLC0415 - what only a person needs

        return session_listing.list_sessions(self._ports(), role=role, limit=limit)

    def find_session(self, session: str) -> SessionView | None:
        """Return a session by its id; None when nothing is kept under it."""
        from omnislash.runtime import session_listing  # noqa: PLC0415 - as above

        return session_listing.find_session(self._ports(), session)

    def audit(
        self, *, path: str | None = None, line: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> AuditPage:
        """Return rows of the action log, newest first, of every line."""
        from omnislash.runtime.tools import auditing  # noqa: PLC0415 - as above
        from omnislash.runtime.tools.arguments import AuditArguments, parse_arguments  # noqa: PLC0415 - as above

        given = {"path": path, "line": line, "limit": limit, "cursor": cursor}
        arguments = parse_arguments(AuditArguments, given, tool="audit_list")
        return auditing.list_audit(self._ports(), arguments)

    def approvals(self, *, state: str | None = "open") -> list[Approval]:
        """Return the deletions that wait for a person, oldest first; all of them for None."""
        from omnislash.runtime import approvals  # noqa: PLC0415 - as above

        return approvals.list_approvals(self._ports(), state=state)

    def approve(self, approval_id: str) -> Verdict:
        """Grant a deletion and return its verdict; UsageError when it is not open."""
        from omnislash.runtime import approvals  # noqa: PLC0415 - as above

        return approvals.approve(self._ports(), approval_id)

    def refuse(self, approval_id: str) -> Approval:
        """Turn a deletion down; UsageError when it is not open."""
        from omnislash.runtime import approvals  # noqa: PLC0415 - as above

        return approvals.refuse(self._ports(), approval_id)

    def find_denied(self, paths: Iterable[str | Path]) -> tuple[DeniedPath, ...]:
        """Return those paths of a change that an improvement loop may not touch: memory and sources (BOUNDARY-O3)."""
        from omnislash.runtime.loop_floor import find_denied  # noqa: PLC0415 - what only a loop needs

        return find_denied(self._ports().root, self._ports().config().sources, paths)

    @property
    def knowledge(self) -> Knowledge:
        """The memory and the sources as a person sees and changes them: every line, whatever a role may do (DASH-04)."""
        from omnislash.runtime.knowledge.knowledge import Knowledge  # noqa: PLC0415 - what only a person needs

        self._prepare()
        return Knowledge(self._ports())

    # -- the period ladder -------------------------------------------------------------------------------------------

    def consolidate(
        self,
        *,
        now: datetime | None = None,
        lines: Sequence[str] | None = None,
        on_progress: Progress | None = None,
        models: Models | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> TickAnswer:
        """Write the period summaries that are due, at most `maxRunsPerTick` a line.

        Args:
            now: Aware instant that decides what is over; None = now.
            lines: Only these lines; None = every enabled one.
            on_progress: Told `summaries`, runs done, of all.
            models: Makes the models in place of what the configuration names; for tests and for models of your own.
            is_over: True leaves the remaining runs for the next tick.

        Raises:
            UsageError: A line is not enabled.
            WriterUnavailableError: Another tick of this brain is running.
        """
        from omnislash.runtime.ladder import consolidation  # noqa: PLC0415 - what only a tick needs

        self._prepare()
        return consolidation.consolidate(
            self._ports(),
            now=now or self._ports().clock.now(),
            lines=lines,
            on_progress=on_progress,
            models=models,
            is_over=is_over,
        )

    def plan_consolidation(self, *, now: datetime | None = None, lines: Sequence[str] | None = None) -> TickAnswer:
        """Return what :meth:`consolidate` would do; nothing is done, and UsageError means the same."""
        from omnislash.runtime.ladder import consolidation  # noqa: PLC0415 - as above

        return consolidation.plan_consolidation(self._ports(), now=now or self._ports().clock.now(), lines=lines)

    def show_ladder(self, *, now: datetime | None = None, lines: Sequence[str] | None = None) -> LadderView:
        """Return the periods of the lines as trees: what exists, what is due and what waits."""
        from omnislash.runtime.ladder import consolidation  # noqa: PLC0415 - as above

        return consolidation.show_ladder(self._ports(), now=now or self._ports().clock.now(), lines=lines)

    # -- git ---------------------------------------------------------------------------------------------------------

    def sync(self, options: SyncOptions | None = None) -> SyncAnswer:
        """Commit what changed, pull and push; whatever stands in the way is in the answer."""
        from omnislash.runtime.syncing.syncing import sync  # noqa: PLC0415 - what only a sync needs

        return sync(self._ports(), options)

    def sync_status(self) -> SyncStatus:
        """Return what is pending and by whom, what is in the way, and how far the remote is; nothing is fetched."""
        from omnislash.runtime.syncing.status import find_status  # noqa: PLC0415 - as above

        return find_status(self._ports())

    # -- heartbeats and hooks ----------------------------------------------------------------------------------------

    def heartbeats(self) -> BeatList:
        """Return how every heartbeat and hook stands: its schedule, when it runs next, and its last run."""
        from omnislash.runtime.beats.listing import list_beats  # noqa: PLC0415 - what only heartbeats need

        return list_beats(self._ports())

    def run_heartbeat(
        self,
        name: str,
        *,
        options: RunOptions | None = None,
        replay: bool = False,
        run_turn: RunTurn | None = None,
    ) -> BeatRun:
        """Run a heartbeat now, whatever its schedule says; what went wrong in the turn is in the answer.

        Args:
            name: Id of the heartbeat.
            options: How the turn is run.
            replay: True reads live and writes nothing, not even that it ran (BOUNDARY-08).
            run_turn: Runs the turn in place of the engine; for tests.

        Raises:
            UsageError: There is no such heartbeat.
            WriterUnavailableError: A run of it is going on.
        """
        from omnislash.runtime.beats import heartbeats  # noqa: PLC0415 - as above
        from omnislash.runtime.loop import run_values  # noqa: PLC0415 - as above

        ports = self._ports()
        return heartbeats.run_heartbeat(
            ports,
            name,
            run_turn=run_turn or ports.run_turn,
            options=options or run_values.RunOptions(),
            replay=replay,
        )

    def beat_runs(self, name: str, *, limit: int = 20) -> list[BeatRun]:
        """Return the newest runs of a heartbeat or hook, the last first; none for one that never ran."""
        from omnislash.runtime.beats.beat_runs import list_runs  # noqa: PLC0415 - as above

        return list_runs(self._ports(), name, limit=limit)

    def start_heartbeat(self, name: str, *, run_turn: RunTurn | None = None) -> BeatRun:
        """Begin a run of a heartbeat in the background and return it as it stands; closing the brain cancels it.

        Raises:
            UsageError: There is no such heartbeat.
            WriterUnavailableError: A run of it is going on.
        """
        self._prepare()
        ports = self._ports()
        return self._background.find_hand_runs().start(ports, name, run_turn=run_turn or ports.run_turn)

    # -- how it is set up --------------------------------------------------------------------------------------------

    @property
    def examinations(self) -> Examinations:
        """What doctor found last, and what runs it again."""
        return self._background.find_examinations(self._ports())

    @property
    def manifest_editor(self) -> ManifestEditor:
        """Reads and changes `constitution/MANIFEST.yaml` itself (DASH-07)."""
        from omnislash.runtime.manifest_editing import ManifestEditor  # noqa: PLC0415 - what only a dashboard needs
        from omnislash.shipped import constitution_directory  # noqa: PLC0415 - as above

        ports = self._ports()
        return ManifestEditor(ports.root, shipped=constitution_directory(), disk=ports.files.disk)
