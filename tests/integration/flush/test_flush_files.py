"""The flush of transcripts from files: what is new is reviewed once, whatever grows, breaks or runs beside it."""

from __future__ import annotations

import json
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.engine import ModelOptions
from omnislash.errors import ModelError, ScopeError, UsageError, WriterUnavailableError
from omnislash.runtime.flushing.flush_files import LOCK_FILE, FlushAnswer, FlushRequest
from omnislash.runtime.flushing.flush_prompt import MESSAGE_CHARS, TRANSCRIPT_CHARS, parse_flush_message
from omnislash.runtime.loop.run_values import RunOptions
from omnislash.store.locks import Owner, WriterLock
from omnislash.testing import ScriptedCall, ScriptedChatModel

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash import Brain
    from omnislash.testing.chat_models import ChatRequest, Step
    from tests.integration.conftest import SampleBrain

DAY = "2026/08/2026-08-30.md"


def said(speaker: str, text: str, **more: Any) -> bytes:
    """A record of a session."""
    content = [{"type": "text", "text": text}] if speaker == "assistant" else text
    record = {"type": speaker, "sessionId": "s-1", "message": {"role": speaker, "content": content}, **more}
    return json.dumps(record).encode() + b"\n"


def exchange(number: int) -> bytes:
    """A question and its answer."""
    return said("user", f"question {number}") + said("assistant", f"answer {number}")


class Reviewed:
    """A brain whose curator plays a script, and a transcript that grows."""

    def __init__(self, sample: SampleBrain, *script: Step) -> None:
        self.sample = sample
        self.model = ScriptedChatModel(*script)
        self.brain: Brain = sample.open(models=ModelOptions(environment={}, chat=self.model))

    def flush(
        self, data: bytes, *, role: str = "nova", heartbeat: str | None = None, replay: bool = False, **more: Any
    ) -> FlushAnswer:
        """Flush a transcript."""
        agent = self.brain.agent(role, heartbeat=heartbeat, replay=replay)
        return agent.flush(FlushRequest(**{"data": data, "place": "/somewhere/s.jsonl", **more}))

    @property
    def read(self) -> list[list[str]]:
        """What the curator was shown, review by review."""
        found = [parse_flush_message(request.message) for request in self.model.requests]
        return [[turn.text for turn in each.turns] for each in found if each is not None]


@pytest.fixture
def reviewed(sample: SampleBrain) -> Reviewed:
    """A curator that keeps nothing."""
    return Reviewed(sample)


# -- what is new -----------------------------------------------------------------------------------------------------


@pytest.mark.rule("FLUSH-04", "FLUSH-O1")
def test_what_was_reviewed_is_not_reviewed_again(reviewed: Reviewed) -> None:
    """Call after call only the new exchanges are read; a call without any runs no curator and tells nothing."""
    first, second = exchange(1), exchange(1) + exchange(2)

    answers = [reviewed.flush(data) for data in (first, first, second, second)]

    assert [answer.ran for answer in answers] == [True, False, True, False]
    assert reviewed.read == [["question 1", "answer 1"], ["question 2", "answer 2"]]
    assert "Nothing was said since the last review" in answers[1].report.message
    assert [row.tool for row in reviewed.brain.audit().rows] == ["flush", "flush"]


def test_an_exchange_is_reviewed_when_it_is_over(reviewed: Reviewed) -> None:
    """A message without its answer, and an answer whose tool still runs, wait for the next call and are read whole."""
    use = json.dumps(
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}}
    )
    asked = exchange(1) + said("user", "question 2")
    working = asked + said("assistant", "Let me look.") + use.encode() + b"\n"

    answers = [reviewed.flush(data) for data in (asked, working, working + said("assistant", "answer 2"))]

    assert [answer.ran for answer in answers] == [True, False, True]
    assert reviewed.read == [["question 1", "answer 1"], ["question 2", "Let me look.\n\nanswer 2"]]
    assert "is not over yet" in answers[1].report.message


def test_a_line_that_is_being_written_waits(reviewed: Reviewed) -> None:
    """Half a line at the end is neither read nor passed over."""
    whole = exchange(1) + exchange(2)

    reviewed.flush(whole[:-20])
    reviewed.flush(whole)

    assert reviewed.read == [["question 1", "answer 1"], ["question 2", "answer 2"]]


def test_the_rest_of_a_session_that_is_over(reviewed: Reviewed) -> None:
    """A last message that nobody will answer is read once the session has ended, and what was read before is not."""
    data = exchange(1) + said("user", "question 2")
    reviewed.flush(data)

    answers = [reviewed.flush(data, has_ended=True), reviewed.flush(data, has_ended=True)]

    assert [answer.ran for answer in answers] == [True, False]
    assert reviewed.read == [["question 1", "answer 1"], ["question 2"]]


def test_all_of_it_on_demand(reviewed: Reviewed) -> None:
    """`takes_all` reads what was read before and what has no answer, and the mark stands behind it then."""
    data = exchange(1) + said("user", "question 2")
    reviewed.flush(data)

    reviewed.flush(data, takes_all=True)
    third = reviewed.flush(data)

    assert reviewed.read[1] == ["question 1", "answer 1", "question 2"]
    assert not third.ran


def test_a_failed_review_is_made_up_for(sample: SampleBrain) -> None:
    """What was not reviewed, because the model failed, is read by the next call."""
    reviewed = Reviewed(sample, ModelError("It was gone."), "done")

    first, second = reviewed.flush(exchange(1)), reviewed.flush(exchange(1) + exchange(2))

    assert (first.report.outcome.value, first.report.message) == ("failed", "It was gone.")
    assert second.report.outcome.value == "nothing_saved"
    assert reviewed.read[1] == ["question 1", "answer 1", "question 2", "answer 2"]


def test_what_fails_twice_is_given_up(sample: SampleBrain) -> None:
    """What could not be reviewed is tried once more; the answer says that it is given up, and the rest is tried again."""
    reviewed = Reviewed(sample, *[ModelError("It was gone.")] * 3, "done")
    grown = b"".join(map(exchange, range(1, 5)))

    first, second = reviewed.flush(exchange(1)), reviewed.flush(exchange(1) + exchange(2))
    third = reviewed.flush(exchange(1) + exchange(2) + exchange(3))
    reviewed.flush(grown)
    last = reviewed.flush(grown)

    assert [len(texts) for texts in reviewed.read] == [2, 4, 4, 4]
    assert reviewed.read[3] == ["question 3", "answer 3", "question 4", "answer 4"]
    assert "given up" not in first.report.message
    assert "What failed a second time is given up; --all reviews" in second.report.message
    assert "given up" in third.report.message
    assert (last.ran, reviewed.flush(grown, takes_all=True).messages) == (False, 8)


def test_what_failed_after_a_write_is_not_read_again(sample: SampleBrain) -> None:
    """A review that wrote and broke would write the same again in other words; its mark moves, and the answer says so."""
    fact = ScriptedCall("memory_write", {"content": "Tomek rings back on Friday."})
    reviewed = Reviewed(sample, fact, ModelError("It was gone."))

    first, second = reviewed.flush(exchange(1)), reviewed.flush(exchange(1))

    assert (first.report.outcome.value, len(first.report.writes), second.ran) == ("failed", 1, False)
    assert "What it wrote until then stays" in first.report.message
    assert sample.text(f"main/{DAY}").count("Tomek") == 1


def test_what_failed_after_a_refused_write_is_tried_again(sample: SampleBrain) -> None:
    """A write that came to nothing is no reason to give the rest up."""
    reviewed = Reviewed(sample, ScriptedCall("memory_write", {}), ModelError("It was gone."), "done")

    answers = [reviewed.flush(exchange(1)) for _ in range(3)]

    assert [answer.report.outcome.value for answer in answers[:2]] == ["failed", "nothing_saved"]
    assert [answer.ran for answer in answers] == [True, True, False]


def test_marks_of_sessions_that_are_over_are_forgotten(reviewed: Reviewed) -> None:
    """After 90 days without a call a mark is gone; one that is asked for stays, and so does the cursor of a hook."""
    state = reviewed.brain._open_state()
    with state.transaction():
        state.run("set_cursor", name="hook:watcher", value=7)
        state.run("set_cursor", name="flush:from-before-marks-were-dated", value=7)
    old, used = exchange(1), exchange(2).replace(b"s-1", b"s-2")
    for data in (old, used):
        reviewed.flush(data)

    for _ in range(4):
        reviewed.sample.clock.at += timedelta(days=25)
        reviewed.flush(used)

    rows = {row["name"]: row["value"] for row in state.rows("list_cursors")}
    assert len(rows) == 2
    assert rows["hook:watcher"] == 7
    assert (reviewed.flush(used).ran, reviewed.flush(old).ran) == (False, True)


@pytest.mark.parametrize(
    ("first", "second", "ran"),
    [
        pytest.param({}, {"role": "ops"}, True, id="another role"),
        pytest.param({}, {"heartbeat": "dawn"}, True, id="a heartbeat"),
        pytest.param({}, {"place": "/elsewhere/moved.jsonl"}, False, id="the session in another file"),
        pytest.param({}, {"place": None}, False, id="the session on stdin"),
    ],
)
def test_what_a_transcript_is_known_by(
    reviewed: Reviewed, first: dict[str, Any], second: dict[str, Any], ran: bool
) -> None:
    """A session is known by its name wherever it lies; each role and heartbeat reviews it for itself."""
    reviewed.sample.role("ops", "{write: ops}")
    reviewed.sample.beat("dawn", "nova", "{write: dawn}")
    reviewed.flush(exchange(1), **first)

    assert reviewed.flush(exchange(1), **second).ran is ran


def test_markdown_is_known_by_its_place_and_first_line(reviewed: Reviewed) -> None:
    """A grown file is read on, another one at the same place from its beginning; stdin is always read whole."""
    old = b"User: one\nAssistant: two\n"
    new = b"# Another day\n\nUser: five\nAssistant: six\n"

    for data in (old, old, old + b"User: three\nAssistant: four\n", new):
        reviewed.flush(data, place="/somewhere/talk.md")
    for _ in range(2):
        reviewed.flush(old, place=None)

    assert reviewed.read == [["one", "two"], ["three", "four"], ["five", "six"], ["one", "two"], ["one", "two"]]


def test_a_file_that_got_shorter_is_counted_anew(reviewed: Reviewed, tmp_path: Path) -> None:
    """What is left of a shortened markdown file is not read a second time; what comes then is."""
    talk = tmp_path / "talk.md"
    head, more, new = "User: one\nAssistant: two\n", "User: three\nAssistant: four\n", "User: five\nAssistant: six\n"

    def flush(text: str) -> FlushAnswer:
        talk.write_text(text, encoding="utf-8")
        return reviewed.flush(talk.read_bytes(), place=str(talk))

    flush(head + more)
    short = flush(head)
    flush(head + new)

    assert not short.ran
    assert "has become shorter" in short.report.message
    assert reviewed.read == [["one", "two", "three", "four"], ["five", "six"]]


@pytest.mark.parametrize("takes_all", [False, True])
@pytest.mark.parametrize("is_markdown", [False, True])
def test_an_older_copy_sends_no_mark_back(
    reviewed: Reviewed, tmp_path: Path, is_markdown: bool, takes_all: bool
) -> None:
    """A hook that read the file before another one did, and came to its turn later, has nothing read a second time."""
    place = tmp_path / "talk"
    whole = exchange(1) + exchange(2) + exchange(3)
    old, new = exchange(1), exchange(1) + exchange(2)
    if is_markdown:
        whole = b"User: one\nAssistant: two\n\nUser: three\nAssistant: four\n\nUser: five\nAssistant: six\n"
        old, new = whole[: whole.index(b"User: three")], whole[: whole.index(b"User: five")]
    place.write_bytes(new if is_markdown else old)  # a session only grows, whatever is on disk
    reviewed.flush(new, place=str(place))

    late = reviewed.flush(old, place=str(place), takes_all=takes_all)
    reviewed.flush(whole, place=str(place))

    assert late.ran is takes_all
    assert takes_all or "it is an older copy" in late.report.message
    assert reviewed.read[-1] == (["five", "six"] if is_markdown else ["question 3", "answer 3"])


@pytest.mark.rule("FLUSH-04", "FLUSH-O1")
def test_two_calls_at_once_read_an_exchange_once(sample: SampleBrain) -> None:
    """The second call waits for the first one and finds nothing new; a third, with more, reads only that."""
    entered, go = threading.Event(), threading.Event()

    def wait(_request: ChatRequest) -> str:
        entered.set()
        assert go.wait(timeout=60)
        return "done"

    reviewed = Reviewed(sample, wait)
    answers: dict[int, FlushAnswer] = {}

    def call(number: int, data: bytes) -> None:
        answers[number] = reviewed.flush(data)

    threads = [threading.Thread(target=call, args=(1, exchange(1)))]
    threads[0].start()
    assert entered.wait(timeout=60)
    threads += [threading.Thread(target=call, args=each) for each in ((2, exchange(1)), (3, exchange(1) + exchange(2)))]
    for thread in threads[1:]:
        thread.start()
    time.sleep(0.3)
    go.set()
    for thread in threads:
        thread.join(timeout=60)

    assert (answers[1].ran, answers[2].ran, answers[3].ran) in {(True, False, True), (True, False, False)}
    assert sorted(text for each in reviewed.read for text in each) == [
        "answer 1",
        "answer 2",
        "question 1",
        "question 2",
    ]


def test_a_review_waits_no_longer_than_its_caller(reviewed: Reviewed) -> None:
    """While another review holds the lock, a caller that gives up is told so, and nothing was read."""
    reviewed.flush(exchange(1))
    lock = WriterLock(reviewed.sample.root / LOCK_FILE)
    assert lock.acquire(Owner(pid=1, role="flush", since=""))
    try:
        with pytest.raises(WriterUnavailableError, match="Another flush"):
            reviewed.flush(exchange(1) + exchange(2), options=RunOptions(is_over=lambda: True))
    finally:
        lock.release()

    assert reviewed.read == [["question 1", "answer 1"]]


# -- whether it runs -------------------------------------------------------------------------------------------------


@pytest.mark.rule("FLUSH-01", "FLUSH-02", "FLUSH-07", "FLUSH-O6", "BOUNDARY-11", "FLUSH-O1")
@pytest.mark.parametrize(
    ("call", "why"),
    [
        pytest.param({"replay": True}, "No flush runs in a replay.", id="replay"),
        pytest.param({"role": "system:memory"}, "it is the role that does it", id="the curator itself"),
        pytest.param({"is_automatic": True}, "memoryFlush is not true", id="a hook, and nobody asked"),
        pytest.param({"role": "bare", "is_automatic": True}, "has no memory", id="a hook, no memory"),
        pytest.param(
            {"heartbeat": "off", "role": "asks", "is_automatic": True}, "memoryFlush", id="the heartbeat declines"
        ),
    ],
)
def test_when_none_runs_it_says_why(reviewed: Reviewed, call: dict[str, Any], why: str) -> None:
    """No model is asked, nothing is told, and the answer has a sentence."""
    reviewed.sample.role("bare", None, more="memoryFlush: true\n")
    reviewed.sample.role("asks", more="memoryFlush: true\n")
    text = "---\nschedule: '0 7 * * *'\nagent: asks\nmemoryFlush: false\n---\nDo it.\n"
    reviewed.sample.put("features/team/off.heartbeat.md", text)

    answer = reviewed.flush(exchange(1), **call)

    assert why in answer.report.message
    assert (answer.ran, answer.to_json()["outcome"], answer.to_json()["writes"]) == (False, "nothing_saved", [])
    assert (reviewed.read, reviewed.brain.audit().rows) == ([], ())


@pytest.mark.rule("FLUSH-01")
def test_a_person_need_not_ask_twice(reviewed: Reviewed) -> None:
    """Who hands in a transcript has asked; a hook's call needs `memoryFlush`, and gets its flush with it."""
    reviewed.sample.role("asks", more="memoryFlush: true\n")

    assert reviewed.flush(exchange(1)).ran
    assert reviewed.flush(exchange(1), role="asks", is_automatic=True).ran


@pytest.mark.rule("FLUSH-02")
def test_the_kill_switch_holds_for_files(reviewed: Reviewed) -> None:
    """With the switch off a file is not reviewed either; with it on again, it is."""
    reviewed.sample.manifest("{flush: {enabled: false}}")
    answer = reviewed.flush(exchange(1))
    reviewed.sample.manifest("{}")

    assert "memory.flush.enabled is false" in answer.report.message
    assert reviewed.flush(exchange(1)).ran


@pytest.mark.rule("FLUSH-03", "DECLARE-07")
def test_a_role_without_memory_is_refused(reviewed: Reviewed) -> None:
    """There is no line to file into, and whoever asked is told."""
    reviewed.sample.role("bare", None)

    with pytest.raises(ScopeError, match="no memory"):
        reviewed.flush(exchange(1), role="bare")


@pytest.mark.parametrize("data", [b"Just some notes.", b"[]", b"\xff\xfe\x00", b"{}\n" * 3])
def test_a_file_without_speakers_is_not_read(reviewed: Reviewed, data: bytes) -> None:
    """Nobody can tell who said what."""
    with pytest.raises(UsageError, match="names no speaker"):
        reviewed.flush(data)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", said("user", "x", isMeta=True)])
def test_nothing_said_is_nothing_to_do(reviewed: Reviewed, data: bytes) -> None:
    """An empty transcript is no error and no flush."""
    answer = reviewed.flush(data)

    assert (answer.ran, answer.report.message) == (False, "The transcript holds nothing that was said.")


def test_beside_a_worker_its_writes_go_through_the_worker(sample: SampleBrain) -> None:
    """The review runs here, and what it writes is written by the one writer, once."""
    sample.start_worker()
    reviewed = Reviewed(sample, ScriptedCall("memory_write", {"content": "Ida holds the gate key."}), "done")

    answer = reviewed.flush(exchange(1))

    assert [each["outcome"] for each in answer.report.writes] == ["written"]
    assert sum(data.count(b"Ida holds the gate key.") for data in sample.files().values()) == 1


# -- what the curator sees -------------------------------------------------------------------------------------------


@pytest.mark.rule("FLUSH-04", "FLUSH-09", "RESOLVE-10")
def test_it_writes_into_the_line_of_the_heartbeat(sample: SampleBrain) -> None:
    """The line of the turn is that of role and heartbeat, and so is what the agent finds worth keeping."""
    text = "---\nschedule: '0 7 * * *'\nagent: {role: nova, memory: {write: dawn}}\nmemoryKeep: Keys.\n---\nDo it.\n"
    sample.put("features/team/dawn.heartbeat.md", text)
    reviewed = Reviewed(sample, ScriptedCall("memory_write", {"content": "Ida holds the gate key."}), "done")

    answer = reviewed.flush(exchange(1), heartbeat="dawn").to_json()

    assert (answer["outcome"], answer["line"], answer["ran"], answer["messages"]) == ("saved", "dawn", True, 1)
    assert reviewed.read[0] == ["answer 1"]  # nobody asked the question: it is the heartbeat's prompt
    assert answer["writes"][0]["paths"] == [f"dawn/{DAY}"]
    assert "<agent-memory-keep>\nKeys.\n</agent-memory-keep>" in reviewed.model.requests[0].message


def test_a_damaged_record_is_told(reviewed: Reviewed) -> None:
    """A line that can't be read costs itself only; curator and caller learn of it."""
    answer = reviewed.flush(exchange(1) + b'{"type": "user", "mess\n' + exchange(2))

    assert answer.skipped == 1
    assert reviewed.read == [["question 1", "answer 1", "question 2", "answer 2"]]
    assert "(1 record of the transcript could not be read.)" in reviewed.model.requests[0].message


def test_times_are_those_of_the_brain(reviewed: Reviewed) -> None:
    """A message has the day and time at which it was said, in the brain's zone."""
    reviewed.sample.manifest("{}", timezone="Asia/Tokyo")

    reviewed.flush(said("user", "hello", timestamp="2026-08-29T20:30:00.000Z") + said("assistant", "yes"))

    assert "\nuser · 2026-08-30 05:30\n  hello\n" in reviewed.model.requests[0].message


@pytest.mark.rule("FLUSH-05")
def test_tomorrow_is_the_day_after_it_was_said(sample: SampleBrain) -> None:
    """The offline curator that reads an old session dates its words by the session, not by today."""
    brain = sample.open(models=ModelOptions(environment={}))
    text = "We decided that Ida gets the gate key tomorrow, because Tomek is away."
    data = said("user", text, timestamp="2026-07-03T10:00:00Z") + said("assistant", "Good.")

    brain.agent("nova").flush(FlushRequest(data=data))

    assert f"{text} (tomorrow: 2026-07-04)" in sample.text(f"main/{DAY}")


def test_a_long_transcript_keeps_its_newest_messages(reviewed: Reviewed) -> None:
    """The whole has a bound, the newest survive, and the curator is told how much is missing."""
    reviewed.flush(b"".join(said("user", f"q{n} " + "x" * 900) + said("assistant", f"a{n}") for n in range(200)))

    message = reviewed.model.requests[0].message
    assert TRANSCRIPT_CHARS - 2_000 < len(message) < TRANSCRIPT_CHARS + 2_000
    assert "  a199\n" in message
    assert "  a0\n" not in message
    shown = len(reviewed.read[0])
    assert f"(The transcript is incomplete: its oldest {400 - shown} of 400 messages were left out.)" in message


def test_one_long_message_leaves_the_others_room(reviewed: Reviewed) -> None:
    """A pasted log is cut in its middle, in whole lines at its end, and no emoji is halved."""
    log = "first line\n" + "\U0001f33b log line\n" * 50_000 + "last line"

    reviewed.flush(
        said("user", "question 1") + said("assistant", log) + said("user", "and then?") + said("assistant", "ok")
    )

    first, long, *rest = reviewed.read[0]
    assert (first, rest) == ("question 1", ["and then?", "ok"])
    assert long.startswith("first line\n")
    assert long.endswith("log line\nlast line")
    assert "(… the middle of this message was left out …)" in long
    assert len(long.encode("utf-16-le")) // 2 < MESSAGE_CHARS + 100
    assert "\ufffd" not in long


@pytest.mark.rule("SECRET-O2")
def test_a_credential_at_a_cut_is_not_shown_in_half(reviewed: Reviewed) -> None:
    """Credentials are masked before a message is cut, wherever the cut falls."""
    key = "ghp_" + "b" * 36
    for at in range(0, 60, 7):
        head = "y" * (3_990 - at)
        reviewed.flush(said("user", f"{head} {key} " + "z\n" * 20_000) + said("assistant", "ok"), takes_all=True)

    assert all("bbbb" not in request.message for request in reviewed.model.requests)


def test_fifty_megabytes_are_read(reviewed: Reviewed) -> None:
    """A session with huge tool answers is reviewed by what was said in it, and its mark is found again."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": "x" * 1_000_000}
    record = json.dumps({"type": "user", "message": {"content": [block]}}).encode() + b"\n"
    data = exchange(1) + record * 50 + said("assistant", "It is large.")

    first, second = reviewed.flush(data), reviewed.flush(data)

    assert (first.ran, second.ran, len(data) > 50_000_000) == (True, False, True)
    assert reviewed.read == [["question 1", "answer 1\n\nIt is large."]]
