"""`omnislash demo`: the whole job, told to somebody who knows nothing of it.

Everything in it is real: the processes, the kill, the files. Only the clock stands still, so that each run reads alike.

Rules: WRITE-02 to WRITE-08, WRITE-12 to WRITE-15, BUDGET-07, BUDGET-11, REPORT-03, TOOL-16, RECALL-05, RECALL-08,
RECALL-12, SCOPE-07.
"""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING, Any

import click

from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.output import command_name, is_terminal, print_json, print_line, show_controls
from omnislash.surfaces.cli.showing import show_audit

if TYPE_CHECKING:
    from omnislash.surfaces.cli.demo_stage import Stage
    from omnislash.surfaces.cli.options import Settings

_CHOIR = "The choir collected its six vouchers and asked whether they may be given away. Yes, they carry no name."
_WHOLESALER = (
    "Asked the first of three wholesalers: delivers within five days, minimum order 200 €. Told on the telephone."
)
_FORM = (
    "Winter check in the booking form changed to 64 € (deposit of 30 Nov). "
    "Booked a trial check: 64 € stands on the confirmation."
)
_LOCK = "The lock of the box beside the gate sticks since the frost; a customer could not leave her bike at eight."
_TOMEK = "TOMEK is not rung  before nine."
_VOUCHERS = (
    "Vouchers: 60 more are printed, numbered 061 to 120, because fourteen went in the first week and the choir asked for "
    "ten. The market printer again, 48 €, to be fetched on Tuesday 8 December. Tomek's condition: each sale goes into "
    "the blue folder with its number, so that nobody can redeem a voucher twice."
)
_OPEN = "Whether more vouchers are printed: Ida decides on Tuesday 1 December."
#: Facts to be caught half-way: the first is enough where the disk is as slow as disks are.
_PARTS = (
    "brake pads",
    "inner tubes",
    "spare spokes",
    "chain links",
    "valve caps",
    "hub gears",
    "pump heads",
    "gate keys",
)
_TODAY = "main/2026/12/2026-12-01.md"
#: Asked for the note about the choir, with which it shares no word of substance.
_QUESTION = "Have the singers picked up what they bought?"
_SMALL_TALK = "Thanks, that was quick!"
_MESSAGE = "May I ring Tomek at eight?"
_RUSSIAN = "Где Лена ищет чеки за неделю?"
_ASKED = "What did the choir ask about its vouchers?"
_DECIDED = "We decided to close at two on 23 December, because Tomek takes the train at four."
#: Asked for a note in a line that nova does not read, and where that note lies.
_STRANGE, _ELSEWHERE = "Does the lock of the box stick?", "ops/2026/12/2026-12-01.md"
_WIDTH = 88
#: Lines of one file's difference that are shown; more do not help to understand it.
_DIFF_LINES = 16


@click.command(cls=Command, example="omnislash demo\nomnislash demo --rm")
@click.option(
    "--keep/--rm", default=True, show_default=True, help="Keep the copy to play with, or remove it at the end."
)
@click.pass_obj
def demo(settings: Settings, *, keep: bool) -> int:
    """Show the whole job on a copy of the example brain, offline.

    Three roles write at once, a budget is kept, what was written is found by its meaning, an agent takes turns, a worker
    is killed in the middle of a write, and a person approves a deletion. It needs less than a minute and no network.
    """
    settings.refuse_replay("omnislash demo")
    from omnislash.surfaces.cli.demo_stage import Stage  # noqa: PLC0415 - not needed for the help

    with Stage() as stage:
        story = _Story(stage, silent=settings.json or settings.quiet)
        story.tell()
    if not keep:
        stage.remove()
    if settings.json:
        answer = {"brain": str(stage.root), "kept": keep, "verdicts": story.verdicts, "landed": story.landed}
        print_json({**answer, "searches": story.searches, "runs": story.runs})
    elif not settings.quiet:
        _end(stage, keep=keep)
    return 0


class _Story:
    """Tells the demo step by step, and keeps what happened."""

    def __init__(self, stage: Stage, *, silent: bool) -> None:
        self._stage = stage
        self._silent = silent
        self._step = 0
        #: Every verdict in order.
        self.verdicts: list[dict[str, Any]] = []
        #: Every search and recall in order.
        self.searches: list[dict[str, Any]] = []
        #: Every turn of the offline model in order.
        self.runs: list[dict[str, Any]] = []
        #: How often the write of the crash stands in memory in the end.
        self.landed = 0

    def tell(self) -> None:
        """Run every step."""
        self._open()
        self._three_at_once()
        self._four_answers()
        self._look_at_files()
        self._find()
        self._turns()
        self._crash()
        self._approval()

    # -- printing ----------------------------------------------------------------------------------------------------

    def _say(self, text: str = "", *, indent: str = "", **style: Any) -> None:
        if not self._silent:
            for line in textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent) or [""]:
                print_line(line, **style)

    def _head(self, title: str) -> None:
        self._step += 1
        self._say()
        self._say(f"{self._step}. {title}", bold=True)

    def _show(self, who: str, text: str, verdict: dict[str, Any]) -> None:
        self.verdicts.append(verdict)
        self._say()
        self._say(f"{who}: “{text}”", indent="  ")
        good = verdict["outcome"] in {"written", "duplicate"}
        self._say(f"{verdict['outcome']}: {verdict['message']}", indent="    ", fg="green" if good else "yellow")

    def _write(self, text: str, *options: str, who: str, shown: str | None = None) -> None:
        self._show(who, shown or text, self._stage.run(_writing("nova", text, *options)))

    # -- the steps ---------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        self._say("The memory of a bicycle workshop", bold=True)
        self._say()
        self._say(
            "Four agents help in a small workshop that does not exist. What they remember are markdown files, which "
            "the people of the workshop read, edit and keep in git. This is a copy, so nothing of yours is touched:"
        )
        self._say(str(self._stage.root), indent="  ")
        self._say(self._stage.git_note, indent="  ", dim=True)
        self._head("A worker starts")
        self._stage.start_worker()
        self._say(
            "One process writes for everybody. An agent that remembers something waits for its verdict, and the verdict "
            "comes when the words are safely on the disk."
        )

    def _three_at_once(self) -> None:
        self._head("Three agents write at the same moment")
        self._say(
            "Each has a line of its own that nobody else edits. The clock of this demo stands at nine in the morning of "
            "1 December 2026."
        )
        wanted = (("nova", _CHOIR), ("researcher", _WHOLESALER), ("ops", _FORM))
        callers = [self._stage.begin(_writing(role, text)) for role, text in wanted]
        for (role, text), caller in zip(wanted, callers, strict=True):
            self._show(role, text, self._stage.finish(caller))

    def _four_answers(self) -> None:
        self._head("Four more writes, four answers")
        self._say(
            "The morning briefing leaves a note in the line of ops. It is signed, and it is all that the briefing may do there."
        )
        self._write(_LOCK, "--heartbeat", "briefing", "--line", "ops", who="nova, in the briefing")
        self._say()
        self._say("Something that is known already, with other capitals and spaces:")
        self._write(_TOMEK, who="nova")
        self._say()
        self._say(
            "Something that every conversation needs goes into MEMORY.md as well, which may have 4000 chars here. "
            "When it is full, the oldest dated note makes room. That note stays in its daily log."
        )
        self._write(_VOUCHERS, "--priority", who="nova, as a priority")
        self._say()
        self._say("And something far too long for it: the whole handbook. The daily log takes it, MEMORY.md does not.")
        handbook = (self._stage.root / "handbook.md").read_text(encoding="utf-8")
        shown = f"{handbook.strip()[:40].replace(chr(10), ' ')} …"
        self._write(handbook, "--priority", who="nova, as a priority", shown=shown)

    def _look_at_files(self) -> None:
        self._head("What changed on the disk")
        self._say("Plain markdown, shown by git:")
        self._say()
        self._print_changes()
        self._say()
        self._say("Who did that? The action log knows every attempt, and never the text:")
        self._say()
        self._print_audit()

    def _print_changes(self) -> None:
        from omnislash.surfaces.cli import repository  # noqa: PLC0415 - subprocess, which only this needs

        if not self._silent:
            text = repository.render_changes(self._stage.root, colour=is_terminal())
            click.echo(_shorten(text) if text else "  (git is not installed)", color=is_terminal())

    def _print_audit(self) -> None:
        if not self._silent:
            show_audit(self._stage.run(["audit"]))

    def _find(self) -> None:
        self._head("What was written is found")
        status = self._stage.wait_for_index()
        models = " and ".join(each["name"] for each in status["embedders"])
        self._say(
            f"The worker has taken up {status['files']} files with {status['notes']} notes meanwhile, by their words and by "
            f"their meaning, read by {models} on this machine. The index is derived: it may be deleted at any time."
        )
        self._search("nova asks, in her own words", _QUESTION)
        self._say()
        self._say("What a role does not read is not there for it. The note about the lock lies in the line of ops:")
        self._explain(_STRANGE, _ELSEWHERE)
        self._say()
        self._say(
            "Before each turn the engine asks memory with the message itself. Most messages need nothing of it, and then "
            "the turn carries nothing:"
        )
        self._recall(_SMALL_TALK)
        self._say()
        self._say("Others do, and carry this block:")
        self._recall(_MESSAGE)
        self._say()
        self._say("A question in Russian is for the notes in Russian:")
        answer = self._recall(_RUSSIAN)
        if answer["coverage"] != "full":
            self._say()
            self._say("The last line says what could not be done, so that nobody takes half a search for a whole one.")
            for advice in status["advice"]:
                self._say(advice, indent="    ", fg="yellow")

    def _look(self, *words: str) -> dict[str, Any]:
        answer = self._stage.look(words)
        self.searches.append(answer)
        return answer

    def _search(self, who: str, question: str) -> None:
        answer = self._look("memory", "search", "--role", "nova", "--limit", "2", "--", question)
        self._say()
        self._say(f"{who}: “{question}”", indent="  ")
        for hit in answer["hits"]:
            self._say(f"{hit['path']}:{hit['span'][0]}, score {hit['score']:.2f}", indent="    ", fg="green")
            self._say(_shorten_note(hit["snippet"]), indent="      ")
        for reason in answer["reasons"]:
            self._say(f"{answer['coverage']}: {reason}", indent="    ", fg="yellow")

    def _explain(self, question: str, target: str) -> None:
        words = ("memory", "search", "--role", "nova", "--explain", "--target", target, "--", question)
        answer = self._look(*words)
        self._say()
        self._say(f"nova: “{question}”, and you: why not {target}?", indent="  ")
        for each in answer["explain"][:1]:
            self._say(f"{each['reason']}: {each['message']}", indent="    ", fg="green")

    def _recall(self, message: str) -> dict[str, Any]:
        answer = self._look("recall", "--role", "nova", "--", message)
        self._say()
        self._say(f"nova hears: “{message}”", indent="  ")
        for line in (answer["block"] or "(nothing)").split("\n"):
            self._say(_shorten_note(line), indent="    ", fg="green")
        return answer

    def _turns(self) -> None:
        self._head("An agent takes turns")
        self._say(
            "When a session begins, the turn carries what the agent knows, each part in a block of its own; later it "
            "carries only what has changed:"
        )
        self._say()
        for which in ("first", "second"):
            blocks = self._stage.look(["envelope", "--role", "nova", "--session", "desk"])["blocks"]
            parts = ", ".join(f"{each['name']} ({each['chars']} chars)" for each in blocks)
            self._say(f"{which} turn: {parts or 'nothing'}", indent="    ", fg="green")
        self._say()
        self._say(
            "Here the offline model answers: it has no opinion, quotes memory and follows fixed rules. After each turn a "
            "curator looks whether something should outlive it, which is rarely so:"
        )
        for message in (_ASKED, _DECIDED):
            self._talk(message)

    def _talk(self, message: str) -> None:
        run = self._stage.run(["chat", "--role", "nova", "--session", "counter", "--", message])
        self.runs.append(run)
        self._say()
        self._say(f"Ida: “{message}”", indent="  ")
        self._say(_shorten_note(run["text"]), indent="    ", fg="green")
        flush = run["flush"]
        self._say(f"flush: {flush['outcome']}", indent="    ", dim=True)
        for write in flush["writes"]:
            self._say(write["message"], indent="      ", dim=True)

    def _crash(self) -> None:
        self._head("The worker is killed in the middle of a write")
        self._say(
            "SIGKILL, as a power cut would do it: no warning, no cleaning up. The worker is struck at the moment at which "
            "its own table says that a write has begun and is not done."
        )
        facts = [f"Counted the {part} on Tuesday morning: {number} left." for number, part in enumerate(_PARTS, 11)]
        writes = [_writing("nova", fact, "--queue-only") for fact in facts]
        hit, verdict = self._stage.kill_during(writes)
        if hit:
            self._say(f"(The worker finished {hit} before it could be struck; this is the next one.)", indent="  ")
        self._show("nova", facts[hit], verdict)
        self._say()
        self._say(
            "The agent is told the truth: nobody can say yet whether it was written. What was begun is recorded, so the "
            "next worker finishes it or takes it back, and no write is made twice. It starts now."
        )
        self._stage.start_worker()
        outcome = self._stage.wait_for_outcome(verdict["job"])
        self.landed = self._stage.count_entries(_TODAY, facts[hit])
        self._check_landed()
        self._say(
            f"after the restart: {outcome}; the entry stands in {_TODAY} exactly once.", indent="    ", fg="green"
        )

    def _check_landed(self) -> None:
        from omnislash.surfaces.cli.demo_stage import DemoError  # noqa: PLC0415 - as above

        if self.landed != 1:
            raise DemoError(f"After the restart the entry stands in {_TODAY} {self.landed} times; it should be once.")

    def _approval(self) -> None:
        self._head("A deletion waits for a person")
        self._say(
            "The vouchers are decided, so nova wants to remove the open question. In this brain a person has to agree."
        )
        verdict = self._stage.run(["memory", "delete", "--role", "nova", "main/MEMORY.md", "--entry", _OPEN])
        self._show("nova, deleting", _OPEN, verdict)
        self._say()
        self._say("A person says yes:")
        self._show(
            "you",
            f"approvals approve {verdict['approval']}",
            self._stage.run(["approvals", "approve", verdict["approval"]]),
        )


def _writing(role: str, text: str, *options: str) -> list[str]:
    return ["memory", "write", "--role", role, *options, "--", text]


def _shorten_note(text: str) -> str:
    """Return a note in one line that takes three on a screen at most."""
    return textwrap.shorten(text, 3 * (_WIDTH - 8), placeholder=" …")


def _shorten(diff: str) -> str:
    """Return a difference with long parts cut, each cut said."""
    shown: list[str] = []
    run = 0
    for line in show_lines(diff):
        run = 0 if _strip_colour(line).startswith("diff --git") else run + 1
        if run <= _DIFF_LINES:
            shown.append(line)
        elif run == _DIFF_LINES + 1:
            shown.append("  …")
    return "\n".join(shown)


def show_lines(diff: str) -> list[str]:
    """Return the lines of a difference, with everything but git's own colours made harmless."""
    return ["\x1b".join(show_controls(part) for part in line.split("\x1b")) for line in diff.split("\n")]


def _strip_colour(line: str) -> str:
    return line.partition("m")[2] if line.startswith("\x1b[") else line


def _end(stage: Stage, *, keep: bool) -> None:
    print_line()
    print_line("What to try next", bold=True)
    command = command_name()
    print_line(f"  {command} init my-brain     # a brain of your own")
    print_line(f"  {command} help              # the pages that explain all this")
    if keep:
        root = shlex.quote(str(stage.root))
        print_line("\nThe copy is kept. Look around, or remove it:")
        print_line(f"  git -C {root} diff")
        print_line(f"  {command} --brain {root} memory read --role nova main/MEMORY.md")
        print_line(f'  {command} --brain {root} memory write --role nova "Ida likes short answers."')
        print_line(f'  {command} --brain {root} memory search --role nova "what does Ida like?"')
        print_line(f"  {command} --brain {root} audit --line main")
        print_line(f"  rm -r {root}")
