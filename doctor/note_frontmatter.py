"""Frontmatter of notes: a header that was meant and can't be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.checks.examined import Area
from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Finding, Group, warn
from omnislash.index.note_texts import find_header_problems

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.checks.examined import Examined, Listed, SeenFile

_NOTES: Final = frozenset({Area.MEMORY, Area.SOURCE})
#: Faults of one note that are told one by one, so that one note leaves the others their place.
_SHOWN_PER_FILE: Final = 3
_OPENINGS: Final = (b"---", b"\xef\xbb\xbf---")


class NoteFrontmatter(Check):
    """Reads the header of every note that begins with one."""

    id: ClassVar[str] = "note-frontmatter"
    title: ClassVar[str] = "Note frontmatter"
    protects: ClassVar[str] = "The title and the date of a note are read as keys, and not searched as text."
    group: ClassVar[Group] = Group.FILES
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self._found: list[Finding] = []

    def wants(self, entry: Listed) -> bool:
        """Tell whether it is a note, of a line or of a source."""
        return entry.area in _NOTES

    def see(self, file: SeenFile) -> None:
        """Read the header of one note; keys may have any name, for the notes are a person's own."""
        if not (file.data or b"").startswith(_OPENINGS):
            return
        hint = "Mend the line, or take the two rules `---` away; until then the header is searched as text."
        problems = dict.fromkeys(find_header_problems(file.text))
        found = [
            warn(f"The frontmatter can't be read: {each.message}", path=file.entry.shown, line=each.line, hint=hint)
            for each in problems
        ]
        self._found += found[:_SHOWN_PER_FILE]
        if (rest := len(found) - _SHOWN_PER_FILE) > 0:
            message = f"The frontmatter has {rest} more fault{'s' * (rest != 1)}."
            self._found.append(warn(message, path=file.entry.shown, hint=hint))

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return a finding for each fault."""
        del brain
        return shorten(self._found, "faults in the frontmatter of notes")
