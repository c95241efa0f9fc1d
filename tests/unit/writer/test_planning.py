"""Planning is pure: one job, the files as they are, and the settings give the bytes, the answer and the events."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from omnislash.core.daily import parse_daily
from omnislash.core.dedupe import fold
from omnislash.core.lines import AuthoredPath, FileKind, LineName, ManagedPath, kind_of
from omnislash.core.sections import memory_units, parse_memory
from omnislash.core.verdicts import Outcome
from omnislash.store.hashing import hash_bytes
from omnislash.writer.jobs import DeleteRequest, EditRequest, Job, MoveRequest, WriteFileRequest, WriteRequest
from omnislash.writer.planning import plan_job
from omnislash.writer.planning_files import hash_part
from omnislash.writer.plans import Plan, WriterSettings, decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.writer.jobs import Request

AT = datetime(2026, 8, 30, 9, 5, tzinfo=UTC)
SETTINGS = WriterSettings(zone=ZoneInfo("UTC"))
MEMORY = ManagedPath("main/MEMORY.md")
TODAY = ManagedPath("main/2026/08/2026-08-30.md")
NOTES = ManagedPath("main/notes.md")
BOM = b"\xef\xbb\xbf"


class Files:
    """Managed files in memory."""

    def __init__(self, files: dict[ManagedPath, bytes]) -> None:
        self._files = files

    def read(self, path: ManagedPath) -> bytes | None:
        return self._files.get(path)

    def holds(self, path: ManagedPath, unit: str) -> bool:
        text = decode(self.read(path))
        if kind_of(path) is FileKind.MEMORY:
            return unit in {fold(each) for each in memory_units(parse_memory(text))}
        return unit in {fold(entry.text) for entry in parse_daily(text)}


def plan(
    request: Request,
    files: dict[ManagedPath, bytes] | None = None,
    *,
    settings: WriterSettings = SETTINGS,
    resumed: bool = False,
) -> Plan:
    """Return the plan of a request in the line `main`."""
    job = Job("j" * 20, LineName("main"), request, AT, role="nova", heartbeat="rounds", resumed=resumed)
    return plan_job(job, Files(files or {}), settings)


def after(found: Plan) -> dict[ManagedPath, bytes | None]:
    """Return what the files of a plan shall hold."""
    return {change.path: change.after for change in found.changes}


# -- edit ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("TOOL-O1", "TOOL-03", "EVENT-02")
@pytest.mark.parametrize(
    ("before", "old", "new", "expected"),
    [
        pytest.param(b"- a\n- b\n", "a", "x", b"- x\n- b\n", id="a whole entry"),
        pytest.param(b"- a\n- ab\n- b a\n", "a", "x", b"- x\n- ab\n- b a\n", id="an entry that stands in others too"),
        pytest.param(b"- A\n- a\n", "a", "x", b"- A\n- x\n", id="letter case counts"),
        pytest.param(b"- rules for all\n", "rules", "laws", b"- laws for all\n", id="a text that occurs once"),
        pytest.param(b"# M\n\nprose  \nmore\t\n", "prose  \nmore", "x", b"# M\n\nx\t\n", id="over two lines"),
        pytest.param(b"- a\n  more\n- b\n", "a\nmore", "x\ny", b"- x\n  y\n- b\n", id="an entry of two lines"),
        pytest.param(b"* a\n+ b\n", "a", "x", b"* x\n+ b\n", id="its own list mark stays"),
        pytest.param(b"- a\n- ab\n", "- a\n", "- x\n", b"- x\n- ab\n", id="given with mark and line end"),
        pytest.param(b"- a", "a", "x", b"- x", id="no line end is added"),
        pytest.param(BOM + b"- a\r\n- b\r\n", "b", "x\ny", BOM + b"- a\r\n- x\r\n  y\r\n", id="BOM and CRLF stay"),
        pytest.param(b"a\r\nb\r\n", "a\nb", "x\ny", b"x\r\ny\r\n", id="LF given, CRLF there"),
        pytest.param(b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n", id="CRLF given, LF there"),
        pytest.param(b"\xff\xfe a \xff\n", "a", "x", b"\xff\xfe x \xff\n", id="bytes that are no text stay"),
        pytest.param("e\u0301 and \u00e9\n".encode(), "\u00e9", "x", "e\u0301 and x\n".encode(), id="form counts"),
    ],
)
def test_edit_changes_what_was_meant(before: bytes, old: str, new: str, expected: bytes) -> None:
    """An edit replaces one entry, or a text that occurs once, and leaves every other byte as it is."""
    found = plan(EditRequest(NOTES, old, new), {NOTES: before})

    assert after(found) == {NOTES: expected}
    assert (found.verdict.outcome, found.verdict.paths) == (Outcome.WRITTEN, (NOTES,))
    assert [event.name for event in found.events] == ["memory:edited"]


def test_edit_of_a_log_keeps_the_time() -> None:
    """An entry of a daily log is found by its text and keeps its time; given as the file shows it, no mark is doubled."""
    log = b"# 2026-08-30\n\n- 08:00 a\n- 08:01 b\n"

    assert after(plan(EditRequest(TODAY, "a", "x"), {TODAY: log})) == {TODAY: log.replace(b"08:00 a", b"08:00 x")}
    shown = EditRequest(TODAY, "- 08:00 a", "- 08:00 x")
    assert after(plan(shown, {TODAY: log})) == {TODAY: log.replace(b"08:00 a", b"08:00 x")}


@pytest.mark.rule("TOOL-O1")
def test_edit_of_what_occurs_often_lists_the_places() -> None:
    """A text that occurs more than once is refused with the number and the lines of its places, not all of them."""
    found = plan(EditRequest(NOTES, "rule", "x"), {NOTES: b"a rule\n\n- the rule\n- rules\n"})
    many = plan(EditRequest(NOTES, "rule", "x"), {NOTES: b"a rule here\n" * 100})

    assert found.changes == ()
    assert found.verdict.outcome is Outcome.REFUSED
    assert "3 times" in found.verdict.message
    for words in ("line 1: a rule", "line 3: - the rule", "line 4: - rules"):
        assert words in found.verdict.message
    assert "100 times" in many.verdict.message
    assert len(many.verdict.message) < 1000


def test_edit_of_two_same_entries_is_refused() -> None:
    """Two entries with the same text are two places, even when the text occurs nowhere else."""
    found = plan(EditRequest(NOTES, "a", "x"), {NOTES: b"- a\n- b\n- a\n"})

    assert (found.changes, found.verdict.outcome) == ((), Outcome.REFUSED)
    assert "line 1" in found.verdict.message
    assert "line 3" in found.verdict.message


@pytest.mark.parametrize(
    ("request_", "files"),
    [
        pytest.param(EditRequest(NOTES, "a", "x"), {}, id="no file"),
        pytest.param(EditRequest(NOTES, "absent", "x"), {NOTES: b"a\n"}, id="text not there"),
        pytest.param(EditRequest(NOTES, "", "x"), {NOTES: b"a\n"}, id="nothing to replace"),
        pytest.param(EditRequest(NOTES, "a", " \n"), {NOTES: b"a\n"}, id="nothing to put there"),
        pytest.param(EditRequest(NOTES, "a", "a"), {NOTES: b"a\n"}, id="no change"),
        pytest.param(EditRequest(NOTES, "a", "x\x00"), {NOTES: b"a\n"}, id="NUL"),
        pytest.param(DeleteRequest(NOTES), {}, id="delete of nothing"),
        pytest.param(DeleteRequest(NOTES, entry="x"), {NOTES: b"- a\n"}, id="entry not there"),
        pytest.param(DeleteRequest(NOTES, entry="a"), {NOTES: b"- a\n- a\n"}, id="entry twice"),
        pytest.param(DeleteRequest(NOTES, section="X"), {NOTES: b"## A\n"}, id="section not there"),
        pytest.param(DeleteRequest(NOTES, section="A"), {NOTES: b"## A\n## A\n"}, id="section twice"),
        pytest.param(DeleteRequest(NOTES, entry="a"), {NOTES: b"- ab\n"}, id="part of an entry"),
        pytest.param(MoveRequest(NOTES, TODAY), {}, id="move of nothing"),
        pytest.param(MoveRequest(NOTES, TODAY), {NOTES: b"a", TODAY: b"b"}, id="move onto a file"),
        pytest.param(MoveRequest(NOTES, TODAY), {NOTES: b"a", TODAY: b"a"}, id="move onto the same text"),
        pytest.param(MoveRequest(NOTES, NOTES), {NOTES: b"a"}, id="move onto itself"),
        pytest.param(WriteFileRequest(NOTES, ""), {}, id="empty file"),
        pytest.param(WriteRequest("\ud83d"), {}, id="half a pair"),
    ],
)
def test_refusal_plans_nothing(request_: Request, files: dict[ManagedPath, bytes]) -> None:
    """What is refused changes no file, names no path, sends nothing, and says so in a sentence."""
    found = plan(request_, files)

    assert (found.changes, found.events, found.verdict.paths) == ((), (), ())
    assert found.verdict.outcome is Outcome.REFUSED
    assert ". " in f"{found.verdict.message} "


# -- delete ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("TOOL-O1", "TOOL-04", "EVENT-03")
@pytest.mark.parametrize(
    ("before", "what", "expected"),
    [
        pytest.param(b"- a\n- b\n", {"entry": "a"}, b"- b\n", id="an entry"),
        pytest.param(b"- a\n- b\n- c\n", {"entry": "b"}, b"- a\n- c\n", id="between two"),
        pytest.param(b"- a\n\n  more\n\n- b\n", {"entry": "a\n\nmore"}, b"\n- b\n", id="of several lines"),
        pytest.param(b"- a\r\n- b\r\n", {"entry": "a"}, b"- b\r\n", id="CRLF"),
        pytest.param(BOM + b"- a\n- b", {"entry": "b"}, BOM + b"- a\n", id="BOM and no line end"),
        pytest.param(b"# M\n## A\n- a\n## B\n- b\n", {"section": "A"}, b"# M\n## B\n- b\n", id="a section"),
        pytest.param(b"# M\n## A\n- a\n", {"section": "## A"}, b"# M\n", id="the last section"),
        pytest.param(b"## A\r\n- a\r\n## B\r\n", {"section": "A"}, b"## B\r\n", id="a section with CRLF"),
        pytest.param(
            b"# M\n\n## Memory (2026-08-01)\n\n- a\n\n## P\n", {"entry": "a"}, b"# M\n\n## P\n",
            id="last entry of a dated section takes the section along",
        ),
        pytest.param(
            b"## Memory (2026-08-01)\n\n- a\n- b\n", {"entry": "a"}, b"## Memory (2026-08-01)\n\n- b\n",
            id="one of two in a dated section",
        ),
    ],
)  # fmt: skip
def test_delete_takes_out_what_was_meant(before: bytes, what: dict[str, str], expected: bytes) -> None:
    """A deletion of an entry or a section takes exactly that out of the file."""
    found = plan(DeleteRequest(MEMORY, **what), {MEMORY: before})

    assert after(found) == {MEMORY: expected}
    assert [(event.name, event.to_json()["chars"]) for event in found.events] == [
        ("memory:deleted", len(expected.decode()))
    ]


def test_delete_of_an_entry_of_a_log_by_its_text_or_time() -> None:
    """An entry of a log is named by its text; with its time when two have the same."""
    log = b"# 2026-08-30\n\n- 08:00 a\n- 08:01 a\n- 08:02 b\n"

    assert plan(DeleteRequest(TODAY, entry="a"), {TODAY: log}).verdict.outcome is Outcome.REFUSED
    assert after(plan(DeleteRequest(TODAY, entry="08:01 a"), {TODAY: log})) == {
        TODAY: b"# 2026-08-30\n\n- 08:00 a\n- 08:02 b\n"
    }


def test_refused_deletion_shows_candidates() -> None:
    """An entry that is not there is refused with those that hold the text; a section with those that exist."""
    found = plan(DeleteRequest(NOTES, entry="ship"), {NOTES: b"- We ship on Fridays\n- Other\n"})
    section = plan(DeleteRequest(NOTES, section="Peopel"), {NOTES: b"## People\n## Rules\n"})

    assert "line 1: We ship on Fridays" in found.verdict.message
    assert "Other" not in found.verdict.message
    assert "'People', 'Rules'" in section.verdict.message


@pytest.mark.rule("TOOL-O1", "EVENT-03")
def test_delete_of_a_file() -> None:
    """A deletion of a file removes it, whatever it holds, and says what git keeps."""
    found = plan(DeleteRequest(NOTES), {NOTES: b"\xff"})

    assert after(found) == {NOTES: None}
    assert (found.verdict.outcome, found.verdict.paths) == (Outcome.WRITTEN, ())
    assert "git history" in found.verdict.message
    assert [(event.name, event.to_json()["chars"]) for event in found.events] == [("memory:deleted", 0)]


def test_deletion_of_another_state_is_refused() -> None:
    """A deletion that was granted for other bytes is refused; for a section, other bytes of that section."""
    files = {NOTES: b"# M\n## A\n- a\n## B\n- b\n"}
    seen_a = hash_part(files[NOTES], "A")

    assert plan(DeleteRequest(NOTES, expect_hash=hash_bytes(b"old")), files).verdict.outcome is Outcome.REFUSED
    assert plan(DeleteRequest(NOTES, expect_hash=hash_bytes(files[NOTES])), files).verdict.outcome is Outcome.WRITTEN
    moved_on = {NOTES: files[NOTES] + b"- c\n"}
    assert plan(DeleteRequest(NOTES, section="A", expect_hash=seen_a), moved_on).verdict.outcome is Outcome.WRITTEN
    changed = {NOTES: files[NOTES].replace(b"- a", b"- z")}
    assert plan(DeleteRequest(NOTES, section="A", expect_hash=seen_a), changed).verdict.outcome is Outcome.REFUSED


# -- whole files -----------------------------------------------------------------------------------------------------


@pytest.mark.rule("TOOL-O2")
@pytest.mark.parametrize(
    ("before", "content", "expected"),
    [
        pytest.param(None, "a\nb\n", b"a\nb\n", id="new"),
        pytest.param(None, "a", b"a\n", id="a final newline is added"),
        pytest.param(b"old\n", "a\n\n", b"a\n\n", id="replaced as given"),
        pytest.param(b"old\r\n", "a\nb\n", b"a\r\nb\r\n", id="CRLF stays"),
        pytest.param(b"old\r\n", "a\r\nb\r\n", b"a\r\nb\r\n", id="CRLF given"),
        pytest.param(BOM + b"old\n", "a\n", BOM + b"a\n", id="BOM stays"),
        pytest.param(BOM + b"old\n", "\ufeffa\n", BOM + b"a\n", id="BOM is not doubled"),
    ],
)
def test_file_is_replaced_in_its_own_style(before: bytes | None, content: str, expected: bytes) -> None:
    """A whole-file save keeps the file's byte order mark and line ends."""
    found = plan(WriteFileRequest(NOTES, content), {} if before is None else {NOTES: before})

    assert after(found) == {NOTES: expected}
    assert found.verdict.outcome is Outcome.WRITTEN


def test_same_text_is_a_duplicate() -> None:
    """A save of exactly what is there changes nothing, whatever hash was expected."""
    found = plan(WriteFileRequest(NOTES, "a\n", expect_hash="0" * 64), {NOTES: b"a\n"})

    assert (found.changes, found.verdict.outcome, found.verdict.paths) == ((), Outcome.DUPLICATE, (NOTES,))


@pytest.mark.parametrize(
    ("there", "expected", "outcome"),
    [
        (b"a\n", hash_bytes(b"a\n"), Outcome.WRITTEN),
        (b"a\n", hash_bytes(b"old\n"), Outcome.REFUSED),
        (b"a\n", "absent", Outcome.REFUSED),
        (b"a\n", None, Outcome.WRITTEN),
        (None, "absent", Outcome.WRITTEN),
        (None, hash_bytes(b"old\n"), Outcome.REFUSED),
        (b"a\n", "", Outcome.REFUSED),
    ],
)
def test_expected_hash_decides(there: bytes | None, expected: str | None, outcome: Outcome) -> None:
    """A save that names the bytes it was made from is refused when others are there, and when there are none."""
    found = plan(WriteFileRequest(NOTES, "new\n", expect_hash=expected), {} if there is None else {NOTES: there})

    assert found.verdict.outcome is outcome
    assert bool(found.changes) is (outcome is Outcome.WRITTEN)


@pytest.mark.rule("TOOL-O2", "EVENT-02", "EVENT-03")
def test_move_keeps_every_byte() -> None:
    """A move carries the bytes as they are, and sends what became of both names."""
    found = plan(MoveRequest(NOTES, ManagedPath("main/old/n.md")), {NOTES: BOM + b"\xff\r\n"})

    assert after(found) == {ManagedPath("main/old/n.md"): BOM + b"\xff\r\n", NOTES: None}
    assert [(event.name, event.to_json()["file"]) for event in found.events] == [
        ("memory:edited", "main/old/n.md"),
        ("memory:deleted", NOTES),
    ]


@pytest.mark.rule("BUDGET-O10", "BUDGET-05")
@pytest.mark.parametrize(
    ("limit", "outcome", "dropped"),
    [(1000, Outcome.WRITTEN, ()), (100, Outcome.WRITTEN, ("2026-08-01",)), (20, Outcome.REFUSED, ())],
)
def test_move_onto_memory_passes_the_budget(limit: int, outcome: Outcome, dropped: tuple[str, ...]) -> None:
    """A move onto MEMORY.md drops the oldest sections until it fits, and is refused when it can't; no half is done."""
    text = b"# Rules, which are long enough for this\n" + b"".join(
        b"## Memory (2026-08-0%d)\n\n- %s\n" % (day, b"d" * 10) for day in (1, 2)
    )

    found = plan(MoveRequest(NOTES, MEMORY), {NOTES: text}, settings=replace(SETTINGS, file_max_chars=limit))

    assert found.verdict.outcome is outcome
    assert set(after(found)) == ({MEMORY, NOTES} if outcome is Outcome.WRITTEN else set())
    compacted = [event.to_json()["dates"] for event in found.events if event.name == "memory:compacted"]
    assert compacted == ([list(dropped)] if dropped else [])


@pytest.mark.rule("BUDGET-12", "BUDGET-13", "BUDGET-05")
@pytest.mark.parametrize(
    ("length", "outcome"), [(149, Outcome.WRITTEN), (150, Outcome.REFUSED), (151, Outcome.REFUSED)]
)
@pytest.mark.parametrize("door", ["edit", "write-file"])
def test_over_budget_only_smaller_is_accepted(door: str, length: int, outcome: Outcome) -> None:
    """Over the budget a text that is strictly smaller is accepted, through an edit and through a save."""
    new = "y" * (length - 1)
    request: Request = EditRequest(MEMORY, "x" * 149, new) if door == "edit" else WriteFileRequest(MEMORY, new)

    found = plan(request, {MEMORY: b"x" * 149 + b"\n"}, settings=replace(SETTINGS, file_max_chars=100))

    assert found.verdict.outcome is outcome


@pytest.mark.rule("SOURCE-O3")
@pytest.mark.parametrize(
    "request_",
    [
        WriteFileRequest(ManagedPath("main/shared/a.md"), "x"),
        MoveRequest(NOTES, ManagedPath("main/shared/a.md")),
    ],
)
def test_shadowed_path_is_never_made(request_: Request) -> None:
    """No file is made where a declared source has the path, even by a job that was queued before the declaration."""
    settings = replace(SETTINGS, sources=(AuthoredPath("main/shared"),))

    found = plan(request_, {NOTES: b"a"}, settings=settings)

    assert (found.changes, found.verdict.outcome) == ((), Outcome.REFUSED)
    assert "main/shared" in found.verdict.message


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize(
    "make",
    [
        WriteRequest,
        lambda text: WriteRequest(text, priority=True),
        lambda text: EditRequest(NOTES, "a", text),
        lambda text: WriteFileRequest(NOTES, text),
    ],
    ids=["write", "priority", "edit", "write-file"],
)
def test_credential_is_refused_by_the_writer_itself(make: Callable[[str], Request]) -> None:
    """The writer judges again what reached the queue; allowed, it is stored."""
    secret = "ghp_" + "b1" * 18
    request = make(f"the token is {secret}")

    found = plan(request, {NOTES: b"a\n"})

    assert (found.changes, found.events, found.verdict.outcome) == ((), (), Outcome.REFUSED)
    assert "GitHub token" in found.verdict.message
    assert secret not in found.verdict.message
    allowed = plan(request, {NOTES: b"a\n"}, settings=replace(SETTINGS, refuse_secrets=False))
    assert allowed.verdict.outcome is Outcome.WRITTEN


# -- entries ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-12", "EVENT-01", "BUDGET-02")
def test_priority_plans_both_files() -> None:
    """A priority write plans the log first and MEMORY.md second, with one event each."""
    found = plan(WriteRequest("x", priority=True))

    assert [(change.path, change.after) for change in found.changes] == [
        (TODAY, b"# 2026-08-30\n\n- 09:05 x\n"),
        (MEMORY, b"## Memory (2026-08-30)\n\n- x\n"),
    ]
    assert [event.to_json() for event in found.events] == [
        {"file": path, "scope": "main", "chars": chars, "role": "nova", "heartbeatId": "rounds"}
        for path, chars in ((TODAY, 24), (MEMORY, 28))
    ]


@pytest.mark.rule("LINE-O3")
def test_day_comes_from_the_zone() -> None:
    """The same instant is another day in another zone."""
    found = plan(WriteRequest("x"), settings=replace(SETTINGS, zone=ZoneInfo("Pacific/Pago_Pago")))

    assert after(found) == {ManagedPath("main/2026/08/2026-08-29.md"): b"# 2026-08-29\n\n- 22:05 x\n"}


@pytest.mark.rule("REPORT-04", "REPORT-06", "REPORT-07", "WRITE-O6")
def test_deposit_is_known_by_its_signature() -> None:
    """A deposit is signed, goes to the log alone, and is a duplicate of the same deposit only."""
    request = WriteRequest("sync failed", signature="assistant · briefing")
    signed = "# 2026-08-30\n\n- 08:00 sync failed — assistant · briefing\n".encode()
    plain = b"# 2026-08-30\n\n- 08:00 sync failed\n"

    assert after(plan(request)) == {TODAY: signed.replace(b"08:00", b"09:05")}
    assert plan(request, {TODAY: signed}).verdict.outcome is Outcome.DUPLICATE
    assert plan(request, {TODAY: plain}).verdict.outcome is Outcome.WRITTEN


# -- after a crash ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-O5")
@pytest.mark.parametrize(
    ("request_", "files", "paths"),
    [
        pytest.param(WriteRequest("x"), {TODAY: b"# 2026-08-30\n\n- 09:05 x\n"}, (TODAY,), id="write"),
        pytest.param(
            WriteRequest("x", priority=True),
            {TODAY: b"# 2026-08-30\n\n- 09:05 x\n", MEMORY: b"## Memory (2026-08-30)\n\n- x\n"},
            (TODAY, MEMORY),
            id="priority write",
        ),
        pytest.param(EditRequest(NOTES, "a", "b"), {NOTES: b"- b\n"}, (NOTES,), id="edit"),
        pytest.param(WriteFileRequest(NOTES, "a\n", expect_hash="0" * 64), {NOTES: b"a\n"}, (NOTES,), id="save"),
        pytest.param(MoveRequest(NOTES, TODAY), {TODAY: b"a"}, (TODAY,), id="move"),
        pytest.param(DeleteRequest(NOTES), {}, (), id="delete of a file"),
        pytest.param(DeleteRequest(NOTES, entry="a"), {NOTES: b"- b\n"}, (NOTES,), id="delete of an entry"),
        pytest.param(DeleteRequest(NOTES, section="A"), {NOTES: b"## B\n"}, (NOTES,), id="delete of a section"),
    ],
)
def test_resumed_job_is_not_done_twice(
    request_: Request, files: dict[ManagedPath, bytes], paths: tuple[ManagedPath, ...]
) -> None:
    """What a job that was interrupted wanted, and what is in effect already, counts as written and changes nothing."""
    found = plan(request_, files, resumed=True)

    assert found.changes == ()
    assert (found.verdict.outcome, found.verdict.paths) == (Outcome.WRITTEN, paths)


@pytest.mark.rule("WRITE-O5")
@pytest.mark.parametrize(
    ("request_", "files"),
    [
        (WriteRequest("x"), {TODAY: b"# 2026-08-30\n\n- 08:00 a\n"}),
        (WriteRequest("x", priority=True), {TODAY: b"# 2026-08-30\n\n- 09:05 x\n"}),
        (EditRequest(NOTES, "a", "b"), {NOTES: b"- a\n"}),
        (WriteFileRequest(NOTES, "b\n"), {NOTES: b"a\n"}),
        (MoveRequest(NOTES, TODAY), {NOTES: b"a"}),
        (MoveRequest(NOTES, TODAY), {NOTES: b"a", TODAY: b"a"}),
        (DeleteRequest(NOTES), {NOTES: b"a"}),
        (DeleteRequest(NOTES, entry="a"), {NOTES: b"- a\n"}),
    ],
)
def test_resumed_job_that_is_not_in_effect_runs(request_: Request, files: dict[ManagedPath, bytes]) -> None:
    """A job that was interrupted before it took effect is planned as ever."""
    found = plan(request_, files, resumed=True)

    assert found.changes != ()
    assert found.verdict.outcome is Outcome.WRITTEN


def test_plans_are_repeatable() -> None:
    """The same job, files and settings give the same plan."""
    files = {TODAY: b"# 2026-08-30\n\n- 08:00 a\n", MEMORY: b"# M\n"}

    assert plan(WriteRequest("x", priority=True), files) == plan(WriteRequest("x", priority=True), files)


@pytest.mark.parametrize(
    ("old", "new", "after_"),
    [
        pytest.param("till counted", "till counted twice", "- 09:40 till counted twice", id="the text"),
        pytest.param("- 09:40 till counted", "- 09:45 till counted", "- 09:45 till counted", id="both as shown"),
        pytest.param("- 09:40 till counted", "till counted twice", "- 09:40 till counted twice", id="old as shown"),
        pytest.param("09:40 till counted", "09:40 till closed", "- 09:40 till closed", id="both with the time"),
        pytest.param("- 09:40 till counted", "- 09:40 one\n- 09:41 two", "- 09:40 one\n- 09:41 two", id="two for one"),
        pytest.param("till counted", "one\ntwo", "- 09:40 one\n  two", id="two lines"),
    ],
)
def test_an_entry_keeps_its_mark_and_time(old: str, new: str, after_: str) -> None:
    """An entry is found as it reads and as the file shows it, and comes out with one mark and one time."""
    before = "# 2026-08-30\n\n- 09:00 opened the shop\n- 09:40 till counted\n"
    found = plan(EditRequest(TODAY, old, new), {TODAY: before.encode()})
    assert found.changes[0].after == before.replace("- 09:40 till counted", after_).encode()
