"""One call as a role: over the worker's socket when one runs, else in this process.

Both ways give the same answer.
When the socket broke after the request was sent, the job id is used again, so that the queue's table answers for a
write that landed already and it is never made twice.

Rules: WRITE-03, WRITE-O5, WRITE-O8, BOUNDARY-08.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from omnislash.store import ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from omnislash.engine import Brain
    from omnislash.runtime.agents import Agent
    from omnislash.runtime.tools.catalog import Answer
    from omnislash.surfaces.cli.options import Settings

#: How long a search in this process catches up with the files before it answers from what is there, in seconds. A person
#: waits for a first build gladly when a bar shows it; a script is answered in bounded time, and told what is missing.
CATCH_UP_S = 60.0


def call_tool(
    settings: Settings, tool: str, *, role: str, heartbeat: str | None, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the answer of a tool as an object.

    Args:
        settings: The brain and the rest.
        tool: Name of the tool.
        role: Who acts.
        heartbeat: The heartbeat or hook that runs it; None in a chat.
        arguments: As JSON has them; None means left out.

    Raises:
        OmnislashError: As the tool says, or the brain does not load.
    """
    given = _drop_absent(arguments)
    job = ids.new_job_id()
    request = {"op": "call", "tool": tool, "role": role, "heartbeat": heartbeat, "arguments": given, "job": job}
    return _ask(settings, request, lambda agent: agent.call(tool, given, job_id=job))


def recall(settings: Settings, *, role: str, heartbeat: str | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a turn with a message is shown of memory; the arguments are those of `Agent.recall`.

    Raises:
        OmnislashError: The role has no memory, or the brain does not load.
    """
    given = _drop_absent(arguments)
    request = {"op": "recall", "role": role, "heartbeat": heartbeat, "arguments": given}
    return _ask(settings, request, lambda agent: agent.recall(**given))


@contextlib.contextmanager
def envelope(
    settings: Settings, *, role: str, heartbeat: str | None, arguments: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield what a turn carries; it is noted as sent when the block is left, and not when that fails.

    The arguments are those of `Agent.turn`.

    Raises:
        OmnislashError: The session's id can't be one, or the brain does not load.
    """
    who = {"role": role, "heartbeat": heartbeat}
    given = _drop_absent(arguments)
    answer = _ask_worker(settings, {"op": "envelope", **who, "arguments": given})
    if answer is None:
        with _deliver_here(settings, who, given) as answer:
            yield answer
        return
    receipt = answer.pop("receipt", None)
    yield answer
    if receipt is not None:
        noted = {"session": answer["session"], "receipt": receipt}
        _ask(settings, {"op": "sent", **who, "arguments": noted}, lambda agent: _note(agent, noted))


@contextlib.contextmanager
def _deliver_here(settings: Settings, who: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    settings.find_root()
    from omnislash.engine import SearchOptions  # noqa: PLC0415 - half a second of imports
    from omnislash.surfaces.cli.progress import show_progress  # noqa: PLC0415 - not needed with a worker

    with contextlib.ExitStack() as opened:
        with show_progress(settings) as on_progress:
            options = SearchOptions(catch_up_s=CATCH_UP_S, on_progress=on_progress)
            brain = opened.enter_context(settings.open_brain(search=options))
            agent = brain.agent(who["role"], heartbeat=who["heartbeat"], replay=settings.replay)
            delivery = agent.deliver(**given)
        yield delivery.to_json()
        agent.confirm(delivery)


def _note(agent: Agent, noted: Mapping[str, Any]) -> Answer:
    """Note in this process what a worker delivered that is gone by now."""
    from omnislash.runtime.delivery import Noted, Unsent  # noqa: PLC0415 - the rare case

    agent.confirm(Unsent.parse(noted))
    return Noted(noted["session"])


def explain_search(
    settings: Settings, *, role: str, heartbeat: str | None, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a search with how each note came about; the arguments are those of `memory_search`, and `target`.

    Raises:
        OmnislashError: As the tool says, or the brain does not load.
    """
    given = _drop_absent(arguments)
    request = {"op": "explain", "role": role, "heartbeat": heartbeat, "arguments": given}
    return _ask(settings, request, lambda agent: agent.memory.explain(**given))


def _drop_absent(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _ask(settings: Settings, request: Mapping[str, Any], run: Callable[[Agent], Answer]) -> dict[str, Any]:
    """Return the worker's answer to a request, or what the same call gives in this process."""
    answer = _ask_worker(settings, request)
    if answer is not None:
        return answer
    with open_for_search(settings) as brain:
        agent = brain.agent(request["role"], heartbeat=request["heartbeat"], replay=settings.replay)
        return run(agent).to_json()


def _ask_worker(settings: Settings, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the worker's answer; None without one, in a replay, and when another instant stands for the clock."""
    if settings.now is not None or settings.replay:
        return None
    from omnislash.surfaces.cli import fast  # noqa: PLC0415 - not needed for a replay

    return fast.ask(settings.find_root(), request)


@contextlib.contextmanager
def open_for_search(settings: Settings) -> Iterator[Brain]:
    """Open the brain in this process; a search catches up for as long as a person waits, and shows how far it is.

    Raises:
        UsageError, ConfigError: There is none, or it does not load.
    """
    settings.find_root()
    from omnislash.engine import SearchOptions  # noqa: PLC0415 - half a second of imports
    from omnislash.surfaces.cli.progress import show_progress  # noqa: PLC0415 - not needed with a worker

    with show_progress(settings) as on_progress:
        options = SearchOptions(catch_up_s=CATCH_UP_S, on_progress=on_progress)
        with settings.open_brain(search=options) as brain:
            yield brain
