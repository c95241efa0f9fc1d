"""The commit of a curator's run: before it starts what is pending is committed, and what it changed gets its mark.

So the commit before is the preimage of what the run took out, and `git show` is the run.
Another sync that talks to a slow remote in that moment is waited for, up to a minute.
Nothing of this ever fails the run; a brain without git, or with `sync.enabled: false`, does without.

Rules: CURATE-05.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Final

from omnislash.runtime.syncing.authors import MARK
from omnislash.runtime.syncing.syncing import BUSY, SyncOptions, sync
from omnislash.store.git import Repository

if TYPE_CHECKING:
    from omnislash.brain.beats import Beat
    from omnislash.runtime.turns import Ports, Turn

_LOG = logging.getLogger(__name__)
#: What a model may set around its last line.
_ORNAMENT: Final = " \t`*_>"
#: How often a sync is tried while another one is running; each try waits for some seconds, a minute in all.
_TRIES: Final = 12
_CHANGED: Final = frozenset({"written", "partial"})


class CuratedRun:
    """One run of a beat that is told to end with a mark."""

    def __init__(self, ports: Ports, beat: Beat) -> None:
        """Keep what is needed; use :func:`watch_run`."""
        self._ports = ports
        self._beat = beat
        self._before = _newest_audit(ports)

    def commit(self, answer: str) -> None:
        """Commit what the run changed under the last line of its answer; nothing without the mark."""
        mark = find_mark(answer)
        paths = self._find_paths()
        if mark is not None and paths:
            _try_sync(self._ports, SyncOptions(push=False, paths=paths, mark=mark), self._beat)

    def _find_paths(self) -> tuple[str, ...]:
        rows = self._ports.state().rows("audit_after", after=self._before)
        own = [row for row in rows if row["heartbeat"] == self._beat.id and row["outcome"] in _CHANGED]
        return tuple(dict.fromkeys(f"memory/{path}" for row in own for path in json.loads(row["paths"])))


def watch_run(ports: Ports, beat: Beat, turn: Turn) -> CuratedRun | None:
    """Commit what is pending before the run of a curator, and return what commits the run; None for any other run."""
    if turn.replay or not ports.config().manifest.sync.enabled or not _is_curator(ports, beat):
        return None
    try:
        if Repository.open(ports.root, may_write=False) is None:
            return None
        _try_sync(ports, SyncOptions(push=False), beat)
        return CuratedRun(ports, beat)
    except Exception:  # noqa: BLE001 - a sync never fails a beat
        _LOG.exception("no commit before %s", beat.id, extra={"action": "sync_failed", "beat": beat.id})
        return None


def commit_run(run: CuratedRun | None, answer: str) -> None:
    """Commit what a curator's run changed; whatever goes wrong is logged, and the next sync commits it."""
    if run is None:
        return
    try:
        run.commit(answer)
    except Exception:  # noqa: BLE001 - the same
        _LOG.exception("the run of a curator was not committed", extra={"action": "sync_failed"})


def find_mark(answer: str) -> str | None:
    """Return the last line of an answer when it begins with `memory-care:`, else None."""
    lines = [line.strip(_ORNAMENT) for line in answer.splitlines() if line.strip(_ORNAMENT)]
    return lines[-1] if lines and lines[-1].startswith(MARK) else None


def _is_curator(ports: Ports, beat: Beat) -> bool:
    """Tell whether a beat, or its role, is told to end with the mark."""
    return MARK in beat.body or MARK in ports.config().find_role(beat.role).body


def _newest_audit(ports: Ports) -> int:
    newest = ports.state().row("newest_audit")
    return int(newest["id"]) if newest else 0


def _try_sync(ports: Ports, options: SyncOptions, beat: Beat) -> None:
    answer = sync(ports, options)
    for _ in range(_TRIES):
        if answer.message != BUSY:
            break
        _LOG.info("%s waits for another sync", beat.id, extra={"action": "sync_waits", "beat": beat.id})
        answer = sync(ports, options)
    if not answer.outcome.is_well:
        extra = {"action": f"sync_{answer.outcome}", "beat": beat.id}
        _LOG.warning(
            "%s of %s: %s", "The commit" if options.mark else "The commit before", beat.id, answer.message, extra=extra
        )
