"""A real browser in front of a real `omnislash up`, and what every page of the dashboard keeps to.

The browser is a Chromium or Chrome of this machine; Playwright only drives it and downloads nothing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

from omnislash.store.system_clock import SystemClock
from tests.browser.example import make_example
from tests.browser.running import Dashboard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response, ViewportSize

NAMES = (
    os.environ.get("CHROMIUM") or "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
MISSING = "No Chromium or Chrome is found: install chromium, or name one in CHROMIUM."
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
#: How long anything on a page may take before a test gives up, in milliseconds; a busy machine is slow.
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)
#: The dashboard, the browser and its visitor in this process while its browser tests run, and what ends them. A browser
#: needs a second of computing for a new visitor, and half of it for a new page.
_running = ExitStack()
_dashboards: list[Dashboard] = []
_browsers: list[Browser] = []
_visitors: list[BrowserContext] = []


def find_chromium() -> str | None:
    """Return the browser's program; None when there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End them all before a test of another directory: the browser's event loop would be in the way of theirs."""
    yield
    if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
        for each in (_visitors, _browsers, _dashboards):
            each.clear()
        _running.close()


@pytest.fixture
def browser() -> Browser:
    """The browser, without a window; started by the first test that needs it."""
    program = find_chromium()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    if not _browsers:
        driver = _running.enter_context(sync_playwright())
        flags = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        _browsers.append(driver.chromium.launch(executable_path=program, args=flags))
        _running.callback(_browsers[0].close)
    return _browsers[0]


@pytest.fixture
def dashboard() -> Dashboard:
    """The dashboard of a small brain, by the command that people start it with; started by the first test."""
    if not _dashboards:
        directory = _running.enter_context(tempfile.TemporaryDirectory())
        root = make_example(Path(directory) / "bakery", SystemClock().now().date())
        _dashboards.append(Dashboard(root))
        _dashboards[0].start()
        _running.callback(_dashboards[0].stop)
    return _dashboards[0]


@dataclass  # Playwright notes in it what it calls
class Watch:
    """What a page did that it should not have done."""

    #: Answers with these codes are what the test is about.
    expected: set[int] = field(default_factory=set)
    #: True while the dashboard is away on purpose.
    is_away: bool = False
    faults: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        """Listen to a page."""
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("request", self._look)
        page.on("requestfailed", self._miss)
        page.on("response", self._read)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith("Failed to load resource"):
            self.faults.append(f"console: {message.text}")

    def _look(self, request: Request) -> None:
        if urlsplit(request.url).hostname != "127.0.0.1":
            self.faults.append(f"asked elsewhere: {request.url}")

    def _miss(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED" and not self.is_away:  # that one: its page went away first
            self.faults.append(f"failed: {request.url} {request.failure}")

    def _read(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.faults.append(f"{response.status}: {response.url}")


@pytest.fixture
def watch() -> Watch:
    """What the pages of this test are watched with."""
    return Watch()


@pytest.fixture
def visitor(browser: Browser, dashboard: Dashboard) -> BrowserContext:
    """Who looks at the dashboard."""
    if not _visitors:
        context = browser.new_context(base_url=dashboard.url, viewport=WIDE, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE_MS)
        _visitors.append(context)
    return _visitors[0]


@pytest.fixture
def page(visitor: BrowserContext, watch: Watch) -> Iterator[Page]:
    """A new page that may look at the dashboard; in the end nothing was wrong with it."""
    found = visitor.new_page()
    watch.follow(found)
    yield found
    for each in visitor.pages:
        each.close()
    assert watch.faults == []
