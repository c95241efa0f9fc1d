"""Text falls into words, compounds keep their parts, and hostile text takes no longer than any other."""

from __future__ import annotations

import time
import unicodedata

import pytest

from omnislash.core import words
from omnislash.core.languages import Script
from omnislash.core.words import Token, TokenKind, find_script, fold, shorten, split_words


def one(text: str) -> Token:
    """Return the only token of a text."""
    (token,) = split_words(text)
    return token


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When is the sync report due?", ["when", "is", "the", "sync", "report", "due"]),
        ("**Bold**, (brackets) [and] `code`.", ["bold", "brackets", "and", "code"]),
        ("one — two – three -- four", ["one", "two", "three", "four"]),
        ("'quoted' and \u2018quoted\u2019", ["quoted", "and", "quoted"]),
        ("e-mail; e\u2010mail", ["e-mail", "e-mail"]),
        ("______ _'_ __/__", []),
        ("--- *** ...", []),
        ("😀 ❤️ 👩\u200d🚒", []),
        ("", []),
    ],
)
def test_words_stand_between_blanks_and_signs(text: str, expected: list[str]) -> None:
    """Signs around words are no part of them."""
    assert [token.text for token in split_words(text)] == expected


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("snake_case", "snake_case", ("snake", "case")),
        ("kebab-case", "kebab-case", ("kebab", "case")),
        ("out-of-season", "out-of-season", ("out", "of", "season")),
        ("REQ-0317", "req-0317", ("req", "0317")),
        ("v1.2.3", "v1.2.3", ("v1", "2", "3")),
        ("2026-02-17", "2026-02-17", ("2026", "02", "17")),
        ("12:30", "12:30", ("12", "30")),
        ("C:\\temp", "c:\\temp", ("c", "temp")),
        ("a/b.md", "a/b.md", ("a", "b", "md")),
        ("foo.bar()", "foo.bar", ("foo", "bar")),
        ("maria@example.com", "maria@example.com", ("maria", "example", "com")),
        ("https://example.com/notes", "https://example.com/notes", ("https", "example", "com", "notes")),
        ("Maria's", "maria's", ("maria",)),
        ("l’école", "l'école", ("école",)),
        ("rock'n'roll", "rock'n'roll", ("rock", "roll")),
        ("readFile", "readfile", ("read", "file")),
        ("HTTPServer", "httpserver", ("http", "server")),
        ("5km", "5km", ("5", "km")),
        ("UTF8", "utf8", ("utf", "8")),
    ],
)
def test_compound_is_one_token_with_parts(text: str, whole: str, parts: tuple[str, ...]) -> None:
    """What is written together is found whole and in parts."""
    token = one(text)

    assert (token.text, token.parts, token.kind) == (whole, parts, TokenKind.COMPOUND)


@pytest.mark.parametrize(
    ("text", "whole"),
    [("don't", "don't"), ("don’t", "don't"), ("IDs", "ids"), ("C++", "c++"), ("C#", "c#"), ("п’ять", "п'ять")],
)
def test_some_words_have_no_parts(text: str, whole: str) -> None:
    """A contraction of not, a plural of letters, the name of a language and a Ukrainian word are simple."""
    token = one(text)

    assert (token.text, token.parts, token.kind) == (whole, (), TokenKind.WORD)


def test_offsets_are_those_of_the_text_as_it_stands() -> None:
    """Each token's offsets cut its own letters out of the text, also out of decomposed text."""
    text = unicodedata.normalize("NFD", "Der Öltank, Клён №7 und C:\\temp: café.")

    for token in split_words(text):
        assert fold(text[token.start : token.end]) == token.text
    assert [token.text for token in split_words(text)] == ["der", "öltank", "клен", "7", "und", "c:\\temp", "café"]


@pytest.mark.rule("LANG-O5", "LANG-04")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Ёлка", "елка"),
        ("клён", "клен"),
        (unicodedata.normalize("NFD", "клён"), "клен"),
        (unicodedata.normalize("NFD", "Ärger"), "ärger"),
        ("İstanbul", "istanbul"),
        ("co\u00adoperate", "cooperate"),
        ("می\u200cخواهم", "میخواهم"),
        ("don\u02bct", "don't"),
    ],
)
def test_fold(written: str, read: str) -> None:
    """Composed and decomposed text, capitals, the Russian yo and invisible joiners make no difference."""
    assert fold(written) == read


def test_fold_keeps_what_tells_letters_apart() -> None:
    """Accents stay, and so do й and the Turkish dotless i."""
    assert fold("Résumé Йод ışık") == "résumé йод ışık"


@pytest.mark.rule("LANG-05")
@pytest.mark.parametrize(
    ("word", "script"),
    [
        ("report", Script.latin),
        ("Straße", Script.latin),
        ("đường", Script.latin),
        ("встреча", Script.cyrillic),
        ("зустріч", Script.cyrillic),
        ("συνάντηση", Script.greek),
        ("ἀλήθεια", Script.greek),
        ("اجتماع", Script.arabic),
        ("քաղաք", Script.armenian),
        ("किताब", Script.devanagari),
        ("புத்தகம்", Script.tamil),
        ("utf8", Script.latin),
        ("회의", None),
        ("ישיבה", None),
        ("会议", None),
        ("2026", None),
        ("٣", None),
        ("cаt", None),
        ("", None),
    ],
)
def test_script(word: str, script: Script | None) -> None:
    """A word has the script of its letters; mixed letters, other scripts and numbers have none."""
    assert find_script(word) is script


def test_every_letter_is_in_the_script_that_unicode_names() -> None:
    """The ranges agree with the names of all letters of the seven scripts below U+10000."""
    wrong = []
    names = {script.value.upper(): script for script in Script}
    for code in range(0x41, 0x10000):
        letter = chr(code)
        name = unicodedata.name(letter, "").split()
        if letter.isalpha() and name and name[0] in names and "MODIFIER" not in name:
            wrong += [hex(code)] if find_script(letter) is not names[name[0]] else []
    assert wrong == []


def test_every_combining_mark_continues_a_word() -> None:
    """A mark never cuts a word in two, in whatever script, up to U+1FFFF."""
    marks = [chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code)).startswith("M")]
    cut = [hex(ord(mark)) for mark in marks if len(words.find_raw_words(f"к{mark}ю")) != 1]
    assert len(marks) > 2000
    assert cut == []


@pytest.mark.rule("LANG-08")
@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("渔", ["渔"]),
        ("渔网", ["渔", "渔网", "网"]),
        ("東京タワー", ["東", "東京", "京", "京タ", "タ", "タワ", "ワ", "ワー", "ー"]),
        ("น้ำใส", ["น้", "น้ำ", "ำ", "ำใ", "ใ", "ใส", "ส"]),
        ("ពាក្យ", ["ពា", "ពាក្", "ក្", "ក្យ", "យ"]),
    ],
)
def test_text_without_blanks_is_characters_and_pairs(text: str, grams: list[str]) -> None:
    """Each character, with its marks, and each pair of neighbours is a token."""
    tokens = split_words(text)

    assert [token.text for token in tokens] == grams
    assert {token.kind for token in tokens} == {TokenKind.GRAM}
    assert [text[token.start : token.end] for token in tokens] == grams


def test_scripts_that_meet_are_told_apart() -> None:
    """A Latin name inside Chinese text is a word, and the text around it is not."""
    tokens = split_words("用Redis-Cluster缓存")

    assert [token.text for token in tokens if token.kind is TokenKind.GRAM] == ["用", "缓", "缓存", "存"]
    assert [token.text for token in tokens if token.kind is not TokenKind.GRAM] == ["redis-cluster"]


def test_long_run_is_cut_to_64_letters() -> None:
    """Of a run of letters the first 64 count; its offsets still span the run."""
    token = one("а" * 200_000)

    assert token.text == "а" * 64
    assert (token.start, token.end) == (0, 200_000)


def test_long_compound_keeps_both_ends() -> None:
    """Two long paths that begin alike are two words."""
    first, second = (one("folder/" * 12 + name) for name in ("notes.md", "tasks.md"))

    assert first.text.startswith("folder/folder/")
    assert first.text.endswith("/notes.md")
    assert len(first.text) <= 64
    assert first.text != second.text
    assert shorten("x" * 64) == "x" * 64


def test_hash_fits_whole() -> None:
    """A SHA-256 is not shortened."""
    digest = "0f1e2d3c4b5a6978" * 4

    assert one(digest).text == digest


HOSTILE = {
    "one line of words": "word and another-one " * 20_000,
    "one run of letters": "а" * 1_000_000,
    "dots": "a." * 400_000,
    "hyphens": "a-" * 400_000,
    "apostrophes": "a'" * 400_000,
    "underscores": "_" * 1_000_000,
    "lone surrogates": "x\udcff" * 200_000,
    "marks of two classes": "e" + "\u0301\u0316" * 300_000,
    "marks without a letter": "\u0301" * 400_000,
    "marks on a Thai letter": "ก" + "\u0e48\u0e38" * 300_000,
    "capitals in turn": "aB" * 400_000,
    "joiners": "क\u200d" * 300_000,
    "signs": "://" * 300_000,
    "quotes": '"\u00ab' * 300_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_linear_time(text: str) -> None:
    """Megabytes of anything are read in seconds; quadratic time would take hours."""
    start = time.perf_counter()
    tokens = split_words(text)
    fold(text)

    assert time.perf_counter() - start < 30
    assert all(len(token.text) <= 64 for token in tokens)
