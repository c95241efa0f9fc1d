"""What an agent may read and change on a real disk: its line, its corpora, and nothing through a link or a spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash import InvalidNameError, MissingFileError, ScopeError
from omnislash.core.verdicts import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash import Agent, Verdict
    from tests.integration.conftest import SampleBrain


def paths(agent: Agent, *, corpus: str | None = None) -> list[str]:
    """Return what `memory_list` shows."""
    return [entry.path for entry in agent.memory.list(corpus=corpus).entries]


def mutations(agent: Agent, path: str) -> dict[str, Callable[[], Verdict]]:
    """Return a call of every tool that could change a file at this path, which holds the word `rules`."""
    return {
        "edit": lambda: agent.memory.edit(path, old="rules", new="laws"),
        "write-file": lambda: agent.memory.write_file(path, "laws\n"),
        "move away": lambda: agent.memory.move(path, "main/taken.md"),
        "move onto": lambda: agent.memory.move("main/own.md", path),
        "delete": lambda: agent.memory.delete(path),
        "delete entry": lambda: agent.memory.delete(path, entry="rules"),
        "delete section": lambda: agent.memory.delete(path, section="Rules"),
    }


KINDS = list(mutations(None, ""))  # type: ignore[arg-type]  # only the names


# -- lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("LINE-02", "BOUNDARY-13", "BOUNDARY-16")
def test_roles_and_chats_share_main(sample: SampleBrain) -> None:
    """Every role that names no line writes and reads `main`; two chats of one role see the same line."""
    sample.role("mira")
    brain = sample.open()
    brain.agent("nova").memory.write("One.")
    brain.agent("nova").memory.write("Two.")

    assert brain.agent("mira").memory.write("One.").outcome is Outcome.DUPLICATE
    assert brain.agent("mira").memory.read("main/2026/08/2026-08-30.md").content.endswith("- 09:05 Two.\n")
    assert set(sample.files()) == {"main/2026/08/2026-08-30.md"}


@pytest.mark.rule("LINE-03", "LINE-04", "LINE-13", "RESOLVE-04", "LINE-O1")
def test_own_line_is_declared_by_one_word(sample: SampleBrain) -> None:
    """`memory: {write: research}` alone gives a line on which every tool works, apart from all others."""
    sample.open_gate()
    sample.role("scout", "{write: research}")
    sample.put_memory("main/MEMORY.md", "- main's own\n")
    scout = sample.agent("scout")
    log = "research/2026/08/2026-08-30.md"

    assert scout.memory.write("A find.", priority=True).paths == (log, "research/MEMORY.md")
    assert scout.memory.edit(log, old="A find.", new="A great find.").outcome is Outcome.WRITTEN
    assert scout.memory.write_file("research/notes/a.md", "x").outcome is Outcome.WRITTEN
    assert scout.memory.move("research/notes/a.md", "research/b.md").outcome is Outcome.WRITTEN
    assert scout.memory.delete("research/b.md").outcome is Outcome.WRITTEN
    assert paths(scout) == [log, "research/MEMORY.md"]
    assert scout.memory.overview().line == "research"
    with pytest.raises(ScopeError):
        scout.memory.read("main/MEMORY.md")
    assert sample.text("main/MEMORY.md") == "- main's own\n"


@pytest.mark.rule("LINE-10", "LINE-11")
def test_unnamed_line_is_shown_to_nobody_but_oversight(sample: SampleBrain) -> None:
    """A directory that no role names is a line: hidden from everyone, and open to `'*'`."""
    sample.put_memory("notes/a.md", "x\n")
    sample.role("scout", "{write: research, read: [main]}")
    sample.role("overseer", "{write: desk, read: ['*']}")

    for role in ("nova", "scout"):
        assert "notes/a.md" not in paths(sample.agent(role))
        with pytest.raises(ScopeError):
            sample.agent(role).memory.read("notes/a.md")
    assert paths(sample.agent("overseer")) == ["notes/a.md"]
    assert sample.agent("overseer").memory.read("notes/a.md").content == "x\n"


@pytest.mark.rule("LINE-10", "LINE-O2")
def test_only_line_names_are_lines(sample: SampleBrain) -> None:
    """Oversight shows no directory whose name can't be a line's, and no hidden entry."""
    for path in ("Notes/a.md", "2026/08/2026-08-30.md", ".git/a.md", "good/a.md", "good/.b.md"):
        sample.put_memory(path, "x\n")
    sample.role("overseer", "{write: desk, read: ['*']}")

    assert paths(sample.agent("overseer")) == ["good/a.md"]


@pytest.mark.rule("RESOLVE-10", "RESOLVE-11", "RESOLVE-12", "RESOLVE-O2")
def test_borrowed_line_is_written_and_read(sample: SampleBrain) -> None:
    """In a handed line an agent writes and reads there, keeps its own lists, and loses the line it usually writes."""
    sample.role("scout", "{write: research, read: [ops]}")
    for line in ("research", "ops", "circle"):
        sample.put_memory(f"{line}/MEMORY.md", f"- {line}\n")
    scout = sample.open().agent("scout", handed_line="circle")

    assert scout.memory.read("circle/MEMORY.md").content == "- circle\n"
    assert scout.memory.read("ops/MEMORY.md").content == "- ops\n"
    with pytest.raises(ScopeError):
        scout.memory.read("research/MEMORY.md")
    assert scout.memory.edit("circle/MEMORY.md", old="circle", new="square").outcome is Outcome.WRITTEN
    assert scout.memory.edit("research/MEMORY.md", old="research", new="x").outcome is Outcome.REFUSED


# -- corpora ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SCOPE-06", "SCOPE-07", "SCOPE-11", "SCOPE-19", "SCOPE-O8", "SOURCE-16", "SOURCE-17")
def test_read_and_recall_open_corpora_to_the_tools(sample: SampleBrain) -> None:
    """What `read` or `recall` names can be listed and read under the same path, beside the own line; the rest not."""
    sample.sources("content", "handbook.md", "private")
    sample.role("scout", "{write: research, read: [ops, content], recall: [journal]}")
    for path in ("memory/research/a.md", "memory/ops/a.md", "memory/journal/a.md", "memory/main/a.md"):
        sample.put(path, "x\n")
    for path in ("content/a.md", "content/deep/b.md", "content/a.txt", "handbook.md", "private/a.md"):
        sample.put(path, "x\n")
    scout = sample.agent("scout")

    assert paths(scout) == ["content/a.md", "content/deep/b.md", "journal/a.md", "ops/a.md", "research/a.md"]
    for path in paths(scout):
        assert scout.memory.read(path).path == path
    for path in ("main/a.md", "handbook.md", "private/a.md", "main/none.md"):
        with pytest.raises(ScopeError):
            scout.memory.read(path)


@pytest.mark.rule("SCOPE-12", "SOURCE-12")
@pytest.mark.parametrize(
    ("path", "opened"),
    [
        ("people/maria/a.md", True),
        ("people/maria-old/a.md", False),
        ("people/alex/a.md", False),
        ("people/a.md", False),
    ],
)
def test_matching_is_by_whole_directory(sample: SampleBrain, path: str, opened: bool) -> None:
    """`people/maria` opens `people/maria/` and nothing whose name only begins like it."""
    sample.sources("people")
    sample.role("scout", "{write: research, read: [people/maria]}")
    for place in ("people/maria/a.md", "people/maria-old/a.md", "people/alex/a.md", "people/a.md"):
        sample.put(place, "x\n")
    scout = sample.agent("scout")

    assert (path in paths(scout)) is opened
    if not opened:
        with pytest.raises(ScopeError):
            scout.memory.read(path)


@pytest.mark.rule("SOURCE-O1", "BOUNDARY-12")
def test_single_file_of_a_source_opens_that_file(sample: SampleBrain) -> None:
    """A ref to one file in a source opens it alone; a line can't be shared by the file at all."""
    sample.sources("people")
    sample.role("scout", "{write: research, read: [people/maria/style.md]}")
    sample.role("bad", "{write: desk, read: [main/MEMORY.md]}")
    sample.put("people/maria/style.md", "x\n")
    sample.put("people/maria/other.md", "x\n")
    brain = sample.open()

    assert paths(brain.agent("scout")) == ["people/maria/style.md"]
    assert [fault.path for fault in brain.config.faults] == ["features/team/bad.agent.md"]


@pytest.mark.rule("SCOPE-13", "SCOPE-14", "SCOPE-16")
def test_star_opens_every_line_and_no_source(sample: SampleBrain) -> None:
    """`'*'` shows every line, born later too, and no source; it lets the agent change nothing there."""
    sample.sources("content")
    sample.put("content/a.md", "x\n")
    sample.manifest("{read: [content]}")
    sample.role("overseer", "{write: desk, read: ['*']}")
    sample.put_memory("ops/a.md", "rules\n")
    overseer = sample.agent("overseer")
    assert paths(overseer) == ["ops/a.md"]
    with pytest.raises(ScopeError):
        overseer.memory.read("content/a.md")

    sample.put_memory("late/a.md", "rules\n")

    assert paths(overseer) == ["late/a.md", "ops/a.md"]
    for path in ("ops/a.md", "late/a.md"):
        assert overseer.memory.edit(path, old="rules", new="x").outcome is Outcome.REFUSED
    assert sample.text("ops/a.md") == "rules\n"


@pytest.mark.rule("BOUNDARY-17")
def test_person_with_a_line_and_readable_corpora(sample: SampleBrain) -> None:
    """`write: maria, read: [main, people/maria], recall: []`: the two can be read, and only `maria` is recalled."""
    sample.sources("people")
    sample.role("maria", "{write: maria, read: [main, people/maria], recall: []}")
    sample.put("people/maria/a.md", "x\n")
    sample.put_memory("main/a.md", "x\n")
    maria = sample.agent("maria")

    assert paths(maria) == ["main/a.md", "people/maria/a.md"]
    assert maria.memory.overview().recall == ("maria",)
    assert maria.memory.write("x").paths == ("maria/2026/08/2026-08-30.md",)


@pytest.mark.rule("TOOL-14")
def test_refused_read_does_not_tell_what_exists(sample: SampleBrain) -> None:
    """A path outside the read set gets the same sentence whether there is a file or not."""
    sample.put_memory("ops/real.md", "x\n")
    sentences = []
    for name in ("real", "fake"):
        with pytest.raises(ScopeError) as caught:
            sample.agent().memory.read(f"ops/{name}.md")
        sentences.append(str(caught.value).replace(name, "NAME"))

    assert sentences[0] == sentences[1]
    assert "main" in sentences[0]


@pytest.mark.rule("TOOL-14", "SCOPE-O8")
def test_listing_of_a_foreign_corpus_is_refused(sample: SampleBrain) -> None:
    """A listing may be narrowed to a corpus of the read set, and to no other."""
    sample.sources("content")
    sample.put("content/a.md", "x\n")
    sample.role("scout", "{write: research, read: [content]}")
    scout = sample.agent("scout")

    assert paths(scout, corpus="content") == ["content/a.md"]
    for corpus in ("main", "*", "people", "../content", "content/../main"):
        with pytest.raises(ScopeError):
            scout.memory.list(corpus=corpus)


# -- the authored zone -----------------------------------------------------------------------------------------------


@pytest.mark.rule("SCOPE-02", "SOURCE-18", "TOOL-07", "TOOL-O5")
@pytest.mark.parametrize("kind", KINDS)
def test_no_mutator_touches_a_source(sample: SampleBrain, kind: str) -> None:
    """No tool changes an authored document, even one that the agent recalls; the refusal names the own line."""
    sample.open_gate()
    sample.sources("content")
    sample.manifest("{recall: [content]}")
    place = sample.put("content/a.md", "## Rules\n\n- rules\n")
    sample.put_memory("main/own.md", "own\n")
    before = sample.files()

    verdict = mutations(sample.agent(), "content/a.md")[kind]()

    assert verdict.outcome is Outcome.REFUSED
    assert "main" in verdict.message
    assert place.read_text() == "## Rules\n\n- rules\n"
    assert sample.files() == before


@pytest.mark.rule("TOOL-07", "TOOL-O5", "SCOPE-14", "BOUNDARY-07")
@pytest.mark.parametrize("kind", KINDS)
def test_no_mutator_leaves_the_own_line(sample: SampleBrain, kind: str) -> None:
    """An agent that reads a line, and deposits there, still changes nothing in it; the refusal names its own line."""
    sample.open_gate()
    sample.role("nova", "{read: ['*'], recall: [ops], report: [ops]}")
    sample.put_memory("ops/a.md", "## Rules\n\n- rules\n")
    sample.put_memory("main/own.md", "own\n")
    before = sample.files()

    verdict = mutations(sample.agent(), "ops/a.md")[kind]()

    assert verdict.outcome is Outcome.REFUSED
    assert "main" in verdict.message
    assert sample.files() == before


@pytest.mark.rule("SCOPE-03")
def test_person_edits_a_source_freely(sample: SampleBrain) -> None:
    """A source stays a normal directory: what a person saves there is what the next read shows."""
    sample.sources("content")
    sample.manifest("{read: [content]}")
    sample.put("content/a.md", "old\n")
    nova = sample.agent()
    assert nova.memory.read("content/a.md").content == "old\n"

    sample.put("content/a.md", "new\n")

    assert nova.memory.read("content/a.md").content == "new\n"


@pytest.mark.rule("SOURCE-O3", "TENSION-11")
def test_source_wins_over_a_line_of_the_same_beginning(sample: SampleBrain) -> None:
    """Under source `research/notes`, that path is the document; no file of the line `research` is made there."""
    sample.open_gate()
    sample.sources("research/notes")
    sample.role("scout", "{write: research, read: [research/notes]}")
    sample.put("research/notes/x.md", "authored\n")
    sample.put_memory("research/own.md", "own\n")
    scout = sample.agent("scout")

    assert scout.memory.read("research/notes/x.md").content == "authored\n"
    assert scout.memory.write_file("research/notes/x.md", "x").outcome is Outcome.REFUSED
    assert scout.memory.write_file("research/notes/y.md", "x").outcome is Outcome.REFUSED
    assert scout.memory.move("research/own.md", "research/notes/z.md").outcome is Outcome.REFUSED
    assert scout.memory.write_file("research/notes2/y.md", "x").outcome is Outcome.WRITTEN
    assert set(sample.files()) == {"research/own.md", "research/notes2/y.md"}


@pytest.mark.rule("SOURCE-O3")
def test_daily_log_is_never_made_in_the_shadow_of_a_source(sample: SampleBrain) -> None:
    """When a source claims the place of the line's daily log, a write is refused rather than hidden behind it."""
    sample.sources("main/2026")
    sample.put("main/2026/a.md", "x\n")

    assert sample.agent().memory.write("x").outcome is Outcome.REFUSED
    assert sample.files() == {}


# -- links and spellings ---------------------------------------------------------------------------------------------


@pytest.mark.rule("SCOPE-O6")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["file link", "folder link", "into another line"])
def test_link_leads_no_change_out_of_the_line(sample: SampleBrain, shape: str, kind: str) -> None:
    """A symbolic link in a line leads no mutator out of it, whether the link is the file or a folder on the way."""
    sample.open_gate()
    foreign = "memory/ops" if shape == "into another line" else "outside"
    target = sample.put(f"{foreign}/a.md", "## Rules\n\n- rules\n")
    sample.put_memory("main/own.md", "own\n")
    link = sample.root / "memory/main" / ("a.md" if shape == "file link" else "sub")
    link.symlink_to(target if shape == "file link" else target.parent)
    path = "main/a.md" if shape == "file link" else "main/sub/a.md"

    verdict = mutations(sample.agent(), path)[kind]()

    assert verdict.outcome in {Outcome.REFUSED, Outcome.FAILED}
    assert verdict.paths == ()
    assert target.read_text() == "## Rules\n\n- rules\n"
    assert sample.text("main/own.md") == "own\n"
    assert sorted(place.name for place in target.parent.iterdir()) == ["a.md"]
    assert link.is_symlink()


@pytest.mark.rule("SCOPE-O6")
@pytest.mark.parametrize("where", ["main", "main/2026", "main/2026/08", "main/2026/08/2026-08-30.md"])
def test_link_leads_no_write_out_of_the_line(sample: SampleBrain, where: str) -> None:
    """A link anywhere on the way of the daily log, the line itself included, leads no entry out."""
    outside = sample.root / "outside"
    if where.endswith(".md"):
        outside.write_text("theirs\n")
    else:
        outside.mkdir()
    link = sample.root / "memory" / where
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)

    verdict = sample.agent().memory.write("x", priority=True)

    assert verdict.outcome in {Outcome.REFUSED, Outcome.FAILED}
    if outside.is_dir():
        assert list(outside.iterdir()) == []
    else:
        assert outside.read_text() == "theirs\n"


@pytest.mark.rule("SCOPE-O6")
def test_dangling_link_makes_nothing(sample: SampleBrain) -> None:
    """A link to a file that does not exist is not written through."""
    link = sample.root / "memory/main/a.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(sample.root / "outside.md")

    assert sample.agent().memory.write_file("main/a.md", "x").outcome in {Outcome.REFUSED, Outcome.FAILED}
    assert not (sample.root / "outside.md").exists()


@pytest.mark.rule("SCOPE-O6", "TOOL-14")
@pytest.mark.parametrize("shape", ["file", "folder"])
def test_link_shows_nothing_from_outside(sample: SampleBrain, shape: str) -> None:
    """A link out of the line or the source is neither read nor listed."""
    sample.sources("content")
    sample.manifest("{read: [content]}")
    target = sample.put("outside/a.md", "theirs\n")
    for place in ("memory/main", "content"):
        directory = sample.root / place
        directory.mkdir(parents=True)
        link = directory / ("a.md" if shape == "file" else "sub")
        link.symlink_to(target if shape == "file" else target.parent)
    nova = sample.agent()

    assert paths(nova) == []
    for place in ("main", "content"):
        with pytest.raises(ScopeError):
            nova.memory.read(f"{place}/a.md" if shape == "file" else f"{place}/sub/a.md")


@pytest.mark.rule("SCOPE-02", "TOOL-14")
@pytest.mark.parametrize(
    "path",
    [
        "../omnislash.yaml",
        "main/../../omnislash.yaml",
        "/etc/passwd",
        "main//a.md",
        "main/./a.md",
        "main\\a.md",
        "main",
    ],
)
def test_no_spelling_climbs_out_when_reading(sample: SampleBrain, path: str) -> None:
    """A path that climbs, starts at the root or names no file is refused before the disk is touched."""
    sample.put_memory("main/a.md", "x\n")
    sample.role("overseer", "{read: ['*']}")

    with pytest.raises((InvalidNameError, ScopeError)):
        sample.agent("overseer").memory.read(path)


@pytest.mark.rule("SOURCE-O6")
def test_other_letter_case_is_another_file(sample: SampleBrain) -> None:
    """A path that differs from the disk in letter case only does not exist."""
    sample.sources("Content")
    sample.manifest("{read: [Content]}")
    sample.put("Content/Price.md", "x\n")
    nova = sample.agent()

    assert nova.memory.read("Content/Price.md").content == "x\n"
    with pytest.raises(MissingFileError):
        nova.memory.read("Content/price.md")
    with pytest.raises((ScopeError, InvalidNameError)):
        nova.memory.read("content/Price.md")


def test_twin_line_folder_is_not_guessed(sample: SampleBrain) -> None:
    """A folder that differs from the line's name in letter case only is named, and nothing is written beside it."""
    sample.put_memory("Main/a.md", "x\n")

    verdict = sample.agent().memory.write("x")

    assert verdict.outcome is Outcome.FAILED
    assert "memory/Main" in verdict.message
    assert set(sample.files()) == {"Main/a.md"}
