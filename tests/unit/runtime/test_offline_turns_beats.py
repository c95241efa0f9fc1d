"""What the offline model does with prompts of heartbeats: the entry of the day, deposits, and the care of a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.runtime.offline_turn_player import WRITTEN, environment, memory_block, play, window_block

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAN = "Write one entry for the day: who comes, what must be finished, at most three sentences."
DEPOSIT = (
    "If something concerns a machine, a backup, the booking form, the heating or a key, deposit it in the line `ops`.\n"
    "One deposit for one matter."
)
BRIEFING = f"Look at what was noted since yesterday morning.\n\n{PLAN}\n\n{DEPOSIT}"
TUESDAY = environment()
YESTERDAY, TODAY = "2026-11-30", "2026-12-01"


def no_file(_tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Answer as a line without the log of that day; every write lands."""
    if "path" in arguments:
        return {"error": {"kind": "missing", "message": f"There is no file {arguments['path']}."}}
    return WRITTEN


def beat(prompt: str, yesterday: str = "", today: str = "", memory: str = "") -> list[Mapping[str, Any]]:
    """Return the writes of a prompt on Tuesday, 2026-12-01."""
    days = [(day, entries) for day, entries in ((YESTERDAY, yesterday), (TODAY, today)) if entries]
    context = "\n\n".join([TUESDAY, *([memory_block(memory)] if memory else []), window_block(*days)])
    return [
        arguments for tool, arguments in play(prompt, context=context, answers=no_file).calls if tool == "memory_write"
    ]


# -- deposits --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("REPORT-03")
@pytest.mark.parametrize(
    ("entry", "is_deposited"),
    [
        ("The machine for spokes makes a noise.", True),
        ("Backups ran late.", True),
        ("The booking form shows 59 €.", True),
        ("The form for the tax office is signed.", False),
        ("Gate keys were swapped.", True),
        ("Heating is cold again.", True),
        ("Mila was here after school.", False),
        ("The backup failed. — nova · briefing", False),
        (f"{YESTERDAY}: The backup is tested today.", False),
    ],
)
def test_what_names_a_subject_is_deposited_word_for_word(entry: str, *, is_deposited: bool) -> None:
    """A subject of two words needs both; the entry of a day and another's deposit are not handed on."""
    assert beat(DEPOSIT, f"- 10:00 {entry}") == ([{"line": "ops", "content": entry}] if is_deposited else [])


def test_each_matter_is_a_deposit_of_its_own_and_is_made_once() -> None:
    """In the order in which they were noted; the same words twice are one."""
    entries = "- 09:00 The heating is cold.\n- 10:00 A key is lost.\n- 11:00 The heating is cold."

    assert beat(DEPOSIT, entries) == [
        {"line": "ops", "content": "The heating is cold."},
        {"line": "ops", "content": "A key is lost."},
    ]


def test_what_is_noted_today_is_handed_on_tomorrow() -> None:
    """So nothing is handed on twice by a heartbeat of every day."""
    assert beat(DEPOSIT, today="- 07:00 The heating is cold.") == []


def test_an_entry_of_several_lines_becomes_one_line() -> None:
    """Only white space changes."""
    assert beat(DEPOSIT, "- 09:00 The heating is cold.\n  Jonas bled it.") == [
        {"line": "ops", "content": "The heating is cold. Jonas bled it."}
    ]


def test_a_day_that_the_window_does_not_show_whole_is_read() -> None:
    """The window is cut, and yesterday is not in it."""
    log = f"# {YESTERDAY}\n\n- 08:00 The backup failed.\n- 10:00 Tea is out.\n"

    def answer(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if tool == "memory_read":
            return {"content": log if YESTERDAY in arguments["path"] else "", "path": arguments["path"]}
        return WRITTEN

    context = f"{TUESDAY}\n\n" + window_block((TODAY, "- 07:00 Open.")).replace(
        f"{TODAY}.md]", f"{TODAY}.md] (in part — memory_read for the rest)"
    )
    played = play(DEPOSIT, context=context, answers=answer)

    assert [arguments["path"] for tool, arguments in played.calls if tool == "memory_read"] == [
        "main/2026/11/2026-11-30.md",
        "main/2026/12/2026-12-01.md",
    ]
    assert played.contents() == ["The backup failed."]


def test_a_line_that_was_withdrawn_is_not_the_own_one() -> None:
    """Its last words name it, and the days that are read are those of the new line."""
    gone = "(this memory line is no longer part of your context — the copy above is withdrawn)"
    context = f'<agent-memory path="old/MEMORY.md">{gone}</agent-memory>\n\n{TUESDAY}\n\n{memory_block("# M")}'

    played = play(DEPOSIT, context=context, answers=no_file)

    assert [arguments["path"] for _, arguments in played.calls] == [
        "main/2026/11/2026-11-30.md",
        "main/2026/12/2026-12-01.md",
    ]


def test_since_the_last_working_day_goes_back_over_a_weekend() -> None:
    """On a Monday it begins with Friday."""
    context = (
        environment("2026-11-30", "Monday")
        + "\n\n"
        + window_block(
            ("2026-11-27", "- 16:00 The backup failed."),
            ("2026-11-28", "- 10:00 A key is lost."),
            ("2026-11-30", "- 07:00 Open."),
        )
    )
    prompt = f"Look at what was noted since the last working day began.\n{DEPOSIT}"
    played = play(prompt, context=context, answers=no_file)

    assert played.contents() == ["The backup failed.", "A key is lost."]
    assert [arguments["path"] for tool, arguments in played.calls if tool == "memory_read"] == [
        "main/2026/11/2026-11-29.md"
    ]


def test_a_deposit_that_is_refused_is_reported_with_its_reason() -> None:
    """Nothing is hidden, and the next one is made all the same."""

    def answer(_tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if "key" in arguments.get("content", ""):
            return {"outcome": "refused", "message": "The line ops is not open."}
        return no_file(_tool, arguments)

    context = f"{TUESDAY}\n\n" + window_block((YESTERDAY, "- 09:00 A key is lost.\n- 10:00 The heating is cold."))
    played = play(DEPOSIT, context=context, answers=answer)

    assert played.text == "It was refused. The line ops is not open.\nNoted. Written to main/2026/12/2026-12-01.md."


# -- the entry of the day --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("yesterday", "today", "memory", "entry"),
    [
        ("- 10:00 Frau Ahrens comes tomorrow at nine.", "", "", "Frau Ahrens comes tomorrow at nine."),
        ("- 10:00 Frau Ahrens came today.", "", "", ""),
        ("", "- 07:00 The school rings today.", "", "The school rings today."),
        ("- 10:00 The school answers on Wednesday.", "", "", "The school answers on Wednesday."),
        ("- 10:00 The school answers on Friday.", "", "", ""),
        ("- 10:00 Delivery on 2 December.", "", "", "Delivery on 2 December."),
        ("- 10:00 Delivery on 12 December.", "", "", ""),
        ("- 10:00 Завтра придёт Вера.", "", "", "Завтра придёт Вера."),
        ("- 10:00 Заберёт в среду.", "", "", "Заберёт в среду."),
        ("- 10:00 Lieferung am Dienstag.", "", "", "Lieferung am Dienstag."),
        ("", "", "# M\n\n## Open\n\n- Ida decides on 1 December.", "Ida decides on 1 December."),
        ("", "", "# M\n\n## Memory (2026-11-20)\n\n- Tomek pays today.", ""),
        ("", "", "# M\n\n## Open\n\n- Ida decided it (2026-12-01).", ""),
        ("- 10:00 The day after tomorrow is free.", "", "", "The day after tomorrow is free."),
        ("", "- 07:00 The day after tomorrow is free.", "", ""),
        ("", "- 07:00 It has been broken since Tuesday.", "", ""),
    ],
)
def test_the_entry_of_the_day_holds_what_speaks_of_today_or_tomorrow(
    yesterday: str, today: str, memory: str, entry: str
) -> None:
    """What a word means depends on the day on which it was said; 30 November was a Monday."""
    wanted = [{"content": f"2026-12-01: {entry}"}] if entry else []

    assert beat(PLAN, yesterday, today, memory) == wanted


def test_the_entry_of_the_day_keeps_to_the_number_of_sentences_that_the_prompt_names() -> None:
    """Whole entries, as many as fit; the first one always."""
    entries = (
        "- 09:00 One comes tomorrow. He is early.\n- 10:00 Two come tomorrow. Both are late.\n- 11:00 Three tomorrow."
    )

    assert beat(PLAN, entries) == [{"content": "2026-12-01: One comes tomorrow. He is early. Three tomorrow."}]


def test_a_day_has_one_entry() -> None:
    """A second run on the same day finds the first one's and writes no other."""
    today = "- 07:30 2026-12-01: Frau Ahrens comes tomorrow.\n- 07:40 The school rings today."

    assert beat(PLAN, "- 10:00 Frau Ahrens comes tomorrow.", today) == []


def test_a_briefing_does_both_in_the_order_of_its_prompt() -> None:
    """The entry of the day comes first there."""
    assert beat(BRIEFING, "- 10:00 The heating is repaired tomorrow.") == [
        {"content": "2026-12-01: The heating is repaired tomorrow."},
        {"line": "ops", "content": "The heating is repaired tomorrow."},
    ]


def test_a_day_with_nothing_in_it_gets_no_entry() -> None:
    """And the answer says so."""
    played = play(BRIEFING, context=f"{TUESDAY}\n\n{window_block()}", answers=no_file)

    assert played.contents() == []
    assert played.text == "Nothing had to be noted."
    assert played.notice == ""


def test_without_a_day_or_a_tool_nothing_is_done() -> None:
    """Each is said."""
    assert play(BRIEFING).text == "Nothing was done, because no block says what day it is."
    assert play(BRIEFING, context=TUESDAY, tools=("memory_read",)).text == (
        "This role is not granted memory_write, so nothing was done."
    )


# -- the care of a line ----------------------------------------------------------------------------------------------

CURATE = "Curate the line `main`.\n\nBegin with its MEMORY.md."
SYSTEM = "End with one line that begins with `memory-care:` and the line's name."
FILE = """# Workshop

## People

- Ida and Tomek own the workshop.

## Customers

- Frau Ahrens: her bike spends the winter with us.

## Memory (2026-11-20)

- Decided: Frau Ahrens pays in advance, because the winter is long.
- Tea is out.

## Memory (2026-11-25)

- Rule: people of the workshop, Ida included, sign the slip.
"""


class Line:
    """A line whose MEMORY.md is curated."""

    def __init__(self, text: str = FILE, *, limit: int | None = 4000) -> None:
        self.text = text
        self.limit = limit
        self.asked: list[str] = []

    def __call__(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a tool as the engine would; a deletion waits for a person."""
        if tool == "memory_overview":
            return {"line": "main", "path": "main/MEMORY.md"}
        if tool == "memory_read":
            budget = {"chars": len(self.text), "fileMaxChars": self.limit, "percent": None}
            return {"content": self.text, "budget": budget, "path": "main/MEMORY.md"}
        if tool == "memory_edit":
            assert self.text.count(arguments["old"]) == 1
            self.text = self.text.replace(arguments["old"], arguments["new"])
            return {"outcome": "written", "message": "Changed main/MEMORY.md."}
        assert tool == "memory_delete"
        self.asked.append(arguments["entry"])
        return {"outcome": "approval-required", "message": "omnislash approvals approve a1"}


@pytest.mark.rule("CURATE-04")
def test_decisions_move_word_for_word_into_the_section_that_they_share_most_with() -> None:
    """With their day; their notes are asked to be retired, and everything else stays as it is."""
    line = Line()

    played = play(CURATE, system=SYSTEM, answers=line)

    assert line.text == FILE.replace(
        "own the workshop.\n",
        "own the workshop.\n- Rule: people of the workshop, Ida included, sign the slip. (2026-11-25)\n",
    ).replace(
        "winter with us.\n",
        "winter with us.\n- Decided: Frau Ahrens pays in advance, because the winter is long. (2026-11-20)\n",
    )
    assert line.asked == [
        "Decided: Frau Ahrens pays in advance, because the winter is long.",
        "Rule: people of the workshop, Ida included, sign the slip.",
    ]
    assert played.text.splitlines()[-1] == (
        "memory-care: main: 2 moved word for word, 0 retired, 1 left in dated sections; nothing else was judged."
    )


def test_a_second_run_changes_nothing_and_asks_nothing() -> None:
    """What stands in a curated section is done."""
    line = Line()
    play(CURATE, answers=line)
    text, line.asked = line.text, []

    played = play(CURATE, system=SYSTEM, answers=line)

    assert (line.text, line.asked) == (text, [])
    assert played.text == (
        "memory-care: main: 0 moved word for word, 0 retired, 3 left in dated sections; nothing else was judged."
    )


@pytest.mark.rule("CURATE-07")
def test_nothing_is_promoted_that_does_not_fit_the_budget() -> None:
    """The engine's reading decides: there is room for the shorter one only."""
    line = Line(limit=len(FILE) + 80)

    played = play(CURATE, system=SYSTEM, answers=line)

    assert line.asked == ["Rule: people of the workshop, Ida included, sign the slip."]
    assert "1 moved word for word, 0 retired, 2 left in dated sections" in played.text


def test_at_most_three_are_promoted_in_one_run() -> None:
    """The oldest first."""
    entries = "\n".join(f"- Decided: matter {number} is settled for good." for number in range(5))
    line = Line(f"# M\n\n## People\n\n- Ida.\n\n## Memory (2026-11-20)\n\n{entries}\n")

    play(CURATE, answers=line)

    assert line.asked == [f"Decided: matter {number} is settled for good." for number in range(3)]


@pytest.mark.parametrize("text", ["# M\n", "# M\n\n## Memory (2026-11-20)\n\n- Decided: x is settled for all.\n", ""])
def test_a_file_without_a_curated_section_is_left_alone(text: str) -> None:
    """There is nowhere to put it."""
    line = Line(text)

    play(CURATE, answers=line)

    assert (line.text, line.asked) == (text, [])


def test_only_the_own_line_is_curated() -> None:
    """Another line than the prompt names ends the run before anything is read."""
    played = play("Curate the line `ops`, and only that one.", system=SYSTEM, answers=Line())

    assert [tool for tool, _ in played.calls] == ["memory_overview"]
    assert played.text == "memory-care: ops: nothing was changed, because the line of this turn is main."
