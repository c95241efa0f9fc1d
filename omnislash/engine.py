"""The front door: open a brain, get an agent, use its memory. The one place that wires the rooms together.

Rules: WRITE-O8, ADAPT-O3, KNOB-26, REPORT-O5, BOUNDARY-08; interface.md, "Embedding the engine".
"""

from __future__ import annotations

import contextlib
import os
import threading
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from omnislash.brain.loading import LiveBrain
from omnislash.core import verdicts
from omnislash.core.verdicts import WAIT_LIMIT_S, Verdict
from omnislash.errors import OmnislashError, UsageError
from omnislash.runtime import access
from omnislash.runtime.agents import Agent
from omnislash.runtime.announcing import Announcer
from omnislash.runtime.background import Background
from omnislash.runtime.loop.turn_runs import run_with_model
from omnislash.runtime.person_side import PersonSide
from omnislash.runtime.settings import named_lines, writer_settings
from omnislash.runtime.turns import Ports, Turn
from omnislash.shipped import constitution_directory
from omnislash.store import ids
from omnislash.store.files import MemoryFiles
from omnislash.store.state_directory import StateDirectory
from omnislash.store.system_clock import SystemClock
from omnislash.writer.client import WriterClient

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from pydantic_ai.models import Model as ChatModel

    from omnislash.brain.files import BrainFiles
    from omnislash.core.clock import Clock
    from omnislash.core.events import Event
    from omnislash.index.embedders.ports import Embedder
    from omnislash.index.live import LiveIndex
    from omnislash.index.watcher import Watcher
    from omnislash.runtime.beats.scheduler import Scheduler
    from omnislash.runtime.flushing.flush_queue import FlushQueue
    from omnislash.runtime.ladder.ticking import Ticker
    from omnislash.runtime.loop.turn_runs import RunTurn
    from omnislash.runtime.oversight import Oversight
    from omnislash.runtime.syncing.ticking import SyncTicker
    from omnislash.store.disk import Disk
    from omnislash.store.state import State
    from omnislash.writer.jobs import Job
    from omnislash.writer.worker import Worker
    from omnislash.writer.writer import Writer

#: Seconds that a search of an agent spends on catching up before it answers from what is there, and says so.
CATCH_UP_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How searches of a brain behave in this process."""

    #: Seconds that one spends on catching up with the files; None = as long as it takes.
    catch_up_s: float | None = CATCH_UP_S
    #: Told how far a catch-up is: `words` or `vectors`, done, of all.
    on_progress: Callable[[str, int, int], None] | None = None
    #: Asked in the thread of a call whether nobody waits for it any more: True leaves out what a search has left to catch up
    #: with, and ends a task for another agent as if it was cancelled.
    is_over: Callable[[], bool] = lambda: False
    #: Embedders in place of those that `memory.embeddingModel` names; for tests and for models of your own.
    embedders: tuple[Embedder, ...] | None = None
    #: Seconds from the first search on that one waits for a model, and goes on with words alone; None = no limit.
    patience_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How models are reached in this process."""

    #: Variables of providers, such as OPENAI_API_KEY, and of harnesses; None = those of this process.
    environment: Mapping[str, str] | None = None
    #: Makes the model of a turn from a reference in place of the configuration; for tests and for models of your own.
    chat: Callable[[str | None, BrainFiles], ChatModel] | None = None


class Brain(PersonSide):
    """An open brain; safe to share between threads, and a context manager."""

    def __init__(  # noqa: PLR0913 - the ports of a brain are exactly these
        self,
        root: Path,
        *,
        live: LiveBrain,
        clock: Clock,
        queue_only: bool,
        disk: Disk | None = None,
        search: SearchOptions | None = None,
        models: ModelOptions | None = None,
    ) -> None:
        """Keep the ports; use :meth:`open`."""
        self.root = root
        models = models or ModelOptions()
        self._environment = os.environ if models.environment is None else models.environment
        self._chat_models = models.chat
        self._search = search or SearchOptions()
        self._index: LiveIndex | None = None
        self._background = Background()
        self._indexed: object = None
        self._live = live
        self._clock = clock
        self._writer: Writer | None = None
        self._lock = threading.RLock()
        self._files = MemoryFiles(root / "memory", disk=disk)
        self._states = StateDirectory(root, disk=disk)
        self._open_state = self._states.open
        self._announcer = Announcer(self._open_state, clock)
        self._client = WriterClient(
            self._states.path,
            state=self._open_state,
            writer=None if queue_only else self._own_writer,
            clock=clock,
        )
        self._worker: Worker | None = None

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        clock: Clock | None = None,
        queue_only: bool = False,
        disk: Disk | None = None,
        search: SearchOptions | None = None,
        models: ModelOptions | None = None,
    ) -> Self:
        """Open a brain.

        Args:
            path: The brain's directory.
            clock: The time; the machine's own by default.
            queue_only: True leaves a write queued when no worker runs, instead of writing in this process.
            disk: The calls that change the disk; the real ones by default.
            search: How a search catches up, and with which embedders.
            models: How models are reached.

        Raises:
            ConfigError: The brain does not load; it holds every fault.
        """
        root = Path(path).absolute()
        live = LiveBrain(root, shipped=constitution_directory())
        clock = clock or SystemClock()
        return cls(root, live=live, clock=clock, queue_only=queue_only, disk=disk, search=search, models=models)

    # -- parts that are made when first needed -----------------------------------------------------------------------

    @property
    def config(self) -> BrainFiles:
        """The configuration as the brain's files say now, or the last good one (KNOB-O6)."""
        return self._live.current()

    @property
    def oversight(self) -> Oversight:
        """What a person sees beside the files: the queue, the questions that wait, the roles."""
        from omnislash.runtime.oversight import Oversight  # noqa: PLC0415 - what only a person's surface needs

        return Oversight(self._ports(), lambda: self._live.last_error)

    def _prepare(self) -> None:
        self._states.prepare()

    def open_version(self) -> Callable[[], int]:
        """Return what tells the version of the state database: another number after each commit of anybody else."""
        return self._states.open_another().data_version

    def _new_writer(self, state: State) -> Writer:
        from omnislash.writer.writer import Writer  # noqa: PLC0415 - what only a write needs

        return Writer(
            state,
            self._files,
            settings=lambda: writer_settings(self.config),
            clock=self._clock,
            on_event=self._announcer.tell,
            named_lines=lambda: named_lines(self.config),
        )

    def _own_writer(self) -> Writer:
        with self._lock:
            if self._writer is None:
                self._writer = self._new_writer(self._open_state())
            return self._writer

    @property
    def index(self) -> LiveIndex:
        """The search index; made for the sources, languages and the embedding model that the configuration names."""
        from omnislash.runtime.indexing import open_index  # noqa: PLC0415 - numpy, which only a search needs

        memory = self.config.project.memory
        wanted = (self.config.sources, memory.languages, memory.embedding_model)
        with self._lock:
            if self._index is None or self._indexed != wanted:
                if self._index is not None:
                    self._index.close()
                self._index = open_index(
                    self.root,
                    self.config,
                    state_directory=self._states.path,
                    environment=self._environment,
                    embedders=self._search.embedders,
                    patience_s=self._search.patience_s,
                )
                self._indexed = wanted
            return self._index

    def _ports(self) -> Ports:
        return Ports(
            root=self.root,
            files=self._files,
            config=self._live.current,
            state=self._open_state,
            writer=self,
            index=lambda: self.index,
            catch_up_s=self._search.catch_up_s,
            on_progress=self._search.on_progress,
            is_over=self._search.is_over,
            clock=self._clock,
            new_job_id=ids.new_job_id,
            new_approval_id=ids.new_approval_id,
            new_session_id=ids.new_session_id,
            emit=self._announcer.announce,
            environment=self._environment,
            run_turn=run_with_model,
            chat_models=self._chat_models,
        )

    def on_event(self, listener: Callable[[Event], None]) -> None:
        """Call the listener after each change of memory that this process makes (EVENT-O4).

        It is called in the writer's own thread. What it writes itself is queued and comes next: it must not wait for it.
        """
        self._announcer.listen(listener)

    # -- who acts ----------------------------------------------------------------------------------------------------

    def agent(
        self,
        role: str,
        *,
        heartbeat: str | None = None,
        replay: bool = False,
        handed_line: str | None = None,
        session: str | None = None,
    ) -> Agent:
        """Return an agent for one turn: its scope is fixed now (REPORT-O5).

        Args:
            role: Id of the role.
            heartbeat: Id of the heartbeat or hook that runs it.
            replay: True reads live and writes nothing (BOUNDARY-08).
            handed_line: The line of the agent on whose behalf the turn works (RESOLVE-02).
            session: Where the turn goes on when it names no session itself; None = in a new one.

        Raises:
            UsageError: There is no such role or heartbeat, or the heartbeat runs another role.
        """
        config = self.config
        if heartbeat is not None and (runs := config.find_beat(heartbeat).role) != config.find_role(role).id:
            message = f"The heartbeat {heartbeat!r} runs the role {runs!r}, not {role!r}."
            raise UsageError(message)
        scope = config.resolve_scope(role, beat=heartbeat, handed=handed_line)
        granted = frozenset(config.find_role(role).capabilities)
        return Agent(Turn(scope=scope, capabilities=granted, replay=replay), self._ports(), session=session)

    def chat_agent(
        self, *, chat: str | None = None, bot: str | None = None, contact: str | None = None, replay: bool = False
    ) -> Agent:
        """Return an agent for one turn of a chat, in the role and the session that the access rules give it.

        Args:
            chat: Id of a chat.
            bot: Name of a bot that was written to directly, in place of a chat.
            contact: The person who wrote to the bot; None = nobody in particular.
            replay: As for :meth:`agent`.

        Raises:
            UsageError: No rule of `constitution/access.yaml` names the chat or the bot; it runs nothing (BOUNDARY-14).
        """
        bound = access.find_bound(self.config, chat=chat, bot=bot, contact=contact)
        return self.agent(bound.role, replay=replay, session=access.choose_session(self._ports(), bound))

    # -- the worker --------------------------------------------------------------------------------------------------

    def start_worker(
        self, *, operations: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None
    ) -> Worker:
        """Take the writer's lock and serve every process of this machine until the worker is stopped.

        Args:
            operations: Further operations of its socket, by name: what a surface answers from the open brain.

        Raises:
            WriterUnavailableError: Another worker runs already.
        """
        from omnislash.runtime.operations import make_operations  # noqa: PLC0415 - what only a worker needs
        from omnislash.writer.worker import Worker  # noqa: PLC0415 - what only a worker needs

        self._prepare()
        state = self._states.open_another()
        served = {**make_operations(self.agent), **(operations or {})}
        worker = Worker(self._states.path, state, self._new_writer(state), clock=self._clock, operations=served)
        worker.start()
        self._worker = worker
        return worker

    # -- in the background, until the brain is closed ----------------------------------------------------------------

    def start_indexing(self) -> Watcher:
        """Keep the search index up to date."""
        self._prepare()
        return self._background.start_indexing(lambda: self.index)

    def start_ticking(self) -> Ticker:
        """Run :meth:`consolidate` at the times of `consolidation.schedule`."""
        tick = lambda now, is_over: self.consolidate(now=now, is_over=is_over)  # noqa: E731 - two words of glue
        return self._background.start_ticking(self._live.current, self._clock, tick)

    def start_syncing(self) -> SyncTicker:
        """Run :meth:`sync` at the times of `sync.schedule`."""
        return self._background.start_syncing(self._live.current, self._clock, self.sync)

    def start_scheduling(self, *, run_turn: RunTurn | None = None) -> Scheduler:
        """Run heartbeats at their times, and hooks on their events."""
        self._prepare()
        return self._background.start_scheduling(self._ports(), run_turn)

    def start_flushing(self) -> FlushQueue:
        """Review the transcripts that :meth:`Agent.request_flush` asked for, also those of before a restart."""
        self._prepare()
        return self._background.start_flushing(self._ports(), self._find_agent)

    def drain_flushes(self) -> int:
        """Review what waits in this process and return how many reviews were made; another one at it is left to it."""
        from omnislash.runtime.flushing import flush_queue  # noqa: PLC0415 - as above

        self._prepare()
        return flush_queue.drain(self._ports(), self._find_agent)

    def _find_agent(self, role: str, heartbeat: str | None) -> Agent:
        return self.agent(role, heartbeat=heartbeat)

    def stop_background(self) -> None:
        """End these threads: a summary is finished, a turn that runs is cancelled, and nothing more begins."""
        self._background.stop()

    def submit(self, job: Job) -> Verdict:
        """Hand a job to the brain's one writer and return its verdict; used by the tools.

        The worker of this process is asked directly, one of another process over its socket; without one this process
        is the writer for the moment that it needs.
        """
        worker = self._worker
        try:
            self._prepare()
            if self._announcer.is_telling:
                return self._client.enqueue(job)
            if worker is not None and not worker.is_stopping:
                with contextlib.suppress(CancelledError):
                    return _wait_for(worker, job)
            return self._client.submit(job)
        except OmnislashError as error:
            return verdicts.failed(error.message)

    # -- the end -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the worker that this brain started, and close what is open; nothing that was confirmed depends on it."""
        self._background.stop()
        if self._worker is not None and not self._worker.is_stopping:
            self._worker.stop()
        self._worker = None
        self._client.close()
        self._background.stop_indexing()
        if self._index is not None:
            self._index.close()
        self._states.close()
        self._writer = None

    def __enter__(self) -> Self:
        """Return the brain."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


def _wait_for(worker: Worker, job: Job) -> Verdict:
    """Return the verdict of a worker in this process; CancelledError when it is stopped before it took the job."""
    with contextlib.suppress(FutureTimeoutError):
        return worker.submit(job).result(timeout=WAIT_LIMIT_S)
    return verdicts.unconfirmed(job.id, reason=f"no verdict came within {WAIT_LIMIT_S:.0f} seconds")
