"""`memory_search` and the recall of a turn: the same search, with the corpora, the floor and the limit of each.

Rules: TOOL-12, TOOL-13, SCOPE-07 to SCOPE-11, RECALL-02, RECALL-03, RECALL-05 to RECALL-09, RECALL-14, RECALL-O9,
KNOB-09 to KNOB-12, KNOB-O1, KNOB-O8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from omnislash.core.credentials import mask_secrets
from omnislash.core.scopes import Refusal, resolve_corpora
from omnislash.errors import IndexUnavailableError, ScopeError, UsageError
from omnislash.recall.coverage import judge
from omnislash.recall.evidence import weigh_hits
from omnislash.recall.explain import Explanation, Reason, explain
from omnislash.recall.formatting import fit, render_block
from omnislash.recall.hits import BelowFloor, Coverage, Hit, Request, SearchResult, Shown
from omnislash.recall.legs import keep_ends
from omnislash.recall.search import choose, explain_unread_hits, score_notes
from omnislash.runtime.tools.reading import own_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.core.corpora import Ref
    from omnislash.index.live import View
    from omnislash.recall.evidence import Evidence
    from omnislash.recall.search import Scored
    from omnislash.runtime.tools.arguments import SearchArguments
    from omnislash.runtime.turns import Ports, Turn

#: Longest message whose words are searched for, in characters; of a longer one both ends count.
MESSAGE_MAX = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What a turn is shown of memory unasked."""

    #: The exact text that the turn carries; empty when there is nothing to say.
    block: str
    hits: tuple[Hit, ...]
    coverage: Coverage
    reasons: tuple[str, ...] = ()
    #: None when nobody asked for them.
    explanations: tuple[Explanation, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{block, hits, coverage, reasons, silent}`, and `explain` where it was asked for."""
        asked = {} if self.explanations is None else {"explain": [each.to_json() for each in self.explanations]}
        return {
            "block": self.block,
            "hits": [hit.to_json() for hit in self.hits],
            "coverage": self.coverage.value,
            "reasons": list(map(mask_secrets, self.reasons)),
            "silent": not self.block,
            **asked,
        }


@dataclass(frozen=True, slots=True)
class Explained:
    """A search with how each hit came about, or why a note was not shown."""

    result: SearchResult
    explanations: tuple[Explanation, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the answer of `memory_search` with `explain`."""
        return {**self.result.to_json(), "explain": [each.to_json() for each in self.explanations]}


# -- memory_search ---------------------------------------------------------------------------------------------------


def search(turn: Turn, ports: Ports, arguments: SearchArguments) -> SearchResult:
    """Return the best notes of the read set, or of the corpora that were named.

    Raises:
        ScopeError: A corpus lies outside the read set, or the role has no memory.
        UsageError: A day does not exist.
    """
    return find(turn, ports, arguments).result


def explain_search(turn: Turn, ports: Ports, arguments: SearchArguments, *, target: str | None) -> Explained:
    """Return the same with the reasons; for a target the notes that it means, shown or not.

    Raises:
        ScopeError, UsageError: As `search`.
    """
    found = find(turn, ports, arguments)
    return Explained(found.result, found.explain(target))


def find(turn: Turn, ports: Ports, arguments: SearchArguments) -> Found:
    """Return a search that was made, with all that it looked at.

    Raises:
        ScopeError, UsageError: As `search`.
    """
    return _search(ports, _request(turn, ports, arguments))


@dataclass(frozen=True, slots=True)
class Found:
    """A search that was made, with all that it looked at; nothing of it when the index can't be used at all."""

    result: SearchResult
    view: View | None = None
    scored: Scored | None = None

    def explain(
        self,
        target: str | None,
        *,
        withheld: Mapping[int, Reason] | None = None,
        weighed: Mapping[int, Evidence] | None = None,
    ) -> tuple[Explanation, ...]:
        """Return how its hits came about, or what it made of a target."""
        if self.view is None or self.scored is None:
            return ()
        evidence = {note: each.describe() for note, each in (weighed or {}).items()}
        return explain(self.view, self.scored, self.result.hits, target=target, withheld=withheld, evidence=evidence)

    def without(self, withheld: Mapping[int, Reason]) -> SearchResult:
        """Return the result without some hits; what was missing for a hit that is not shown is no hole."""
        if self.scored is None:
            return self.result
        hits = tuple(hit for hit in self.result.hits if hit.note not in withheld)
        before, after = (explain_unread_hits(self.scored, each) for each in (self.result.hits, hits))
        reasons = tuple(each for each in self.result.reasons if each in after or each not in before)
        coverage = judge(hits=len(hits), reasons=reasons)
        return replace(self.result, hits=hits, coverage=coverage, reasons=reasons)

    def weigh(self) -> dict[int, Evidence]:
        """Return the evidence for each hit, by the number of its note."""
        return {} if self.scored is None else weigh_hits(self.scored, [hit.note for hit in self.result.hits])


def _search(ports: Ports, request: Request, *, looks_below: bool = True) -> Found:
    """Search after catching up for as long as a search may take; a search that fails says so and raises nothing."""
    try:
        index = ports.index()
        view = index.view(index.refresh(limit_s=ports.catch_up_s, progress=ports.on_progress, is_over=ports.is_over))
        scored = score_notes(view, request)
        return Found(choose(view, scored, looks_below=looks_below), view, scored)
    except IndexUnavailableError as error:
        reason = f"the search itself failed: {error.message.rstrip('.')}"
        return Found(SearchResult((), BelowFloor(), Coverage.NOT_CHECKED, (reason,)))


def _request(turn: Turn, ports: Ports, arguments: SearchArguments) -> Request:
    own_line(turn)
    since, until = _day(arguments.since, "since"), _day(arguments.until, "until")
    if since is not None and until is not None and since > until:
        message = f"memory_search: since {since} is after until {until}, so no day lies between them."
        raise UsageError(message, key="memory_search")
    floor = turn.scope.settings.search_score if arguments.min_score is None else arguments.min_score
    return Request(
        query=keep_ends(arguments.query, MESSAGE_MAX),
        refs=_refs(turn, ports, arguments.corpora),
        floor=floor,
        limit=arguments.limit,
        today=_today(ports),
        since=since,
        until=until,
    )


def _refs(turn: Turn, ports: Ports, names: list[str] | None) -> tuple[Ref, ...]:
    if not names:  # an agent that narrows nothing often hands in an empty list
        return turn.scope.readable
    chosen = resolve_corpora(turn.scope, names, sources=ports.config().sources)
    if isinstance(chosen, Refusal):
        raise ScopeError(chosen.message)
    return chosen


def _day(text: str | None, name: str) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        message = f"memory_search: {name}: there is no day {text}."
        raise UsageError(message, key="memory_search") from error


def _today(ports: Ports) -> date:
    zone = ZoneInfo(ports.config().manifest.locale.timezone)
    return ports.clock.now().astimezone(zone).date()


# -- recall ----------------------------------------------------------------------------------------------------------


def recall(
    turn: Turn,
    ports: Ports,
    message: str,
    *,
    shown: Shown | None = None,
    explained: bool = False,
    target: str | None = None,
) -> Recall:
    """Return what a turn with this message is shown of memory.

    Args:
        turn: Who acts; its own line and its `recall` list are searched, and nothing else.
        ports: The brain.
        message: What came in.
        shown: What the turn's blocks show already; None = nothing.
        explained: True adds why each hit, or each note that `target` means, was shown or not.
        target: A path, or a text of a note; None = the hits.

    Raises:
        ScopeError: The role has no memory.
    """
    own_line(turn)
    settings = turn.scope.settings
    if not settings.recall_results or not settings.recall_chars or not message.strip():
        return Recall(block="", hits=(), coverage=Coverage.FULL)
    request = Request(
        query=keep_ends(message, MESSAGE_MAX),
        refs=turn.scope.recalled,
        floor=settings.recall_score,
        limit=settings.recall_results,
        today=_today(ports),
        shown=shown or Shown(),
    )
    found = _search(ports, request, looks_below=False)
    weighed = found.weigh() if settings.recall_gate == "evidence" else {}
    withheld = {note: Reason.NO_EVIDENCE for note, each in weighed.items() if not each.is_enough}
    result = found.without(withheld)
    lines = fit(result, ceiling=settings.recall_chars)
    withheld |= {hit.note: Reason.NO_ROOM for hit, line in zip(result.hits, lines, strict=True) if line is None}
    return Recall(
        block=render_block(result, ceiling=settings.recall_chars),
        hits=result.hits,
        coverage=result.coverage,
        reasons=result.reasons,
        explanations=found.explain(target, withheld=withheld, weighed=weighed) if explained else None,
    )
