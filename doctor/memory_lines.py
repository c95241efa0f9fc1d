"""Lines that nobody uses, names of lines that are none, and settings for lines that do not exist.

Rules: LINE-10 to LINE-12, LINE-O2, MIGRATE-07 to MIGRATE-09, SCOPE-13, PERIOD-02, KNOB-16.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.brain.config import PROJECT_FILE
from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.brain.nearest import suggest
from omnislash.checks.faults import findings_of, shorten
from omnislash.checks.findings import Check, Finding, Group, Severity, warn
from omnislash.checks.key_places import KeyPlaces
from omnislash.checks.reaching import find_reach
from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.lines import DEFAULT_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnislash.brain.files import BrainFiles
    from omnislash.checks.examined import Examined, Listed, SeenFile
    from omnislash.checks.reaching import Reach

#: A directory of a brain older than lines; the check of the layout names it.
_YEAR: Final = re.compile(rf"{MANAGED_ROOT}/[0-9]{{4}}")
_MAYBE: Final = " A file that does not load may be the one that does; mend that first."


class MemoryLines(Check):
    """Every directory below `memory/` is a line that somebody uses."""

    id: ClassVar[str] = "memory-lines"
    title: ClassVar[str] = "Memory lines"
    protects: ClassVar[str] = (
        "No notes lie in a line that no agent ever sees, and no setting is for a line that is none."
    )
    group: ClassVar[Group] = Group.MEMORY
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Begin with no file seen."""
        self._manifest = KeyPlaces(MANIFEST_FILE)

    def wants(self, entry: Listed) -> bool:
        """Tell whether keys of the file are told with their line."""
        return self._manifest.is_at(entry)

    def see(self, file: SeenFile) -> None:
        """Keep the manifest, for the lines of its keys."""
        self._manifest.see(file)

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return directories that are no line, lines that nobody uses, and settings for lines that do not exist."""
        reach = find_reach(brain.config)
        return [
            *shorten(list(_list_no_lines(brain)), "directories that are no lines"),
            *shorten(list(_find_unused(brain.config, reach)), "lines that no agent sees"),
            *shorten(list(self._find_unborn(brain.config, reach)), "settings for lines that do not exist"),
        ]

    def _find_unborn(self, config: BrainFiles, reach: Reach) -> Iterator[Finding]:
        """Yield a warning for each line of the manifest that nobody writes and no directory holds."""
        memory = config.manifest.memory
        known = reach.written | set(config.lines_on_disk)
        for keys, names in ((("lines",), memory.lines), (("consolidation", "lines"), memory.consolidation.lines)):
            for name in names:
                if name not in known:
                    path = ("memory", *keys, name)
                    yield Finding(
                        Severity.WARN,
                        f"No agent writes the line {name!r} and no directory holds it, so the setting has no effect."
                        f"{_MAYBE if config.faults else ''}",
                        MANIFEST_FILE,
                        self._manifest.line_of(*path),
                        ".".join(path),
                        suggest(name, known) or "Correct the name, or delete the setting.",
                        (f"{MANAGED_ROOT}/{name}",),
                    )


def _list_no_lines(brain: Examined) -> Iterator[Finding]:
    """Yield what loading found of directories that are no line, with the line that was meant where there is one."""
    for finding in findings_of(brain.config, MemoryLines.id):
        path = finding.path or ""
        if _YEAR.fullmatch(path) or path in brain.unlistable:
            continue
        name = path.removeprefix(f"{MANAGED_ROOT}/")
        if name.casefold() in brain.config.lines_on_disk:
            yield replace(finding, hint=f"Move its files into {MANAGED_ROOT}/{name.casefold()}, and remove it.")
        else:
            yield finding


def _find_unused(config: BrainFiles, reach: Reach) -> Iterator[Finding]:
    """Yield a warning for each line on disk that no agent sees (LINE-11, MIGRATE-08), with what to do (MIGRATE-09)."""
    maybe = _MAYBE if config.faults else ""
    for line in sorted(config.lines_on_disk):
        path = f"{MANAGED_ROOT}/{line}"
        if reach.reads(line):
            continue
        if line in reach.deposited:
            yield warn(
                f"The line {line!r} gets deposits, and no agent reads or writes it, so nobody sees them.{maybe}",
                path=path,
                hint=f"Give a role `memory: {{write: {line}}}` or `memory: {{read: [{line}]}}`.",
            )
        else:
            yield warn(
                f"No role reads or writes the line {line!r}, so no search and no agent finds what is in it.{maybe}",
                path=path,
                hint=f"Give a role `memory: {{write: {line}}}` or `memory: {{read: [{line}]}}`; or move its files into a "
                f"line that is read, such as {MANAGED_ROOT}/{DEFAULT_LINE}; or move the folder out of {MANAGED_ROOT}/, "
                f"name it under memory.sources in {PROJECT_FILE}, and in the manifest's `memory.recall` or in roles.",
            )
