"""Each text goes to the embedder that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.core.languages import Script
from omnislash.index.embedders.minilm import MiniLM
from omnislash.index.embedders.multilingual import MultilingualE5
from omnislash.index.embedders.routing import Router
from omnislash.index.embedders.scripts import count_letters

if TYPE_CHECKING:
    from omnislash.index.embedders.ports import Embedder

SMALL, LARGE = MiniLM(), MultilingualE5()
NAMES: dict[Embedder | None, str | None] = {SMALL: "small", LARGE: "large", None: None}


@pytest.mark.rule("LANG-08", "RECALL-17", "RECALL-O3")
@pytest.mark.parametrize(
    ("text", "languages", "with_extra", "without"),
    [
        pytest.param("The gate code changed", ["english"], "small", "small", id="English"),
        pytest.param("Код от ворот сменили", ["english"], "large", None, id="Cyrillic, not listed"),
        pytest.param("Код от ворот сменили", ["english", "russian"], "large", None, id="Russian"),
        pytest.param("The gate code changed", ["russian"], "small", "small", id="Latin without an owner"),
        pytest.param("Der Torcode wurde geändert", ["german"], "large", None, id="German owns Latin"),
        pytest.param("仓库的门码改了", ["english"], "large", None, id="Chinese"),
        pytest.param("ประตูโกดังเปลี่ยนรหัส", ["english"], "large", None, id="Thai"),
        pytest.param("2026-03-02 12:30 -> 4417", ["russian"], "small", "small", id="no letters"),
        pytest.param("🦊", ["russian"], "small", "small", id="an emoji"),
        pytest.param("Запустить git push после обеда", ["english", "russian"], "large", None, id="mostly Russian"),
        pytest.param("The word ёлка means a tree", ["english", "russian"], "small", "small", id="mostly English"),
        pytest.param("ترتيب الموعد", ["arabic"], "large", None, id="Arabic"),
    ],
)
def test_text_goes_to_its_reader(text: str, languages: list[str], with_extra: str | None, without: str | None) -> None:
    """The script of most letters decides, with the language that owns it."""
    assert NAMES[Router((SMALL, LARGE), languages).route(text)] == with_extra
    assert NAMES[Router((SMALL,), languages).route(text)] == without


@pytest.mark.rule("LANG-08")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param("what about the gate", ["small"], id="English"),
        pytest.param("когда встреча", ["large"], id="Russian"),
        pytest.param("что значит gateway timeout", ["small", "large"], id="both a quarter or more"),
        pytest.param("перезапустить и проверить nginx", ["large"], id="one word is no second language"),
        pytest.param("4417", ["small"], id="no letters"),
        pytest.param("你好 встреча", ["large"], id="two scripts, one reader"),
    ],
)
def test_message_may_go_to_two(query: str, names: list[str]) -> None:
    """A message with two scripts of a quarter each is asked in both spaces, that of most letters first."""
    router = Router((SMALL, LARGE), ["english", "russian"])

    assert sorted(NAMES[each] or "" for each in router.routes(query)) == sorted(names)
    assert router.routes(query)[0] is router.route(query)


def test_no_embedder_reads_nothing() -> None:
    """Without embedders every text is for the words."""
    router = Router((), ["english"])

    assert router.route("The gate code") is None
    assert router.route("4417") is None
    assert router.routes("The gate code") == ()
    assert router.routes("4417") == ()


def test_letters_are_counted_by_script() -> None:
    """Digits, signs and marks count for nothing; scripts without a listed language are one."""
    letters = count_letters("abc Жё 12 αβ ನೀ 猫の ÿ!")

    assert letters == {Script.latin: 4, Script.cyrillic: 2, Script.greek: 2, None: 3}
