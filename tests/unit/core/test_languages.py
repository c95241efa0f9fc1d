"""One script has one language, and the order of the list decides."""

from __future__ import annotations

import pytest

from omnislash.core.languages import DEFAULT_LANGUAGES, LANGUAGES, Script, resolve_languages
from omnislash.errors import InvalidNameError

THE_27 = (
    "arabic, armenian, bulgarian, danish, dutch, english, finnish, french, german, greek, hindi, hungarian, "
    "indonesian, irish, italian, lithuanian, nepali, norwegian, portuguese, romanian, russian, serbian, spanish, "
    "swedish, tamil, turkish, ukrainian"
)


@pytest.mark.rule("LANG-07")
def test_supported_are_exactly_the_27() -> None:
    """The supported languages are those of the list, in its order, and each can be listed alone."""
    assert ", ".join(LANGUAGES) == THE_27
    assert len(LANGUAGES) == 27
    for name, scripts in LANGUAGES.items():
        assert resolve_languages([name]) == dict.fromkeys(scripts, name)


@pytest.mark.rule("LANG-03")
def test_default_is_english() -> None:
    """Without a list, Latin words are English."""
    assert resolve_languages(DEFAULT_LANGUAGES) == {Script.latin: "english"}


@pytest.mark.rule("LANG-05", "LANG-O2")
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["english", "russian"], {"Latin": "english", "Cyrillic": "russian"}),
        (["english", "serbian"], {"Latin": "english", "Cyrillic": "serbian"}),
        (["russian", "serbian"], {"Cyrillic": "russian", "Latin": "serbian"}),
        (["serbian"], {"Cyrillic": "serbian", "Latin": "serbian"}),
        (
            ["english", "greek", "arabic", "armenian", "tamil", "hindi", "russian"],
            {
                "Latin": "english",
                "Greek": "greek",
                "Arabic": "arabic",
                "Armenian": "armenian",
                "Tamil": "tamil",
                "Devanagari": "hindi",
                "Cyrillic": "russian",
            },
        ),
    ],
    ids=["two scripts", "serbian gets Cyrillic", "serbian gets Latin", "serbian gets both", "seven scripts"],
)
def test_script_goes_to_first_language(names: list[str], expected: dict[str, str]) -> None:
    """A script belongs to the first listed language that is written in it."""
    assert resolve_languages(names) == expected


@pytest.mark.rule("LANG-05", "LANG-06", "LANG-O2")
@pytest.mark.parametrize(
    ("names", "loser", "owner"),
    [
        (["russian", "ukrainian"], "ukrainian", "russian"),
        (["ukrainian", "russian"], "russian", "ukrainian"),
        (["english", "german"], "german", "english"),
        (["hindi", "nepali"], "nepali", "hindi"),
        (["english", "russian", "serbian"], "serbian", "english"),
        (["serbian", "english"], "english", "serbian"),
    ],
    ids="+".join,
)
def test_language_without_a_script_fails(names: list[str], loser: str, owner: str) -> None:
    """A language that can get no word is refused, and the message names it and who has its script."""
    with pytest.raises(InvalidNameError, match=f"'{loser}' in memory.languages can get no word.*'{owner}'") as raised:
        resolve_languages(names)
    assert raised.value.key == "memory.languages"


@pytest.mark.rule("LANG-07", "LANG-O1")
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["klingon"], "'klingon' is not a supported language.* Supported are: arabic, "),
        (["English"], "Did you mean 'english'"),
        (["russain"], "Did you mean 'russian'"),
        ([""], "is not a supported language"),
        (["english", "english"], "'english' is listed twice"),
        ([], "is empty"),
    ],
    ids=["unknown", "upper case", "misspelled", "no name", "repeated", "empty list"],
)
def test_wrong_list_fails(names: list[str], message: str) -> None:
    """An unknown name, a repeated name and an empty list are refused with a sentence."""
    with pytest.raises(InvalidNameError, match=message) as raised:
        resolve_languages(names)
    assert raised.value.message.endswith(".")
