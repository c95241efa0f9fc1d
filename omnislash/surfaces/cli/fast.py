"""A call over the running worker's socket, without loading YAML, models or SQLite in this process.

Nothing of the rules is known here: the worker resolves the role and runs the tool, or recalls, as the engine would.

Rules: WRITE-02, WRITE-06, WRITE-O4.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnislash.errors import OmnislashError
from omnislash.store.locks import is_locked, read_owner
from omnislash.writer.wake import PROTOCOL, Connection, WorkerGoneError, WorkerSilentError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: WRITE-02: how long a call waits for its verdict, in seconds.
WAIT_LIMIT_S = 90.0


class WorkerError(OmnislashError):
    """The worker says that the call can't be answered."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        """Keep the worker's own words and fields."""
        self.error = dict(error)
        super().__init__(str(error["message"]))

    def to_json(self) -> dict[str, object]:
        """Return the error as the worker gave it."""
        return self.error


def ask(root: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the worker's answer; None when no worker gave one, and the caller has to find out with the same job id.

    Args:
        root: The brain's directory.
        request: What is asked of the worker: `op`, and what belongs to it.

    Raises:
        WorkerError: The worker's answer is an error.
    """
    connection = _connect(Path(root, ".omnislash", "writer.lock"))
    if connection is None:
        return None
    try:
        answer = connection.ask(dict(request), timeout_s=WAIT_LIMIT_S)
    except (WorkerGoneError, WorkerSilentError):
        return None
    except TimeoutError:
        return None if _only_looks(request) else _out_of_time(request["job"])
    finally:
        connection.close()
    if "failure" in answer:
        raise WorkerError(answer["failure"])
    found: dict[str, Any] | None = answer.get("answer")
    return found


#: Tools that only look: they can be run again in this process.
_LOOKING = frozenset({"memory_overview", "memory_list", "memory_search", "memory_read"})


def _only_looks(request: Mapping[str, Any]) -> bool:
    return request["op"] != "call" or request["tool"] in _LOOKING


def _connect(lock: Path) -> Connection | None:
    """Connect to the worker that holds this very lock: a copied brain has the label of another one's worker."""
    owner = read_owner(lock)
    if owner is None or owner.address is None or owner.protocol != PROTOCOL or not is_locked(lock):
        return None
    try:
        return Connection(owner.address)
    except WorkerGoneError:
        return None


def _out_of_time(job: str) -> dict[str, Any]:
    from omnislash.core import verdicts  # noqa: PLC0415 - the rare case

    return verdicts.unconfirmed(job, reason=f"no verdict came within {WAIT_LIMIT_S:.0f} seconds").to_json()
