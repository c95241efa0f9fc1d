"""The authored sources: what is declared, their folders, and their documents; people write them, memory reads them.

As JSON `/sources` is `{sources}`, a folder is `SourceFolder.to_json`, and a document is what `pages/files.py` says.

Rules: SOURCE-01, SOURCE-17, SOURCE-18, SOURCE-O5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import RedirectResponse
from starlette.routing import Route

from omnislash.core.lines import is_inside
from omnislash.surfaces.dashboard.answering import Shown, show
from omnislash.surfaces.dashboard.desk import desk_of
from omnislash.surfaces.dashboard.pages.files import describe_file, parse_number, tell_times, view_of, zone_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.requests import Request
    from starlette.responses import Response


def show_sources(request: Request) -> Response:
    """Show every declared source."""
    brain = desk_of(request).brain
    content = {"sources": [each.to_json() for each in brain.knowledge.sources()]}
    return show(request, Shown("sources.html", tell_times(content, zone_of(brain))))


def show_source(request: Request) -> Response:
    """Show a folder or a document of a source."""
    path = request.path_params["path"].rstrip("/")
    brain = desk_of(request).brain
    if _is_above(path, brain.config.sources):
        return RedirectResponse("/sources", status_code=303)
    if not path.endswith(".md"):
        folder = brain.knowledge.source(path, page=parse_number(request.query_params.get("page"), 1))
        return show(request, Shown("source.html", tell_times(folder.to_json(), zone_of(brain))))
    view = "raw" if view_of(request) == "raw" else "read"
    offset = parse_number(request.query_params.get("offset"), 0) if view == "raw" else 0
    file = brain.knowledge.read_source(path, offset=offset)
    return show(request, Shown("knowledge_file.html", describe_file(path, file, view, zone=zone_of(brain))))


def _is_above(path: str, declared: Collection[str]) -> bool:
    """Tell whether a path is no source, but a folder in which some are declared."""
    if any(is_inside(path, source) for source in declared):
        return False
    return not path or any(is_inside(source, path) for source in declared)


ROUTES: Final[tuple[Route, ...]] = (Route("/sources", show_sources), Route("/sources/{path:path}", show_source))
