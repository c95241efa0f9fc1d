"""The dashboard of an open brain behind its guards.

Rules: DASH-01.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Final

from omnislash.errors import OmnislashError
from omnislash.store.state_directory import STATE_DIRECTORY
from omnislash.surfaces.dashboard.app import make_app
from omnislash.surfaces.dashboard.desk import Desk
from omnislash.surfaces.dashboard.live import Changes
from omnislash.surfaces.web.guards import guard
from omnislash.surfaces.web.tokens import choose_token

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from omnislash.engine import Brain
    from omnislash.surfaces.web.binding import Binding

_PURPOSE: Final = b"omnislash dashboard forms 1"


def make_door(brain: Brain, binding: Binding) -> ASGIApp:
    """Return the dashboard with everything that stands in front of it.

    Args:
        brain: The brain.
        binding: Where it listens, with the port that it really has.
    """
    desk = Desk(
        brain=brain,
        secret=_choose_secret(brain, binding),
        changes=Changes(brain.root, brain.open_version()),
        needs_token=binding.token is not None,
    )
    return guard(make_app(desk), binding, is_browser=True)


def _choose_secret(brain: Brain, binding: Binding) -> bytes:
    """Return what signs forms: made from the brain's token, so that an open form outlives a restart."""
    token = binding.token
    if token is None:
        try:
            token = choose_token(brain.root / STATE_DIRECTORY, {})
        except OmnislashError:  # forms then last as long as this process, which is no reason not to start
            token = secrets.token_urlsafe()
    return hmac.new(token.encode(), _PURPOSE, hashlib.sha256).digest()
