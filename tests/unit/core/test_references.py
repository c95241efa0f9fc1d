"""Every wrong or doubtful name in a block is found when the brain is opened."""

from __future__ import annotations

import pytest

from omnislash.core.lines import AuthoredPath, parse_source
from omnislash.core.scopes import (
    Declaration,
    Severity,
    check_collisions,
    check_refs,
    check_report_targets,
    find_curated_lines,
    split_sources,
)


def sources(*names: str) -> tuple[AuthoredPath, ...]:
    """Return declared sources."""
    return tuple(parse_source(name) for name in names)


def problems_of(declaration: Declaration, *names: str, lines: list[str] | None = None) -> list[tuple[str, str, str]]:
    """Return (key, entry, severity) of every problem."""
    found = check_refs(declaration, sources(*names), lines=lines)
    assert all(problem.problem.endswith(".") and problem.entry in problem.problem for problem in found)
    return [(problem.key, problem.entry, problem.severity) for problem in found]


@pytest.mark.rule("SCOPE-06", "SCOPE-13", "SCOPE-15", "SCOPE-19", "SCOPE-O5", "BOUNDARY-17", "SOURCE-12", "SOURCE-11")
@pytest.mark.parametrize(
    ("declaration", "names"),
    [
        (Declaration(write="research", read=("ops", "content"), recall=("journal",)), ["content"]),
        (Declaration(write="maria", read=("main", "people/maria"), recall=()), ["people"]),
        (Declaration(read=("*", "content", "people")), ["content", "people"]),
        (Declaration(recall=("*", "ops")), []),
        (Declaration(read=("handbook.md",)), ["handbook.md"]),
        (Declaration(write="main", recall=("lifelog", "research/notes")), ["lifelog", "research/notes"]),
        (Declaration(recall=("content/Заметки/архив",)), ["content"]),
        (Declaration(), []),
    ],
    ids=["both lists", "person", "curator", "star in recall", "file source", "manifest", "cyrillic", "empty"],
)
def test_examples_load(declaration: Declaration, names: list[str]) -> None:
    """The examples of the text have no problem."""
    assert problems_of(declaration, *names) == []


@pytest.mark.rule("LINE-09", "KNOB-29")
@pytest.mark.parametrize("name", ["*", "Research", "a/b", "../x", "2026", "", "handbook.md"])
def test_write_is_one_line(name: str) -> None:
    """Anything but a line name under `write` keeps that file from loading."""
    (problem,) = check_refs(Declaration(write=name), sources("handbook.md"))
    assert (problem.key, problem.entry, problem.severity) == ("write", name, Severity.LOAD)
    assert "one line" in problem.problem
    assert not problem.fatal


@pytest.mark.rule("REPORT-11")
@pytest.mark.parametrize("entry", ["*", "content", "content/a", "Ops", "a/b"])
def test_report_takes_lines_only(entry: str) -> None:
    """A source, `*` or no line name under `report` keeps that file from loading."""
    declaration = Declaration(report=("ops", entry))
    assert problems_of(declaration, "content") == [("report", entry, "load")]
    assert "names of lines only" in check_refs(declaration, sources("content"))[0].problem


@pytest.mark.rule("REPORT-11")
@pytest.mark.parametrize(("entry", "meaning"), [("*", "means every line"), ("content", "means an authored source")])
def test_report_says_what_the_entry_means(entry: str, meaning: str) -> None:
    """The message tells a corpus that is no line from a misspelled name."""
    (problem,) = check_refs(Declaration(report=(entry,)), sources("content"))
    assert meaning in problem.problem


@pytest.mark.rule("SCOPE-O4", "SOURCE-02")
@pytest.mark.parametrize("key", ["read", "recall"])
@pytest.mark.parametrize(
    "entry", ["people/maria", "People", "content/my notes", "memory/ops", "content/", "../content"]
)
def test_unknown_corpus_is_named(key: str, entry: str) -> None:
    """An entry that is neither a line nor in a source keeps that file from loading."""
    assert problems_of(Declaration(**{key: (entry,)}), "content") == [(key, entry, "load")]  # type: ignore[arg-type]


def test_line_below_memory_is_explained() -> None:
    """Whoever writes `memory/ops` is told to write `ops`."""
    (problem,) = check_refs(Declaration(read=("memory/ops",)), ())
    assert "Name the line itself: 'ops'." in problem.problem


@pytest.mark.rule("SOURCE-14")
@pytest.mark.parametrize("key", ["read", "recall"])
def test_parent_of_sources_stops_the_boot(key: str) -> None:
    """A ref that is only a parent of sources stops the boot, and the message names them."""
    declaration = Declaration(**{key: ("people",)})  # type: ignore[arg-type]
    (problem,) = check_refs(declaration, sources("people/maria", "people/alex"), lines=["main", "ops"])
    assert (problem.key, problem.entry, problem.fatal) == (key, "people", True)
    assert "'people/maria', 'people/alex'" in problem.problem


@pytest.mark.rule("SOURCE-14", "SOURCE-O9")
@pytest.mark.parametrize("entry", ["people", "people/maria", "people/maria/notes"])
def test_path_in_a_source_is_no_parent(entry: str) -> None:
    """With nested sources a ref inside the outer one is fine, although it is the parent of the inner one."""
    assert problems_of(Declaration(recall=(entry,)), "people", "people/maria/notes", lines=["main"]) == []


@pytest.mark.rule("SOURCE-14", "TENSION-11", "SOURCE-O3")
def test_line_beside_a_source_is_no_parent() -> None:
    """A line that shares its name with the first segment of a source is a line."""
    assert problems_of(Declaration(read=("research",)), "research/notes", lines=["research"]) == []
    assert problems_of(Declaration(write="research", read=("research",)), "research/notes") == []


@pytest.mark.rule("SOURCE-O1", "TENSION-01", "SOURCE-13")
def test_single_file_is_a_warning() -> None:
    """A ref to one file of a directory source loads with a warning."""
    assert problems_of(Declaration(read=("people/maria/style.md",)), "people") == [
        ("read", "people/maria/style.md", "warning")
    ]


@pytest.mark.rule("SCOPE-O3")
def test_line_that_nobody_writes_is_a_warning() -> None:
    """A line of no role and no directory loads with a warning that guesses what was meant."""
    declaration = Declaration(write="desk", read=("reserch", "desk", "ops", "*", "content"))
    found = check_refs(declaration, sources("content"), lines=["research", "ops"])
    assert [(problem.entry, problem.severity) for problem in found] == [("reserch", Severity.WARNING)]
    assert "Did you mean 'research'?" in found[0].problem


@pytest.mark.rule("SCOPE-O1")
def test_corpus_in_both_lists_is_a_warning() -> None:
    """A corpus in both lists loads; the entry in `read` is called redundant."""
    assert problems_of(Declaration(read=("content",), recall=("content",)), "content") == [
        ("read", "content", "warning")
    ]


@pytest.mark.rule("KNOB-O5")
def test_one_run_shows_everything() -> None:
    """Every problem of a block is found at once, in the order of the keys."""
    declaration = Declaration(write="X", report=("*",), read=("a/b", "people"), recall=("C",))
    assert problems_of(declaration, "people/maria") == [
        ("write", "X", "load"),
        ("report", "*", "load"),
        ("read", "a/b", "load"),
        ("read", "people", "boot"),
        ("recall", "C", "load"),
    ]


@pytest.mark.rule("REPORT-12", "REPORT-13")
def test_uncurated_report_stops_the_boot() -> None:
    """A misspelled `report` entry stops the boot, and the message guesses what was meant."""
    (problem,) = check_report_targets(("ops", "opps", "*"), {"main", "ops"})
    assert (problem.key, problem.entry, problem.fatal) == ("report", "opps", True)
    assert "Did you mean 'ops'?" in problem.problem


@pytest.mark.rule("REPORT-12", "REPORT-O1", "SOURCE-O2")
@pytest.mark.parametrize(
    ("pairs", "manifest", "on_disk", "expected"),
    [
        ([(Declaration(), None)], None, [], {"main"}),
        ([(Declaration(), None)], "team", [], {"team"}),
        ([(None, None)], "team", [], set()),
        ([(Declaration(write="ops"), None), (Declaration(write="ops"), Declaration(write="circles"))], None, [],
         {"ops", "circles"}),
        ([(None, Declaration())], None, [], {"main"}),
        ([], None, ["notes", "Work", ".git"], {"notes"}),
        ([(Declaration(write="Bad"), None)], None, [], set()),
    ],
    ids=["main", "manifest", "nobody", "role and beat", "beat only", "directories", "role that does not load"],
)  # fmt: skip
def test_curated_lines(
    pairs: list[tuple[Declaration | None, Declaration | None]],
    manifest: str | None,
    on_disk: list[str],
    expected: set[str],
) -> None:
    """A line is curated when some role or beat ends up in it, or when its directory exists."""
    assert find_curated_lines(pairs, manifest=Declaration(write=manifest), on_disk=on_disk) == expected


@pytest.mark.rule("SOURCE-03", "SOURCE-O2")
@pytest.mark.parametrize("source", ["ops", "main"])
def test_source_with_a_lines_name_stops_the_boot(source: str) -> None:
    """A source that has the name of a line stops the boot; `main` counts always."""
    (problem,) = check_collisions(sources("content", source), ["ops"])
    assert (problem.key, problem.entry, problem.fatal) == ("sources", source, True)
    assert problem.problem == f"The source {source!r} has the name of the line {source!r}. Rename one of the two."


@pytest.mark.rule("SOURCE-O3")
@pytest.mark.parametrize(
    ("source", "severity"),
    [
        ("research/2026", "warning"),
        ("research/2026/11", "warning"),
        ("research/MEMORY.md", "warning"),
        ("research/notes", None),
        ("research/2026-notes", None),
        ("Research", None),
    ],
)
def test_source_over_engine_files_is_a_warning(source: str, severity: str | None) -> None:
    """A source below a line is allowed; one that covers files the engine writes there is worth a warning."""
    found = check_collisions(sources(source), ["research"])
    assert [problem.severity for problem in found] == ([severity] if severity else [])
    assert all(f"{source!r} shadows files of the line 'research'" in problem.problem for problem in found)


@pytest.mark.rule("SOURCE-02", "SOURCE-O4", "SOURCE-O9", "TENSION-14")
def test_source_in_memory_is_dropped_with_a_warning() -> None:
    """A source inside `memory/` is a line: it is dropped and named; repeated and nested ones are kept once."""
    kept, dropped = split_sources(sources("content", "memory/knowledge", "content", "content/a", "memory", "memory-x"))
    assert kept == ("content", "content/a", "memory-x")
    assert [(problem.entry, problem.severity) for problem in dropped] == [
        ("memory/knowledge", Severity.WARNING),
        ("memory", Severity.WARNING),
    ]
    assert "Name the line 'knowledge'" in dropped[0].problem
