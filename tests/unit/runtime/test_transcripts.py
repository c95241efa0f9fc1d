"""Transcripts are told apart by what they hold; what nobody said in them is left out, and nothing else is."""

from __future__ import annotations

import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from omnislash.errors import UsageError
from omnislash.runtime.flushing.flush_prompt import render_flush_message
from omnislash.runtime.flushing.spoken import Speaker, Spoken, Transcript
from omnislash.runtime.flushing.transcripts import decode_transcript, find_session, parse_transcript

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT


def user(content: Any, **more: Any) -> dict[str, Any]:
    """A record of the user."""
    return {"type": "user", "sessionId": "s-1", "message": {"role": "user", "content": content}, **more}


def assistant(*blocks: Any, **more: Any) -> dict[str, Any]:
    """A record of the assistant; a text stands for its block."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"type": "assistant", "sessionId": "s-1", "message": {"role": "assistant", "content": content}, **more}


def use(name: str, number: str = "t1", **arguments: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"type": "tool_use", "id": number, "name": name, "input": arguments}


def result(text: str, number: str = "t1") -> dict[str, Any]:
    """What a tool answered, as a record of the user holds it."""
    return {"type": "tool_result", "tool_use_id": number, "content": [{"type": "text", "text": text}]}


def lines(*records: Any) -> str:
    """A session's file."""
    return "".join((each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)) + "\n" for each in records)


def said(transcript: Transcript) -> list[tuple[Speaker, str]]:
    """Who said what."""
    return [(turn.speaker, turn.text) for turn in transcript.turns]


# -- a session -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("FLUSH-04")
def test_a_session_is_what_was_said_in_it() -> None:
    """Words of both sides are taken in order, pieces of one side are one, tools are named and nothing more."""
    text = lines(
        {"type": "file-history-snapshot", "snapshot": {}},
        user("Is the depot open on Sunday?", timestamp="2026-11-30T08:12:00.000Z"),
        assistant({"type": "thinking", "thinking": "They want the hours."}),
        assistant("Let me look."),
        assistant(use("Read", file_path="hours.md")),
        user([result("Sunday: closed")]),
        assistant("No, it is closed."),
        user([{"type": "text", "text": "Then Monday."}, {"type": "image", "source": {}}]),
        assistant("Noted.", use("mcp__omnislash__memory_write", "t2", content="Monday")),
        user([result('{"outcome": "written"}', "t2")]),
        assistant("It is in the log."),
    )

    found = parse_transcript(text)

    assert said(found) == [
        (USER, "Is the depot open on Sunday?"),
        (ASSISTANT, "Let me look.\n\nNo, it is closed."),
        (USER, "Then Monday."),
        (ASSISTANT, "Noted.\n\nIt is in the log."),
    ]
    assert [turn.tools for turn in found.turns] == [(), ("Read",), (), ("mcp__omnislash__memory_write",)]
    assert [turn.first for turn in found.turns] == [2, 4, 8, 9]
    assert found.turns[0].said_at is not None
    assert found.turns[0].said_at.isoformat() == "2026-11-30T08:12:00+00:00"
    assert (found.records, found.skipped, found.session, found.is_open) == (11, 0, "s-1", False)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(user("secret", isMeta=True), id="the harness's own words"),
        pytest.param(user("secret", isCompactSummary=True), id="summary of a compacted part"),
        pytest.param(user("secret", isVisibleInTranscriptOnly=True), id="shown and not sent"),
        pytest.param(user("secret", isSidechain=True), id="prompt of a sub-agent"),
        pytest.param(assistant("secret", isSidechain=True), id="answer of a sub-agent"),
        pytest.param(assistant("secret", isApiErrorMessage=True), id="error of the provider"),
        pytest.param({"type": "summary", "summary": "secret", "leafUuid": "x"}, id="summary of another session"),
        pytest.param({"type": "system", "subtype": "compact_boundary", "content": "secret"}, id="compact boundary"),
        pytest.param({"type": "system", "subtype": "local_command", "content": "secret"}, id="local command"),
        pytest.param(
            {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["secret"]}}, id="hook"
        ),
        pytest.param(
            {"type": "attachment", "attachment": {"type": "hook_success", "stdout": "secret"}}, id="output of a hook"
        ),
        pytest.param(
            {
                "type": "attachment",
                "attachment": {"type": "queued_command", "prompt": "secret", "commandMode": "task-notification"},
            },
            id="notice of a task",
        ),
        pytest.param({"type": "progress", "data": {"message": {"content": "secret"}}}, id="progress"),
        pytest.param({"type": "queue-operation", "operation": "enqueue", "content": "secret"}, id="queue"),
        pytest.param(user([result("secret")]), id="answer of a tool"),
        pytest.param(
            {**user([result("x")]), "toolUseResult": {"stdout": "secret"}}, id="answer of a tool, a second time"
        ),
        pytest.param(assistant({"type": "thinking", "thinking": "secret"}), id="thoughts"),
        pytest.param(assistant(use("Bash", command="secret")), id="arguments of a tool"),
        pytest.param(
            {"type": "assistant", "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "secret"}]}},
            id="an answer that the harness made up",
        ),
        pytest.param(user("<system-reminder>secret</system-reminder>"), id="reminder"),
        pytest.param(user("<local-command-stdout>secret</local-command-stdout>"), id="output of a command"),
        pytest.param(user("<bash-input>secret</bash-input>"), id="command on the spot"),
        pytest.param(user("<user-prompt-submit-hook>secret</user-prompt-submit-hook>"), id="hook as text"),
        pytest.param(
            user("<command-name>/secret</command-name>\n<command-message>secret</command-message>"), id="bare command"
        ),
        pytest.param(user("[Request interrupted by user for tool use]"), id="interruption"),
    ],
)
def test_what_nobody_said_is_left_out(record: dict[str, Any]) -> None:
    """A record that the harness wrote adds no word to what was said before and after it."""
    found = parse_transcript(lines(user("Before."), assistant("Yes."), record, user("After."), assistant("Yes, yes.")))

    assert [turn.text for turn in found.turns] == ["Before.", "Yes.", "After.", "Yes, yes."]


def test_what_the_user_wrote_in_another_way_is_taken() -> None:
    """Arguments of a command, a message that waited for the assistant, and an answer to a question are words."""
    text = lines(
        user("<command-message>fix is running</command-message>\n<command-name>/fix</command-name>\n"
             "<command-args>the gate hinge</command-args>"),
        assistant("Which one?", use("AskUserQuestion", "q1")),
        user([result('User has answered your questions: "Which one?"="the left one"', "q1")]),
        assistant("Done."),
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "and oil it"}},
        assistant("Oiled."),
    )  # fmt: skip

    assert [turn.text for turn in parse_transcript(text).turns] == [
        "/fix the gate hinge",
        "Which one?",
        'User has answered your questions: "Which one?"="the left one"',
        "Done.",
        "and oil it",
        "Oiled.",
    ]


def test_a_damaged_line_costs_itself_only() -> None:
    """A broken line in the middle is skipped and counted; the rest is read."""
    text = lines(user("One."), '{"type": "user", "message": {"con', assistant("Two."), "[1, 2]", "", user("Three."))

    found = parse_transcript(text)

    assert [turn.text for turn in found.turns] == ["One.", "Two.", "Three."]
    assert (found.skipped, found.records) == (2, 6)


def test_a_line_that_is_being_written_is_no_record_yet() -> None:
    """The last line without its end is neither read nor counted, and read once it is whole."""
    whole = lines(user("One."), assistant("Two."))
    torn = whole + lines(user("Three."))[:-30]

    assert parse_transcript(torn) == parse_transcript(whole)
    assert parse_transcript(whole + lines(user("Three.")).rstrip("\n"), after=2).turns[0].text == "Three."
    assert parse_transcript(whole + lines(user("Three.")).rstrip("\n")).records == 3


def test_records_before_a_mark_are_left_out() -> None:
    """A transcript is read on from where it was left."""
    text = lines(user("One."), assistant("Two."), user("Three."), assistant("Four."))

    assert [turn.text for turn in parse_transcript(text, after=2).turns] == ["Three.", "Four."]
    assert parse_transcript(text, after=4).turns == ()
    assert parse_transcript(text, after=9).turns == ()


def test_repeated_records_are_read_once() -> None:
    """A file that repeats the beginning of its session does not say it twice."""
    first = user("One.", uuid="a")

    assert [turn.text for turn in parse_transcript(lines(first, first, assistant("Two.", uuid="b"))).turns] == [
        "One.",
        "Two.",
    ]


@pytest.mark.parametrize(
    ("records", "texts", "count"),
    [
        pytest.param([user("1"), assistant("2"), user("3")], ["1", "2"], 2, id="no answer"),
        pytest.param([user("1"), assistant("2"), user("3"), assistant("4")], ["1", "2", "3", "4"], 4, id="over"),
        pytest.param([user("1"), assistant("2"), user("3"), assistant("4", use("x"))], ["1", "2"], 2, id="tool runs"),
        pytest.param(
            [user("1"), assistant("2"), user("3"), assistant(use("x")), user([result("r")])],
            ["1", "2"],
            2,
            id="tool ran",
        ),
        pytest.param([user("1")], [], 0, id="one message"),
        pytest.param([assistant("1"), user("2"), assistant("3")], ["1", "2", "3"], 3, id="begins with an answer"),
        pytest.param([assistant("1", use("x"))], [], 0, id="half an answer"),
        pytest.param([], [], 0, id="nothing"),
    ],
)
def test_an_exchange_without_its_end_is_left(records: list[Any], texts: list[str], count: int) -> None:
    """Only exchanges that are over are settled, and the count of records stops before the rest."""
    found = parse_transcript(lines(*records) or "\n").settled()

    assert [turn.text for turn in found.turns] == texts
    assert found.records == count


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            '{"role": "user", "content": "Hello."}\n{"role": "assistant", "content": "Good day."}', id="roles"
        ),
        pytest.param(
            '{"type": "user", "content": "Hello."}\n{"type": "assistant", "content": "Good day."}', id="types"
        ),
        pytest.param("\ufeff" + lines(user("Hello."), assistant("Good day.")), id="byte order mark"),
        pytest.param(lines(user("Hello."), assistant("Good day.")).replace("\n", "\r\n"), id="CRLF"),
        pytest.param('{"type": "us\n' + lines(user("Hello."), assistant("Good day.")), id="first line broken"),
    ],
)
def test_other_ways_to_write_a_session_are_understood(text: str) -> None:
    """Plain roles, a byte order mark and other line ends make no difference."""
    assert said(parse_transcript(text)) == [(USER, "Hello."), (ASSISTANT, "Good day.")]


def test_a_session_is_known_by_its_name() -> None:
    """The id of a session is found in its first lines; markdown has none."""
    assert find_session(lines({"type": "mode"}, user("Hello."))) == "s-1"
    assert find_session("**User:** Hello.") is None


def test_halves_of_pairs_are_mended() -> None:
    """Half an emoji in JSON becomes the sign for it, so that the text can be stored and sent."""
    found = parse_transcript('{"role": "user", "content": "bed \\ud83c sown \\ud83c\\udf3b"}\n')

    assert found.turns[0].text == "bed \ufffd sown \U0001f33b"


def test_deep_and_large_lines_are_survived() -> None:
    """A line that no parser takes is one skipped line."""
    deep = '{"a":' * 100_000
    found = parse_transcript(lines(user("One."), deep, '{"n": ' + "9" * 5000 + "}", assistant("Two.")))

    assert [turn.text for turn in found.turns] == ["One.", "Two."]
    assert found.skipped == 2


@pytest.mark.rule("FLUSH-O6")
def test_a_review_is_not_reviewed() -> None:
    """The session of a curator that ran in a harness holds nothing; a person who goes on in it is heard again."""
    asked = [Spoken(speaker=USER, text="Is it open?"), Spoken(speaker=ASSISTANT, text="Yes.")]
    message = render_flush_message(asked, keep="Keys.", zone=ZoneInfo("UTC"))
    text = lines(user(f"You are a curator.\n\n{message}"), assistant("I write this down.", use("memory_write")))

    assert parse_transcript(text).turns == ()
    assert [turn.text for turn in parse_transcript(text + lines(user("Hello."), assistant("Yes?"))).turns] == [
        "Hello.",
        "Yes?",
    ]


# -- markdown --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("**User:** Hello.\n\n**Assistant:** Good day.", id="bold"),
        pytest.param("**User**: Hello.\n\n**Assistant**: Good day.", id="bold, colon outside"),
        pytest.param("**User**\n\nHello.\n\n**Assistant**\n\nGood day.", id="bold alone"),
        pytest.param("**User (2026-11-30 09:12):** Hello.\n\n**Assistant (2026-11-30):** Good day.", id="bold, time"),
        pytest.param("# A talk\n\n## User\n\nHello.\n\n## Assistant\n\nGood day.", id="headings"),
        pytest.param("### 🧑 Human\nHello.\n### 🤖 AI\nGood day.\n", id="headings with pictures"),
        pytest.param("User: Hello.\nAssistant: Good day.", id="plain"),
        pytest.param("Human: Hello.\n\nAssistant:\nGood day.", id="human"),
        pytest.param("**Пользователь:** Hello.\n\n**Ассистент:** Good day.", id="Russian, bold"),
        pytest.param("## Человек\nHello.\n## Помощник\nGood day.", id="Russian, headings"),
        pytest.param("Я: Hello.\nИИ: Good day.", id="Russian, plain"),
        pytest.param("**Benutzer:** Hello.\n\n**Assistent:** Good day.", id="German, bold"),
        pytest.param("Ich: Hello.\nKI: Good day.", id="German, plain"),
        pytest.param("## Nutzerin\nHello.\n## Assistentin\nGood day.", id="German, headings"),
        pytest.param("**Utilisateur :** Hello.\n\n**IA :** Good day.", id="French"),
        pytest.param("Usuario: Hello.\nAsistente: Good day.", id="Spanish"),
        pytest.param("Utente: Hello.\nAssistente: Good day.", id="Italian"),
        pytest.param("**Usuário:** Hello.\n**Assistente:** Good day.", id="Portuguese"),
        pytest.param("**Użytkownik:** Hello.\n**Asystent:** Good day.", id="Polish"),
        pytest.param("**Користувач:** Hello.\n**Помічник:** Good day.", id="Ukrainian"),
        pytest.param("\ufeffUser: Hello.\r\nAssistant: Good day.\r\n", id="byte order mark and CRLF"),
        pytest.param("System: You are kind.\nUser: Hello.\nTool: 42\nAssistant: Good day.", id="others"),
        pytest.param("> **User:** Hello.\n\n> **Assistant:** Good day.", id="quoted"),
    ],
)
def test_markdown_is_read_by_its_speakers(text: str) -> None:
    """Each way to name a speaker is understood."""
    assert [(turn.speaker, turn.text.strip("> \n")) for turn in parse_transcript(text).turns] == [
        (USER, "Hello."),
        (ASSISTANT, "Good day."),
    ]


def test_one_way_of_naming_speakers_holds_for_a_file() -> None:
    """What names a speaker in another way, or inside code, is text."""
    text = "## User\nWhy does this fail?\n```\n## Assistant\nUser: root\n```\n**User:** is bold.\n### User\n## Assistant\nOk."

    first, second = parse_transcript(text).turns

    assert first.text == "Why does this fail?\n```\n## Assistant\nUser: root\n```\n**User:** is bold.\n### User"
    assert second.text == "Ok."


def test_a_fence_that_never_closes_hides_nobody() -> None:
    """A stray mark of code does not swallow the rest of the conversation."""
    found = parse_transcript("User: look\n```\nAssistant: I see.\nUser: and?\nAssistant: fine.")

    assert [turn.speaker for turn in found.turns] == [USER, ASSISTANT, USER, ASSISTANT]


def test_messages_are_the_records_of_markdown() -> None:
    """A markdown file is read on by its messages."""
    text = "User: 1\nAssistant: 2\nUser: 3\nAssistant: 4\nUser: 5\n"

    assert [turn.text for turn in parse_transcript(text, after=2).settled().turns] == ["3", "4"]
    assert parse_transcript(text, after=2).settled().records == 4


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Just some notes.\nuser: root\n", id="notes"),
        pytest.param("**Ja:** so ist es.\n**EU:** Brüssel.\n", id="words that name nobody"),
        pytest.param("[1, 2, 3]\n", id="a list"),
        pytest.param('{"level": "info", "msg": "started"}\n', id="a log"),
        pytest.param("\x00\x01\x02", id="bytes"),
    ],
)
def test_a_file_without_speakers_is_refused(text: str) -> None:
    """Nobody can tell who said what, so nothing is reviewed; the sentence says what to do."""
    with pytest.raises(UsageError, match="names no speaker") as caught:
        parse_transcript(text)

    assert caught.value.hint is not None
    assert "**User:**" in caught.value.hint


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_an_empty_file_holds_nothing(text: str) -> None:
    """It is no error: a session that has just begun looks like this."""
    assert parse_transcript(text).turns == ()


# -- bytes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"\xef\xbb\xbfUser: yes", "User: yes", id="byte order mark"),
        pytest.param(b"User: caf\xe9", "User: caf\ufffd", id="no UTF-8"),
        pytest.param("User: да".encode("utf-16"), "User: да", id="UTF-16"),
        pytest.param(b"", "", id="empty"),
    ],
)
def test_every_file_has_a_text(data: bytes, text: str) -> None:
    """Whatever the bytes are, they are read."""
    assert decode_transcript(data) == text
