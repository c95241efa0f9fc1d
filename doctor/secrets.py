"""Secrets: credentials that came into the files by hand, named without their value.

Rules: SECRET-O2.
"""

# ruff: noqa: A005  named after its check, and never imported by that name
from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Group, warn
from omnislash.core.credentials import find_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnislash.checks.examined import Examined, SeenFile
    from omnislash.checks.findings import Finding

_HINT: Final = "Take it out, and revoke it where it was issued: git keeps every version that was committed."
_HINT_NAME: Final = "Rename it, and revoke the credential where it was issued."


class _Place(NamedTuple):
    path: str
    line: int
    name: str


class Secrets(Check):
    """Looks for the well-known shapes of credentials."""

    id: ClassVar[str] = "secrets"
    title: ClassVar[str] = "Secrets"
    protects: ClassVar[str] = "A password or key that somebody typed into a file is found before it is pushed."
    group: ClassVar[Group] = Group.FILES
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._places: list[_Place] = []

    def see(self, file: SeenFile) -> None:
        """Look at one file; what is kept of a credential is its class and its line."""
        if file.data:
            self._places += _locate(file.entry.shown, file.text)

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return one finding for each line and class."""
        yield from shorten(
            [_describe(place, number) for place, number in Counter(self._places).items()],
            "lines with a credential",
        )
        yield from shorten(list(_find_in_names(brain)), "names with a credential")


def _locate(path: str, text: str) -> Iterator[_Place]:
    """Yield each credential; one that lies within another is not told apart from it."""
    line, counted, done = 1, 0, 0
    for start, end, name in find_secrets(text):
        line += text.count("\n", counted, start)
        counted = start
        if start >= done:
            yield _Place(path, line, name)
        done = max(done, end)


def _describe(place: _Place, number: int) -> Finding:
    path = place.path
    message = f"{path}:{place.line} holds a credential ({place.name}); agents see it masked, and it can't be searched."
    if number > 1:
        message = f"{path}:{place.line} holds {number} credentials ({place.name}); agents see them masked."
    return warn(message, path=path, line=place.line, hint=_HINT)


def _find_in_names(brain: Examined) -> Iterator[Finding]:
    """Yield the names that hold a credential; they are masked like every finding."""
    names = [entry.name for entry in brain.listing]
    if not find_secrets("\n".join(names)):
        return
    for entry in brain.listing:
        for _, _, name in find_secrets(entry.name)[:1]:
            yield warn(f"The name of {entry.shown} holds a credential ({name}).", path=entry.shown, hint=_HINT_NAME)
