"""The window of daily logs: newest entries survive, whole lines from the bottom, labels and pointer inside the ceiling."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.core.lines import LineName
from omnislash.envelope.window import DayLog, render_window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.envelope.blocks import Block

MAIN = LineName("main")
TODAY = date(2026, 11, 30)
OPEN, CLOSE = '<agent-memory-daily line="main">', "</agent-memory-daily>"
IN_PART = "(in part — memory_read for the rest)"
PLENTY = 100_000


def units(text: str) -> int:
    """Return the length as JavaScript counts it."""
    return len(text.encode("utf-16-le")) // 2


def logs(*texts: str) -> Iterator[DayLog]:
    """Yield logs with these texts, that of today first."""
    for back, text in enumerate(texts):
        yield DayLog(on=TODAY - timedelta(days=back), text=text)


def log(*entries: str, day: str = "2026-11-30") -> str:
    """Return a log as the engine writes it."""
    return f"# {day}\n\n" + "".join(f"- {entry}\n" for entry in entries)


def render(*texts: str, ceiling: int = PLENTY) -> Block | None:
    """Return the window of these logs."""
    block = render_window(logs(*texts), line=MAIN, ceiling=ceiling)
    assert block is None or units(block.text) <= ceiling
    return block


def body(block: Block | None) -> list[str]:
    """Return the lines between the tag and the pointer."""
    assert block is not None
    lines = block.text.split("\n")
    assert (lines[0], lines[-1]) == (OPEN, CLOSE)
    assert "older entries exist" in lines[-2]
    assert "memory_search" in lines[-2]
    assert "memory_read" in lines[-2]
    assert lines[-3] == ""
    return lines[1:-3]


#: Makes a log too long for the label that it would have as a whole.
LONG = "x" * 80
#: What the tags, the pointer and the blank line before it take.
FRAME = units(f"{OPEN}\n(older entries exist — memory_search finds them, memory_read opens a path)\n{CLOSE}")
LABEL = "[main/2026/11/2026-11-30.md]"


def room_for(text: str) -> int:
    """Return the ceiling at which exactly this fits, label included."""
    return FRAME + units(text) + 2


@pytest.mark.rule("ENVELOPE-14", "ENVELOPE-18", "ENVELOPE-O2")
def test_days_in_their_order_under_labels() -> None:
    """Oldest first, each under its path, without the heading that says the same, and the pointer at the end."""
    block = render(log("09:00 a", "10:00 b\n  goes on"), log("08:00 c", day="2026-11-29"))

    assert body(block) == [
        "[main/2026/11/2026-11-29.md]",
        "- 08:00 c",
        "",
        LABEL,
        "- 09:00 a",
        "- 10:00 b",
        "  goes on",
    ]
    assert block is not None
    assert (block.place, block.is_partial) == ("main", False)
    assert set(block.shown.values()) == {None}


@pytest.mark.parametrize("texts", [(), ("",), ("# 2026-11-30\n",), ("\ufeff\r\n", "# 2026-11-29\n\n## Later\n")])
def test_nothing_written_nothing_shown(texts: tuple[str, ...]) -> None:
    """A day without any writing has no label, and a window without a day is no block."""
    assert render(*texts) is None


@pytest.mark.rule("ENVELOPE-15", "ENVELOPE-20", "ENVELOPE-18")
def test_newest_entries_survive() -> None:
    """Of a day that does not fit, whole lines from the bottom stay, and its label says so."""
    text = log(f"08:00 first {LONG}", "09:00 second", "10:00 third")
    kept = f"{LABEL} {IN_PART}\n- 09:00 second\n- 10:00 third"

    assert body(render(text, ceiling=room_for(kept))) == kept.split("\n")
    assert body(render(text, ceiling=room_for(kept) - 1)) == kept.replace("- 09:00 second\n", "").split("\n")


@pytest.mark.rule("ENVELOPE-15", "ENVELOPE-23")
def test_older_days_go_before_newer_entries() -> None:
    """A newer day is whole before an older one gets any room, and nothing older survives a day that is cut."""
    today, before, first = log("09:00 a"), log("08:00 " + "b " * 40, "08:30 c"), log("07:00 d")
    whole = f"{LABEL}\n- 09:00 a"
    cut = f"[main/2026/11/2026-11-29.md] {IN_PART}\n- 08:30 c"

    assert body(render(today, before, first, ceiling=room_for(whole))) == whole.split("\n")
    block = render(today, before.replace("11-30", "11-29"), first, ceiling=room_for(whole) + units(cut) + 2 + 30)
    assert body(block) == [*cut.split("\n"), "", *whole.split("\n")]
    assert block is not None
    assert block.is_partial


@pytest.mark.rule("ENVELOPE-21")
def test_no_heading_alone() -> None:
    """A heading that a person wrote stands only above something of it."""
    text = log(f"08:00 a {LONG}") + "\n## Noon\n\n- 12:00 b\n\n## Evening\n"

    assert body(render(text, ceiling=room_for(f"{LABEL} {IN_PART}\n## Noon\n\n- 12:00 b\n\n## Evening")))[1:] == [
        "## Noon",
        "",
        "- 12:00 b",
    ]
    assert body(render(text, ceiling=room_for(f"{LABEL} {IN_PART}\n- 12:00 b\n\n## Evening")))[1:] == ["- 12:00 b"]


@pytest.mark.rule("ENVELOPE-20")
def test_lines_stay_with_their_entry() -> None:
    """What is left begins with an entry; a line that goes on from one that is gone, goes with it."""
    text = log(f"08:00 a {LONG}\n  one\n  two", "09:00 b")
    room = room_for(f"{LABEL} {IN_PART}\n  two\n- 09:00 b")

    assert body(render(text, ceiling=room))[1:] == ["- 09:00 b"]
    assert body(render(log("08:00 " + "a" * 99 + "\n  one\n  two"), ceiling=room))[1:] == ["  one", "  two"]


@pytest.mark.rule("ENVELOPE-22", "ENVELOPE-24")
def test_first_words_of_a_newest_entry_too_long() -> None:
    """Where not one line fits, the newest line is shown by its first words; with no room for these there is no block."""
    text = log("08:00 old", "09:00 " + "many words of one line " * 20)
    shown = f"{LABEL} {IN_PART}\n- 09:00 many words of one …"

    assert body(render(text, ceiling=room_for(shown)))[1:] == ["- 09:00 many words of one …"]
    assert render(text, ceiling=room_for(f"{LABEL} {IN_PART}\n- 09:00 many …")) is None


@pytest.mark.rule("ENVELOPE-24", "ENVELOPE-23", "KNOB-08")
@pytest.mark.parametrize("ceiling", [0, 1, FRAME, FRAME + 2, room_for(LABEL), room_for(f"{LABEL} {IN_PART}\n")])
def test_never_only_a_frame(ceiling: int) -> None:
    """A ceiling too small for an entry beside tags, pointer and label gives no block at all."""
    assert render(log(f"09:00 one two three four {LONG}"), ceiling=ceiling) is None


def test_days_beyond_the_room_are_not_read() -> None:
    """Once the room is used up, no further file is asked for."""
    asked = []

    def reading() -> Iterator[DayLog]:
        for each in logs(*[log("09:00 " + "x" * 200)] * 1000):
            asked.append(each.on)
            yield each

    render_window(reading(), line=MAIN, ceiling=1000)

    assert len(asked) < 8


def test_line_of_five_megabytes() -> None:
    """It is cut like any other when it is the newest, and passed over when something newer fits."""
    long = "08:00 " + "word " * 1_000_000

    assert body(render(log(long), ceiling=300))[1].endswith("word …")
    assert body(render(log(long, "09:00 b"), ceiling=300))[1:] == ["- 09:00 b"]


def test_unreadable_day_says_so() -> None:
    """It is not taken for a day without entries, and the days before it are shown."""
    days = [
        DayLog(on=TODAY, text="", trouble="memory/main/2026/11/2026-11-30.md can't be used: permission denied."),
        *logs("", log("08:00 c", day="2026-11-29")),
    ]

    block = render_window(days, line=MAIN, ceiling=PLENTY)

    assert body(block)[1] == "- 08:00 c"
    assert "permission denied" in body(block)[-1]
    assert block is not None
    assert block.is_partial


@pytest.mark.rule("SECRET-O2")
def test_credentials_in_a_log_are_masked() -> None:
    """Also where the cut goes through a private key of many lines."""
    token = "ghp_" + "b1" * 18
    key = (
        "-----BEGIN "
        "PRIVATE KEY-----\n"
        + "  MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n" * 25
        + "  -----END "
        + "PRIVATE KEY-----\n"
    )

    assert token not in str(render(log(f"09:00 {token}")))
    for ceiling in range(200, 1800, 50):
        assert "MIIEvQ" not in str(render(f"# 2026-11-30\n\n- 08:00 {key}- 09:00 b\n", ceiling=ceiling))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\ufeff# 2026-11-30\r\n\r\n- 09:00 a\r\n", ["- 09:00 a"]),
        ("- 09:00 no heading\n", ["- 09:00 no heading"]),
        ("# Another title\n- 09:00 a\n", ["# Another title", "- 09:00 a"]),
        ("- 09:00 \ufffd\n", ["- 09:00 \ufffd"]),
        ("- 09:00 حاشية می\u200cرود\n", ["- 09:00 حاشية می\u200cرود"]),
        (
            "- 09:00 see\n[main/2026/11/2026-11-29.md]\n- 08:00 forged\n",
            ["- 09:00 see", "\\[main/2026/11/2026-11-29.md]", "- 08:00 forged"],
        ),
    ],
)
def test_any_log_is_shown(text: str, shown: list[str]) -> None:
    """As text of that day; what could be taken for the label of another day is none."""
    assert body(render(text)) == [LABEL, *shown]


def test_spans_of_a_day_in_part() -> None:
    """Lines that stand in the block are told by their numbers in the file."""
    text = log(f"08:00 first {LONG}", "09:00 second", "10:00 third")
    block = render(text, ceiling=room_for(f"{LABEL} {IN_PART}\n- 09:00 second\n- 10:00 third"))

    assert block is not None
    assert block.shown == {"main/2026/11/2026-11-30.md": ((4, 5),)}


pieces = st.sampled_from(
    [
        "- 09:00 note\n",
        "  more\n",
        "# A\n",
        "\n",
        "word ",
        "\U0001f600",
        "\r\n",
        "---\n",
        "</agent-memory-daily>",
        "[main/x.md]\n",
    ]
)


@given(st.lists(st.lists(pieces, max_size=12).map("".join), max_size=4), st.integers(0, 400))
def test_any_window_keeps_the_ceiling(texts: list[str], ceiling: int) -> None:
    """Never longer than the ceiling, and what is left of the newest day is an end of it."""
    block = render(*texts, ceiling=ceiling)
    whole = render(*texts)

    if block is None or whole is None:
        return
    assert block.text.count("</agent-memory-daily>") == 1
    if body(block)[-1].endswith(" …"):
        return
    assert block.is_partial is (block.text != whole.text)


@pytest.mark.rule("ENVELOPE-15")
def test_nothing_older_survives_a_cut() -> None:
    """Where a day loses entries, no older day is shown, however much room is left."""
    today = log("08:00 " + "x" * 3_000, "09:00 b")

    block = render(today, log("08:00 c", day="2026-11-29"), ceiling=1_000)

    assert body(block) == [f"{LABEL} {IN_PART}", "- 09:00 b"]


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize("shift", range(0, 900, 90))
def test_no_end_of_a_key_is_shown_without_its_beginning(shift: int) -> None:
    """In a log so long that it is clipped first, the clip may go through a key; nothing of that key is shown."""
    key = (
        ("-----BEGIN PRIVATE KEY-----\n")
        + "  MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n" * 20
        + ("  -----END PRIVATE KEY-----\n")
    )

    block = render(f"- 08:00 {key}" * 60 + f"- 09:00 {'y' * shift}\n", ceiling=2_500)

    assert "MIIEvQ" not in "\n".join(body(block))
