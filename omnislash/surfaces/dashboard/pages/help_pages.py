"""`/help`: the pages that ship with the program, as `omnislash help` shows them; `/help/{topic}`, `/help/checks/{id}`.

`GET /help?q=` answers `{query, topics: [{topic, title, href}], checks, found: [{topic, title, href, lines}]}`; `found` holds
the pages that have every word of the query, with the first lines that have one. `GET /help/{topic}` answers
`{topic, title, text, previous, next}`, the text as markdown; another name of a page leads to it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import RedirectResponse
from starlette.routing import Route

from omnislash.checks.loading import load_checks
from omnislash.errors import MissingFileError
from omnislash.surfaces.dashboard.answering import Shown, link, show
from omnislash.surfaces.help_pages import CHECKS, ORDER, HelpPage, list_pages, read_page, resolve_topic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

#: Lines of a page that a search shows.
_LINES_MAX: Final = 3
#: Words that a search takes; more than that is no question about a topic.
_WORDS_MAX: Final = 12


def list_help(request: Request) -> Response:
    """List the pages, and those that a search finds."""
    query = " ".join(request.query_params.get("q", "").split())
    topics, checks = list_pages(), _check_pages()
    words = query.casefold().split()[:_WORDS_MAX]
    content = {
        "query": query,
        "topics": [_draw(page) for page in topics],
        "checks": [_draw(page) for page in checks],
        "found": list(_find((*topics, *checks), words)) if words else [],
    }
    return show(request, Shown("help.html", content))


def show_help(request: Request) -> Response:
    """Show one page.

    Raises:
        MissingFileError: There is none of that name.
    """
    name = request.path_params["topic"].removesuffix(".md")
    topic = resolve_topic(name)
    if topic is None:
        message = f"There is no help page {name!r}."
        raise MissingFileError(message, hint="The list of all pages is under Help.")
    if topic != request.path_params["topic"]:
        return RedirectResponse(link(f"/help/{topic}"), status_code=303)
    page = read_page(topic)
    content = {"topic": topic, "title": page.title, "text": page.text, **_neighbours(topic)}
    return show(request, Shown("help_page.html", content))


@functools.cache
def _check_pages() -> tuple[HelpPage, ...]:
    """Return the pages about checks, in the order of doctor's table."""
    topics = (resolve_topic(f"{CHECKS}{check.id}") for check in load_checks())
    return tuple(read_page(topic) for topic in topics if topic is not None)


def _draw(page: HelpPage) -> dict[str, Any]:
    return {"topic": page.topic, "title": page.title, "href": link(f"/help/{page.topic}")}


def _neighbours(topic: str) -> dict[str, Any]:
    place = ORDER.index(topic) if topic in ORDER else -1
    before = ORDER[place - 1] if place > 0 else None
    after = ORDER[place + 1] if 0 <= place < len(ORDER) - 1 else None
    return {
        "previous": _draw(read_page(before)) if before else None,
        "next": _draw(read_page(after)) if after else None,
    }


def _find(pages: Sequence[HelpPage], words: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the pages that have every word, those that have one in their title first."""
    texts = {page: page.text.casefold() for page in pages}
    found = [page for page in pages if all(word in texts[page] for word in words)]
    for page in sorted(found, key=lambda page: not any(word in page.title.casefold() for word in words)):
        lines = [line for line in page.text.split("\n")[1:] if any(word in line.casefold() for word in words)]
        yield {**_draw(page), "lines": lines[:_LINES_MAX]}


ROUTES: Final[tuple[Route, ...]] = (Route("/help", list_help), Route("/help/{topic:path}", show_help))
