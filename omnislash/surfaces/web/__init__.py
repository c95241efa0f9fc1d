"""What both HTTP doors share: where they listen, who may come in, and how they are served and stopped."""

from __future__ import annotations
