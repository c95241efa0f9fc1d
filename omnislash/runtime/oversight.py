"""What a person sees of a running brain, beside its files: the queue, the questions that wait, the roles.

Rules: DASH-04, TOOL-16, KNOB-O6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.runtime import approval_views, queue_listing, role_listing
from omnislash.runtime.agents import Agent
from omnislash.runtime.person import person_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.errors import ConfigError
    from omnislash.runtime.approval_views import ApprovalBoard
    from omnislash.runtime.queue_listing import QueueView
    from omnislash.runtime.role_listing import RoleList, RoleView
    from omnislash.runtime.turns import Ports


class Oversight:
    """Looks on; nothing here changes anything."""

    def __init__(self, ports: Ports, rejected: Callable[[], ConfigError | None]) -> None:
        """Keep the brain; use `Brain.oversight`.

        Args:
            ports: The brain.
            rejected: Returns why the configuration as it is on disk now was not taken; None when it is in force.
        """
        self._ports = ports
        self._rejected = rejected

    def person(self) -> Agent:
        """Return a reader of every line and source, who can write nothing (DASH-04)."""
        return Agent(person_turn(self._ports.config()), self._ports)

    def queue(self) -> QueueView:
        """Return who writes, what waits, and the last verdicts.

        Raises:
            WriterUnavailableError: The state database can't be read.
        """
        return queue_listing.list_queue(self._ports)

    def approvals(self) -> ApprovalBoard:
        """Return the deletions that wait, each with the text that would go, and those that were decided.

        Raises:
            WriterUnavailableError: As :meth:`queue`.
        """
        return approval_views.list_board(self._ports)

    def roles(self) -> RoleList:
        """Return every role, and what is wrong with the files."""
        return role_listing.list_roles(self._ports.config(), rejected=self._rejected())

    def role(self, role: str, *, heartbeat: str | None = None) -> RoleView:
        """Return one role, as it runs in a chat or in a heartbeat or hook; UsageError when there is no such one."""
        return role_listing.view_role(self._ports.config(), role, heartbeat=heartbeat)
