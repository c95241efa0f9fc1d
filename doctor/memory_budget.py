"""How full each line's MEMORY.md is.

Rules: DOCTOR-10, DOCTOR-11, DOCTOR-O4, BUDGET-04, BUDGET-05 to BUDGET-10, BUDGET-15, BUDGET-16, BUDGET-23, BUDGET-24.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.checks.examined import Kind
from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Finding, Group, info, warn
from omnislash.core.budgets import Reading, count_chars, effective_budget
from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.lines import MEMORY_FILE
from omnislash.core.sections import parse_memory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.checks.examined import Examined, Listed, SeenFile

_NOT_A_FILE: Final = {
    Kind.DIRECTORY: "a directory",
    Kind.LINK: "a link, which doctor doesn't follow",
    Kind.OTHER: "a socket, a pipe or a device",
}
_MEMORY: Final = re.compile(rf"{MANAGED_ROOT}/([^/]+)/{re.escape(MEMORY_FILE)}")


class MemoryBudget(Check):
    """The reading of every line."""

    id: ClassVar[str] = "memory-budget"
    title: ClassVar[str] = "Memory budget"
    protects: ClassVar[str] = "You learn that a MEMORY.md is too long before a write to it is refused."
    group: ClassVar[Group] = Group.MEMORY
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Begin with no file seen."""
        self._files: dict[str, SeenFile] = {}

    def wants(self, entry: Listed) -> bool:
        """Tell whether it is the MEMORY.md of a line."""
        return entry.path.endswith(MEMORY_FILE) and _MEMORY.fullmatch(entry.path) is not None

    def see(self, file: SeenFile) -> None:
        """Keep each MEMORY.md."""
        if file.path.endswith(MEMORY_FILE) and (match := _MEMORY.fullmatch(file.path)):
            self._files[match[1]] = file

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return the lines that are over their budget, then the reading of the others."""
        over: list[Finding] = []
        within: list[Finding] = []
        for line in sorted(brain.config.lines_on_disk):
            finding, is_over = self._judge(line, brain)
            (over if is_over else within).append(finding)
        return [*shorten(over, "lines over their budget"), *shorten(within, "lines within their budget")]

    def _judge(self, line: str, brain: Examined) -> tuple[Finding, bool]:
        """Return the finding of a line, and whether it is over its budget."""
        path = f"{MANAGED_ROOT}/{line}/{MEMORY_FILE}"
        file, entry = self._files.get(line), brain.by_path.get(path)
        memory = brain.config.manifest.memory
        budget = effective_budget(memory.file_max_chars, memory.line_budgets, line)
        if f"{MANAGED_ROOT}/{line}" in brain.unlistable:
            return info(
                f"The line {line!r} can't be listed, so its {MEMORY_FILE} can't be measured.", about=(path,)
            ), False
        if entry is not None and entry.kind is not Kind.FILE:
            return info(f"{path} can't be measured: it is {_NOT_A_FILE[entry.kind]}.", path=path), False
        if file is None:
            reading = Reading(count_chars(""), budget.limit)
            return info(f"The line {line!r} has no {MEMORY_FILE} yet: {reading.render()}.", about=(path,)), False
        if file.data is None:
            return info(f"{path} can't be measured: {file.problem}.", path=path), False
        # As the writer reads it: every byte that is no UTF-8 counts.
        text = file.data.decode("utf-8", "surrogateescape")
        reading = budget.measure(text)
        if budget.limit is None or budget.fits(reading.chars):
            return info(f"The line {line!r}: {reading.render()}.", path=path), False
        return _tell_over(line, path, reading, text), True


def _tell_over(line: str, path: str, reading: Reading, text: str) -> Finding:
    """Return the warning about a file over its budget, with what the next write to it will do."""
    document = parse_memory(text)
    dated = sum(count_chars(document.slice(section)) for section in document.droppable())
    if not dated:
        next_write = "It has no dated section to drop, so the next priority entry will be refused."
    elif reading.limit is not None and reading.chars - dated > reading.limit:
        rest = reading.chars - dated
        next_write = f"Without its dated sections it still has {rest}, so priority entries will soon be refused."
    else:
        next_write = "The next priority entry will drop its oldest dated sections."
    return warn(
        f"The {MEMORY_FILE} of the line {line!r} is over its budget: {reading.render()}. {next_write}",
        path=path,
        hint=f"Shorten {path}, or raise memory.lines.{line}.fileMaxChars in {MANIFEST_FILE}.",
    )
