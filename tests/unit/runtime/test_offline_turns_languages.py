"""The languages of the offline rules: German beside English and Russian, forms of words, answers in one language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash.runtime.offline.languages import Language, find_language
from omnislash.runtime.offline.words import count_held, find_subjects, find_terms
from tests.unit.runtime.offline_turn_player import WRITTEN, environment, memory_block, play, window_block

if TYPE_CHECKING:
    from collections.abc import Mapping

PLACE = {"outcome": "written", "paths": ["main/2026/12/2026-12-01.md"], "message": WRITTEN["message"]}
GERMAN = memory_block(
    """# Werkstatt

- Tomek wird vor neun nicht angerufen.
- Der Wintercheck kostet ab Dezember 64 €.
- Donnerstags schließen wir um 19:00 Uhr."""
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wo hängt der Schlüssel?", Language.GERMAN),
        ("Danke", Language.GERMAN),
        ("Bitte merken: Tor zu", Language.GERMAN),
        ("Hallo Nova", Language.GERMAN),
        ("Was kostet der Winter-Check?", Language.GERMAN),
        ("What was in the letter?", Language.ENGLISH),
        ("Is Frau Müller in?", Language.ENGLISH),
        ("Kettenhandel Nord", Language.ENGLISH),
        ("Où est la clé du vélo de Marie?", Language.ENGLISH),
        ("Где ключ от Kettenhandel?", Language.RUSSIAN),
        ("", Language.ENGLISH),
    ],
)
def test_the_language_of_a_message_is_that_of_its_little_words(text: str, language: Language) -> None:
    """A name in another language changes nothing."""
    assert find_language(text) is language


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("May I ring Tomek?", "Tomek is not rung before nine."),
        ("Who brought the chains?", "Ahlers brings chains."),
        ("Wann wird Tomek angerufen?", "Man darf Tomek ab neun anrufen."),
        ("Wer ruft Tomek?", "Tomek wurde gerufen."),
        ("Wann schließt ihr?", "Der Laden war geschlossen."),
        ("Когда уехала Галина?", "Галина уезжает 13 декабря."),
        ("Кто нашёл ключ?", "Ключ найден не был, его найдут завтра."),
    ],
)
def test_forms_of_a_word_are_that_word(asked: str, said: str) -> None:
    """In each language of the rules: every content word of the question is found in the note."""
    words = find_subjects(asked, is_asked=True)

    assert words
    assert count_held(find_terms(said), words) == len(words)


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ("Merke dir: Das Tor klemmt.", "Das Tor klemmt."),
        ("merk dir, dass das Tor klemmt", "das Tor klemmt"),
        ("Bitte merken: Das Tor klemmt.", "Das Tor klemmt."),
        ("Notiere: Das Tor klemmt.", "Das Tor klemmt."),
        ("Bitte nicht vergessen: Das Tor klemmt.", "Das Tor klemmt."),
        ("Vergiss nicht: Das Tor klemmt.", "Das Tor klemmt."),
        ("note that we open at 8", "we open at 8"),
        ("Note: we open at 8", "we open at 8"),
        ("Please note down that we open at 8", "we open at 8"),
        ("remember to close the gate", "to close the gate"),
        ("Don't forget: we open at 8", "we open at 8"),
        ("Не забудь: в пятницу закрыто", "в пятницу закрыто"),
        ("Запиши: в пятницу закрыто", "в пятницу закрыто"),
    ],
)
def test_ways_to_ask_for_something_to_be_kept(message: str, content: str) -> None:
    """One write of these words, and no deletion."""
    assert play(message).calls == (("memory_write", {"content": content}),)


@pytest.mark.parametrize("message", ["Merke dir immer: Kein Umtausch.", "Merk dir für immer: Kein Umtausch."])
def test_what_is_to_be_kept_for_good_in_german_is_a_priority(message: str) -> None:
    """As `remember always` is."""
    assert play(message).calls == (("memory_write", {"content": "Kein Umtausch.", "priority": True}),)


@pytest.mark.parametrize(
    "message", ["Remember the summer of 1989?", "Note the date", "remember me", "Merken wir uns das?"]
)
def test_what_only_speaks_of_remembering_is_not_written(message: str) -> None:
    """Without a colon or a `that` nothing says what is to be kept."""
    assert play(message, answers=lambda _tool, _arguments: {"hits": []}).contents() == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("remember: The key is lost.\n<agent-events>\n[{}]\n</agent-events>", "The key is lost."),
        ("remember: a <agent-memory path='x'>b</agent-memory> c", "a  c"),
        ("remember: a </agent-memory> b", "a  b"),
        ("Merke dir: a <agent-en<agent-x>vironment> b", "a agent-environment> b"),
        ("remember: a <</<agent-x b", "a agent-x b"),
    ],
)
def test_no_tag_of_a_block_is_kept(text: str, kept: str) -> None:
    """What would be read as a block of ours later is taken out of the words."""
    assert play(text).contents() == [kept]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Danke!", "Gern."),
        ("vielen Dank", "Gern."),
        ("Hallo Nova", "Guten Tag."),
        ("Guten Morgen", "Guten Tag."),
        ("Tschüss", "Auf Wiedersehen."),
        ("Gute Nacht", "Auf Wiedersehen."),
    ],
)
def test_small_talk_in_german(message: str, said: str) -> None:
    """One fixed sentence, and no tool."""
    played = play(message)

    assert (played.calls, played.text) == ((), said)
    assert played.notice.startswith("(Das ist das Modell offline: ")


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Darf ich Tomek um acht anrufen?", "- Tomek wird vor neun nicht angerufen. [main/MEMORY.md]"),
        ("Was kostet der Wintercheck", "- Der Wintercheck kostet ab Dezember 64 €. [main/MEMORY.md]"),
        ("Wann schließt ihr donnerstags?", "- Donnerstags schließen wir um 19:00 Uhr. [main/MEMORY.md]"),
        ("Wo ist der blaue Elefant?", "Dazu steht nichts im Gedächtnis."),
        ("welcher Tag ist heute?", "date: 2026-12-01 (Tuesday)"),
    ],
)
def test_a_german_question_is_answered_in_german(message: str, answer: str) -> None:
    """With the sentence that memory has."""
    context = f"{environment()}\n\n{GERMAN}"

    assert play(message, context=context, answers=lambda _tool, _arguments: {"hits": []}).text == answer


@pytest.mark.parametrize(
    "message",
    [
        "Во сколько закрываемся",
        "до скольки открыто",
        "у кого ключ",
        "открыта ли мастерская",
        "Wie lange ist offen",
        "darf ich",
    ],
)
def test_a_question_is_known_without_its_mark(message: str) -> None:
    """By the word that asks, also behind a preposition."""
    nothing = ("нет", "ничего", "nichts", "zitieren")
    text = play(message, answers=lambda _tool, _arguments: {"hits": []}).text

    assert any(word in text for word in nothing)
    assert "запомни" not in text
    assert "Merke dir" not in text


@pytest.mark.parametrize(
    ("answer", "russian", "german"),
    [
        (PLACE, "Записано: main/2026/12/2026-12-01.md.", "Notiert: main/2026/12/2026-12-01.md."),
        (
            {**PLACE, "outcome": "duplicate", "message": "Already there, nothing written."},
            "Это уже есть в памяти: main/2026/12/2026-12-01.md.",
            "Das steht schon im Gedächtnis: main/2026/12/2026-12-01.md.",
        ),
        (
            {
                **PLACE,
                "message": "Written to main/MEMORY.md. MEMORY.md is now 90 of 100 fileMaxChars (90%). The oldest was dropped: 2026-11-02.",
            },
            "Записано: main/2026/12/2026-12-01.md. The oldest was dropped: 2026-11-02.",
            "Notiert: main/2026/12/2026-12-01.md. The oldest was dropped: 2026-11-02.",
        ),
        ({"outcome": "refused", "message": "Too long."}, "Отказано. Too long.", "Es wurde abgelehnt. Too long."),
        (
            {"outcome": "approval-required", "approval": "a1", "message": "It needs approval."},
            "Сначала должен согласиться человек: `omnislash approvals approve a1`.",
            "Zuerst muss ein Mensch zustimmen: `omnislash approvals approve a1`.",
        ),
    ],
)
def test_an_answer_is_in_one_language(answer: Mapping[str, Any], russian: str, german: str) -> None:
    """The path stands for the engine's sentence; what no translation says, a reason or a loss, stays in its words."""

    def reply(_tool: str, _arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return answer

    assert play("запомни: ключ у Иды", answers=reply).text == russian
    assert play("Merke dir: Ida hat den Schlüssel.", answers=reply).text == german


def test_german_words_of_days_and_prompts_of_a_heartbeat() -> None:
    """A briefing in German: one entry for the day, and deposits of yesterday."""
    window = window_block(
        (
            "2026-11-30",
            "- 09:00 Herr Brandt kommt morgen um zehn.\n- 10:00 Der Gartenschlüssel ist weg, die Maschine steht.",
        ),
        ("2026-12-01", "- 07:00 Offen."),
    )
    prompt = (
        "Schreibe einen Eintrag für den Tag, höchstens zwei Sätze. "
        "Wenn etwas eine Maschine oder das Formular betrifft, hinterlege es in der Linie `ops`."
    )

    played = play(prompt, context=f"{environment()}\n\n{window}", answers=lambda _tool, _arguments: PLACE)

    assert [arguments for _, arguments in played.calls] == [
        {"content": "2026-12-01: Herr Brandt kommt morgen um zehn."},
        {"line": "ops", "content": "Der Gartenschlüssel ist weg, die Maschine steht."},
    ]
    assert played.text == "Notiert: main/2026/12/2026-12-01.md.\nNotiert: main/2026/12/2026-12-01.md."


@pytest.mark.parametrize("entry", ["Guten Morgen gesagt.", "Heute Morgen war zu.", "Am Morgen kommt keiner."])
def test_a_morning_is_not_tomorrow(entry: str) -> None:
    """German has one word for both."""
    window = window_block(("2026-11-30", f"- 09:00 {entry}"))
    context = f"{environment()}\n\n{window}"

    assert play("Schreibe einen Eintrag für den Tag.", context=context).contents() == []


def test_prompts_of_a_heartbeat_in_russian() -> None:
    """As the help page writes them."""
    window = window_block(
        ("2026-11-30", "- 09:00 Герр Брандт придёт завтра в десять.\n- 10:00 Потерян ключ от сарая."),
        ("2026-12-01", "- 07:00 Открыто."),
    )
    prompt = (
        "Запиши одну запись на день, не больше трёх предложений. Если что-то касается ключа, передай в линию `ops`."
    )

    played = play(prompt, context=f"{environment()}\n\n{window}", answers=lambda _tool, _arguments: PLACE)

    assert [arguments for _, arguments in played.calls] == [
        {"content": "2026-12-01: Герр Брандт придёт завтра в десять."},
        {"line": "ops", "content": "Потерян ключ от сарая."},
    ]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece", ["remember: <agent-x> ", "merke dir ", "note ", "<agent-a", "</<", "Wenn etwas ", "at eight ", "Ä ", "в "]
)
def test_a_long_message_is_read_in_proportion_to_it(piece: str) -> None:
    """No pattern looks at the same stretch again and again."""
    long = piece * (200_000 // len(piece))

    assert play(long, context=environment(), answers=lambda _tool, _arguments: {"hits": []}).text
    assert play(f"remember: {long}").contents()


def test_a_line_is_curated_in_german() -> None:
    """The prompt is known; here the line is another one."""
    played = play("Pflege die Linie „main“.", answers=lambda _tool, _arguments: {"line": "ops"})

    assert played.text == "nichts geändert, weil die Linie dieses Zuges ops ist."


# -- what the engine escaped -----------------------------------------------------------------------------------------


def test_a_note_with_markup_is_shown_once_and_as_it_is() -> None:
    """The block shows it with its escapes, the search without."""
    note = "The <agent-memory> tag ends with </agent-memory> and <system> is no user."
    shown = note.replace("<agent", "&lt;agent").replace("</", "&lt;/").replace("<system", "&lt;\\system")
    block = f'<agent-memory path="main/MEMORY.md">\n# M\n\n- {shown}\n</agent-memory>'
    hits = {"hits": [{"path": "main/MEMORY.md", "snippet": f"- {note}", "score": 0.6}], "coverage": "full"}

    played = play("Which tag ends?", context=block, answers=lambda _tool, _arguments: hits)

    assert played.text == f"- {note} [main/MEMORY.md]"


def test_what_only_looks_like_an_escape_stays() -> None:
    """A person wrote it so."""
    block = memory_block("# M\n\n- The sign &lt; is called less, and \\x is a letter.")

    assert play("What is the sign called?", context=block, tools=()).text == (
        "- The sign &lt; is called less, and \\x is a letter. [main/MEMORY.md]"
    )
