"""The word leg: which notes have which words of a question, whole or in parts."""

from __future__ import annotations

import numpy as np
import pytest

from omnislash.index.lexical import match_words
from omnislash.index.packing import NOTE, Packed, pack_terms
from omnislash.index.snapshot import IndexedFile, Loaded, Snapshot
from omnislash.index.stemming import Query, QueryWord, Stemmer

STEMMER = Stemmer(("english",))


def make_snapshot(*texts: str) -> Snapshot:
    """Return an index of files with one note each."""
    loaded = []
    for number, text in enumerate(texts, start=1):
        terms = STEMMER.note_terms(text)
        records = np.zeros(1, NOTE)
        records["terms"] = len(terms)
        loaded.append(
            Loaded(IndexedFile(number, f"{number}.md", "document", b""), Packed(records, *pack_terms([terms])))
        )
    return Snapshot().updated(loaded, [], revision=len(texts))


def ask(snapshot: Snapshot, question: str) -> dict[str, dict[int, int]]:
    """Return for each word how often each note has it."""
    matches = match_words(snapshot, STEMMER.parse_query(question))
    return {match.word.text: dict(zip(match.notes.tolist(), match.counts.tolist(), strict=True)) for match in matches}


@pytest.mark.rule("LANG-02", "RECALL-O1")
def test_each_word_has_the_notes_that_hold_it() -> None:
    """Words are compared as stems and counted."""
    snapshot = make_snapshot("Sync reports are due on Friday", "The report, the whole report", "Rope")
    assert ask(snapshot, "report friday absent") == {"report": {0: 1, 1: 2}, "friday": {0: 1}, "absent": {}}


def test_a_word_is_no_query_language() -> None:
    """Signs that mean something to a search engine mean nothing here, and a word in SQL stays a word."""
    snapshot = make_snapshot("near the quay", "drop table files")
    assert ask(snapshot, 'NEAR("quay"*) OR NOT quay:^')["quay"] == {0: 1}
    assert ask(snapshot, "'; DROP TABLE files; --")["table"] == {1: 1}
    assert ask(snapshot, "'; DROP TABLE files; --")["files"] == {1: 1}


def test_a_compound_is_found_whole_or_in_all_its_parts() -> None:
    """A note that has every part has the compound; one that lacks a part has not."""
    word = QueryWord("rope-ladder", "rope-ladder", ("rope", "ladder"))
    terms = [{"rope-ladder": 2, "rope": 2, "ladder": 2}, {"ladder": 1}, {"rope": 3, "ladder": 1}, {"rope": 1}]
    loaded = []
    for number, each in enumerate(terms):
        records = np.zeros(1, NOTE)
        records["terms"] = len(each)
        loaded.append(
            Loaded(IndexedFile(number, f"{number}.md", "document", b""), Packed(records, *pack_terms([each])))
        )
    snapshot = Snapshot().updated(loaded, [], revision=4)
    (match,) = match_words(snapshot, Query("rope-ladder", (word,), ()))
    assert match.notes.tolist() == [0, 2]
    assert match.counts.tolist() == [2, 1]


def test_a_question_without_words() -> None:
    """Signs alone ask for nothing."""
    assert match_words(make_snapshot("rope"), STEMMER.parse_query("?!")) == ()


def test_words_are_found_across_parts_in_order() -> None:
    """Notes of a later part come behind those of an earlier one, dead ones included: the search takes them out."""
    first = make_snapshot("quay", "quay", "rope", "rope")
    terms = STEMMER.note_terms("quay quay")
    records = np.zeros(1, NOTE)
    records["terms"] = len(terms)
    second = first.updated(
        [Loaded(IndexedFile(9, "9.md", "document", b""), Packed(records, *pack_terms([terms])))], [1], revision=9
    )
    assert ask(second, "quay") == {"quay": {0: 1, 1: 1, 4: 2}}
    assert second.alive.tolist() == [False, True, True, True, True]
