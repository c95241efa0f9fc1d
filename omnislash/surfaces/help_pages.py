"""The user pages that ship with the program: which there are, in which order, and what they say.

The command line and the dashboard show the same ones.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: Where the pages lie.
PAGES: Final = Path(__file__).parents[1] / "help"
#: Topics in the order in which a newcomer reads them.
ORDER: Final = (
    "getting-started",
    "brain",
    "lines",
    "roles",
    "chat",
    "models",
    "offline",
    "writing",
    "budget",
    "search",
    "ladder",
    "envelope",
    "flush",
    "heartbeats",
    "events",
    "curating",
    "sync",
    "dashboard",
    "claude-code",
    "durability",
    "search-index",
    "migration",
    "doctor",
    "troubleshooting",
    "configuration",
    "commands",
    "tools",
    "mcp",
    "errors",
    "glossary",
)
#: Other names by which people look for a page.
ALIASES: Final = {
    "start": "getting-started",
    "scopes": "lines",
    "settings": "configuration",
    "budgets": "budget",
    "summaries": "ladder",
    "checks": "doctor",
    "git": "sync",
    "claude": "claude-code",
    "claude-code-hooks": "claude-code",
    "brain-sync": "sync",
    "model-context-protocol": "mcp",
}
#: What begins the topic of a page about one of doctor's checks.
CHECKS: Final = "checks/"


@dataclass(frozen=True, slots=True)
class HelpPage:
    """One page."""

    topic: str
    title: str
    #: Markdown, one sentence a line.
    text: str


def resolve_topic(name: str) -> str | None:
    """Return the topic of a page by its name or another name of it; None when there is no such page."""
    topic = ALIASES.get(name, name)
    return topic if topic in ORDER or is_check(topic) else None


def is_check(topic: str) -> bool:
    """Tell whether a topic is the page of one of doctor's checks, such as `checks/git`."""
    return topic in _list_checks()


@functools.cache
def _list_checks() -> frozenset[str]:
    return frozenset(f"{CHECKS}{page.stem}" for page in (PAGES / CHECKS).glob("*.md"))


@functools.cache
def read_page(topic: str) -> HelpPage:
    """Return the page of a topic that :func:`resolve_topic` returned."""
    text = (PAGES / f"{topic}.md").read_text(encoding="utf-8")
    return HelpPage(topic, text.partition("\n")[0].removeprefix("# "), text)


def list_pages() -> tuple[HelpPage, ...]:
    """Return every page but those about checks, in their order."""
    return tuple(map(read_page, ORDER))
