"""The check of duplicate entries."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.examining import choose_checks
from omnislash.checks.findings import Status, info, warn

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

MEMORY = "memory/main/MEMORY.md"
DAY = "memory/main/2026/11/2026-11-30.md"


def test_different_entries_pass(examine: Examine) -> None:
    """Entries that differ in one letter, in any script, are different."""
    text = "- Кот спит\n- Пёс бежит\n- 猫在窗台睡觉\n- 狗在沙滩跑步\n- the cat\n- the cats\n\n  - the cat\n"

    assert examine({MEMORY: text, DAY: text}, "duplicate-entries")["duplicate-entries"].findings == ()


@pytest.mark.rule("WRITE-O6")
@pytest.mark.parametrize(
    "second", ["- Gate code is 12", "- gate  CODE is 12 ", "* Gate code\n  is 12", "+ Gate code is\n\n  12"]
)
def test_the_same_entry_twice_in_a_section(examine: Examine, second: str) -> None:
    """Case, white space, the mark of the list and where a line breaks make no other entry."""
    message = "“Gate code is 12” stands in line 3 too, and counts twice in the budget."
    shown = " ".join(second[2:].split())
    result = examine({MEMORY: f"# Main\n\n- Gate code is 12\n- other\n{second}\n"}, "duplicate-entries")

    assert result["duplicate-entries"].findings == (
        warn(
            message.replace("Gate code is 12", shown),
            path=MEMORY,
            line=5,
            hint=f"Delete one of the two lines in {MEMORY}.",
        ),
    )


@pytest.mark.rule("WRITE-O6")
def test_accents_stored_in_two_ways_are_one(examine: Examine) -> None:
    """NFC and NFD of a letter say the same."""
    text = "- café closes at six\n- cafe\u0301 closes at six\n"

    assert [f.line for f in examine({MEMORY: text}, "duplicate-entries")["duplicate-entries"].findings] == [2]


def test_in_another_section_it_is_only_told(examine: Examine) -> None:
    """Under two headings the same words may say two things."""
    text = "## Gate\n\n- closed on Monday\n\n## Shop\n\n- closed on Monday\n"
    result = examine({MEMORY: text}, "duplicate-entries")["duplicate-entries"]

    assert result.findings == (
        info("“closed on Monday” stands in line 3 too, in another section.", path=MEMORY, line=7),
    )
    assert result.status is Status.PASS


@pytest.mark.rule("WRITE-14")
def test_in_a_daily_log_the_time_does_not_count(examine: Examine) -> None:
    """What happened twice may be written twice, so it is only told."""
    text = "# 2026-11-30\n\n- 09:00 Counted the till\n- 17:30 counted the till\n- 18:00\n- 18:00\n"
    result = examine({DAY: text}, "duplicate-entries")["duplicate-entries"]

    assert result.findings == (
        info("“counted the till” stands in line 3 too.", path=DAY, line=4),
        info("“18:00” stands in line 5 too.", path=DAY, line=6),
    )


def test_hidden_and_nested_items_do_not_count(examine: Examine) -> None:
    """An example in a fence or a comment, and an item in an item, is no entry."""
    text = "- one\n\n```\n- one\n```\n\n<!--\n- one\n-->\n\n- two\n  - one\n  - one\n"

    assert examine({MEMORY: text}, "duplicate-entries")["duplicate-entries"].findings == ()


def test_documents_and_sources_are_free(examine: Examine) -> None:
    """Only the files that the writer adds to are looked at."""
    files = dict.fromkeys(("memory/main/plan.md", "memory/main/2026/2026-W48.md", "content/a.md"), "- one\n- one\n")

    assert (
        examine({"omnislash.yaml": "memory: {sources: [content]}\n", **files}, "duplicate-entries")[
            "duplicate-entries"
        ].findings
        == ()
    )


def test_the_same_fact_in_two_lines_is_no_duplicate(examine: Examine) -> None:
    """Each line is a memory of its own."""
    files = {MEMORY: "- one\n", "memory/ops/MEMORY.md": "- one\n"}

    assert examine(files, "duplicate-entries")["duplicate-entries"].findings == ()


@pytest.mark.rule("SECRET-O2")
def test_a_credential_is_not_shown(examine: Examine) -> None:
    """An entry that holds one is quoted without it, and a long one is cut."""
    token = "ghp_" + "b1" * 18
    cut = f"{'word ' * 9}{token}"
    text = f"- {token} is the key\n- {token} is the key\n- {'word ' * 30}\n- {'word ' * 30}\n- {cut}\n- {cut}\n"
    first, second, third = examine({MEMORY: text}, "duplicate-entries")["duplicate-entries"].findings

    assert first.message.startswith("“[redacted: GitHub token] is the key” stands")
    assert second.message.startswith(f"“{'word ' * 11}word…” stands")
    assert third.message.startswith(f"“{'word ' * 9}[redacted: Git…” stands")


def test_two_files_and_three_times(examine: Examine) -> None:
    """Each repetition is named, behind the first one; warnings come before what is only told."""
    files = {"omnislash.yaml": "a: [\n", DAY: "- x\n- x\n", MEMORY: "- y\r\n- y\r\n- y\r\n"}
    found = examine(files, "duplicate-entries")["duplicate-entries"].findings

    assert [(each.severity.value, each.path, each.line) for each in found] == [
        ("warn", MEMORY, 2),
        ("warn", MEMORY, 3),
        ("info", DAY, 2),
    ]


def test_empty_files_and_nonsense(examine: Examine) -> None:
    """Empty files, empty items and bytes that are no text are no duplicates."""
    files: dict[str, str | bytes] = {MEMORY: b"\xff\xfe\0- \0", DAY: b"", "memory/ops/MEMORY.md": "- \n- \n-\n-\n"}

    assert examine(files, "duplicate-entries")["duplicate-entries"].findings == ()


def test_of_a_doubled_log_only_what_is_shown_is_put_into_words(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log in which everything stands twice is counted, and its entries are not all looked through for credentials."""
    module = sys.modules[choose_checks(["duplicate-entries"])[0].__module__]
    masked: list[str] = []

    def mask(text: str) -> str:
        masked.append(text)
        return text

    monkeypatch.setattr(module, "mask_secrets", mask)
    text = "".join(f"- 09:00 entry {number}\n" for number in range(500)) * 2

    found = examine({DAY: text}, "duplicate-entries")["duplicate-entries"].findings

    assert found[0] == info("“entry 0” stands in line 1 too.", path=DAY, line=501)
    assert found[20:] == (info("480 more entries that stand twice in a daily log."),)
    assert len(masked) == 20
