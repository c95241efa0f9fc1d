"""A turn with a model, from the message that came in to the answer and what is kept of it.

Memory is read first, then the model is asked, then messages and ledger are stored in one transaction, and only then the
answer counts as given; the flush comes behind it.
A turn that fails stores nothing: the session and its ledger are as before, and what tools have written stays and is told.
A turn that is cancelled keeps what was said and done.

Rules: ENVELOPE-02, ENVELOPE-12, ENVELOPE-O1, ENVELOPE-O7, FLUSH-O5, FLUSH-O6, BOUNDARY-08 to BOUNDARY-11, TOOL-05.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from omnislash.errors import ModelError, OmnislashError, UsageError
from omnislash.runtime.loop import prompts, session_rows, session_turns, tasks
from omnislash.runtime.loop.conversations import mend_text
from omnislash.runtime.loop.run_values import AnswerEnded, Run, RunOptions, Usage
from omnislash.runtime.loop.tree import Tree
from omnislash.runtime.loop.turn_threads import StopReason, run_in_thread
from omnislash.runtime.models import chat_models, references
from omnislash.runtime.tools import catalog
from omnislash.runtime.tools.arguments import TaskArguments, parse_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model as ChatModel

    from omnislash.brain.files import BrainFiles
    from omnislash.runtime.delivery import Delivery
    from omnislash.runtime.loop.model_turns import Question, Spoken
    from omnislash.runtime.loop.run_values import RunEvent
    from omnislash.runtime.loop.tool_loop import CatalogToolset
    from omnislash.runtime.loop.turn_threads import Stop
    from omnislash.runtime.turns import Ports, Turn


def run_turn(
    turn: Turn,
    ports: Ports,
    *,
    session: str | None,
    message: str,
    options: RunOptions = RunOptions(),  # noqa: B008 - a frozen value
) -> Run:
    """Run a turn with a model and return what came of it.

    It may be called from any thread, several times at once, and inside a running event loop; it blocks until the turn
    is over. Ctrl-C ends the turn and does not raise: a tool that runs is waited for, and `is_cancelled` is True.

    Args:
        turn: Who acts.
        ports: The brain.
        session: Id of the session; None = a new one.
        message: What came in.
        options: How it is run.

    Raises:
        ModelError: The model gave no answer; nothing of the turn is stored.
        UsageError: The message is empty, or the session belongs to another role or can't be one.
        StorageError: The session can't be read.
        WriterUnavailableError: The state database can't be used; nothing of the turn is stored.

    Rules: ENVELOPE-O1, BOUNDARY-08, BOUNDARY-11, FLUSH-O5.
    """
    if not message.strip():
        message = "The message is empty; a turn needs something to answer."
        raise UsageError(message)
    work = _TurnRun(turn, ports, session, mend_text(message), options)
    started = ports.clock.monotonic_s()
    return run_in_thread(
        work.run,
        on_event=options.on_event,
        is_over=options.is_over,
        is_late=lambda: not work.has_answered and ports.clock.monotonic_s() - started > options.limits.turn_s,
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The model of a turn."""

    model: ChatModel
    #: What it is called in messages.
    name: str
    #: The reference that it was made from; None for a model that was handed in.
    reference: str | None


class _TurnRun:
    """One turn with a model."""

    def __init__(self, turn: Turn, ports: Ports, session: str | None, message: str, options: RunOptions) -> None:
        self._turn = turn
        self._ports = ports
        self._config = ports.config()
        # A replay has no past and leaves none (BOUNDARY-08).
        self._session = ports.new_session_id() if session is None or turn.replay else session
        self._keeps = options.keeps_session and not turn.replay
        self._message = message
        self._tree = options.tree or Tree(options.limits.requests)
        self._options = replace(options, tree=self._tree)
        #: What the agents below have cost.
        self._spent = Usage()
        #: True once the answer is given: the time of the turn is over then, and its flush has one of its own.
        self.has_answered = False

    def run(self, tell: Callable[[RunEvent], None], stop: Stop) -> Run:
        from omnislash.runtime.loop import model_turns  # noqa: PLC0415 - heavy
        from omnislash.runtime.loop.tool_loop import CatalogToolset  # noqa: PLC0415 - heavy

        chosen = self._choose_model(stop)
        history = self._load_history()
        toolset = CatalogToolset(
            catalog.offered_tools(self._turn),
            partial(self._call, chosen=chosen, stop=stop),
            tell=tell,
            stop=stop,
            most_calls=self._options.limits.requests,
        )
        while True:
            delivery = self._deliver(is_compacted=history.is_compacted)
            try:
                spoken = self._ask(chosen, self._make_question(history, delivery), toolset, tell=tell, stop=stop)
                break
            except session_turns.TooLongError as error:
                history = self._shorten(history, toolset, error)
        self.has_answered = True
        self._store(spoken.messages, delivery, history)
        tell(AnswerEnded(spoken.text))
        run = Run(
            session=self._session,
            role=self._turn.scope.role,
            line=self._turn.scope.line,
            model=chosen.name,
            text=spoken.text,
            calls=tuple(toolset.answers),
            usage=model_turns.add_usage(spoken.usage, self._spent),
            delivery=delivery,
            is_cancelled=spoken.is_stopped,
        )
        return run if run.is_cancelled else self._flush(run, chosen, stop)

    # -- before ------------------------------------------------------------------------------------------------------

    def _choose_model(self, stop: Stop) -> _Chosen:
        """Return the model of the turn: the one handed in, else the one named, else the role's."""
        from omnislash.runtime.models.counted import CountedModel  # noqa: PLC0415 - heavy

        given = self._options.chat_model
        if given is not None:
            return _Chosen(CountedModel(given, self._tree), given.model_name, None)
        role = self._config.find_role(self._turn.scope.role)
        reference = self._options.model or references.find_turn_reference(self._config, role)
        model = make_model(self._ports, self._config, reference, options=self._options, is_over=stop.is_set)
        name = references.name_model(reference, self._config) if self._ports.chat_models is None else model.model_name
        return _Chosen(CountedModel(model, self._tree), name, reference)

    def _load_history(self) -> session_turns.History:
        if not self._keeps:
            return session_turns.History()
        from omnislash.runtime.delivery import check_session  # noqa: PLC0415 - not needed to write

        state, session = self._ports.state(), check_session(self._session)
        session_turns.check_owner(state, session, role=self._turn.scope.role)
        session_turns.touch_session(state, session, now=self._ports.clock.now())
        return session_turns.load_history(state, session)

    def _shorten(
        self, history: session_turns.History, toolset: CatalogToolset, error: session_turns.TooLongError
    ) -> session_turns.History:
        """Return less of a history that was too long for the model; raise the error when that is no help."""
        if not history.messages:
            raise error
        state = self._ports.state()
        if toolset.answers:  # asked again, the tools would run twice
            session_turns.note_too_long(state, self._session, history)
            raise error
        return session_turns.load_history(state, self._session, bound=0 if history.is_halved else history.half)

    def _deliver(self, *, is_compacted: bool) -> Delivery:
        from omnislash.envelope.ledger import Carrier  # noqa: PLC0415 - not needed to write
        from omnislash.runtime import delivery  # noqa: PLC0415 - as above

        return delivery.deliver(
            self._turn,
            self._ports,
            session=self._session,
            message=self._message,
            occasion=delivery.Occasion(carrier=Carrier.MODEL, is_compacted=is_compacted),
        )

    def _make_question(self, history: session_turns.History, delivery: Delivery) -> Question:
        from omnislash.runtime.loop import model_turns  # noqa: PLC0415 - heavy
        from omnislash.runtime.loop.conversations import Mark  # noqa: PLC0415 - heavy

        ours = {
            Mark.STANDING: delivery.render_standing(),
            Mark.SHORTENED: session_turns.SHORTENED if history.is_shortened else "",
        }
        return model_turns.Question(
            system=prompts.render_system_prompt(self._turn, self._config),
            history=(*model_turns.make_preface(ours), *history.messages),
            opening=delivery.render_opening(),
            message=self._message,
        )

    # -- while it runs -----------------------------------------------------------------------------------------------

    def _ask(
        self,
        chosen: _Chosen,
        question: Question,
        toolset: CatalogToolset,
        *,
        tell: Callable[[RunEvent], None],
        stop: Stop,
    ) -> Spoken:
        """Return what the model says; whatever its library raises becomes one sentence."""
        from omnislash.runtime.loop import model_turns  # noqa: PLC0415 - heavy

        limits = self._options.limits
        try:
            spoken = model_turns.converse(chosen.model, question, toolset, limits=limits, tell=tell, stop=stop)
        except OmnislashError as error:
            raise _tell_writes(error, self._tree) from error
        except Exception as error:
            if toolset.is_inside:  # a tool broke, which is no matter of the model
                raise
            raise _tell_writes(_explain(error, chosen.name, self._ports), self._tree) from None
        if stop.reason is StopReason.LATE:
            late = ModelError(f"The turn was ended because it took more than {limits.turn_s:g} seconds.")
            raise _tell_writes(late, self._tree)
        return spoken

    def _call(self, name: str, arguments: Mapping[str, Any], *, chosen: _Chosen, stop: Stop) -> Mapping[str, Any]:
        """Run a tool for the model and return its answer as JSON has it."""
        if name == tasks.TOOL:
            caller = tasks.Caller(
                options=self._options,
                reference=chosen.reference,
                model=self._options.chat_model,
                is_over=stop.is_set,
                on_usage=self._add_spent,
            )
            task = parse_arguments(TaskArguments, arguments, tool=name)
            catalog.check_granted(self._turn, catalog.TOOLS[name])
            return tasks.run_task(self._turn, self._ports, task, caller=caller).to_json()
        answer = catalog.call_tool(self._turn, self._ports, name, arguments).to_json()
        self._tree.note(answer)
        return answer

    def _add_spent(self, usage: Usage) -> None:
        from omnislash.runtime.loop.model_turns import add_usage  # noqa: PLC0415 - heavy

        self._spent = add_usage(self._spent, usage)

    # -- afterwards --------------------------------------------------------------------------------------------------

    def _store(self, messages: Iterable[ModelMessage], delivery: Delivery, history: session_turns.History) -> None:
        """Keep messages and ledger in one transaction, or neither; an error tells what tools have written."""
        if not self._keeps:
            return
        from omnislash.runtime.delivery import note  # noqa: PLC0415 - not needed to write

        role, now, row = self._turn.scope.role, self._ports.clock.now(), session_rows.dump_messages(messages)
        try:
            with self._ports.state().transaction() as state:
                note(self._ports, self._turn, delivery)
                session_turns.save_turn(state, history, session=self._session, messages=row, role=role, now=now)
        except OmnislashError as error:
            raise _tell_writes(error, self._tree) from error

    def _flush(self, run: Run, chosen: _Chosen, stop: Stop) -> Run:
        """Return the run with what its flush came to; it never fails the turn (FLUSH-O5)."""
        if not self._options.flushes:
            return run
        from omnislash.runtime.flushing import flush  # noqa: PLC0415 - needed by few turns

        report = flush.flush_turn(
            self._turn,
            self._ports,
            message=self._message,
            answer=run.text,
            calls=run.calls,
            session=run.session,
            options=replace(self._options, model=chosen.reference, is_over=stop.is_set),
            model=self._options.chat_model,
        )
        return replace(run, flush=report)


def make_model(
    ports: Ports,
    config: BrainFiles,
    reference: str | None,
    *,
    options: RunOptions,
    is_over: Callable[[], bool],
) -> ChatModel:
    """Return the model that a reference means in a brain; ModelError when it means none."""
    if ports.chat_models is not None:
        return ports.chat_models(reference, config)
    return chat_models.resolve_chat_model(
        reference,
        config,
        environment=ports.environment,
        is_over=is_over,
        time_limit_s=options.limits.request_s,
    )


def _explain(error: Exception, model: str, ports: Ports) -> ModelError:
    """Return the one sentence for what a model or its provider's library raised."""
    from pydantic_ai.exceptions import ModelContextWindowExceededError  # noqa: PLC0415 - heavy

    from omnislash.runtime.models.provider_errors import explain_failure  # noqa: PLC0415 - heavy

    failure = explain_failure(error, model, ports.environment)
    too_long = isinstance(error, ModelContextWindowExceededError)
    return session_turns.TooLongError(failure.message) if too_long else failure


def _tell_writes(error: OmnislashError, tree: Tree) -> OmnislashError:
    """Return an error that also says which files the turn's tools, and the agents below it, have written."""
    if tree.written:
        told = f"What the turn's tools wrote before stays: {', '.join(tree.written)}."
        error.hint = f"{error.hint} {told}" if error.hint and told not in error.hint else told
    return error
