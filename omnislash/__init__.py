"""omnislash: memory for AI agents that a person can read, edit, diff and trust.

::

    from omnislash import Brain

    with Brain.open("my-brain") as brain:
        nova = brain.agent("nova")
        verdict = nova.memory.write("We ship on Fridays.", priority=True)
"""

from __future__ import annotations

TYPE_CHECKING = False  # the module `typing` takes a third of an interpreter's start, and a hook does without it
if TYPE_CHECKING:
    from typing import Any

    from omnislash.core.verdicts import Outcome, Verdict
    from omnislash.engine import Brain
    from omnislash.errors import (
        BudgetRefusedError,
        ConfigError,
        GitTroubleError,
        IndexUnavailableError,
        InvalidContentError,
        InvalidNameError,
        MissingFileError,
        ModelError,
        OmnislashError,
        ScopeError,
        StorageError,
        UsageError,
        WriterUnavailableError,
    )
    from omnislash.runtime.agents import Agent

__version__ = "0.1.0"

_HOMES = {
    "Agent": "omnislash.runtime.agents",
    "Brain": "omnislash.engine",
    "Outcome": "omnislash.core.verdicts",
    "Verdict": "omnislash.core.verdicts",
    "BudgetRefusedError": "omnislash.errors",
    "ConfigError": "omnislash.errors",
    "GitTroubleError": "omnislash.errors",
    "IndexUnavailableError": "omnislash.errors",
    "InvalidContentError": "omnislash.errors",
    "InvalidNameError": "omnislash.errors",
    "MissingFileError": "omnislash.errors",
    "ModelError": "omnislash.errors",
    "OmnislashError": "omnislash.errors",
    "ScopeError": "omnislash.errors",
    "StorageError": "omnislash.errors",
    "UsageError": "omnislash.errors",
    "WriterUnavailableError": "omnislash.errors",
}

__all__ = [
    "Agent",
    "Brain",
    "BudgetRefusedError",
    "ConfigError",
    "GitTroubleError",
    "IndexUnavailableError",
    "InvalidContentError",
    "InvalidNameError",
    "MissingFileError",
    "ModelError",
    "OmnislashError",
    "Outcome",
    "ScopeError",
    "StorageError",
    "UsageError",
    "Verdict",
    "WriterUnavailableError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing the package costs nothing."""
    if name not in _HOMES:
        message = f"module 'omnislash' has no attribute {name!r}"
        raise AttributeError(message)
    import importlib  # noqa: PLC0415

    return getattr(importlib.import_module(_HOMES[name]), name)
