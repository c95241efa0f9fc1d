"""What a turn sends: only what changed, each block alone, withdrawals once, everything after a compaction."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from omnislash.envelope.assemble import NOTHING, Assembly, Ledger, Receipt, assemble
from omnislash.envelope.blocks import Block, BlockName, Why
from omnislash.envelope.environment import render_environment

M, P, D, E = BlockName.MEMORY, BlockName.PERIODS, BlockName.DAILY, BlockName.ENVIRONMENT
GONE = "(this memory line is no longer part of your context — the copy above is withdrawn)"


def block(name: BlockName, place: str, text: str = "text") -> Block:
    """Return a block with this text."""
    return Block(name=name, place=place, text=f"{name} {place} {text}")


ENVIRONMENT = block(E, "")
MEMORY, LADDER, WINDOW = block(M, "main/MEMORY.md"), block(P, "main"), block(D, "main")


class Session:
    """A session whose ledger follows what was sent."""

    def __init__(self) -> None:
        self.ledger = Ledger()

    def turn(
        self, *blocks: Block, line: str | None = "main", is_compacted: bool = False
    ) -> list[tuple[BlockName, str, Why]]:
        """Send the blocks that are due and return them."""
        found = self.find(*blocks, line=line, is_compacted=is_compacted)
        hashes = {} if found.receipt.clears else dict(self.ledger.hashes)
        for key in found.receipt.dropped:
            del hashes[key]
        self.ledger = Ledger(hashes=hashes | dict(found.receipt.sent), used_at="now")
        return [(sent.name, sent.place, sent.why) for sent in found.blocks]

    def find(self, *blocks: Block, line: str | None = "main", is_compacted: bool = False) -> Assembly:
        """Return what would be sent; the window is only asked for when it is due."""
        due = line is not None and (is_compacted or self.ledger.lacks_window(line))
        wanted = [each for each in blocks if each.name is not D or due]
        return assemble(wanted, self.ledger, line=line, is_compacted=is_compacted)


def new(*blocks: Block) -> list[tuple[BlockName, str, Why]]:
    """Return what a turn is that sends these for the first time."""
    return [(each.name, each.place, Why.NEW) for each in blocks]


@pytest.fixture
def opened() -> Session:
    """Return a session that was sent everything."""
    session = Session()
    assert session.turn(ENVIRONMENT, MEMORY, LADDER, WINDOW) == new(ENVIRONMENT, MEMORY, LADDER, WINDOW)
    return session


@pytest.mark.rule("ENVELOPE-06")
def test_unchanged_blocks_are_not_sent_again(opened: Session) -> None:
    """The next turn carries nothing, and nothing has to be noted."""
    found = opened.find(ENVIRONMENT, MEMORY, LADDER, WINDOW)

    assert found == Assembly(blocks=(), receipt=Receipt())
    assert found.receipt.is_empty


@pytest.mark.rule("ENVELOPE-04", "ENVELOPE-05")
@pytest.mark.parametrize("changed", [ENVIRONMENT, MEMORY, LADDER])
def test_changed_block_is_sent_alone(opened: Session, changed: Block) -> None:
    """Each block on its own, under the path or line of the copy that it replaces."""
    blocks = [replace(each, text="other") if each is changed else each for each in (ENVIRONMENT, MEMORY, LADDER)]

    assert opened.turn(*blocks, WINDOW) == [(changed.name, changed.place, Why.CHANGED)]
    assert opened.turn(*blocks, WINDOW) == []


@pytest.mark.rule("ENVELOPE-07")
def test_everything_comes_again_after_a_compaction(opened: Session) -> None:
    """The snapshot line first, then every block, window included; after that nothing."""
    blocks = (ENVIRONMENT, MEMORY, LADDER, WINDOW)

    assert opened.turn(*blocks, is_compacted=True) == [(BlockName.SNAPSHOT, "", Why.SNAPSHOT), *new(*blocks)]
    assert opened.turn(*blocks) == []
    assert Session().turn(*blocks, is_compacted=True)[0] == (BlockName.SNAPSHOT, "", Why.SNAPSHOT)


@pytest.mark.rule("ENVELOPE-07")
def test_snapshot_is_one_line(opened: Session) -> None:
    """It stands on a line of its own and says what it does."""
    text = opened.find(ENVIRONMENT, is_compacted=True).blocks[0].text

    assert text.startswith("<agent-context-snapshot>")
    assert text.endswith("</agent-context-snapshot>")
    assert "\n" not in text
    assert "void" in text


@pytest.mark.rule("ENVELOPE-08", "ENVELOPE-09")
def test_withdrawn_once_without_memory(opened: Session) -> None:
    """MEMORY.md and ladder are taken back with the fixed sentence, and the turn after that carries nothing."""
    found = opened.find(ENVIRONMENT, line=None)

    assert [sent.text for sent in found.blocks] == [
        f'<agent-memory path="main/MEMORY.md">{GONE}</agent-memory>',
        f'<agent-memory-periods line="main">{GONE}</agent-memory-periods>',
    ]
    assert opened.turn(ENVIRONMENT, line=None) == [(M, "main/MEMORY.md", Why.WITHDRAWN), (P, "main", Why.WITHDRAWN)]
    assert opened.turn(ENVIRONMENT, line=None) == []


@pytest.mark.rule("ENVELOPE-10")
def test_nothing_to_withdraw() -> None:
    """A session that was never shown memory gets no withdrawal, nor one that lost it in a compaction."""
    session = Session()
    assert session.turn(ENVIRONMENT, line=None) == new(ENVIRONMENT)
    assert session.turn(ENVIRONMENT, line=None) == []

    assert session.turn(ENVIRONMENT, MEMORY) == new(MEMORY)
    assert session.turn(ENVIRONMENT, line=None, is_compacted=True) == [
        (BlockName.SNAPSHOT, "", Why.SNAPSHOT),
        *new(ENVIRONMENT),
    ]


@pytest.mark.rule("ENVELOPE-O9", "ENVELOPE-O8")
def test_each_block_is_withdrawn_alone(opened: Session) -> None:
    """A knob at 0 or a file that is gone takes back its own block, once; back again it is new."""
    assert opened.turn(ENVIRONMENT, MEMORY) == [(P, "main", Why.WITHDRAWN)]
    assert opened.turn(ENVIRONMENT, MEMORY) == []
    assert opened.turn(ENVIRONMENT, LADDER) == [(M, "main/MEMORY.md", Why.WITHDRAWN), *new(LADDER)]
    assert opened.turn(ENVIRONMENT, MEMORY, LADDER) == new(MEMORY)


@pytest.mark.rule("ENVELOPE-O5")
def test_another_line(opened: Session) -> None:
    """The old line's blocks are taken back and the new line's come in the same turn, window included."""
    other = (block(M, "ops/MEMORY.md"), block(P, "ops"), block(D, "ops"))

    assert opened.turn(ENVIRONMENT, *other, line="ops") == [
        (M, "main/MEMORY.md", Why.WITHDRAWN),
        (P, "main", Why.WITHDRAWN),
        *new(*other),
    ]
    assert opened.turn(ENVIRONMENT, *other, line="ops") == []


@pytest.mark.rule("ENVELOPE-13", "ENVELOPE-O4")
def test_window_at_the_opening_only() -> None:
    """What is written into a day later, or the first entry of a day that had none, is not sent."""
    session = Session()

    assert session.turn(ENVIRONMENT, MEMORY) == new(ENVIRONMENT, MEMORY)
    assert session.ledger.hashes[(D, "main")] == NOTHING
    assert session.turn(ENVIRONMENT, MEMORY, WINDOW) == []


def test_receipt_survives_the_socket(opened: Session) -> None:
    """What has to be noted is the same after JSON."""
    receipt = opened.find(ENVIRONMENT, line="ops", is_compacted=True).receipt

    assert receipt.clears
    assert receipt.sent
    assert Receipt.from_json(receipt.to_json()) == receipt
    dropped = opened.find(ENVIRONMENT, line=None).receipt
    assert dropped.dropped
    assert Receipt.from_json(dropped.to_json()) == dropped


@pytest.mark.rule("ENVELOPE-03", "ENVELOPE-04")
def test_environment() -> None:
    """The day with its weekday and the zone, and nothing that changes within a day."""
    assert render_environment(date(2026, 11, 30), timezone="Europe/Berlin").text == (
        "<agent-environment>\ndate: 2026-11-30 (Monday)\ntime zone: Europe/Berlin\n</agent-environment>"
    )
