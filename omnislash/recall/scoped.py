"""The notes that a search may look at: those of the corpora in scope, within the days asked for.

The scope is applied before anything is counted or ordered.

Rules: SCOPE-07 to SCOPE-14, LINE-11, SOURCE-09, RECALL-05, SCOPE-O8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnislash.core.corpora import MANAGED_ROOT, RefKind, Zone

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from omnislash.core.corpora import Located, Ref
    from omnislash.index.live import View
    from omnislash.recall.hits import Request


def allow_notes(view: View, request: Request) -> NDArray[np.bool_]:
    """Return for each note of the snapshot whether the search may look at it."""
    notes = view.snapshot.notes
    allowed = holding_files(view, request.refs)[view.snapshot.file_of]
    if request.since is not None:
        allowed &= notes["on"] >= request.since.toordinal()
    if request.until is not None:
        allowed &= (notes["on"] > 0) & (notes["on"] <= request.until.toordinal())
    return allowed


def holding_files(view: View, refs: tuple[Ref, ...]) -> NDArray[np.bool_]:
    """Return for each file of the snapshot whether it still stands and some corpus holds it.

    Remembered with the snapshot.
    """
    known = view.snapshot.remembered
    if refs not in known:
        verdicts = (holds_place(view, refs, file.place) for file in view.snapshot.files)
        found = np.fromiter(verdicts, bool, len(view.snapshot.files))
        known[refs] = found & view.snapshot.live_files
    return known[refs].copy()


def holds_place(view: View, refs: Iterable[Ref], place: str) -> bool:
    """Tell whether some corpus holds a file, given by its path from the brain's directory."""
    located = view.scanner.locate(place)
    return located is not None and any(ref.holds(located) for ref in refs)


def may_hold(view: View, refs: Iterable[Ref], place: str) -> bool:
    """Tell whether a corpus in scope lies at, in or around a place: a file, or a directory that can't be listed."""
    if holds_place(view, refs, place):
        return True
    return any(_lies_around(ref, place) for ref in refs)


def _lies_around(ref: Ref, place: str) -> bool:
    root = {RefKind.EVERY_LINE: MANAGED_ROOT, RefKind.LINE: f"{MANAGED_ROOT}/{ref.name}"}.get(ref.kind, ref.name)
    return f"{place}/".startswith(f"{root}/") or f"{root}/".startswith(f"{place}/")


def corpus_of(located: Located, sources: Iterable[str]) -> str:
    """Return the line of a managed path, or the declared source that holds an authored one."""
    if located.zone is Zone.MANAGED:
        return str(located.line)
    holders = [source for source in sources if located.path == source or located.path.startswith(f"{source}/")]
    return max(holders, key=len, default=located.path)
