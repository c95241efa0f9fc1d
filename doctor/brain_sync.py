"""Brain-sync: what its last run came to, and whether it runs at all.

What stands in git itself, such as commits that were not pushed, is told by the check `git`.

Rules: failure cases O-50 to O-52; settings `sync.*` of the manifest.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.checks.databases import has_writer, is_closed, query_state
from omnislash.checks.findings import ANYTHING, Check, Group, info, warn
from omnislash.checks.instants import parse_instant, show_instant
from omnislash.core.credentials import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.checks.examined import Examined
    from omnislash.checks.findings import Finding

#: The version of the state database in which brain-sync came.
_TABLES: Final = 3
#: How long a worker may run without a sync before something is wrong; the default schedule is every ten minutes, and
#: any schedule of a day or less is kept.
_OVERDUE: Final = timedelta(days=2)
#: Characters of the last message that are shown.
_MESSAGE_CHARS: Final = 400
_STATUS: Final = "Run `omnislash sync status`; once that is settled, `omnislash sync run`."


class BrainSyncCheck(Check):
    """Reads what brain-sync noted last."""

    id = "brain-sync"
    title = "Brain-sync"
    protects = "Memory that you believe to be committed and pushed is, and brain-sync has not stopped unseen."
    group = Group.MACHINE

    def conclude(self, brain: Examined) -> Iterator[Finding]:
        """Yield how the last sync ended, and what keeps the next one from coming."""
        enabled = brain.config.manifest.sync.enabled
        if not enabled:
            hint = "`omnislash sync run` commits by hand."
            yield info("`sync.enabled` is false: a worker commits nothing by itself.", path=MANIFEST_FILE, hint=hint)
        rows = query_state(brain, "last_sync", since=_TABLES)
        if not rows:
            if enabled and not is_closed(brain):
                yield info("Brain-sync has not run here yet.", hint="Run `omnislash sync run`, or `omnislash worker`.")
            return
        last = rows[0]
        at = parse_instant(last["at"])
        when = show_instant(at, brain)
        message = " ".join(mask_secrets(last["message"]).split())[:_MESSAGE_CHARS]
        if last["outcome"] in {"stopped", "failed"}:
            yield warn(f"The last sync, {when}, {last['outcome']}: {message}", hint=_STATUS, about=(ANYTHING,))
            return
        yield info(f"The last sync, {when}: {message}", about=(ANYTHING,))
        # A tick that finds nothing to do is noted once: only behind work that was done the next one has to leave a row.
        if enabled and last["outcome"] == "done" and at is not None and brain.now - at > _OVERDUE:
            yield _tell_overdue(brain, when)


def _tell_overdue(brain: Examined, when: str) -> Finding:
    if has_writer(brain):
        return warn(
            f"A worker runs, and there was no sync since {when}.",
            hint="Look into .omnislash/logs/worker.log, or start the worker again.",
        )
    return info(f"No worker runs, so nothing was committed by itself since {when}.", hint="Run `omnislash worker`.")
