"""Who writes a summary: the offline model, a harness that a person has named, or the model of a provider.

A `modelRef` names a model of `omnislash.yaml`, `cli:` and a harness of it, `offline`, or a provider and its model.

Rules: PERIOD-15, PERIOD-O9; interface.md, "Command line" ("`consolidate` with no model configured runs on `offline`").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from omnislash.brain.config import OFFLINE
from omnislash.errors import ModelError
from omnislash.runtime.models.harness import HarnessModel
from omnislash.runtime.models.references import CLI, explain_harness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnislash.brain.files import BrainFiles
    from omnislash.brain.roles import Role
    from omnislash.core.lines import LineName
    from omnislash.runtime.ladder.summarising import SummaryRequest

#: Role whose turn writes summaries (PERIOD-16).
CONSOLIDATOR: Final = "system:consolidator"
_ROLE_FILE: Final = "role-consolidator.md"


class Model(Protocol):
    """Writes summaries."""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        ...

    def summarise(self, request: SummaryRequest) -> str:
        """Return the text of a summary, as the model gave it.

        Raises:
            ModelError: It gave none; one sentence says why.
        """
        ...


def find_consolidator(config: BrainFiles) -> Role:
    """Return the role whose turn writes summaries, the brain's own one first; ModelError when it does not load."""
    role = config.roles.get(CONSOLIDATOR)
    if role is not None:
        return role
    fault = next((fault for fault in config.faults if _ROLE_FILE in fault.path), None)
    reason = f": {fault.render()}" if fault else "."
    message = f"The role {CONSOLIDATOR}, which writes summaries, does not load{reason}"
    raise ModelError(message)


def find_reference(config: BrainFiles, line: LineName) -> str | None:
    """Return the model of a line's summaries: the line's, else the brain's, else the role's; None for none at all.

    Raises:
        ModelError: The role of the consolidator does not load.

    Rules: PERIOD-15, PERIOD-17.
    """
    consolidation = config.manifest.memory.consolidation
    role = find_consolidator(config)
    enabled = consolidation.lines.get(line)
    named = (enabled.model_ref if enabled else None, consolidation.model_ref, role.model_ref, role.model)
    return next((name for name in named if name is not None), None)


def resolve_model(
    reference: str | None,
    config: BrainFiles,
    *,
    environment: Mapping[str, str],
    is_over: Callable[[], bool] = lambda: False,
) -> Model:
    """Return the model that a reference means.

    Args:
        reference: A `modelRef` or a model string; None for the offline model.
        config: Holds the models and harnesses.
        environment: Variables of the commands that are run.
        is_over: Tells a running command that nobody waits for its answer any more.

    Raises:
        ModelError: Nothing is called so, or a provider's package or key is missing.
    """
    string = OFFLINE if reference is None else config.project.models.get(reference, reference)
    if string == OFFLINE:
        from omnislash.runtime.offline.summaries import OfflineModel  # noqa: PLC0415 - not needed where a harness writes

        return OfflineModel()
    if string.startswith(CLI):
        command = config.project.harnesses.get(string.removeprefix(CLI))
        if command is None:
            raise ModelError(explain_harness(string, config))
        return HarnessModel(string, command, directory=config.root, environment=environment, is_over=is_over)
    from omnislash.runtime.models.provider_summaries import ProviderModel  # noqa: PLC0415 - only a provider needs it

    return ProviderModel(reference or string, config, environment=environment, is_over=is_over)
