"""What `omnislash init` does with a folder that holds notes: shows what it is, what would move, and asks.

Without --adopt nothing is changed: a terminal is asked, a script gets both commands and exit code 2.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from omnislash.core.budgets import Chars
from omnislash.core.lines import DEFAULT_LINE
from omnislash.errors import InvalidNameError, StorageError, UsageError
from omnislash.runtime.adopting.moving import carry_out
from omnislash.runtime.adopting.planning import find_later, plan_line, plan_sources
from omnislash.runtime.adopting.surveying import survey_folder
from omnislash.runtime.adopting.values import Left, Mode, spell
from omnislash.surfaces.cli import templates
from omnislash.surfaces.cli.output import is_terminal, print_json, print_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from omnislash.errors import OmnislashError
    from omnislash.runtime.adopting.values import AdoptionPlan, Move, Survey
    from omnislash.surfaces.cli.options import Settings

#: The answers to the question what becomes of the notes, by their first letter.
_ANSWERS: Final = {"s": "sources", "l": "line", "n": "none"}
#: How many places of credentials are shown; `--json` has them all.
_CREDENTIALS: Final = 20


class NotesFoundError(UsageError):
    """The folder holds notes, and nobody said what becomes of them."""

    def __init__(self, message: str, hint: str, survey: Survey) -> None:
        """Keep what was found."""
        super().__init__(message, hint=hint)
        self._survey = survey

    def to_json(self) -> dict[str, object]:
        """Return the usual fields and `found`: kind, notes, dated."""
        return {**super().to_json(), "found": self._survey.to_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line says about notes."""

    example: bool = False
    git: bool = True
    #: `sources`, `line` or `none`; None = not said.
    adopt: str | None = None
    line: str | None = None
    into: str | None = None
    dry_run: bool = False
    yes: bool = False

    def check(self) -> None:
        """Raise UsageError when options do not go together."""
        wanted = {"--line": ("line", self.line), "--into": ("sources", self.into)}
        for option, (adopt, value) in wanted.items():
            if value is not None and self.adopt != adopt:
                raise UsageError(f"{option} goes with --adopt {adopt}; nothing was done.")
        if self.adopt in {None, "none"} and (self.dry_run or self.yes):
            option = "--dry-run" if self.dry_run else "--yes"
            raise UsageError(f"{option} goes with --adopt sources or --adopt line; nothing was done.")
        if self.example and self.adopt in {"sources", "line"}:
            raise UsageError("--example brings notes of its own, so it does not go with --adopt; nothing was done.")


@dataclass(slots=True)
class Adoption:
    """A plan that was shown, and whether it is to be carried out."""

    plan: AdoptionPlan
    is_wanted: bool
    #: What could not be moved after all.
    stayed: tuple[Left, ...] = ()

    @property
    def texts(self) -> Mapping[str, str]:
        """Return the files of the new brain."""
        line = self.plan.line if self.plan.line != DEFAULT_LINE else None
        return templates.adopting_files(sources=self.plan.sources, line=line)

    def carry_out(self, root: Path) -> list[str]:
        """Move the files; return what of it belongs into a first commit.

        Raises:
            StorageError: The disk refuses.
        """
        self.stayed = carry_out(root, self.plan.moves, emptied=self.plan.emptied)
        for each in self.stayed:
            print_line(f"{spell(each.path)} stays where it is: {each.reason}.", err=True)
        return ["memory"] if self.plan.moves and self.is_line_committed else []

    @property
    def moved(self) -> int:
        """Return how many files have another place by now, once :meth:`carry_out` has ended."""
        return len(self.plan.moves) - len(self.stayed)

    def explain(self, root: Path, error: OmnislashError) -> OmnislashError:
        """Return an error of making the brain with what has moved before it, and how to go on."""
        where = f"memory/{self.plan.line}" if self.plan.line else self.plan.moves[0].target.partition("/")[0]
        files = f"{_number(self.moved, 'file')} had moved to {where} before, and nothing is lost."
        if not (root / "omnislash.yaml").exists():
            hint = "Mend that and run the same command again: it goes on."
            return StorageError(f"{error.message} {files}", path=error.path, hint=hint)
        message = (
            f"{root} has become a brain meanwhile: somebody else made omnislash.yaml, and it stays as it is. {files}"
        )
        return StorageError(message, path=str(root), hint=f"It may need these lines:{_describe_needs(self.plan)}")

    @property
    def is_line_committed(self) -> bool:
        """Tell whether a first commit holds the notes: never a credential that can still be taken out."""
        return self.plan.mode is Mode.LINE and not self.plan.credentials

    def to_json(self) -> dict[str, Any]:
        """Return the plan, and in `stayed` what could not be moved after all."""
        return {**self.plan.to_json(), "stayed": [each.to_json() for each in self.stayed]}


def decide(settings: Settings, directory: str, root: Path, wish: Wish) -> Adoption | None:
    """Return what becomes of the notes in a folder; None where an ordinary brain is made.

    Raises:
        UsageError: There are notes and nobody said what becomes of them, or the options make no sense.
    """
    wish.check()
    if wish.adopt == "none":
        _tell_later(settings, root)
        return None
    survey = survey_folder(root)
    if not survey.notes and wish.adopt is None and not any(find_later(root)):
        return None
    if not survey.notes and not (root / "memory").is_dir():
        raise UsageError(f"{directory} holds no notes, so there is nothing to adopt; nothing was done.")
    adopt = wish.adopt or _ask_how(settings, directory, root, survey)
    if adopt not in set(Mode):
        _tell_later(settings, root)
        return None
    plan = _make_plan(root, survey, wish, Mode(adopt))
    if plan.mode is Mode.SOURCES and not plan.sources:
        message = f"Nothing in {directory} can be a source where it stands; nothing was changed."
        hint = f"Gather it: {_command(directory, 'sources')} --into notes"
        raise UsageError(message, hint=hint if survey.notes else "Move the notes out of memory/ first.")
    _check_manifest(root, plan)
    return _show_and_ask(settings, directory, root, plan, wish)


def _tell_later(settings: Settings, root: Path) -> None:
    """Say what the writer will move, to somebody who wants the notes left alone."""
    if not settings.quiet:
        _show_later(*find_later(root), err=settings.json)


def _check_manifest(root: Path, plan: AdoptionPlan) -> None:
    """Make sure that roles will see the notes: a manifest that is there already is not changed, so it has to say so.

    Raises:
        UsageError: It does not, or can't be read; the lines that it needs are named.
    """
    from omnislash.brain.manifest import parse_manifest  # noqa: PLC0415 - only for a folder with a manifest

    place = root / templates.MANIFEST
    if not os.path.lexists(place):
        return
    fix = f"Put these lines into it, and run the same command again:\n{_indent(_render_needs(plan))}"
    try:
        manifest = parse_manifest(place.read_text(encoding="utf-8")).value
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{templates.MANIFEST} can't be read: {error}. Nothing was changed.", hint=fix) from error
    if manifest is None:
        raise UsageError(f"{templates.MANIFEST} has faults, so nothing was changed.", hint=f"Correct it first. {fix}")
    if plan.sources and not set(plan.sources) <= set(manifest.memory.recall or ()):
        lacks = "its memory.recall does not name the sources, so no role would recall them"
    elif plan.line and plan.line != (manifest.memory.write or DEFAULT_LINE):
        lacks = f"its memory.write is not {plan.line}, so no role would see the line"
    else:
        return
    raise UsageError(f"{templates.MANIFEST} stays as it is, and {lacks}. Nothing was changed.", hint=fix)


def _render_needs(plan: AdoptionPlan) -> str:
    return templates.render_needs(recall=plan.sources, line=plan.line)


def _describe_needs(plan: AdoptionPlan) -> str:
    """Return what a brain that somebody else made needs, so that roles see the notes."""
    files = {templates.MANIFEST: _render_needs(plan)}
    if plan.sources:
        files = {"omnislash.yaml": templates.render_sources(plan.sources), **files}
    return "".join(f"\n  {path}:\n{_indent(text)}" for path, text in files.items())


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _make_plan(root: Path, survey: Survey, wish: Wish, mode: Mode) -> AdoptionPlan:
    if mode is Mode.SOURCES:
        return plan_sources(root, survey, into=wish.into)
    try:
        return plan_line(
            root, survey, line=DEFAULT_LINE if wish.line is None else wish.line, budget=Chars(templates.FILE_MAX_CHARS)
        )
    except InvalidNameError as error:
        raise UsageError(f"--line: {error.message}", hint=error.hint) from error


# -- asking ----------------------------------------------------------------------------------------------------------


def _can_ask(settings: Settings) -> bool:
    return not settings.json and is_terminal() and is_terminal(sys.stdin)


def _ask(question: str) -> str:
    """Return what a person answers, in lower case; empty at the end of the input."""
    print_line(question, bold=True)
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower()


def _ask_how(settings: Settings, directory: str, root: Path, survey: Survey) -> str:
    """Return `sources`, `line` or `none`.

    Raises:
        NotesFoundError: Nobody can be asked, or the answer was none of them.
    """
    if not survey.notes:
        return _ask_about_memory(settings, directory, root, survey)
    found = f"{directory} is {survey.kind.label} with {_count(survey)}."
    if _can_ask(settings):
        print_line(found)
        print_line("  s  sources: they stay where they are; agents read them, and memory never writes them")
        print_line("  l  line: they move into a line of memory, which agents write and put in order")
        print_line("  n  neither: they stay where they are, and agents do not see them")
        answer = _ask("What shall become of them? [s/l/n, anything else stops]")
        if answer[:1] in _ANSWERS and _ANSWERS[answer[:1]].startswith(answer):
            return _ANSWERS[answer[:1]]
    hint = (
        f"They stay, and agents read them:        {_command(directory, 'sources')} --dry-run\n"
        f"  They move into a line of memory:        {_command(directory, 'line')} --dry-run\n"
        f"  They stay, and agents don't see them:   {_command(directory, 'none')}"
    )
    message = f"{found} Nothing was changed: say with --adopt what shall become of them."
    raise NotesFoundError(message, hint, survey)


def _ask_about_memory(settings: Settings, directory: str, root: Path, survey: Survey) -> str:
    """Return `line` for a person whose only notes stand in `memory/`: the plan says what becomes of them.

    Raises:
        NotesFoundError: Nobody can be asked.
    """
    if _can_ask(settings):
        return Mode.LINE.value
    count = _number(sum(map(len, find_later(root))), "entry", "entries")
    message = (
        f"{directory} holds notes in memory/, which is the brain's own directory: the writer moves them into "
        f"memory/{DEFAULT_LINE} when it first starts ({count}). Nothing was changed: say with --adopt that you know."
    )
    hint = (
        f"See what moves:                         {_command(directory, 'line')} --dry-run\n"
        f"  Make the brain:                         {_command(directory, 'none')}\n"
        "  Keep them where no role sees them:      move them out of memory/ first"
    )
    raise NotesFoundError(message, hint, survey)


def _command(directory: str, adopt: str) -> str:
    return f"omnislash init {shlex.quote(directory)} --adopt {adopt}"


def _count(survey: Survey) -> str:
    notes = _number(len(survey.notes), "note")
    return f"{notes}, {len(survey.days)} of them named after a day" if survey.days else notes


def _number(count: int, what: str, many: str | None = None) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {many or f'{what}s'}"


def _show_and_ask(settings: Settings, directory: str, root: Path, plan: AdoptionPlan, wish: Wish) -> Adoption:
    """Show the plan and return it with whether it is to be carried out.

    Raises:
        UsageError: Nobody can be asked, and --yes was not given.
    """
    adoption = Adoption(plan, is_wanted=wish.yes and not wish.dry_run)
    if wish.dry_run and settings.json:
        print_json({"brain": str(root), "dryRun": True, "files": dict(adoption.texts), "adoption": adoption.to_json()})
        return adoption
    if not settings.json and not (settings.quiet and wish.yes):
        _show_plan(directory, root, adoption, git=wish.git)
    if wish.dry_run:
        print_line("This was a dry run: nothing was changed.")
    elif not wish.yes:
        adoption.is_wanted = _can_ask(settings) and _ask("Do this? [y/N]") in {"y", "yes"}
        if not adoption.is_wanted:
            again = f"Do it with: {_command(directory, plan.mode.value)} --yes, and the same options."
            raise UsageError("Nothing was changed: it was not confirmed.", hint=again)
    return adoption


# -- the plan ----------------------------------------------------------------------------------------------------------


def _show_plan(directory: str, root: Path, adoption: Adoption, *, git: bool) -> None:
    plan = adoption.plan
    print_line(f"{directory} is {plan.survey.kind.label} with {_count(plan.survey)}; {plan.adopted} {_becomes(plan)}.")
    if plan.moves:
        print_line(f"\nMoved ({len(plan.moves)}), each byte for byte:", bold=True)
        for move in plan.moves:
            print_line(f"  {spell(move.source)} -> {spell(move.target)}")
    else:
        print_line("Nothing is moved.")
    if plan.emptied:
        print_line(f"\nRemoved, as there is no file in them ({len(plan.emptied)}):", bold=True)
        for path in plan.emptied:
            print_line(f"  {spell(path)}/")
    _show_left(plan)
    _show_later(plan.later, plan.later_left)
    print_line("\nWritten, where there is no such file yet:", bold=True)
    for path, what in _describe_files(adoption).items():
        stays = " (is there already and stays as it is)" if (root / path).exists() else ""
        print_line(f"  {path}{what}{stays}")
    if lacking := templates.find_unignored(root):
        print_line(f"Your .gitignore lacks {', '.join(lacking)}; add that, so that git leaves it out.", fg="yellow")
    print_line(_describe_git(root, adoption, git=git))
    _show_credentials(plan)
    for sentence in plan.advice:
        print_line(f"\n{sentence}", fg="yellow")
    print_line()


def _becomes(plan: AdoptionPlan) -> str:
    is_one = plan.adopted == 1
    sources = "a source" if is_one else "sources"
    return f"become{'s' * is_one} {sources if plan.mode is Mode.SOURCES else f'the line {plan.line}'}"


def _show_left(plan: AdoptionPlan) -> None:
    if plan.left:
        print_line(f"\nLeft as they are, and not taken up ({len(plan.left)}):", bold=True)
        _show_reasons(plan.left)


def _show_reasons(left: Iterable[Left], *, err: bool = False) -> None:
    for reason, group in groupby(sorted(left, key=lambda each: (each.reason, each.path)), lambda each: each.reason):
        print_line(f"  {reason}:", err=err)
        for each in group:
            print_line(f"    {spell(each.path)}", err=err)


def _show_later(moves: Sequence[Move], left: Sequence[Left], *, err: bool = False) -> None:
    """Print what migration will do with what stands at the root of `memory/`."""
    if moves:
        print_line(f"\nMoved by the writer when it first starts ({len(moves)}):", err=err, bold=True)
        for move in moves:
            print_line(f"  {spell(move.source)} -> {spell(move.target)}", err=err)
    if left:
        print_line(f"\nLeft by the writer, and no memory of any line ({len(left)}):", err=err, bold=True)
        _show_reasons(left, err=err)


def _describe_files(adoption: Adoption) -> dict[str, str]:
    """Return the files of the new brain with what the adoption puts into them."""
    plan = adoption.plan
    said = dict.fromkeys([*adoption.texts, templates.IGNORE[0]], "")
    if plan.sources:
        said["omnislash.yaml"] = f": memory.sources {', '.join(plan.sources)}"
        said[templates.MANIFEST] = ": memory.recall names them for every role"
    elif plan.line != DEFAULT_LINE:
        said[templates.MANIFEST] = f": memory.write {plan.line}"
    return said


def _describe_git(root: Path, adoption: Adoption, *, git: bool) -> str:
    if any((place / ".git").exists() for place in (root, *root.parents)):
        return "The git repository that is there stays as it is, and nothing is committed."
    if not git:
        return "No git, as you asked."
    notes = " and the line" if adoption.is_line_committed else "; the notes are in none yet"
    return f"A git repository is made, with a first commit of these files{notes}."


def _show_credentials(plan: AdoptionPlan) -> None:
    if not plan.credentials:
        return
    count = _number(len(plan.credentials), "place")
    print_line(f"\nLooks like a credential, in {count}; taken up as it stands, so take it out first:", fg="yellow")
    for each in plan.credentials[:_CREDENTIALS]:
        print_line(f"  {spell(each.path)}:{each.line}: {each.credential}")
    if len(plan.credentials) > _CREDENTIALS:
        print_line(f"  and {len(plan.credentials) - _CREDENTIALS} more")
