"""Which model a role runs on, as its file and omnislash.yaml name it; nothing of a model is loaded for that.

Rules: interface.md, "The brain directory" (`models`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omnislash.brain.config import OFFLINE, PROJECT_FILE
from omnislash.brain.nearest import suggest
from omnislash.core.lines import quote_name

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles
    from omnislash.brain.roles import Role

#: What stands in front of the name of a harness.
CLI: Final = "cli:"
#: Name of the model in `models:` that runs a role which names none.
DEFAULT: Final = "default"


def find_turn_reference(config: BrainFiles, role: Role) -> str | None:
    """Return the model that a role's turn runs on: the role's own, else `default` of omnislash.yaml; None = offline."""
    named = role.model_ref or role.model
    return named or (DEFAULT if DEFAULT in config.project.models else None)


def name_model(reference: str | None, config: BrainFiles) -> str:
    """Return the model string that a reference stands for."""
    return OFFLINE if reference is None else config.project.models.get(reference, reference)


def explain_harness(string: str, config: BrainFiles) -> str:
    """Return the sentence for a `cli:<name>` that names no harness."""
    near = suggest(string, [f"{CLI}{name}" for name in config.project.harnesses])
    hint = near or f"Name its command under harnesses in {PROJECT_FILE}."
    return f"{PROJECT_FILE} has no harness {quote_name(string.removeprefix(CLI))}. {hint}"
