"""A turn that takes only so much carries whole blocks, and says what waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.core.declarations import Settings
from omnislash.envelope.assemble import Assembly, Receipt
from omnislash.envelope.blocks import BlockName, Sent, Why, render_snapshot, withdraw
from omnislash.envelope.fitting import can_wait, describe_waiting, fit, limit_settings, measure

MEMORY, PERIODS = (BlockName.MEMORY, "main/MEMORY.md"), (BlockName.PERIODS, "main")
DAILY, ENVIRONMENT = (BlockName.DAILY, "main"), (BlockName.ENVIRONMENT, "")
ORDER = (ENVIRONMENT, MEMORY, PERIODS, DAILY)


def sent(key: tuple[BlockName, str], chars: int, why: Why = Why.NEW) -> Sent:
    """A block of a length."""
    return Sent(name=key[0], place=key[1], text="x" * chars, is_partial=False, why=why)


def assembly(*blocks: Sent, clears: bool = False) -> Assembly:
    """What would be sent, with the note of each block."""
    noted = tuple(((b.name, b.place), b.text[:1]) for b in blocks if b.why in {Why.NEW, Why.CHANGED})
    return Assembly(blocks=blocks, receipt=Receipt(clears=clears, compaction=3 if clears else 0, sent=noted))


@pytest.mark.rule("ENVELOPE-06")
def test_what_has_room_goes_and_what_waits_is_not_noted() -> None:
    """A block that does not fit waits whole; a smaller one behind it goes; the receipt has exactly those that go."""
    found = assembly(sent(ENVIRONMENT, 90), sent(MEMORY, 5_000), sent(PERIODS, 6_000), sent(DAILY, 3_000))

    fitted = fit(found, 9_000)

    assert [b.name for b in fitted.assembly.blocks] == [BlockName.ENVIRONMENT, BlockName.MEMORY, BlockName.DAILY]
    assert [key for key, _ in fitted.assembly.receipt.sent] == [ENVIRONMENT, MEMORY, DAILY]
    assert [b.name for b in fitted.waiting] == [BlockName.PERIODS]


@pytest.mark.rule("ENVELOPE-07", "ENVELOPE-08")
def test_snapshot_and_withdrawals_always_go() -> None:
    """They come first, whatever room there is, and the mark of the compaction is answered with them."""
    found = assembly(render_snapshot(), withdraw(*MEMORY), sent(PERIODS, 50), clears=True)

    fitted = fit(found, 10)

    assert [b.why for b in fitted.assembly.blocks] == [Why.SNAPSHOT, Why.WITHDRAWN]
    assert fitted.assembly.receipt == Receipt(clears=True, compaction=3)

    must = measure(block.text for block in found.blocks[:2])
    assert fit(found, must + measure(["x" * 50]) - 1).waiting == found.blocks[2:]
    assert fit(found, must + measure(["x" * 50])).waiting == ()


@given(st.lists(st.integers(1, 7_000), min_size=4, max_size=4), st.integers(0, 15_000))
def test_what_goes_has_room(sizes: list[int], room: int) -> None:
    """Whatever the sizes, what goes fits, nothing is lost or doubled, and what waits would not have fitted beside it."""
    found = assembly(*(sent(key, size) for key, size in zip(ORDER, sizes, strict=True)))

    fitted = fit(found, room)

    used = measure(b.text for b in fitted.assembly.blocks)
    assert used <= room
    assert {*fitted.assembly.blocks, *fitted.waiting} == {*found.blocks}
    assert len(fitted.assembly.blocks) + len(fitted.waiting) == len(found.blocks)
    assert all(used + measure([b.text]) > room for b in fitted.waiting)


def test_lengths_are_utf_16_units() -> None:
    """An emoji counts two, as the host counts, and each part costs the empty line before the next."""
    assert measure(["🗝", "", "ab"]) == 2 + 2 + 2 + 2


def test_ceilings_leave_room_for_the_small_blocks() -> None:
    """No block may alone be longer than what is taken at a time; smaller ceilings and zeros stay as they are."""
    limited = limit_settings(Settings(priority_chars=12_000, period_chars=6_000, recent_chars=0), 10_000)

    assert limited == Settings(priority_chars=8_800, period_chars=6_000, recent_chars=0)
    assert limit_settings(Settings(), 100).priority_chars == 0


def test_what_can_wait() -> None:
    """Summaries and days leave their room to the recall, but not where they are taken back; MEMORY.md never does."""
    assert can_wait(sent(PERIODS, 1))
    assert can_wait(sent(DAILY, 1, Why.CHANGED))
    assert not can_wait(withdraw(*PERIODS))
    assert not can_wait(sent(MEMORY, 1))


def test_sentence_about_what_waits() -> None:
    """It names each block and the tools that read it now, and nothing is said where nothing waits."""
    assert describe_waiting([], has_cut_recall=False) == ""
    assert "no room for the file main/MEMORY.md; it comes" in describe_waiting([sent(MEMORY, 1)], has_cut_recall=False)
    told = describe_waiting([sent(MEMORY, 1), sent(PERIODS, 1), sent(DAILY, 1)], has_cut_recall=True)
    assert told.startswith(
        "(There was no room for the file main/MEMORY.md, the period summaries of main and the recent days of main; "
    )
    assert "what the message recalls" in told
    assert "memory_read" in told
