"""Failure cases: the budget, counted in UTF-16 units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash import Outcome
from omnislash.core.budgets import Reading

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain

LIMIT = 400
SUNFLOWER = "\U0001f33b"
#: What an entry needs beside its text: `- ` in front and the line's end behind.
FRAME = 3
HEAD = "# Ops\n\n"
TODAY = "## Memory (2026-11-30)\n\n- begun\n"


def filled(free: int) -> str:
    """Return a MEMORY.md that leaves exactly so many units for the text of an entry."""
    used = LIMIT - free - FRAME
    return f"{HEAD}{'k' * (used - len(HEAD) - len(TODAY) - 2)}\n\n{TODAY}"


def brain_with(make_brain: MakeBrain, free: int) -> CaseBrain:
    """Return a brain whose MEMORY.md leaves so many units for the text of an entry."""
    brain = make_brain(budget=LIMIT, files={"memory/ops/MEMORY.md": filled(free)})
    assert len(brain.text()) == LIMIT - free - FRAME
    return brain


@pytest.mark.rule("BUDGET-14", "BUDGET-18", "ADAPT-O5")
def test_o_27_exactly_full_is_accepted(make_brain: MakeBrain) -> None:
    """A text of exactly the free units is accepted, an emoji counted as two."""
    brain = brain_with(make_brain, free=180)
    text = "y" * 178 + SUNFLOWER
    verdict = brain.core(text)
    assert verdict.outcome is Outcome.WRITTEN
    assert verdict.budget is not None
    assert verdict.budget.to_json() == {"chars": 400, "fileMaxChars": 400, "percent": 100}
    assert brain.text() == filled(180) + f"- {text}\n"


@pytest.mark.rule("BUDGET-09", "BUDGET-11", "BUDGET-18", "WRITE-13")
def test_o_27_one_unit_over_is_refused(make_brain: MakeBrain) -> None:
    """One unit more is refused as over by 1, MEMORY.md unchanged; by WRITE-13 the daily half lands all the same."""
    brain = brain_with(make_brain, free=180)
    verdict = brain.core("y" * 179 + SUNFLOWER)
    assert (verdict.outcome, verdict.paths) == (Outcome.PARTIAL, (brain.day,))
    assert "401 chars, 1 over its fileMaxChars of 400" in verdict.message
    assert brain.text() == filled(180)


@pytest.mark.rule("ADAPT-O5")
def test_o_27_no_shortened_text_holds_half_an_emoji(make_brain: MakeBrain) -> None:
    """Wherever a text is cut for display, what is left encodes strictly to UTF-8 and UTF-16."""
    brain = make_brain(files={"memory/ops/MEMORY.md": HEAD + f"- {SUNFLOWER * 60}\n- x {SUNFLOWER * 60}\n"})
    memory = brain.agent().memory
    parts = [memory.read(brain.memory, offset=at, max_chars=size) for at in range(8, 16) for size in range(1, 6)]
    shown = [part.content for part in parts]
    shown += [
        brain.swap(SUNFLOWER, "y").message,
        brain.drop(SUNFLOWER).message,
        brain.drop("x" + SUNFLOWER * 99).message,
    ]
    for text in shown:
        text.encode("utf-8", "strict")
        text.encode("utf-16-le", "strict")
    assert [text for text in shown if "�" in text] == []


@pytest.mark.rule("ADAPT-O5", "WRITE-10")
def test_o_27_parts_make_the_whole(make_brain: MakeBrain) -> None:
    """Read part by part, whatever the size of a part, a text of emoji is whole again at the end."""
    text = f"- a{SUNFLOWER}b{SUNFLOWER * 3}c\n"
    brain = make_brain(files={"memory/ops/MEMORY.md": text})
    for size in range(1, 6):
        parts: list[str] = []
        offset: int | None = 0
        while offset is not None:
            assert len(parts) <= len(text) * 2
            part = brain.agent().memory.read(brain.memory, offset=offset, max_chars=size)
            parts.append(part.content)
            offset = part.next_offset
        assert "".join(parts) == text, f"in parts of {size}"


TEXTS = {
    "cyrillic": ("Привет", 6),
    "han": ("修理渔网", 4),
    "emoji": (SUNFLOWER, 2),
    "joined-emoji": ("\U0001f469\u200d\U0001f680", 5),
    "flag": ("\U0001f1fa\U0001f1e6", 4),
    "keycap": ("1\ufe0f\u20e3", 3),
    "precomposed": ("\u00e9", 1),
    "decomposed": ("e\u0301", 2),
    "letters-beyond-the-plane": ("\U0001d42d\U0001d421\U0001d422\U0001d42c", 8),
}


@pytest.mark.rule("BUDGET-18", "BUDGET-19", "ADAPT-O5")
@pytest.mark.parametrize(("text", "units"), list(TEXTS.values()), ids=list(TEXTS))
def test_o_28_what_counts_as_a_unit(make_brain: MakeBrain, text: str, units: int) -> None:
    """Room for exactly the units of a text is enough, one less is not, and the number reported is that of the units."""
    brain = brain_with(make_brain, free=units)
    verdict = brain.core(text)
    assert verdict.outcome is Outcome.WRITTEN
    assert verdict.budget == Reading(chars=LIMIT, limit=LIMIT)  # type: ignore[arg-type]
    assert brain.text() == filled(units) + f"- {text}\n"
    assert brain.brain.audit(limit=1).rows[0].chars == units

    brain = brain_with(make_brain, free=units - 1)
    verdict = brain.core(text)
    assert verdict.outcome is Outcome.PARTIAL
    assert "1 over" in verdict.message
    assert brain.text() == filled(units - 1)


@pytest.mark.rule("BUDGET-09", "BUDGET-10", "BUDGET-11", "BUDGET-21")
def test_o_29_full_means_a_loud_no(make_brain: MakeBrain) -> None:
    """The refusal names used, limit and excess, and MEMORY.md is as it was, older dated sections included."""
    brain = brain_with(make_brain, free=5 - FRAME)
    verdict = brain.core("z" * 20)
    assert verdict.outcome is Outcome.PARTIAL
    assert verdict.budget == Reading(chars=LIMIT - 5, limit=LIMIT)  # type: ignore[arg-type]
    assert "418 chars, 18 over its fileMaxChars of 400" in verdict.message
    assert "z" * 20 not in brain.text()


@pytest.mark.rule("BUDGET-12", "BUDGET-13", "BUDGET-20", "BUDGET-23")
def test_o_29_a_hand_edit_over_the_budget_is_shown_whole(make_brain: MakeBrain) -> None:
    """After a person overran the budget the file reads whole, its reading says so, and only shrinking is accepted."""
    brain = brain_with(make_brain, free=5 - FRAME)
    text = brain.text() + "\nBy hand.\n\n" + "h" * 289
    brain.remember(text)
    assert len(text) == LIMIT - 5 + 300
    found = brain.agent().memory.read(brain.memory)
    assert (found.content, found.next_offset) == (text, None)
    assert found.budget is not None
    assert found.budget.render() == "695 of 400 fileMaxChars (174%)"
    overview = brain.agent().memory.overview()
    assert overview.to_json()["reading"] == "695 of 400 fileMaxChars (174%)"
    assert brain.swap("By hand.", "By hand!").outcome is Outcome.REFUSED
    assert brain.swap("By hand.", "By hand").outcome is Outcome.WRITTEN
