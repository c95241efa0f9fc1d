"""Failure cases: appending, replacing, addressing, and the same fact twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from omnislash import Outcome

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain

DAY = "memory/ops/2026/11/2026-11-30.md"
#: What a careless format would take for its own separator, each between two lines of text.
SEPARATORS = {
    "paragraph-sign": "§",
    "rule": "---",
    "dated-heading": "## 2026-11-30",
    "task": "- [ ] x",
    "comment-end": "<!-- end -->",
    "open-fence": "```",
    "own-mark": "- 09:00 x",
    "own-section": "## Memory (2026-11-30)",
}
separators = pytest.mark.parametrize("mark", list(SEPARATORS.values()), ids=list(SEPARATORS))


def count_items(text: str) -> int:
    """Return how many list items a markdown parser of somebody else sees at the top level."""
    return sum(token.type == "list_item_open" and token.level == 1 for token in MarkdownIt().parse(text))


@pytest.mark.rule("WRITE-15", "LINE-05")
def test_o_05_put_continues_a_log_that_a_person_began(make_brain: MakeBrain) -> None:
    """The old bytes are a prefix of the new log, and the new entry starts a line of its own."""
    old = b"# 2026-11-30\n\n- 09:00 opened the shop\n- 09:40 till counted"
    brain = make_brain(files={DAY: old})
    assert brain.put("supplier called back").outcome is Outcome.WRITTEN
    assert brain.data(brain.day) == old + b"\n- 09:00 supplier called back\n"


@separators
@pytest.mark.rule("WRITE-15")
def test_o_06_put_holds_our_own_separators(brain: CaseBrain, mark: str) -> None:
    """An entry that holds a separator stays one entry, reads back whole and goes as a whole, in the day log."""
    body = f"first half\n{mark}\nsecond half"
    assert brain.put(body).outcome is Outcome.WRITTEN
    assert brain.put("after").outcome is Outcome.WRITTEN
    assert brain.text(brain.day) == f"# 2026-11-30\n\n- 09:00 first half\n  {mark}\n  second half\n- 09:00 after\n"
    assert count_items(brain.text(brain.day)) == 2
    assert brain.put(body).outcome is Outcome.DUPLICATE
    assert brain.drop(body, path=brain.day).outcome is Outcome.WRITTEN
    assert brain.text(brain.day) == "# 2026-11-30\n\n- 09:00 after\n"


@separators
@pytest.mark.rule("WRITE-15", "BUDGET-O5")
def test_o_06_core_holds_our_own_separators(brain: CaseBrain, mark: str) -> None:
    """An entry that holds a separator stays one entry, reads back whole and goes as a whole, in MEMORY.md."""
    body = f"first half\n{mark}\nsecond half"
    assert brain.core(body).outcome is Outcome.WRITTEN
    assert brain.core("after").outcome is Outcome.WRITTEN
    assert brain.text() == f"## Memory (2026-11-30)\n\n- first half\n  {mark}\n  second half\n- after\n"
    assert count_items(brain.text()) == 2
    assert brain.core(body).outcome is Outcome.DUPLICATE
    assert brain.drop(body).outcome is Outcome.WRITTEN
    assert brain.text() == "## Memory (2026-11-30)\n\n- after\n"


@separators
@pytest.mark.rule("BUDGET-08", "BUDGET-06")
def test_o_06_a_separator_never_shields_a_dated_section(make_brain: MakeBrain, mark: str) -> None:
    """A section whose entry holds a separator is still the engine's own: it is dropped whole when room is needed."""
    kept = "# Ops\n\n" + "k" * 292 + "\n"
    brain = make_brain(budget=400, files={"memory/ops/MEMORY.md": kept})
    assert brain.core(f"first half\n{mark}\nsecond half").outcome is Outcome.WRITTEN
    brain.at("2026-12-01T09:00:00Z")
    verdict = brain.core("f" * 50, day="ops/2026/12/2026-12-01.md")
    assert verdict.outcome is Outcome.WRITTEN
    assert "2026-11-30" in verdict.message
    assert brain.text().split() == f"{kept} ## Memory (2026-12-01) - {'f' * 50}".split()


THREE = "# Ops\n\n- q\n- quay key\n- Iraq trip 2026\n"


@pytest.fixture
def three(make_brain: MakeBrain) -> CaseBrain:
    """A brain with the durable entries `q`, `quay key` and `Iraq trip 2026`."""
    return make_brain(files={"memory/ops/MEMORY.md": THREE})


@pytest.mark.rule("TOOL-O1")
def test_o_07_swap_meets_the_entry_that_is_exactly_it(three: CaseBrain) -> None:
    """A one-letter text that is a whole entry means that entry, and no letter inside another one."""
    assert three.swap("q", "spare pump at desk").outcome is Outcome.WRITTEN
    assert three.text() == "# Ops\n\n- spare pump at desk\n- quay key\n- Iraq trip 2026\n"


@pytest.mark.rule("TOOL-O1")
def test_o_07_drop_meets_the_entry_that_is_exactly_it(three: CaseBrain) -> None:
    """A one-letter deletion removes the entry that is exactly that letter."""
    assert three.drop("q").outcome is Outcome.WRITTEN
    assert three.text() == "# Ops\n\n- quay key\n- Iraq trip 2026\n"


@pytest.mark.rule("WRITE-O2")
def test_o_07_each_part_of_a_batch_has_its_verdict(three: CaseBrain) -> None:
    """There is no batch tool: two calls, and each says for itself whether it was done."""
    first, second, third = three.drop("q"), three.core("z"), three.drop("q")
    assert [first.outcome, second.outcome, third.outcome] == [Outcome.WRITTEN, Outcome.WRITTEN, Outcome.REFUSED]
    assert three.text() == "# Ops\n\n- quay key\n- Iraq trip 2026\n\n## Memory (2026-11-30)\n\n- z\n"


@pytest.mark.rule("TOOL-O1")
@pytest.mark.parametrize("old", ["q", "ua", "r"])
def test_o_07_a_part_of_several_entries_is_refused(make_brain: MakeBrain, old: str) -> None:
    """A text that is no entry and stands in several places is refused with the list of candidates."""
    brain = make_brain(files={"memory/ops/MEMORY.md": "# Ops\n\n- quay key\n- Iraq trip, quarter 4\n"})
    swapped, dropped = brain.swap(old, "spare pump at desk"), brain.drop(old)
    assert (swapped.outcome, dropped.outcome) == (Outcome.REFUSED, Outcome.REFUSED)
    assert "Iraq trip, quarter 4" in swapped.message
    assert "Iraq trip, quarter 4" in dropped.message


TEA = "# Ops\n\n- prefers tea\n"


@pytest.mark.rule("BUDGET-05", "BUDGET-09", "BUDGET-11")
def test_o_08a_a_text_over_the_budget_replaces_nothing(make_brain: MakeBrain) -> None:
    """A replacement that is one unit over the budget is refused, and the old entry is still there."""
    brain = make_brain(budget=100, files={"memory/ops/MEMORY.md": TEA})
    free = 100 - len("# Ops\n\n- \n")
    verdict = brain.swap("prefers tea", "c" * (free + 1))
    assert verdict.outcome is Outcome.REFUSED
    assert "101 chars, 1 over" in verdict.message
    assert brain.text() == TEA
    assert brain.swap("prefers tea", "c" * free).outcome is Outcome.WRITTEN


@pytest.mark.parametrize("new", ["", " ", "\n\t\n", "\u3000"], ids=["empty", "space", "lines", "wide-space"])
def test_o_08b_an_empty_text_replaces_nothing(make_brain: MakeBrain, new: str) -> None:
    """A replacement without a text is refused, and the old entry is still there."""
    brain = make_brain(files={"memory/ops/MEMORY.md": TEA})
    assert brain.swap("prefers tea", new).outcome is Outcome.REFUSED
    assert brain.text() == TEA


@pytest.mark.rule("TOOL-O1", "EVENT-02")
def test_o_08c_a_replacement_leaves_exactly_the_new_text(make_brain: MakeBrain) -> None:
    """After the replacement the new text is there and the old one is not."""
    brain = make_brain(files={"memory/ops/MEMORY.md": TEA})
    assert brain.swap("prefers tea", "prefers coffee").outcome is Outcome.WRITTEN
    assert brain.text() == "# Ops\n\n- prefers coffee\n"


@pytest.mark.rule("WRITE-14", "WRITE-O1", "WRITE-O6")
def test_o_60_the_same_fact_again_is_one_entry(brain: CaseBrain) -> None:
    """The same fact, also with a space at its end, stays one entry, and the verdict says that and where it stands."""
    fact = "the depot gate code changed on Monday"
    assert brain.core(fact).outcome is Outcome.WRITTEN
    for again in (fact, f"{fact} ", f"  {fact}\n", fact.upper()):
        verdict = brain.core(again)
        assert verdict.outcome is Outcome.DUPLICATE
        assert set(verdict.paths) == {brain.day, brain.memory}
        assert all(path in verdict.message for path in verdict.paths)
        assert brain.text() == f"## Memory (2026-11-30)\n\n- {fact}\n"
        assert brain.text(brain.day).count(fact) == 1


@pytest.mark.rule("WRITE-15", "WRITE-O6")
def test_o_61_different_facts_stay_different(brain: CaseBrain) -> None:
    """Facts that share no letter with ASCII are not taken for one another."""
    facts = ["Кот спит на печке", "Пёс бежит во двор", "猫在窗台睡觉", "狗在沙滩跑步"]
    assert [brain.core(fact).outcome for fact in facts] == [Outcome.WRITTEN] * 4
    assert [brain.put(fact).outcome for fact in facts] == [Outcome.DUPLICATE] * 4
    listed = "".join(f"- {fact}\n" for fact in facts)
    assert brain.agent().memory.read(brain.memory).content == f"## Memory (2026-11-30)\n\n{listed}"
    timed = "".join(f"- 09:00 {fact}\n" for fact in facts)
    assert brain.agent().memory.read(brain.day).content == f"# 2026-11-30\n\n{timed}"


@pytest.mark.rule("WRITE-15", "WRITE-O6")
def test_o_61_put_alone_keeps_different_facts(brain: CaseBrain) -> None:
    """Four different facts in scripts of their own become four entries of the day log."""
    facts = ["Кот спит на печке", "Пёс бежит во двор", "猫在窗台睡觉", "狗在沙滩跑步"]
    assert [brain.put(fact).outcome for fact in facts] == [Outcome.WRITTEN] * 4
    assert brain.text(brain.day) == "# 2026-11-30\n\n" + "".join(f"- 09:00 {fact}\n" for fact in facts)
