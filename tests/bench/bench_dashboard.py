"""Measure the pages of the dashboard and their JSON on a brain of 10,000 files, beside the engine calls that they make.

The brain is the one of `bench_doctor.py`: logs and topic files in eight lines, and two sources, with an index of words. To
it come three years of logs with summaries in one line, and 5,000 rows of the action log.

The dashboard runs in a process of its own behind its real door: guards, uvicorn, loopback. A client asks over one
connection. For each page its HTML, its JSON and the engine call, in this process and made ready for JSON, take turns, so
that a busy moment of the machine hits all three. What a page asks for is another one each time where there are many.

The client is a bare socket that sends what a browser sends and reads to the end: a client library takes a millisecond of
its own for each answer, which is none of the server's.

A call that takes less than a millisecond can't carry a page twice, for an answer over HTTP costs some whatever it says. So
in each turn an answer of two words is asked for as well, which a thread of the same server gives without guards and
templates, and the last columns tell how often that and the call together go into the page.

Run it with `make bench-dashboard`; `--files N` and `--rounds N` scale it, `--keep DIR` makes the brain there or uses it.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import random  # noqa: TID251 - seeded, so that every run makes the same files
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from omnislash import Brain  # noqa: E402 - the repository has to be on the path first
from omnislash.runtime.knowledge.line_views import Browse  # noqa: E402 - the same
from omnislash.surfaces.dashboard.serving import make_door  # noqa: E402 - the same
from omnislash.surfaces.help_pages import list_pages as list_help_pages  # noqa: E402 - the same
from omnislash.surfaces.help_pages import read_page as read_help_page  # noqa: E402 - the same
from omnislash.surfaces.web.binding import Binding  # noqa: E402 - the same
from omnislash.surfaces.web.serving import serve  # noqa: E402 - the same
from tests.bench.bench_doctor import LINES, make_brain, read_sentences  # noqa: E402 - the same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

#: What the issue asks: a page and its JSON within so many times the engine call, at the 95th percentile.
TIMES_MAX = 2.0
#: Where the server of this benchmark says nothing.
BARE = "/bare"
#: Today is close to the last log that the brain has.
TODAY = date(2026, 11, 30)
ROWS = 5_000


@dataclass(frozen=True)
class Page:
    """One kind of page and the engine call that it makes."""

    name: str
    #: Addresses, asked for in turn.
    urls: tuple[str, ...]
    #: Makes what the page at an address shows, from the same engine.
    call: Callable[[Brain, str], Any]


@dataclass(frozen=True)
class Figures:
    """Times of one page, in milliseconds."""

    page: Page
    html: tuple[float, ...]
    json: tuple[float, ...]
    engine: tuple[float, ...]
    #: An answer that says nothing, from the same server.
    bare: tuple[float, ...]

    def render(self) -> str:
        """Return the row that is printed."""
        seen = (self.engine, self.bare, self.html, self.json)
        cells = [f"{percentile(times, share):8.1f}" for times in seen for share in (50, 95)]
        times = [f"{self.times(each):7.1f}" for each in (self.html, self.json)]
        over = [f"{self.times_with_bare(each):7.1f}" for each in (self.html, self.json)]
        met = " and ".join(self.met()) or "-"
        return f"{self.page.name:<22}{''.join(cells)}{''.join(times)}{''.join(over)}  {met}"

    def met(self) -> list[str]:
        """Return which of HTML and JSON keep the limit."""
        return [kind for kind, seen in (("HTML", self.html), ("JSON", self.json)) if self.times(seen) <= TIMES_MAX]

    def times(self, seen: Sequence[float]) -> float:
        """Return how many times the engine call a page takes, each at the 95th percentile."""
        return percentile(seen, 95) / percentile(self.engine, 95)

    def times_with_bare(self, seen: Sequence[float]) -> float:
        """Return how many times the engine call and an answer that says nothing it takes, all at the 95th percentile."""
        return percentile(seen, 95) / (percentile(self.engine, 95) + percentile(self.bare, 95))

    def worst(self, measure: Callable[[Sequence[float]], float]) -> float:
        """Return the greater figure of HTML and JSON."""
        return max(measure(self.html), measure(self.json))


def percentile(times: Sequence[float], share: int) -> float:
    """Return a percentile by the nearest rank."""
    ordered = sorted(times)
    return ordered[min(len(ordered) * share // 100, len(ordered) - 1)]


# -- the brain -------------------------------------------------------------------------------------------------------


def prepare(root: Path, files: int) -> None:
    """Make the brain, its summaries and its action log."""
    root.mkdir(parents=True, exist_ok=True)
    make_brain(root, files)
    add_ladder(root)
    with Brain.open(root) as brain:
        fill_log(brain)


def add_ladder(root: Path) -> None:
    """Give one line three years of logs, and the weeks and months of all but the last ones of it."""
    chance, sentences = random.Random(8), read_sentences()
    memory = root / "memory" / "main"
    for back in range(3 * 365):
        day = TODAY - timedelta(days=back)
        log = memory / f"{day:%Y/%m}" / f"{day.isoformat()}.md"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"# Memory ({day.isoformat()})\n\n- 09:00 {chance.choice(sentences)}\n", encoding="utf-8")
        year, week, weekday = day.isocalendar()
        if back > 30 and weekday == 7:
            place = memory / f"{year:04d}" / f"{year:04d}-W{week:02d}.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"# {place.stem}\n\n{chance.choice(sentences)}\n", encoding="utf-8")
        if back > 60 and day.day == 1:
            (memory / f"{day:%Y}" / f"{day:%Y-%m}.md").write_text(f"# {day:%Y-%m}\n\nA month.\n", encoding="utf-8")
    manifest = "locale:\n  timezone: Europe/Berlin\nmemory:\n  consolidation:\n    lines:\n      main: {periods: [week, month]}\n"
    (root / "constitution" / "MANIFEST.yaml").write_text(manifest, encoding="utf-8")


def fill_log(brain: Brain) -> None:
    """Write rows of the action log, most of them of files that are not looked at."""
    from omnislash.store.state import State

    brain.audit(limit=1)  # makes the database
    chance = random.Random(9)
    state = State(brain.root / ".omnislash" / "state.db")
    with state.transaction():
        for number in range(ROWS):
            line = chance.choice(LINES)
            day = TODAY - timedelta(days=chance.randrange(1000))
            state.run(
                "insert_audit",
                at=datetime(2026, 11, 30, 9, 30, tzinfo=UTC).isoformat(),
                actor="agent",
                role=line,
                heartbeat=None,
                tool="memory_write",
                line=line,
                paths=json.dumps([f"{line}/{day:%Y/%m}/{day.isoformat()}.md"]),
                outcome="written",
                chars=100,
                job=f"{number:020x}",
            )
    state.close()


# -- the pages -------------------------------------------------------------------------------------------------------


def list_pages(root: Path) -> list[Page]:
    """Return the pages with their calls."""
    memory = root / "memory"
    logs = sorted(str(each.relative_to(memory)) for each in (memory / "ops").glob("20*/*/*.md"))[-200:]
    notes = sorted(str(each.relative_to(root)) for each in (root / "handbook").rglob("*.md"))[:200]
    return [
        Page("lines", ("/knowledge",), lambda brain, _: brain.knowledge.line().to_json()),
        Page("a line with a ladder", ("/knowledge/main",), lambda brain, _: brain.knowledge.line("main").to_json()),
        Page(
            "a year of its ladder",
            ("/knowledge/main?year=2025",),
            lambda brain, _: brain.knowledge.line("main", Browse(year="2025")).to_json(),
        ),
        Page(
            "a folder of a line",
            ("/knowledge/ops?folder=topics",),
            lambda brain, _: brain.knowledge.line("ops", Browse(folder="topics")).to_json(),
        ),
        Page("a log", tuple(f"/knowledge/{each}" for each in logs), read_page),
        Page("a log, raw", tuple(f"/knowledge/{each}?view=raw" for each in logs), read_page),
        Page("MEMORY.md", ("/knowledge/main/MEMORY.md",), read_page),
        Page("MEMORY.md, to edit", ("/knowledge/main/MEMORY.md?view=edit",), read_page),
        Page("sources", ("/sources",), lambda brain, _: [each.to_json() for each in brain.knowledge.sources()]),
        Page("a source", ("/sources/handbook",), lambda brain, _: brain.knowledge.source("handbook").to_json()),
        Page("a document", tuple(f"/sources/{each}" for each in notes), read_source_page),
        *list_other_pages(),
    ]


def list_other_pages() -> list[Page]:
    """Return the pages beside Knowledge."""
    words = ("brakes", "winter check", "Ida", "the bank", "swimming pool", "prices", "apprentice", "opening hours")
    return [
        Page("search", tuple(f"/search?q={each.replace(' ', '+')}" for each in words), search),
        Page("activity", ("/activity",), look_on),
        Page("agents", ("/agents",), lambda brain, _: brain.oversight.roles().to_json()),
        Page("an agent", ("/agents/main",), preview),
        Page("heartbeats", ("/heartbeats",), lambda brain, _: brain.heartbeats().to_json()),
        Page("settings", ("/settings",), lambda brain, _: brain.manifest_editor.read()),
        Page("doctor", ("/doctor",), look_again),
        Page("help", ("/help",), lambda _, __: [page.title for page in list_help_pages()]),
        Page(
            "a help page",
            ("/help/commands", "/help/search"),
            lambda _, url: read_help_page(url.removeprefix("/help/")).text,
        ),
    ]


def read_page(brain: Brain, url: str) -> Any:
    """Read the file of an address."""
    return brain.knowledge.read(url.removeprefix("/knowledge/").partition("?")[0]).to_json()


def read_source_page(brain: Brain, url: str) -> Any:
    """Read the document of an address."""
    return brain.knowledge.read_source(url.removeprefix("/sources/")).to_json()


def search(brain: Brain, url: str) -> Any:
    """Search for the words of an address."""
    query = url.partition("?q=")[2].replace("+", " ")
    return brain.oversight.person().memory.look_up(query).to_json()


def look_on(brain: Brain, _url: str) -> Any:
    """Return what the page about activity shows."""
    seen = (brain.audit(limit=50), brain.oversight.queue(), brain.oversight.approvals(), brain.sessions(limit=20))
    return [each.to_json() for each in seen]


def preview(brain: Brain, _url: str) -> Any:
    """Return what the page of an agent shows."""
    role = brain.oversight.role("main").to_json()
    return role, brain.sessions(role="main", limit=20).to_json(), brain.agent("main").preview(message=None).to_json()


def look_again(brain: Brain, _url: str) -> Any:
    """Return what the page of doctor shows: the last result, and whether the files are still those."""
    found = brain.examinations.latest or brain.examinations.run()
    return found.report.to_json(), brain.examinations.is_current()


# -- measuring -------------------------------------------------------------------------------------------------------


def run_server(root: Path) -> None:
    """Serve the brain until standard input is closed; print the address."""
    with Brain.open(root) as brain:
        serve(
            lambda real: beside(make_door(brain, real)),
            Binding(host="127.0.0.1", port=0),
            on_ready=lambda real: print(real.url, flush=True),
            stop=sys.stdin.fileno(),
        )


def beside(door: ASGIApp) -> ASGIApp:
    """Return the door with an answer beside it that says nothing."""
    bare = Starlette(routes=[Route(BARE, lambda _request: PlainTextResponse("Nothing here."))])

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        await (bare if scope.get("path") == BARE else door)(scope, receive, send)

    return choose


class Line:
    """One connection to the server that is kept open, and the cookie that it was given on it."""

    def __init__(self, base: str) -> None:
        self._place = base.removeprefix("http://")
        host, _, port = self._place.partition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._cookie = ""

    def get(self, path: str, accept: str) -> bytes:
        """Return the body of an answer; RuntimeError for any status but 200."""
        head = f"GET {path} HTTP/1.1\r\nHost: {self._place}\r\nAccept: {accept}\r\nAccept-Language: en\r\n{self._cookie}\r\n"
        self._socket.sendall(head.encode("ascii"))
        found, told, body = b"", b"", b""
        while not told:
            found += self._receive()
            told, _, body = found.partition(b"\r\n\r\n") if b"\r\n\r\n" in found else (b"", b"", b"")
        if not told.startswith(b"HTTP/1.1 200 "):
            message = f"{path} was answered {told.splitlines()[0].decode('latin-1')}."
            raise RuntimeError(message)
        if cookie := re.search(rb"(?im)^set-cookie: ([^;\r]+)", told):
            self._cookie = f"Cookie: {cookie[1].decode('ascii')}\r\n"
        length = re.search(rb"(?im)^content-length: ([0-9]+)", told)
        assert length is not None
        while len(body) < int(length[1]):
            body += self._receive()
        return body

    def _receive(self) -> bytes:
        if not (found := self._socket.recv(1_000_000)):
            message = "The server hung up."
            raise RuntimeError(message)
        return found

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def measure(root: Path, rounds: int) -> Iterator[Figures]:
    """Yield the figures of each page."""
    command = [sys.executable, __file__, "--serve", str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            base = server.stdout.readline().strip()
            with Brain.open(root) as brain:
                for page in list_pages(root):
                    with contextlib.closing(Line(base)) as line:
                        yield measure_page(page, brain, line, rounds)
        finally:
            server.stdin.close()
            server.wait(timeout=30)


def measure_page(page: Page, brain: Brain, line: Line, rounds: int) -> Figures:
    """Ask for a page, for its JSON and the engine, in turn; the first round warms up and is not told."""
    seen: dict[str, list[float]] = {"text/html": [], "application/json": [], "text/plain": [], "": []}
    for url in itertools.islice(itertools.cycle(page.urls), rounds + 1):
        for accept, times in seen.items():
            started = time.perf_counter()
            if accept:
                line.get(BARE if accept == "text/plain" else url, accept)
            else:
                page.call(brain, url)
            times.append((time.perf_counter() - started) * 1000)
            if accept:
                time.sleep(0.011)  # the door lets a hundred requests a second in
    html, found, bare, engine = (tuple(times[1:]) for times in seen.values())
    return Figures(page, html, found, engine, bare)


def sum_up(figures: Sequence[Figures]) -> str:
    """Return in words how many pages meet the limit, and which of them do not."""
    limit = f"p95 within {TIMES_MAX:g} times the engine call"
    lines = []
    for kind in ("HTML", "JSON"):
        over = [each.page.name for each in figures if kind not in each.met()]
        met = len(figures) - len(over)
        lines.append(f"{limit}, as {kind}: {met} of {len(figures)} pages; not {', '.join(over) or 'one'}")
    both = sum(each.worst(each.times) <= TIMES_MAX for each in figures)
    beside_bare = sum(each.worst(each.times_with_bare) <= TIMES_MAX for each in figures)
    lines.append(f"{limit}, both: {both} of {len(figures)}")
    lines.append(f"the same beside a bare answer: {beside_bare} of {len(figures)}")
    return "\n".join(lines)


def main() -> None:
    """Print a row for each page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--keep", type=Path, help="make the brain in this directory, or use the one that is there")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        run_server(given.serve)
        return
    root = given.keep or Path(tempfile.mkdtemp(prefix="omnislash-bench-"))
    try:
        if not (root / "omnislash.yaml").is_file():
            prepare(root, given.files)
        count = sum(1 for _ in root.rglob("*.md"))
        print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {count} files, {given.rounds} rounds, ms")
        heads = "".join(f"{name + ' p50, p95':>16}" for name in ("engine", "bare", "HTML", "JSON"))
        print(f"{'':<22}{heads}  by the call   by call, bare  within")
        figures = []
        for each in measure(root, given.rounds):
            figures.append(each)
            print(each.render(), flush=True)
        print(sum_up(figures))
    finally:
        if given.keep is None:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
