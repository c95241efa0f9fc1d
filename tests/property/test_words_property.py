"""Whatever text comes in, words and terms are well formed, and a word finds itself."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omnislash.core.languages import LANGUAGES, Script
from omnislash.core.words import TokenKind, find_script, fold, split_words
from omnislash.index.stemming import Stemmer

#: Any text at all, lone surrogates included, and text made of what words are made of.
ANY_TEXT = st.text(st.characters(), max_size=80)
PIECES = st.sampled_from(
    [
        *(
            "a",
            "I",
            "Report",
            "reports",
            "don",
            "t",
            "'",
            "’",
            "-",
            "_",
            ".",
            "/",
            "\\",
            ":",
            "@",
            " ",
            "\n",
            "7",
            "0317",
        ),
        *("v1", "ё", "е\u0308", "Иван", "ом", "İ", "ı", "ß", "渔", "网", "タ", "ー", "น", "้", "क", "\u200d", "\u0301"),
        *("\u00ad", "\udcff", "++", "#", '"', "«", "»", "😀", "Σ", "ς", "ა", "회의"),
    ]
)
TEXTS = st.one_of(ANY_TEXT, st.lists(PIECES, max_size=25).map("".join))
SEVEN_SCRIPTS = Stemmer(["english", "russian", "greek", "arabic", "armenian", "hindi", "tamil"])
TURKISH = Stemmer(["turkish", "serbian"])
#: Letters of each script, to make words that no dictionary has.
LETTERS = {
    Script.latin: "abcdefghijklmnopqrstuvwxyzäöüéèçñßåøąęıİşğ'",
    Script.cyrillic: "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґљњћђџј'",
    Script.greek: "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώς",
    Script.arabic: "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىأإآء\u064e\u0650",
    Script.armenian: "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև",
    Script.devanagari: "अआइईउएकखगघचजटडणतथदनपफबभमयरलवशसह\u093e\u093f\u0940\u0941\u0947\u094b\u0902\u094d",
    Script.tamil: "அஆஇஉஎஒகஙசஞடணதநபமயரலவழளறன\u0bbe\u0bbf\u0bc0\u0bc1\u0bc6\u0bcd",
}


@given(TEXTS)
@example("İ")
@example("ŉ")
@example("e\u0301\u0316" * 20)
@settings(max_examples=300)
def test_tokens_are_well_formed(text: str) -> None:
    """Tokens stand in order, hold what their offsets cut out, are folded, and are neither empty nor long."""
    tokens = split_words(text)

    for token in tokens:
        assert 0 <= token.start < token.end <= len(text)
        assert 0 < len(token.text) <= 64
        assert token.text.lower() == token.text or "\u0130" in unicodedata.normalize("NFC", text)
        if token.kind is TokenKind.GRAM or len(token.text) < 64:
            assert fold(text[token.start : token.end]).strip("_-.:/\\@&'") == token.text
        assert token.kind is not TokenKind.COMPOUND or token.parts
        assert token.script in {None, find_script(token.text)}
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)


@given(TEXTS)
@settings(max_examples=300)
def test_fold_is_done_once(text: str) -> None:
    """Folding what is folded changes nothing, and capitals and decomposition make no difference to it."""
    once = fold(text)

    assert fold(once) == once
    assert fold(unicodedata.normalize("NFD", text)) == once


@pytest.mark.rule("LANG-02", "LANG-04", "LANG-08")
@pytest.mark.parametrize("stemmer", [SEVEN_SCRIPTS, TURKISH], ids=["seven scripts", "turkish"])
@given(TEXTS)
@settings(max_examples=300)
def test_a_text_finds_itself(stemmer: Stemmer, text: str) -> None:
    """A note holds every word of a question that has the same text, whatever stands in it."""
    terms = stemmer.note_terms(text)

    assert all(0 < len(term) <= 64 and count > 0 for term, count in terms.items())
    for word in stemmer.parse_query(text).words:
        assert word.term in terms or (word.parts and all(part in terms for part in word.parts)), word
        assert not (word.is_stop and word.is_literal)


@pytest.mark.rule("LANG-04")
@given(TEXTS)
@settings(max_examples=200)
def test_normal_forms_have_the_same_terms(text: str) -> None:
    """Composed and decomposed text have the same terms."""
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))

    assert SEVEN_SCRIPTS.note_terms(composed) == SEVEN_SCRIPTS.note_terms(decomposed)


@pytest.mark.rule("LANG-O4")
@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=60)
@given(data=st.data())
def test_stems_of_any_word(language: str, data: st.DataObject) -> None:
    """A stem of any letters comes back, is short, is the same each time, and the stemmer of another brain agrees."""
    script = data.draw(st.sampled_from(LANGUAGES[language]))
    word = fold(data.draw(st.text(LETTERS[script], min_size=1, max_size=80)))
    one, other = Stemmer([language]), Stemmer([language])
    stem = one.stem(word, script)

    assert len(stem) <= 64
    assert stem == one.stem(word, script) == other.stem(word, script)


@pytest.mark.rule("LANG-04")
@given(st.text("abcdefghijklmnopqrstuvwxyzабвгдежзик", min_size=1, max_size=40))
def test_word_of_no_listed_language_is_its_own_term(word: str) -> None:
    """What no listed language owns is its own stem."""
    assert Stemmer(["greek"]).stem(word, find_script(word)) == word
