"""Names of lines and sources: who names what, and what of it is not there.

What is wrong with the names themselves was found while the files were loaded; here it is told, and the disk is asked.

Rules: DOCTOR-06, DOCTOR-07, DOCTOR-O3, REPORT-11 to REPORT-13, SCOPE-O3, SCOPE-O4, SOURCE-03, SOURCE-10, SOURCE-14,
SOURCE-O1, SOURCE-O3 to SOURCE-O6.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.brain.config import PROJECT_FILE
from omnislash.checks.examined import Area, Kind
from omnislash.checks.faults import findings_of, shorten
from omnislash.checks.findings import Check, Finding, Group, Severity
from omnislash.checks.key_places import KeyPlaces
from omnislash.core.lines import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.checks.examined import Examined, Listed, SeenFile

_KEY: Final = "memory.sources"
_WRONG_NAME: Final = f"Correct the name, or take it out of the list; notes beside memory/ are declared under {_KEY} in {PROJECT_FILE} first."
#: What to do about a name under each key, where the message does not say it.
_HINTS: Final = {
    "sources": f"Change memory.sources in {PROJECT_FILE}, or the lists that should name it.",
    "report": "Correct the name, or have a role write that line with `memory: {write: …}`.",
    "read": _WRONG_NAME,
    "recall": _WRONG_NAME,
    "write": "Write one line name: a-z, 0-9, '_' and '-'.",
}


class MemorySources(Check):
    """Sources that nobody names or that are not there, and names that lead nowhere."""

    id: ClassVar[str] = "memory-sources"
    title: ClassVar[str] = "Memory sources"
    protects: ClassVar[str] = (
        "Every note that you declared is found by somebody, and every name in `read`, `recall` and `report` is real."
    )
    group: ClassVar[Group] = Group.MEMORY
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Begin with no file seen."""
        self._project = KeyPlaces(PROJECT_FILE)

    def wants(self, entry: Listed) -> bool:
        """Tell whether keys of the file are told with their line."""
        return self._project.is_at(entry)

    def see(self, file: SeenFile) -> None:
        """Keep the project config, for the lines of its entries."""
        self._project.see(file)

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return failures, then warnings, then what is worth knowing of each source."""
        named = [_with_hint(finding) for finding in findings_of(brain.config, self.id)]
        sources = brain.config.sources
        missing = [found for source in sources if (found := self._find_missing(source, brain)) is not None]
        return [
            *shorten([each for each in named if each.severity is Severity.FAIL], "names that are wrong"),
            *shorten([each for each in named if each.severity is Severity.WARN], "names to look at"),
            *shorten(missing, "sources that hold nothing"),
            *shorten(self._list_links(brain), "sources that are links"),
        ]

    def _find_missing(self, source: str, brain: Examined) -> Finding | None:
        """Return the warning about a source that holds no note; None when there are some, or nobody can tell."""
        problem = _find_problem(source, brain)
        if problem is None:
            return None
        twin = _find_twin(source, brain)
        hint = f"The disk has {twin!r}: write it so." if twin else f"Put its notes there, or take it out of {_KEY}."
        return self._tell(Severity.WARN, f"The source {source!r} {problem}", source, hint)

    def _list_links(self, brain: Examined) -> list[Finding]:
        """Return the sources that are links: their notes are found, and doctor does not look at them."""
        text = "is a link. Its notes are searched, and doctor does not look at what it leads to."
        found = [brain.by_path.get(source) for source in brain.config.sources]
        return [
            self._tell(Severity.INFO, f"The source {entry.path!r} {text}", entry.path, None)
            for entry in found
            if entry is not None and entry.kind is Kind.LINK
        ]

    def _tell(self, severity: Severity, message: str, source: str, hint: str | None) -> Finding:
        line = self._project.line_of("memory", "sources", entry=source)
        return Finding(severity, message, PROJECT_FILE, line, _KEY, hint, (source,))


def _find_problem(source: str, brain: Examined) -> str | None:
    """Return why there is nothing to find in a source, as the end of a sentence."""
    entry = brain.by_path.get(source)
    if entry is None and source in brain.unlistable:
        return None
    if entry is None:
        return "does not exist, so there is nothing to find in it."
    if entry.kind is Kind.DIRECTORY:
        is_known = source not in brain.unlistable and not any(_is_note_of(source, each) for each in brain.listing)
        return "holds no .md file, so there is nothing to find in it." if is_known else None
    return None if entry.is_markdown or entry.kind is Kind.LINK else "is neither a directory nor an .md file."


def _is_note_of(source: str, entry: Listed) -> bool:
    """Tell whether an entry is a note that is found in a source."""
    is_hidden = any(part.startswith(".") for part in entry.path.split("/"))
    return entry.is_markdown and is_inside(entry.path, source) and not is_hidden


def _with_hint(finding: Finding) -> Finding:
    """Return a finding with something to do about it."""
    return replace(finding, hint=finding.hint or _HINTS.get((finding.key or "").rpartition(".")[2]))


def _find_twin(source: str, brain: Examined) -> str | None:
    """Return the entry of the disk that differs from a source in case only, as far as doctor has listed it."""
    if source in brain.by_path:
        return None
    top, slash, rest = source.partition("/")
    for entry in brain.listing:
        if entry.path.casefold() == source.casefold():
            return entry.path
        if slash and entry.area is Area.TOP and entry.path != top and entry.path.casefold() == top.casefold():
            return f"{entry.path}/{rest}"
    return None
