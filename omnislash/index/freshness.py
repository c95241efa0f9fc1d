"""What a search may believe of its index: what was caught up, what was not, and which leg is down. Values only.

Rules: RECALL-10 to RECALL-12, RECALL-O3, RECALL-O7, RECALL-O8; failure cases O-12, O-14.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """The state of the index at one search."""

    #: Files that differ from the index and were not taken up in time.
    behind: tuple[str, ...] = ()
    #: Files and directories that can't be read, with the reason.
    unreadable: Mapping[str, str] = field(default_factory=dict)
    #: Why the index could not be brought up to date at all; None when it could.
    failure: str | None = None
    #: Why vectors could not be made; None when they could, or none were missing.
    embedder_failure: str | None = None
