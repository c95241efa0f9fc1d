"""The one place that makes random names."""

from __future__ import annotations

import secrets


def new_job_id() -> str:
    """Return a new job id: 20 hex digits."""
    return secrets.token_hex(10)


def new_approval_id() -> str:
    """Return a new approval id: 8 hex digits, short enough to type."""
    return secrets.token_hex(4)


def new_temp_name() -> str:
    """Return a name for a temporary file that nobody can guess and every listing skips."""
    return f".omnislash-{secrets.token_hex(8)}"


def new_suffix() -> str:
    """Return four hex digits that keep two conflict copies of one second apart."""
    return secrets.token_hex(2)


def new_session_id() -> str:
    """Return a new session id: 12 hex digits."""
    return secrets.token_hex(6)
