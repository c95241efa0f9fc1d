"""What only shows when the files of a brain are seen together: names that point at each other.

Pure: values in, values and faults out.
A fault of the whole brain is fatal; a role, heartbeat or hook whose own file is at fault is left out alone.
A line that a broken file would write still counts as curated as far as it can be read, so that one broken role does
not stop the boot through the `report` of another.

Rules: REPORT-11 to REPORT-13, SOURCE-03, SOURCE-10, SOURCE-14, SOURCE-O4, SCOPE-O1, SCOPE-O3, SCOPE-O4, KNOB-O5.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from omnislash.brain.access import Access
from omnislash.brain.capabilities import Capabilities
from omnislash.brain.config import PROJECT_FILE, ProjectConfig, salvage_sources
from omnislash.brain.files import BrainFiles
from omnislash.brain.manifest import Manifest
from omnislash.brain.memory_block import salvage_declaration
from omnislash.brain.nearest import suggest
from omnislash.brain.tree import find_entry, find_node
from omnislash.core.events import EVENT_NAMES
from omnislash.core.lines import is_inside, quote_name
from omnislash.core.scopes import (
    Declaration,
    RefProblem,
    Severity,
    check_collisions,
    check_refs,
    check_report_targets,
    find_curated_lines,
    split_sources,
)
from omnislash.errors import Fault, Topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from omnislash.brain.gathering import Found, Gathered
    from omnislash.brain.heartbeats import Heartbeat
    from omnislash.brain.hooks import Hook
    from omnislash.brain.roles import Role
    from omnislash.brain.tree import Mapping
    from omnislash.core.lines import AuthoredPath

T = TypeVar("T")
R = TypeVar("R", "Role", "Heartbeat", "Hook")
B = TypeVar("B", "Heartbeat", "Hook")

_BLOCK = ("memory",)
_AGENT_BLOCK = ("agent", "memory")


@dataclass(slots=True)
class _Desk:
    """What is known of the whole brain while its files are checked."""

    found: Gathered
    project: ProjectConfig
    manifest: Manifest
    #: The declared sources; None when they are not known.
    sources: tuple[AuthoredPath, ...] | None = None
    #: The manifest's block.
    defaults: Declaration = field(default_factory=Declaration)
    #: Lines that exist or that somebody writes.
    lines: frozenset[str] = frozenset()
    curated: frozenset[str] = frozenset()
    #: True when a file could not be read so far that the line it writes is known.
    has_unknown_lines: bool = False
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)


def check_brain(found: Gathered, *, root: Path) -> BrainFiles:
    """Return the brain with everything that is wrong in `faults`; whether one is fatal is for the caller to see."""
    desk = _Desk(found, found.project.value or ProjectConfig(), found.manifest.value or Manifest())
    desk.defaults = _defaults(found)
    desk.faults += found.faults
    desk.warnings += found.warnings
    desk.faults += [replace(fault, fatal=True) for fault in (*found.project.faults, *found.manifest.faults)]
    desk.faults += (*found.access.faults, *found.capabilities.faults)
    roles = _distinct(found.roles, "role", desk)
    heartbeats = _distinct(found.heartbeats, "heartbeat", desk)
    hooks = _apart(_distinct(found.hooks, "hook", desk), found.heartbeats, desk)
    _learn_lines(desk)
    _check_sources(desk)
    _check_manifest(desk)
    fit_roles = _fit(roles, _BLOCK, desk)
    ids = frozenset(role.id for role in fit_roles)
    fit_heartbeats = _with_role(_fit(heartbeats, _AGENT_BLOCK, desk), ids, desk)
    fit_hooks = _with_role(_fit(hooks, _AGENT_BLOCK, desk), ids, desk)
    _check_access(desk, ids)
    _check_models(desk, fit_roles)
    _check_events(desk, fit_hooks)
    _check_unnamed(desk, [*fit_roles, *fit_heartbeats, *fit_hooks])
    return BrainFiles(
        root=root,
        project=desk.project,
        manifest=desk.manifest,
        roles=_values(fit_roles),
        heartbeats=_values(fit_heartbeats),
        hooks=_values(fit_hooks),
        access=found.access.value or Access(),
        capabilities=found.capabilities.value or Capabilities(),
        scenarios=tuple(found.scenarios),
        faults=_in_order(desk.faults),
        warnings=_in_order(desk.warnings),
        sources=desk.sources or (),
        lines_on_disk=found.lines_on_disk,
    )


def _values(found: Iterable[Found[T]]) -> dict[str, T]:
    return {one.id: one.decoded.value for one in found if one.decoded.value is not None}


def _in_order(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults with those that stop the boot first, then by file and place."""
    return tuple(sorted(faults, key=lambda f: (not f.fatal, f.path, f.line or 0, f.column or 0)))


def _defaults(found: Gathered) -> Declaration:
    """Return the manifest's block; of a broken manifest, as much of it as can be read."""
    value, root = found.manifest.value, found.manifest.root
    if value is not None:
        return value.memory.to_declaration()
    return (salvage_declaration(find_node(root, "memory")) if root is not None else None) or Declaration()


def _distinct(found: list[Found[T]], what: str, desk: _Desk) -> list[Found[T]]:
    """Return what has an id of its own; files that share one are all left out, each naming the others."""
    counts = Counter(one.id for one in found)
    for one in found:
        others = [other.label for other in found if other.id == one.id and other is not one]
        if others:
            message = f"The {what} id {quote_name(one.id)} is also that of {', '.join(others)}."
            desk.faults += one.decoded.faults
            desk.faults.append(Fault(one.label, message, hint="Rename one of the files; the file name is the id."))
    return [one for one in found if counts[one.id] == 1]


def _apart(hooks: list[Found[Hook]], heartbeats: list[Found[Heartbeat]], desk: _Desk) -> list[Found[Hook]]:
    """Return the hooks that no heartbeat shares its id with: by that id signatures, logs and runs are told apart."""
    labels = {one.id: one.label for one in heartbeats}
    for one in hooks:
        if one.id in labels:
            message = f"The hook id {quote_name(one.id)} is also that of the heartbeat {labels[one.id]}."
            desk.faults += one.decoded.faults
            desk.faults.append(Fault(one.label, message, hint="Rename one of the files; the file name is the id."))
    return [one for one in hooks if one.id not in labels]


def _learn_lines(desk: _Desk) -> None:
    """Find every line that exists or that somebody writes, broken files included."""
    found = desk.found
    declared = {one.id: _declaration(one, _BLOCK, desk) for one in found.roles}
    beats: list[Found[Heartbeat] | Found[Hook]] = [*found.heartbeats, *found.hooks]
    pairs: list[tuple[Declaration | None, Declaration | None]] = [(role, None) for role in declared.values()]
    pairs += [(declared.get(_role_of(beat)), _declaration(beat, _AGENT_BLOCK, desk)) for beat in beats]
    manifest = desk.defaults
    desk.curated = find_curated_lines(pairs, manifest=manifest, on_disk=found.lines_on_disk)
    written = {one.write for pair in pairs for one in pair if one is not None and one.write is not None}
    desk.lines = desk.curated | written | ({manifest.write} if manifest.write else frozenset())


def _role_of(beat: Found[Heartbeat] | Found[Hook]) -> str:
    return beat.decoded.value.role if beat.decoded.value is not None else ""


def _declaration(
    one: Found[Role] | Found[Heartbeat] | Found[Hook], block: tuple[str, ...], desk: _Desk
) -> Declaration | None:
    """Return the memory block of a file; of a broken one, as much of it as can be read."""
    value, root = one.decoded.value, one.decoded.root
    if value is not None:
        return value.declaration
    if root is None:
        desk.has_unknown_lines = True
        return None
    return salvage_declaration(find_node(root, *block))


def _check_sources(desk: _Desk) -> None:
    declared = salvage_sources(desk.found.project)
    if declared is None:
        return
    desk.sources, problems = split_sources(declared)
    for problem in (*problems, *check_collisions(desk.sources, desk.lines)):
        _report(problem, PROJECT_FILE, desk.found.project.root, _BLOCK, desk)


def _check_manifest(desk: _Desk) -> None:
    root = desk.found.manifest.root
    for problem in _problems(desk.defaults, desk) if root is not None else ():
        severity = Severity.BOOT if problem.severity is Severity.LOAD else problem.severity
        _report(replace(problem, severity=severity), desk.found.manifest_label, root, _BLOCK, desk)


def _problems(declaration: Declaration, desk: _Desk) -> tuple[RefProblem, ...]:
    """Return what is wrong with the names in a block; nothing while the sources themselves are not known."""
    if desk.sources is None:
        return ()
    problems = check_refs(declaration, desk.sources, lines=desk.lines)
    known = {problem.entry for problem in problems if problem.key == "report"}
    targets = check_report_targets([name for name in declaration.report or () if name not in known], desk.curated)
    return (*problems, *(_soften(problem, desk) for problem in targets))


def _soften(problem: RefProblem, desk: _Desk) -> RefProblem:
    """Return an uncurated target as a fault of its own file while a broken file may be the one that writes it."""
    if not desk.has_unknown_lines and desk.found.manifest.value is not None:
        return problem
    text = f"{problem.problem} A file that does not load may be the one that writes it; mend that first."
    return replace(problem, problem=text, severity=Severity.LOAD)


def _report(problem: RefProblem, label: str, root: Mapping | None, block: tuple[str, ...], desk: _Desk) -> None:
    keys = (*block, problem.key)
    mark = find_entry(root, keys, problem.entry) if root is not None else None
    fault = Fault(
        label,
        problem.problem,
        line=mark.line if mark else None,
        column=mark.column if mark else None,
        key=".".join(keys),
        fatal=problem.fatal,
        topic=problem.topic,
    )
    (desk.warnings if problem.severity is Severity.WARNING else desk.faults).append(fault)


def _fit(found: list[Found[R]], block: tuple[str, ...], desk: _Desk) -> list[Found[R]]:
    """Return the files that load; the others are left out, with everything that is wrong in them reported."""
    fit = []
    for one in found:
        desk.faults += one.decoded.faults
        declaration = _declaration(one, block, desk)
        problems = _problems(declaration, desk) if declaration is not None else ()
        for problem in problems:
            _report(problem, one.label, one.decoded.root, block, desk)
        if one.decoded.value is not None and all(problem.severity is Severity.WARNING for problem in problems):
            fit.append(one)
    return fit


def _with_role(found: list[Found[B]], ids: frozenset[str], desk: _Desk) -> list[Found[B]]:
    """Return the beats whose role loads."""
    for one in found:
        if _role_of(one) not in ids:
            root = one.decoded.root
            keys = ("agent", "role") if root and find_node(root, "agent", "role") else ("agent",)
            desk.faults.append(_no_role(_role_of(one), one.label, root, keys, ids, desk))
    return [one for one in found if _role_of(one) in ids]


def _no_role(  # noqa: PLR0917  a name, its place, and what is known
    role: str, label: str, root: Mapping | None, keys: tuple[str | int, ...], ids: frozenset[str], desk: _Desk
) -> Fault:
    broken = next((one.label for one in desk.found.roles if one.id == role), None)
    what = "does not load" if broken else "does not exist"
    mark = find_entry(root, keys, role) if root is not None else None
    return Fault(
        label,
        f"The role {quote_name(role)} {what}.",
        line=mark.line if mark else None,
        column=mark.column if mark else None,
        key=_dotted(keys),
        hint=f"Mend {broken}." if broken else suggest(role, ids) or "Write the id of a role: its file name.",
    )


def _dotted(keys: tuple[str | int, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def _check_access(desk: _Desk, ids: frozenset[str]) -> None:
    access, root = desk.found.access.value, desk.found.access.root
    for keys, role in access.named_roles() if access else ():
        if role not in ids:
            desk.faults.append(_no_role(role, desk.found.access_label, root, keys, ids, desk))


def _check_models(desk: _Desk, roles: list[Found[Role]]) -> None:
    """Warn about each `modelRef` that names nothing; whoever runs it says so again, as an error."""
    if desk.found.project.value is None:
        return
    consolidation = desk.manifest.memory.consolidation
    label, root = desk.found.manifest_label, desk.found.manifest.root
    above = ("memory", "consolidation")
    _check_model(consolidation.model_ref, label, root, (*above, "modelRef"), desk)
    for line, settings in consolidation.lines.items():
        _check_model(settings.model_ref, label, root, (*above, "lines", line, "modelRef"), desk)
    for one in roles:
        name = one.decoded.value.model_ref if one.decoded.value is not None else None
        _check_model(name, one.label, one.decoded.root, ("modelRef",), desk)


def _check_model(name: str | None, label: str, root: Mapping | None, keys: tuple[str, ...], desk: _Desk) -> None:
    if name is None or desk.project.has_model(name):
        return
    known = [*desk.project.models, *(f"cli:{harness}" for harness in desk.project.harnesses)]
    mark = find_entry(root, keys, name) if root is not None else None
    fault = Fault(
        label,
        f"{quote_name(name)} is neither a model nor a harness of {PROJECT_FILE}.",
        line=mark.line if mark else None,
        column=mark.column if mark else None,
        key=_dotted(keys),
        hint=suggest(name, known) or f"Name it under models in {PROJECT_FILE}.",
        topic=Topic.MODEL,
    )
    desk.warnings.append(fault)


def _check_events(desk: _Desk, hooks: list[Found[Hook]]) -> None:
    """Warn about each event that never happens: a hook that waits for it alone never runs."""
    for one in hooks:
        for name in one.decoded.value.events if one.decoded.value is not None else ():
            if name not in EVENT_NAMES:
                mark = find_entry(one.decoded.root, ("on",), name) if one.decoded.root is not None else None
                fault = Fault(
                    one.label,
                    f"There is no event {quote_name(name)}, so the hook never runs on it.",
                    line=mark.line if mark else None,
                    column=mark.column if mark else None,
                    key="on",
                    hint=suggest(name, EVENT_NAMES) or f"The events are {', '.join(EVENT_NAMES)}.",
                )
                desk.warnings.append(fault)


def _check_unnamed(desk: _Desk, files: Sequence[Found[Role] | Found[Heartbeat] | Found[Hook]]) -> None:
    """Warn about each source that nobody names: it is indexed, and no search returns it (SOURCE-09, SOURCE-10)."""
    values = [one.decoded.value for one in files]
    blocks = [desk.defaults, *(value.declaration for value in values if value is not None)]
    refs = {ref for block in blocks if block is not None for ref in (*(block.read or ()), *(block.recall or ()))}
    for source in desk.sources or ():
        if not any(is_inside(ref, source) or is_inside(source, ref) for ref in refs):
            text = f"Nobody names the source {source!r}, so no search returns it. Name it in a `read` or `recall` list."
            problem = RefProblem("sources", source, text, Severity.WARNING)
            _report(problem, PROJECT_FILE, desk.found.project.root, _BLOCK, desk)
