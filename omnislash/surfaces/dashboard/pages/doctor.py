"""`/doctor`: what is wrong with the brain, as the checks found it last.

The result is kept: a page shows the last one at once with its age. When files changed since, the checks run again in the
background, at most a twentieth of the time, and `POST /doctor/run` runs them now. Two never run at a time.

As JSON: `{status, counts: {fail, warn, pass}, at, ageS, tookS, isCurrent, isRunning, groups: [{status, checks}]}`, each
check as `omnislash doctor --json` has it, with `protects` and `help`, and each finding with `href`, the page of the place
that it names, or null. While the first run of a large brain goes on, `status`, `at`, `ageS` and `tookS` are null.

Rules: DOCTOR-16, DOCTOR-O5.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from starlette.routing import Route

from omnislash.brain.heartbeats import HEARTBEAT_SUFFIX
from omnislash.brain.hooks import HOOK_SUFFIX
from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.brain.roles import ROLE_SUFFIX
from omnislash.checks.findings import Status
from omnislash.checks.loading import load_checks
from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.lines import is_inside, is_line_name
from omnislash.surfaces.dashboard.answering import Shown, go, link, show, takes_form
from omnislash.surfaces.dashboard.desk import Mood, Notice, desk_of
from omnislash.surfaces.dashboard.live import Topic
from omnislash.surfaces.dashboard.places import link_file

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.brain.files import BrainFiles
    from omnislash.checks.findings import CheckResult, Finding
    from omnislash.runtime.examinations import Examination, Examinations
    from omnislash.surfaces.dashboard.desk import Desk
    from omnislash.surfaces.dashboard.forms import Form

#: How long a result stays although files changed, in seconds and as a multiple of what it took.
_KEPT_S, _KEPT_TIMES = 10.0, 20.0
#: How long a person waits for the checks before the page shows the last result, in seconds; most brains take less.
_PATIENCE_S: Final = 3.0
#: The order of the groups: what needs a person first.
_ORDER: Final = (Status.FAIL, Status.WARN, Status.PASS)
#: What is shown while the first run goes on.
_NOT_YET: Final[dict[str, Any]] = {
    **dict.fromkeys(("status", "at", "ageS", "tookS")),
    "counts": dict.fromkeys(map(str, _ORDER), 0),
    "isCurrent": False,
    "isRunning": True,
    "groups": [],
}


def show_doctor(request: Request) -> Response:
    """Show the last result; the first time, run the checks, and wait for them for a moment."""
    desk = desk_of(request)
    examinations = desk.brain.examinations
    if examinations.latest is None:
        _start(desk, examinations, wait_s=_PATIENCE_S)
    latest = examinations.latest
    if latest is None and examinations.is_running:
        return show(request, Shown("doctor.html", _NOT_YET))
    latest = latest or examinations.run()
    age_s = examinations.find_age(latest)
    is_current = examinations.is_current()
    if not is_current and age_s >= max(_KEPT_S, _KEPT_TIMES * latest.took_s):
        _start(desk, examinations)
    content = {
        **_draw(latest, desk.brain.config),
        "ageS": round(age_s, 1),
        "isCurrent": is_current,
        "isRunning": examinations.is_running,
    }
    return show(request, Shown("doctor.html", content))


@takes_form
def run_doctor(request: Request, _form: Form) -> Response:
    """Run the checks now; a large brain's result appears on the page when it is there."""
    desk = desk_of(request)
    examinations = desk.brain.examinations
    _start(desk, examinations, wait_s=_PATIENCE_S)
    if examinations.is_running:
        return go(request, "/doctor", Notice(Mood.PLAIN, "The checks run. Their result appears here when it is there."))
    return go(request, "/doctor", Notice(Mood.GOOD, "The checks ran."))


def _start(desk: Desk, examinations: Examinations, *, wait_s: float = 0.0) -> None:
    examinations.start(lambda: desk.changes.tell(Topic.STATE), wait_s=wait_s)


# -- what is shown ---------------------------------------------------------------------------------------------------


def _draw(found: Examination, config: BrainFiles) -> dict[str, Any]:
    checks = found.report.checks
    zone = ZoneInfo(config.manifest.locale.timezone)
    return {
        "status": found.report.status.value,
        "counts": {status.value: sum(check.status is status for check in checks) for status in _ORDER},
        "at": found.at.astimezone(zone).isoformat(timespec="seconds"),
        "tookS": round(found.took_s, 2),
        "groups": [
            {"status": status.value, "checks": [_draw_check(each, config) for each in checks if each.status is status]}
            for status in _ORDER
            if any(each.status is status for each in checks)
        ],
    }


@functools.cache
def _list_protected() -> dict[str, str]:
    """Return what each check protects, by its id; finding the checks takes longer than the rest of the page."""
    return {known.id: known.protects for known in load_checks()}


def _draw_check(check: CheckResult, config: BrainFiles) -> dict[str, Any]:
    return {
        **check.to_json(),
        "findings": [_draw_finding(finding, config) for finding in check.findings],
        "protects": _list_protected().get(check.id, ""),
        "help": link(f"/help/checks/{check.id}"),
    }


def _draw_finding(finding: Finding, config: BrainFiles) -> dict[str, Any]:
    href = find_place(finding.path, config, line=finding.line) if finding.path else None
    empty = {"path": None, "line": None, "key": None, "hint": None}
    return {**empty, **finding.to_json(), "href": href}


def find_place(path: str, config: BrainFiles, *, line: int | None = None) -> str | None:
    """Return the page of a file or directory of the brain; None where there is none.

    Args:
        path: Relative to the brain.
        config: What loads: a role that does not has no page.
        line: Line in the file, counted from 1.
    """
    below = path.removeprefix(f"{MANAGED_ROOT}/")
    if below != path:
        return link(f"/knowledge/{below}") if is_line_name(below) else _link_managed(below, config, line)
    name = path.rpartition("/")[2]
    if path == MANIFEST_FILE:
        return "/settings"
    if name.removesuffix(ROLE_SUFFIX) in config.roles and name.endswith(ROLE_SUFFIX):
        return link(f"/agents/{name.removesuffix(ROLE_SUFFIX)}")
    for suffix, beats in ((HEARTBEAT_SUFFIX, config.heartbeats), (HOOK_SUFFIX, config.hooks)):
        if name.endswith(suffix) and name.removesuffix(suffix) in beats:
            return link(f"/heartbeats/{name.removesuffix(suffix)}")
    if any(is_inside(path, source) for source in config.sources) and path.endswith(".md"):
        return link_file(path, config.sources, at=line)
    return None


def _link_managed(below: str, config: BrainFiles, line: int | None) -> str | None:
    is_page = below.endswith(".md") and is_line_name(below.partition("/")[0])
    return link_file(below, config.sources, at=line) if is_page else None


ROUTES: Final[tuple[Route, ...]] = (
    Route("/doctor", show_doctor),
    Route("/doctor/run", run_doctor, methods=["POST"]),
)
