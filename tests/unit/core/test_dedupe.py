"""A text is a duplicate only of a whole unit that says the same."""

from __future__ import annotations

import pytest

from omnislash.core.dedupe import fold, is_same


@pytest.mark.rule("WRITE-14", "WRITE-O6")
@pytest.mark.parametrize(
    ("content", "there"),
    [
        pytest.param("the depot gate code changed on Monday", "the depot gate code changed on Monday", id="same"),
        pytest.param(
            "the depot gate code changed on Monday ", "the depot gate code changed on Monday", id="blank after"
        ),
        pytest.param("We ship\non  Fridays", "we SHIP on Fridays", id="white space and case"),
        pytest.param("STRASSE", "straße", id="full case folding"),
        pytest.param("cafe\u0301", "CAF\u00c9", id="Unicode forms"),
        pytest.param("КОТ спит", "Кот спит", id="Cyrillic case"),
        pytest.param("\u0390", "\u0399\u0308\u0301", id="Unicode forms of other case"),
        pytest.param("a\u00a0b", "a b", id="no-break blank"),
    ],
)
def test_the_same_said_again_is_a_duplicate(content: str, there: str) -> None:
    """White space, case and Unicode form make no new fact."""
    assert is_same(content, ["something else", there])


@pytest.mark.rule("WRITE-15")
@pytest.mark.parametrize(
    ("content", "there"),
    [
        pytest.param("q", "quay key", id="a letter of it"),
        pytest.param("We ship on Fridays", "We ship on Fridays, after lunch", id="a beginning of it"),
        pytest.param("We ship on Fridays, after lunch", "We ship on Fridays", id="more than it"),
        pytest.param("12:30 lunch", "lunch", id="with a time"),
        pytest.param("ёлка", "елка", id="another letter"),
        pytest.param("resume", "résumé", id="without accents"),
        pytest.param("gate code 12", "gate code 13", id="another number"),
        pytest.param("Is it open?", "Is it open", id="punctuation"),
        pytest.param("anything", "", id="an empty unit"),
    ],
)
def test_what_adds_anything_is_kept(content: str, there: str) -> None:
    """A part of an entry, or an entry with one letter, digit or mark more, is no duplicate."""
    assert not is_same(content, [there])


@pytest.mark.rule("WRITE-15")
def test_no_script_is_blank() -> None:
    """Sentences in Cyrillic and Han that differ are all different."""
    facts = ["Кот спит на печке", "Пёс бежит во двор", "猫在窗台睡觉", "狗在沙滩跑步"]
    assert len({fold(fact) for fact in facts}) == len(facts)
    for fact in facts:
        assert not is_same(fact, [other for other in facts if other != fact])


def test_nothing_is_the_same_as_no_units() -> None:
    """An empty file holds no duplicate."""
    assert not is_same("x", [])
