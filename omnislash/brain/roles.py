"""`*.agent.md` and the engine's own role files: who an agent is, and whether it has memory.

The id of `features/**/<id>.agent.md` is its file name; that of `constitution/Agents/system/role-<x>.md`, and of
`loop/role-<x>.md` beside it, is `system:<x>`.

Rules: DECLARE-01, DECLARE-02, DECLARE-12, DECLARE-14, DECLARE-O1, KNOB-19, KNOB-22, KNOB-25, KNOB-O3, LANG-11, TOOL-06,
FLUSH-01, FLUSH-O2, BOUNDARY-01 to BOUNDARY-04.
"""

# ruff: noqa: RUF009  the calls return dataclass fields
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnislash.brain.config import FILLED
from omnislash.brain.decoding import Decoded, decode, setting
from omnislash.brain.fields import Flag, Ignored, ListOf, Named, Text
from omnislash.brain.frontmatter import parse_document
from omnislash.brain.memory_block import MEMORY, MemoryBlock
from omnislash.brain.names import parse_capability
from omnislash.brain.tree import key_lines
from omnislash.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.core.declarations import Declaration

#: End of the name of a role file.
ROLE_SUFFIX = ".agent.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleFile:
    """The frontmatter of a role."""

    #: Name for people.
    name: str | None = setting(FILLED, text="Name of the role for people; its id is the file name.", default=None)
    #: One sentence for people.
    description: str | None = setting(Text(), text="What the role is for, in one sentence.", default=None)
    #: Model string.
    model: str | None = setting(FILLED, text="Model that runs the role, as a model string.", default=None)
    #: Name of a model or harness.
    model_ref: str | None = setting(FILLED, text="Model that runs the role: a name of omnislash.yaml.", default=None)
    #: Skills of the role.
    skills: tuple[str, ...] = setting(ListOf(FILLED), text="Skills that the role is given.", default=())
    #: Grants, `area:verb`.
    capabilities: tuple[str, ...] = setting(
        ListOf(Named("a capability, area:verb", parse_capability)), text="What the role may do.", default=()
    )
    #: None = no memory.
    memory: MemoryBlock | None = setting(
        MEMORY, text="Its presence gives the role memory; {} takes every value from the manifest.", default=None
    )
    #: Whether turns are reviewed for something worth keeping.
    memory_flush: bool = setting(Flag(), text="true has each turn reviewed for something worth keeping.", default=False)
    #: What is worth keeping, in the role's own words.
    memory_keep: str | None = setting(FILLED, text="What a review should keep, in your own words.", default=None)
    #: Without meaning.
    prompt_flags: None = setting(Ignored(), text="Ignored.", default=None)
    #: Rows of another system.
    state: None = setting(Ignored(), text="Ignored here: rows, which belong to another system.", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role that may run."""

    #: `nova`, or `system:memory` for a role of the engine.
    id: str
    #: Path of its file, relative to the brain; for a shipped one, where a copy would replace it.
    path: str
    #: Name for people.
    display_name: str
    #: One sentence for people.
    description: str | None = None
    #: Its memory block; None = it has no memory of its own accord.
    declaration: Declaration | None = None
    #: Grants, `area:verb`, as listed.
    capabilities: tuple[str, ...] = ()
    #: Whether it asks for the flush.
    memory_flush: bool = False
    #: What a flush should keep; None = nothing of its own.
    memory_keep: str | None = None
    #: Model string.
    model: str | None = None
    #: Name of a model or harness.
    model_ref: str | None = None
    #: Skills.
    skills: tuple[str, ...] = ()
    #: The instructions, word for word.
    body: str = ""
    #: True when the file is the engine's and not the brain's.
    is_shipped: bool = False
    #: Line of each key by dotted name, `promptFlags.memory` included, for doctor.
    key_lines: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)


def _find_two_models(file: RoleFile, lines: Mapping[str, int], *, path: str) -> tuple[Fault, ...]:
    """Return a fault when the model is named in two ways, for one of them would be ignored without a word."""
    if file.model is None or file.model_ref is None:
        return ()
    message = f"The model is named twice: in line {lines['model']} and in line {lines['modelRef']}."
    return (Fault(path, message, line=lines["modelRef"], key="modelRef", hint="Keep one of them."),)


def parse_role(text: str, *, role_id: str, path: str, is_shipped: bool = False) -> Decoded[Role]:
    """Return a role, or every fault in its frontmatter.

    Args:
        text: Text of the file.
        role_id: Its id, which the file name gives.
        path: Name of the file in faults, relative to the brain.
        is_shipped: Whether the file is the engine's.
    """
    document = parse_document(text, path=path)
    header = decode(RoleFile, document.tree, path=path)
    value, root = header.value, header.root
    if value is None or root is None:
        return Decoded(None, header.faults, root)
    both = _find_two_models(value, lines := key_lines(root), path=path)
    if both:
        return Decoded(None, both, root)
    role = Role(
        id=role_id,
        path=path,
        display_name=value.name or role_id,
        description=value.description,
        declaration=value.memory.to_declaration() if value.memory else None,
        capabilities=value.capabilities,
        memory_flush=value.memory_flush,
        memory_keep=value.memory_keep,
        model=value.model,
        model_ref=value.model_ref,
        skills=value.skills,
        body=document.body,
        is_shipped=is_shipped,
        key_lines=lines,
    )
    return Decoded(role, (), root)
