"""Manifest, role and beat become one scope, and every tool is judged by it."""

from __future__ import annotations

from dataclasses import fields

import pytest

from omnislash.core.entries import render_text
from omnislash.core.lines import AuthoredPath, LineName, parse_source
from omnislash.core.scopes import (
    Declaration,
    Located,
    Ref,
    RefKind,
    Refusal,
    Scope,
    Settings,
    Target,
    Zone,
    is_shadowed,
    locate,
    merge_declarations,
    parse_ref,
    refuse_change,
    refuse_read,
    resolve_corpora,
    resolve_line,
    resolve_scope,
    resolve_settings,
    resolve_target,
    signature,
)
from omnislash.errors import InvalidNameError

NOTHING = Declaration()


def sources(*names: str) -> tuple[AuthoredPath, ...]:
    """Return declared sources."""
    return tuple(parse_source(name) for name in names)


def scope_of(
    role: Declaration | None,
    *names: str,
    beat: Declaration | None = None,
    manifest: Declaration = NOTHING,
    heartbeat: str | None = None,
    handed: str | None = None,
) -> Scope:
    """Return the scope of the role `assistant` in a brain with these sources."""
    return resolve_scope(
        role_id="assistant",
        role=role,
        beat=beat,
        manifest=manifest,
        heartbeat=heartbeat,
        handed=handed,
        sources=sources(*names),
    )


def may_read(scope: Scope, path: str, *names: str) -> bool:
    """Tell whether the scope reads a path in a brain with these sources."""
    return scope.may_read(locate(path, sources=sources(*names)))


class TestWhichLine:
    """The five tiers."""

    @pytest.mark.rule(
        "RESOLVE-01", "RESOLVE-02", "RESOLVE-03", "RESOLVE-04", "RESOLVE-05", "RESOLVE-06", "RESOLVE-07", "RESOLVE-08",
        "RESOLVE-09", "RESOLVE-10", "RESOLVE-O2", "DECLARE-01", "DECLARE-02", "DECLARE-03", "DECLARE-08", "DECLARE-15",
        "DECLARE-O2", "LINE-02", "LINE-03", "TENSION-04",
    )  # fmt: skip
    @pytest.mark.parametrize(
        ("handed", "beat", "role", "manifest", "line"),
        [
            pytest.param(None, None, {}, None, "main", id="nothing set"),
            pytest.param(None, None, {}, "team", "team", id="manifest"),
            pytest.param(None, None, {"write": "research"}, "team", "research", id="role over manifest"),
            pytest.param(None, {"write": "circles"}, {"write": "research"}, "team", "circles", id="beat over role"),
            pytest.param(None, {"recent_days": 0}, {"write": "research"}, "team", "research", id="beat sets no line"),
            pytest.param(None, {}, None, "team", "team", id="beat turns memory on"),
            pytest.param(None, None, None, "team", None, id="manifest turns nothing on"),
            pytest.param("research", None, {}, "team", "research", id="handed down"),
            pytest.param("research", None, {"write": "ops"}, None, "research", id="handed down over role"),
            pytest.param("research", None, None, None, None, id="handed down turns nothing on"),
            pytest.param(None, None, {"write": "research"}, None, "research", id="scenario key is no tier"),
            pytest.param("research", None, {}, "team", "research", id="flush curator"),
            pytest.param("research", None, None, "team", None, id="flush curator without block"),
        ],
    )
    def test_most_specific_tier_decides(
        self,
        handed: str | None,
        beat: dict[str, object] | None,
        role: dict[str, object] | None,
        manifest: str | None,
        line: str | None,
    ) -> None:
        """The line is that of the most specific tier, and only role or beat turn memory on."""
        blocks = [None if block is None else Declaration(**block) for block in (beat, role)]  # type: ignore[arg-type]
        tier4 = Declaration(write=manifest)

        assert resolve_line(handed=handed, beat=blocks[0], role=blocks[1], manifest=tier4) == line
        scope = scope_of(blocks[1], beat=blocks[0], manifest=tier4, handed=handed)
        assert scope.line == line
        assert scope.has_memory is (line is not None)

    @pytest.mark.rule("LINE-09", "KNOB-29")
    @pytest.mark.parametrize("name", ["Research", "a/b", "../x", "*", ""])
    def test_invalid_name_never_becomes_a_line(self, name: str) -> None:
        """A name that got past the loading is refused here as well."""
        with pytest.raises(InvalidNameError):
            scope_of(Declaration(write=name))


class TestMerging:
    """The block in force."""

    @pytest.mark.rule("KNOB-24", "SOURCE-15", "SCOPE-16", "SCOPE-O7", "TENSION-02")
    @pytest.mark.parametrize(
        ("manifest", "role", "expected"),
        [
            pytest.param(
                Declaration(recall=("content", "people"), recent_days=1, recall_score=0.5),
                Declaration(recent_days=2),
                Declaration(recall=("content", "people"), recent_days=2, recall_score=0.5),
                id="one key set",
            ),
            pytest.param(
                Declaration(recall=("content", "people"), recent_days=1, recall_score=0.5),
                Declaration(recall=("journal",)),
                Declaration(recall=("journal",), recent_days=1, recall_score=0.5),
                id="a list is replaced whole",
            ),
            pytest.param(
                Declaration(recall=("content", "people"), recent_days=1, recall_score=0.5),
                Declaration(read=("*",)),
                Declaration(read=("*",), recall=("content", "people"), recent_days=1, recall_score=0.5),
                id="recall survives read",
            ),
            pytest.param(
                Declaration(read=("content",)),
                Declaration(read=("*",)),
                Declaration(read=("*",)),
                id="read is replaced",
            ),
            pytest.param(
                Declaration(recall=("content",)),
                Declaration(recall=()),
                Declaration(recall=()),
                id="an empty list is set",
            ),
        ],
    )
    def test_key_that_is_set_replaces(self, manifest: Declaration, role: Declaration, expected: Declaration) -> None:
        """A key that is set replaces the lower value whole; a key that is not set keeps it."""
        assert merge_declarations(manifest, role, None) == expected

    @pytest.mark.rule("KNOB-24", "KNOB-28", "KNOB-15")
    def test_beat_patches_role(self) -> None:
        """The beat replaces one knob of the role; zeros stay zeros and the rest is default."""
        role = Declaration(priority_chars=0, recent_days=0, recall_results=2, period_count=0)
        merged = merge_declarations(NOTHING, role, Declaration(recall_results=1))

        assert merged is not None
        assert resolve_settings(merged) == Settings(priority_chars=0, recent_days=0, recall_results=1, period_count=0)

    @pytest.mark.rule(
        "KNOB-06", "KNOB-07", "KNOB-08", "KNOB-09", "KNOB-10", "KNOB-11", "KNOB-12", "KNOB-13", "KNOB-14", "KNOB-O8",
        "DECLARE-02",
    )  # fmt: skip
    def test_defaults_are_those_of_the_text(self) -> None:
        """An empty block takes every value from the defaults."""
        assert scope_of(NOTHING).settings == Settings(
            priority_chars=12000,
            recent_days=1,
            recent_chars=4000,
            recall_results=4,
            recall_score=0.41,
            recall_chars=3000,
            search_score=0.3,
            period_count=1,
            period_chars=6000,
            recall_gate="floor",
        )

    @pytest.mark.rule("KNOB-01")
    def test_block_is_names_and_knobs(self) -> None:
        """The block holds the four lists of names and exactly the knobs that have a setting."""
        names = {item.name for item in fields(Declaration)}
        assert names == {"write", "report", "read", "recall"} | {item.name for item in fields(Settings)}

    @pytest.mark.rule("DECLARE-03")
    def test_manifest_alone_merges_to_nothing(self) -> None:
        """Without a block of role or beat there is no block in force."""
        assert merge_declarations(Declaration(write="team"), None, None) is None

    @pytest.mark.rule("DECLARE-13")
    def test_zero_budgets_keep_the_line(self) -> None:
        """A block whose budgets are all 0 is memory all the same."""
        scope = scope_of(Declaration(priority_chars=0, recent_chars=0, recall_results=0, period_count=0))
        assert scope.has_memory
        assert scope.writable_lines == ("main",)


class TestReach:
    """What may be read and what is recalled."""

    @pytest.mark.rule("SCOPE-06", "SCOPE-12", "SOURCE-12", "SOURCE-16", "SOURCE-17")
    @pytest.mark.parametrize(
        ("path", "allowed"),
        [("people/maria/style.md", True), ("people/maria-old/style.md", False), ("people/alex/style.md", False)],
    )
    def test_ref_opens_its_directory(self, path: str, allowed: bool) -> None:
        """`people/maria` under the source `people` opens that directory and no neighbour."""
        scope = scope_of(Declaration(read=("people/maria",)), "people")
        assert may_read(scope, path, "people") is allowed

    @pytest.mark.rule("SCOPE-13", "SCOPE-14", "SCOPE-15")
    def test_star_is_every_line_and_no_source(self) -> None:
        """`*` opens lines that nobody declared as well, and neither source; it changes nothing but reading."""
        scope = scope_of(Declaration(read=("*",)), "content", "people")
        knowledge = locate("knowledge/x.md", sources=sources("content", "people"))

        assert scope.may_read(knowledge)
        assert not scope.may_recall(knowledge)
        assert not scope.may_change(knowledge)
        assert not may_read(scope, "content/x.md", "content", "people")
        assert not may_read(scope, "people/x.md", "content", "people")
        assert scope_of(Declaration(recall=("*",))).may_recall(knowledge)

    @pytest.mark.rule("SOURCE-12")
    def test_file_source_is_one_file(self) -> None:
        """The source `handbook.md` opens that file."""
        scope = scope_of(Declaration(read=("handbook.md",)), "handbook.md")
        assert may_read(scope, "handbook.md", "handbook.md")

    @pytest.mark.rule("SOURCE-13", "SOURCE-O1", "TENSION-01")
    def test_ref_to_a_file_opens_it_alone(self) -> None:
        """A ref to one file of a directory source opens exactly that file."""
        scope = scope_of(Declaration(read=("people/maria/style.md",)), "people")
        assert may_read(scope, "people/maria/style.md", "people")
        assert not may_read(scope, "people/maria/other.md", "people")

    @pytest.mark.rule("SCOPE-19", "SCOPE-07", "SCOPE-08", "SCOPE-09", "SCOPE-11", "SCOPE-18")
    def test_example_with_both_lists(self) -> None:
        """The example of the text writes research, may read ops and content, and is shown journal."""
        block = Declaration(write="research", read=("ops", "content"), recall=("journal",))
        scope = scope_of(block, "content")
        paths = ["research/MEMORY.md", "ops/MEMORY.md", "content/x.md", "journal/MEMORY.md", "main/MEMORY.md"]
        located = [locate(path, sources=sources("content")) for path in paths]

        assert scope.line == "research"
        assert [scope.may_read(path) for path in located] == [True, True, True, True, False]
        assert [scope.may_recall(path) for path in located] == [True, False, False, True, False]

    @pytest.mark.rule("BOUNDARY-17", "BOUNDARY-12")
    def test_person_line_recalls_itself_only(self) -> None:
        """The example of a line per person: only `maria` rides a turn, `main` and `people/maria` can be searched."""
        manifest = Declaration(recall=("people",))
        block = Declaration(write="maria", read=("main", "people/maria"), recall=())
        scope = scope_of(block, "people", manifest=manifest)

        assert scope.recalled == (Ref(RefKind.LINE, "maria"),)
        assert may_read(scope, "main/MEMORY.md", "people")
        assert may_read(scope, "people/maria/x.md", "people")
        assert not may_read(scope, "people/alex/x.md", "people")

    @pytest.mark.rule("SCOPE-17", "LINE-13", "LINE-11", "LINE-O4", "LINE-O1", "SOURCE-09", "SOURCE-08")
    def test_default_is_isolated(self) -> None:
        """Without lists an agent reads and recalls its own line and nothing else."""
        scope = scope_of(Declaration(write="research"), "content")
        assert scope.readable == scope.recalled == (Ref(RefKind.LINE, "research"),)
        assert not may_read(scope, "notes/x.md", "content")
        assert not may_read(scope, "content/x.md", "content")

    @pytest.mark.rule("DECLARE-08", "DECLARE-06", "RESOLVE-09")
    def test_no_block_reaches_nothing(self) -> None:
        """A role without memory has no line, no lists of the manifest, and no path, `main` included."""
        scope = scope_of(None, "content", manifest=Declaration(read=("*",), recall=("content",), report=("ops",)))
        own = locate("main/MEMORY.md", sources=())

        assert (scope.line, scope.writable_lines, scope.readable, scope.recalled) == (None, (), (), ())
        assert not scope.may_read(own)
        assert not scope.may_recall(own)
        assert not scope.may_change(own)
        assert not scope.may_change(locate("content/x.md", sources=sources("content")))

    @pytest.mark.rule("SCOPE-O1", "SCOPE-O5", "SCOPE-O8")
    def test_overview_lists_each_corpus_once(self) -> None:
        """The own line comes first, then what is read, then what is recalled, without repeats."""
        scope = scope_of(Declaration(read=("ops", "content", "ops", "main"), recall=("content", "*")), "content")
        assert [ref.name for ref in scope.readable] == ["main", "ops", "content", "*"]
        assert [ref.name for ref in scope.recalled] == ["main", "content", "*"]

    @pytest.mark.rule("SCOPE-O2", "SCOPE-O4", "SCOPE-06", "SOURCE-07")
    @pytest.mark.parametrize(
        "entry", ["people/maria", "People", "my notes", "../hr", "content/../hr", "content/my notes", "", "memory/ops"]
    )
    def test_entry_that_names_nothing_is_refused(self, entry: str) -> None:
        """An entry that is neither a line nor in a declared source is refused by name."""
        with pytest.raises(InvalidNameError) as raised:
            parse_ref(entry, sources=sources("content"))
        assert repr(entry) in raised.value.message

    @pytest.mark.rule("SCOPE-01", "SCOPE-05")
    def test_zones_never_mix(self) -> None:
        """A line and a source of one name are two corpora, and neither opens the other."""
        line, source = Ref(RefKind.LINE, "ops"), Ref(RefKind.AUTHORED, "ops")
        assert not source.holds(Located(Zone.MANAGED, "ops/x.md"))
        assert not line.holds(Located(Zone.AUTHORED, "ops/x.md"))
        assert not line.covers(source)
        assert not source.covers(line)

    @pytest.mark.rule("SCOPE-O2")
    def test_source_wins_over_line_name(self) -> None:
        """A one-segment entry is looked up among the sources first."""
        assert parse_ref("ops", sources=sources("ops")) == Ref(RefKind.AUTHORED, "ops")
        assert parse_ref("ops", sources=()) == Ref(RefKind.LINE, "ops")


class TestZones:
    """Whose path a text is."""

    @pytest.mark.rule("SOURCE-O3", "TENSION-11", "SCOPE-01")
    def test_declared_source_wins(self) -> None:
        """Where a line and a source share their first segment, a path under the source means the source."""
        declared = sources("research/notes")
        scope = scope_of(Declaration(write="research"), "research/notes")
        shadowed = locate("research/notes/x.md", sources=declared)

        assert shadowed == Located(Zone.AUTHORED, "research/notes/x.md")
        assert locate("research/MEMORY.md", sources=declared) == Located(Zone.MANAGED, "research/MEMORY.md")
        assert locate("research/notes-old/x.md", sources=declared).zone is Zone.MANAGED
        assert is_shadowed("research/notes/x.md", sources=declared)
        assert not scope.may_read(shadowed)
        assert not scope.may_change(shadowed)

    @pytest.mark.rule("SCOPE-02")
    @pytest.mark.parametrize(
        "path", ["content/../hr/MEMORY.md", "memory/ops/../../../outside.txt", "/etc/x.md", "content", "x.md", ""]
    )
    def test_climbing_path_is_refused(self, path: str) -> None:
        """No zone holds a path that climbs, is absolute or is no file."""
        with pytest.raises(InvalidNameError):
            locate(path, sources=sources("content"))

    @pytest.mark.rule("TOOL-14")
    def test_read_outside_is_refused_with_what_may(self) -> None:
        """The refusal lists the readable corpora and does not depend on a file."""
        scope = scope_of(Declaration(write="ops", recall=("content",)), "content")
        refused = refuse_read(scope, locate("hr/MEMORY.md", sources=()))

        assert refused == Refusal("'hr/MEMORY.md' is outside what this agent may read: 'ops', 'content'.")
        assert refuse_read(scope, locate("content/x.md", sources=sources("content"))) is None

    @pytest.mark.rule("TOOL-07", "TOOL-O5", "SCOPE-14", "REPORT-06", "SOURCE-18")
    @pytest.mark.parametrize("path", ["hr/MEMORY.md", "content/x.md", "desk/MEMORY.md"])
    def test_change_outside_own_line_is_refused(self, path: str) -> None:
        """No mutator acts on another line, a source, or a line open for deposits; the own line is named."""
        scope = scope_of(Declaration(write="ops", read=("*", "content"), report=("desk",)), "content")
        refused = refuse_change(scope, locate(path, sources=sources("content")))

        assert refused is not None
        assert "own line 'ops'" in refused.message
        assert "nothing was written" in refused.message
        assert refuse_change(scope, locate("ops/MEMORY.md", sources=())) is None

    def test_role_without_memory_is_told_so(self) -> None:
        """Every judgement about a role without memory says that it has none."""
        scope = scope_of(None)
        own = locate("main/MEMORY.md", sources=())
        answers = [
            refuse_read(scope, own),
            refuse_change(scope, own),
            resolve_corpora(scope, ["main"], sources=()),
            resolve_target(scope, line=None, priority=None, priority_default=False),
        ]
        assert answers == [Refusal("The role 'assistant' has no memory, so nothing was read or written.")] * 4

    @pytest.mark.rule("SCOPE-06", "SCOPE-O8")
    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            (["main", "people"], ["main", "people"]),
            (["people/maria"], ["people/maria"]),
            (["people/maria/style.md", "people", "people"], ["people/maria/style.md", "people"]),
            ([], []),
        ],
        ids=["as listed", "narrower", "a file", "none"],
    )
    def test_search_narrows_within_reach(self, names: list[str], expected: list[str]) -> None:
        """A search may be narrowed to corpora of the read set and to parts of them."""
        scope = scope_of(Declaration(recall=("people",)), "people", "content")
        chosen = resolve_corpora(scope, names, sources=sources("people", "content"))
        assert not isinstance(chosen, Refusal)
        assert [ref.name for ref in chosen] == expected

    @pytest.mark.rule("SCOPE-13", "TOOL-14")
    @pytest.mark.parametrize("name", ["hr", "content", "*", "peopl", "People", "../people"])
    def test_search_cannot_widen_its_reach(self, name: str) -> None:
        """A corpus outside the read set is refused, and the readable ones are listed."""
        scope = scope_of(Declaration(recall=("people",)), "people", "content")
        refused = resolve_corpora(scope, [name], sources=sources("people", "content"))
        assert isinstance(refused, Refusal)
        assert "'main', 'people'" in refused.message

    @pytest.mark.rule("SCOPE-13")
    def test_star_covers_single_lines(self) -> None:
        """Whoever reads every line may search one of them, and no source by it."""
        scope = scope_of(Declaration(read=("*",)), "content")
        assert resolve_corpora(scope, ["hr", "*"], sources=()) == (
            Ref(RefKind.LINE, "hr"),
            Ref(RefKind.EVERY_LINE, "*"),
        )
        assert isinstance(resolve_corpora(scope, ["content"], sources=sources("content")), Refusal)


def target_of(
    scope: Scope, line: str | None = None, *, priority: bool | None = None, default: bool = False
) -> Target | Refusal:
    """Return where a write goes."""
    return resolve_target(scope, line=line, priority=priority, priority_default=default)


class TestDeposits:
    """Writes into the own line and into lines that `report` opens."""

    BRIEFING = scope_of(NOTHING, beat=Declaration(report=("ops",)), heartbeat="briefing")

    @pytest.mark.rule("REPORT-01", "REPORT-02", "REPORT-03", "REPORT-04", "REPORT-07", "REPORT-O4", "TOOL-08")
    def test_deposit_is_signed_by_role_and_beat(self) -> None:
        """In the beat `briefing` a write into `ops` is a deposit, signed with role and beat."""
        scope = self.BRIEFING
        assert scope.writable_lines == ("main", "ops")
        assert target_of(scope, "ops") == Target(LineName("ops"), is_deposit=True, priority=False)
        signed = render_text("sync failed", signature=signature(scope.role, scope.heartbeat))
        assert signed == "sync failed — assistant · briefing"

    @pytest.mark.rule("REPORT-08", "REPORT-14")
    def test_deposit_outside_a_beat_is_signed_by_role(self) -> None:
        """A `report` of role or manifest holds in a chat too, and the signature is the role alone."""
        for scope in (
            scope_of(Declaration(report=("ops",))),
            scope_of(NOTHING, manifest=Declaration(report=("ops",))),
        ):
            assert target_of(scope, "ops") == Target(LineName("ops"), is_deposit=True, priority=False)
            signed = render_text("sync failed", signature=signature(scope.role, scope.heartbeat))
            assert signed == "sync failed — assistant"

    def test_signature_stays_on_its_line(self) -> None:
        """An id that came from an odd file name can't break the entry that it signs."""
        assert signature("a\n- b", "c  d") == "a - b · c d"

    @pytest.mark.rule("REPORT-05")
    @pytest.mark.parametrize("default", [False, True])
    def test_priority_deposit_is_refused(self, default: bool) -> None:
        """A foreign line with `priority: true` is refused up front, whatever the default."""
        refused = target_of(self.BRIEFING, "ops", priority=True, default=default)
        assert isinstance(refused, Refusal)
        assert "'ops'" in refused.message
        assert "nothing was written" in refused.message

    @pytest.mark.rule("REPORT-O3", "TENSION-08")
    @pytest.mark.parametrize("priority", [None, False])
    def test_priority_default_spares_deposits(self, priority: bool | None) -> None:
        """With `priorityDefault` on, a deposit that omits priority or says false is a plain deposit."""
        expected = Target(LineName("ops"), is_deposit=True, priority=False)
        assert target_of(self.BRIEFING, "ops", priority=priority, default=True) == expected

    @pytest.mark.rule("TOOL-08", "TOOL-09")
    @pytest.mark.parametrize("line", ["team", "OPS", "ops ", "../ops", "", "con", "*"])
    @pytest.mark.parametrize("priority", [None, True])
    def test_other_line_is_refused_with_the_allowed_ones(self, line: str, priority: bool | None) -> None:
        """Any other line is refused, and the message spells out the allowed lines."""
        refused = target_of(self.BRIEFING, line, priority=priority)
        assert isinstance(refused, Refusal)
        assert refused.message.endswith("nothing was written. Allowed lines: 'main', 'ops'.")

    @pytest.mark.rule("WRITE-16", "WRITE-17")
    @pytest.mark.parametrize(
        ("priority", "default", "expected"),
        [(None, False, False), (None, True, True), (False, True, False), (True, False, True), (True, True, True)],
    )
    def test_own_line_takes_the_default(self, priority: bool | None, default: bool, expected: bool) -> None:
        """In the own line an omitted priority is the default, and an explicit one is kept."""
        answer = target_of(self.BRIEFING, priority=priority, default=default)
        assert answer == Target(LineName("main"), is_deposit=False, priority=expected)

    @pytest.mark.rule("REPORT-O2")
    def test_own_line_by_name_is_an_ordinary_write(self) -> None:
        """Naming the own line, in `line` or in `report`, makes no deposit."""
        scope = scope_of(Declaration(write="ops", report=("ops", "desk", "desk")))
        assert scope.writable_lines == ("ops", "desk")
        assert target_of(scope, "ops", priority=True) == Target(LineName("ops"), is_deposit=False, priority=True)

    @pytest.mark.rule("REPORT-09")
    def test_report_opens_no_reading(self) -> None:
        """The depositor can neither read nor recall the destination."""
        destination = locate("ops/MEMORY.md", sources=())
        assert not self.BRIEFING.may_read(destination)
        assert not self.BRIEFING.may_recall(destination)


class TestBorrowing:
    """Turns that work on another agent's behalf."""

    @pytest.mark.rule("RESOLVE-02", "RESOLVE-10", "RESOLVE-11", "RESOLVE-12", "RESOLVE-O2", "REPORT-10", "TENSION-19")
    def test_borrowed_line_is_written_and_read(self) -> None:
        """A borrowing turn writes and reads the handed line, keeps its own lists, and may deposit nowhere."""
        block = Declaration(write="desk", report=("ops",), read=("content",), recall=("journal",))
        scope = scope_of(block, "content", handed="research", manifest=Declaration(report=("team",)))

        assert scope.writable_lines == ("research",)
        assert [ref.name for ref in scope.readable] == ["research", "content", "journal"]
        assert [ref.name for ref in scope.recalled] == ["research", "journal"]
        assert not may_read(scope, "desk/MEMORY.md", "content")
        assert isinstance(target_of(scope, "ops"), Refusal)

    @pytest.mark.rule("RESOLVE-O1", "RESOLVE-13")
    def test_line_runs_down_the_chain(self) -> None:
        """A sub-agent of a sub-agent borrows what its spawner works in."""
        first = scope_of(Declaration(write="research"))
        second = scope_of(Declaration(write="desk"), handed=first.line)
        third = scope_of(NOTHING, handed=second.line)
        assert third.line == "research"

    @pytest.mark.rule("DECLARE-15")
    def test_handed_line_turns_nothing_on(self) -> None:
        """A sub-agent whose role declares no memory gets none from its spawner."""
        scope = scope_of(None, handed="research")
        assert not scope.has_memory
        assert scope.readable == ()
