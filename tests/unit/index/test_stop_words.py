"""Stop words are small lists of function words, for each of the 27 languages."""

from __future__ import annotations

import unicodedata

import pytest

from omnislash.core.languages import LANGUAGES, Script
from omnislash.core.words import find_script, fold
from omnislash.index.stop_words import get_stop_words, is_single_letter

#: A pronoun, a form of "to be" or a preposition, and a question word of each language.
FUNCTION_WORDS = {
    "arabic": "هو في متى",
    "armenian": "ես է երբ",
    "bulgarian": "аз съм кога",
    "danish": "jeg er hvornår",
    "dutch": "ik is wanneer",
    "english": "I is when",
    "finnish": "minä on milloin",
    "french": "je est quand",
    "german": "ich ist wann",
    "greek": "εγώ είναι πότε",
    "hindi": "मैं है कब",
    "hungarian": "én van mikor",
    "indonesian": "saya adalah kapan",
    "irish": "mé tá cathain",
    "italian": "io è quando",
    "lithuanian": "aš yra kada",
    "nepali": "म हो कहिले",
    "norwegian": "jeg er når",
    "portuguese": "eu é quando",
    "romanian": "eu este când",
    "russian": "я был когда",
    "serbian": "ја је када ja je kada",
    "spanish": "yo es cuándo",
    "swedish": "jag är när",
    "tamil": "நான் உள்ளது எப்போது",
    "turkish": "ben için neden",
    "ukrainian": "я є коли",
}
#: Words that a memory is asked about: work, house, day, water, person, city, friend, money and their kin.
TOPICS = {
    "arabic": "عمل بيت يوم ماء مدينة صديق",
    "armenian": "աշխատանք տուն օր ջուր քաղաք",
    "bulgarian": "работа къща ден вода град година",
    "danish": "arbejde hus dag vand by",
    "dutch": "werk huis dag water stad",
    "english": "work house day water city friend money computer case first may mine march home time good bad plan",
    "finnish": "työ talo päivä vesi kaupunki",
    "french": "travail maison jour eau ville été nom droit",
    "german": "arbeit haus tag wasser stadt jahr",
    "greek": "δουλειά σπίτι μέρα νερό πόλη",
    "hindi": "काम घर दिन पानी शहर",
    "hungarian": "munka ház nap víz város cikk",
    "indonesian": "kerja rumah hari air kota",
    "irish": "obair teach lá uisce cathair",
    "italian": "lavoro casa giorno acqua città",
    "lithuanian": "darbas namas diena vanduo miestas",
    "nepali": "काम घर दिन पानी शहर",
    "norwegian": "arbeid hus dag vann by",
    "portuguese": "trabalho casa dia água cidade",
    "romanian": "muncă casă zi apă oraș",
    "russian": "работа дом день вода город год время человек",
    "serbian": "рад кућа дан вода град rad kuća dan voda grad",
    "spanish": "trabajo casa día agua ciudad",
    "swedish": "arbete hus dag vatten stad",
    "tamil": "வேலை வீடு நாள் தண்ணீர் நகரம்",
    "turkish": "iş ev gün su şehir",
    "ukrainian": "робота дім день вода місто рік",
}


def test_tables_cover_the_27() -> None:
    """Each language is looked at."""
    assert list(FUNCTION_WORDS) == list(TOPICS) == list(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_function_words_are_stop_words(language: str) -> None:
    """Pronouns, auxiliaries, prepositions and question words carry no topic."""
    missing = [word for word in FUNCTION_WORDS[language].split() if fold(word) not in get_stop_words(language)]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_topics_are_no_stop_words(language: str) -> None:
    """A word that a question can be about is none."""
    wrong = [word for word in TOPICS[language].split() if fold(word) in get_stop_words(language)]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_lists_are_small_and_in_the_language_s_scripts(language: str) -> None:
    """A list has one to three hundred words a script, folded, all in scripts of the language."""
    words = get_stop_words(language)

    assert 90 <= len(words) / len(LANGUAGES[language]) <= 300
    assert {word for word in words if word != fold(word) or not unicodedata.is_normalized("NFC", word)} == set()
    assert {find_script(word) for word in words} == set(LANGUAGES[language])


def test_unknown_language_has_no_list() -> None:
    """There is no list for a language that is not supported."""
    with pytest.raises(KeyError):
        get_stop_words("klingon")


@pytest.mark.parametrize(
    ("text", "single"),
    [("a", True), ("ж", True), ("é", True), ("ab", False), ("7", False), ("渔", False), ("ñu", False), ("η", False)],
)
def test_single_letters(text: str, *, single: bool) -> None:
    """One Latin or Cyrillic letter says nothing; a digit or a Chinese character does."""
    assert is_single_letter(text, find_script(text)) is single


def test_scripts_of_single_letters() -> None:
    """A letter counts in its own script only."""
    assert is_single_letter("a", Script.latin)
    assert not is_single_letter("a", None)
