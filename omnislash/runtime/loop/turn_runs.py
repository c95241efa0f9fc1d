"""Running a turn with a model, for whoever needs a turn within or behind another one: sub-agents, flushes, heartbeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from omnislash.runtime.loop.run_values import Run, RunOptions
    from omnislash.runtime.turns import Ports, Turn


class RunTurn(Protocol):
    """Runs a turn with a model, as `omnislash.runtime.loop.running.run_turn` does."""

    def __call__(self, turn: Turn, ports: Ports, *, session: str | None, message: str, options: RunOptions) -> Run:
        """Return what came of it; OmnislashError when it failed."""
        ...


def run_with_model(turn: Turn, ports: Ports, *, session: str | None, message: str, options: RunOptions) -> Run:
    """Run a turn with its own model; what that needs is loaded when the first one comes."""
    from omnislash.runtime.loop.running import run_turn  # noqa: PLC0415 - a brain without turns does without

    return run_turn(turn, ports, session=session, message=message, options=options)
