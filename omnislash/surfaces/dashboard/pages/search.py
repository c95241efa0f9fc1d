"""`/search`: everything as a person, or exactly what one role would be given; and why each note shows or does not.

`GET /search?q=&mode=&role=&corpora=&since=&until=&minScore=&limit=&target=`; `corpora` may stand several times. `mode` is
`search`, or `recall` for what a turn of the role with this message would be shown unasked. The answer:

    form       what was asked, as it was written; corpora is a list
    errors     what is wrong with it, a sentence by field
    roles      [{id, name, memory}]
    corpora    [{name, kind}] that may be chosen; kind is line or source
    searched   the lines and corpora that were searched; null before a search
    problem    why the role is given nothing at all, as a sentence; null when it is
    result     null, or the answer of memory_search; each hit with href, pieces [{text, match}], cut and explain
    recall     null, or the answer of `omnislash recall` with chars, ceiling and explained hits
    target     null, or what became of the notes that the target means
    lowerFloor the link that lowers the floor far enough to show the best note under it; null when there is none

Rules: DASH-04, RECALL-01 to RECALL-12, RECALL-O8, TOOL-12, TOOL-13, KNOB-12.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from starlette.routing import Route

from omnislash.core.budgets import count_chars
from omnislash.core.corpora import RefKind
from omnislash.errors import ScopeError, UsageError
from omnislash.recall.wording import describe_score
from omnislash.surfaces.dashboard.answering import Shown, show
from omnislash.surfaces.dashboard.desk import desk_of
from omnislash.surfaces.dashboard.pages.search_form import Question, read_question
from omnislash.surfaces.dashboard.places import link_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.engine import Brain
    from omnislash.runtime.agents import Agent

#: Decimals of the floor that a link lowers to; the floor itself is compared with nine.
_DECIMALS: Final = 4
#: A search that is refused keeps the status of its reason.
_STATUSES: Final = {ScopeError: 403, UsageError: 400}


def show_search(request: Request) -> Response:
    """Show the form, and what a search for it finds."""
    brain = desk_of(request).brain
    question = read_question(request.query_params, brain.config)
    content: dict[str, Any] = {**_describe(brain, question), "result": None, "recall": None, "target": None}
    content |= {"problem": None, "searched": None, "lowerFloor": None}
    status = 400 if question.errors else 200
    if question.is_asked and not question.errors:
        try:
            content |= _answer(brain, question)
        except (ScopeError, UsageError) as error:
            content["problem"] = error.message
            status = _STATUSES[type(error)]
    return show(request, Shown("search.html", content, status=status))


def _describe(brain: Brain, question: Question) -> dict[str, Any]:
    config = brain.config
    settings = config.manifest.memory
    return {
        "form": question.typed,
        "errors": question.errors,
        "roles": [
            {"id": role.id, "name": role.display_name, "memory": role.declaration is not None}
            for _, role in sorted(config.roles.items())
        ],
        "corpora": [
            *({"name": line, "kind": "line"} for line in sorted(config.lines_on_disk)),
            *({"name": source, "kind": "source"} for source in config.sources),
        ],
        "floor": settings.search_score,
    }


def _answer(brain: Brain, question: Question) -> dict[str, Any]:
    agent = brain.agent(question.role) if question.role else brain.oversight.person()
    return _recall(brain, agent, question) if question.is_recall else _search(brain, agent, question)


# -- search ----------------------------------------------------------------------------------------------------------


def _search(brain: Brain, agent: Agent, question: Question) -> dict[str, Any]:
    found = agent.memory.look_up(question.query, target=question.target, **question.narrowing).to_json()
    target = found.pop("target", None)
    for hit in found["hits"]:
        hit["href"] = link_file(hit["path"], brain.config.sources, at=hit["span"][0], text=hit["snippet"])
        hit["explain"]["how"] = describe_score(hit["explain"])
    for literal in found["belowFloor"].get("literals", ()):
        literal["href"] = link_file(literal["path"], brain.config.sources, at=literal["span"][0])
    return {
        "result": found,
        "target": target and [_explain(brain, each, is_narrowed=bool(question.corpora)) for each in target],
        "searched": list(question.corpora) or _name_reach(agent),
        "lowerFloor": _lower_floor(question, found["belowFloor"]),
    }


def _name_reach(agent: Agent) -> list[str]:
    """Return what the agent may read; a line is not named beside `*`, which holds it."""
    reach = agent.scope.readable
    has_all = any(ref.kind is RefKind.EVERY_LINE for ref in reach)
    return [ref.name for ref in reach if not (has_all and ref.kind is RefKind.LINE)]


def _lower_floor(question: Question, below: Mapping[str, Any]) -> str | None:
    if not below["count"]:
        return None
    floor = math.floor(below["bestScore"] * 10**_DECIMALS) / 10**_DECIMALS
    return question.link(minScore=f"{floor:g}")


# -- recall ----------------------------------------------------------------------------------------------------------


def _recall(brain: Brain, agent: Agent, question: Question) -> dict[str, Any]:
    recalled = agent.recall(question.query, explained=True)
    answer = recalled.to_json()
    explained = answer.pop("explain", [])
    target = None
    if question.target is not None:
        again = agent.recall(question.query, explained=True, target=question.target)
        target = [each.to_json() for each in again.explanations or ()]
    settings = agent.scope.settings
    answer |= {"chars": count_chars(recalled.block), "ceiling": settings.recall_chars}
    answer |= {"results": settings.recall_results, "floor": settings.recall_score}
    answer["explain"] = [_explain(brain, each) for each in explained]
    return {
        "recall": answer,
        "target": target and [_explain(brain, each) for each in target],
        "searched": [ref.name for ref in agent.scope.recalled],
    }


# -- why -------------------------------------------------------------------------------------------------------------


def _explain(brain: Brain, each: dict[str, Any], *, is_narrowed: bool = False) -> dict[str, Any]:
    """Return an explanation with a link to the note, and with what its score is made of."""
    if is_narrowed and each["reason"] == "out-of-scope":
        each["message"] = "It lies in none of the lines and sources that were searched."
    at = each["span"][0] if each["span"] else None
    return {
        **each,
        "href": link_file(each["path"], brain.config.sources, at=at, text=each["text"]),
        "how": describe_score(each),
    }


ROUTES: Final = (Route("/search", show_search),)
