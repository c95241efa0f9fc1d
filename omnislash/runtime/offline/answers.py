"""Questions, answered by the offline model from memory: the notes that share the most of the question, word for word.

A note answers when it has at least half of the question's content words by their weight (`measuring`), and two of them or
all; of a note that recall or the search found, half is enough. Notes with more of them come first; of equal ones
corrections, then those that have an amount where one is asked for, or a time, then those that name no day and so hold
always, then the newer, then those that the search thinks more of. At most three are quoted, each once, with its path.

What stands in MEMORY.md is always considered. When a note that was recalled for this very message has all of the words,
that is enough. Else `memory_search` is asked where it is granted, a second time below its floor when only notes below it
are near, and what it finds is held against what the turn shows. When still nothing answers, the file of the best hit is
read. Then the closest hits are quoted as what they are, or it is said that there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omnislash.runtime.offline.context import read_context, read_hit, read_notes
from omnislash.runtime.offline.measuring import Question
from omnislash.runtime.offline.requests import OfflineCall
from omnislash.runtime.offline.words import find_subjects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from omnislash.runtime.offline.context import Context, Note
    from omnislash.runtime.offline.measuring import Found
    from omnislash.runtime.offline.requests import OfflineRequest, Script
    from omnislash.runtime.offline.sentences import Frame
    from omnislash.runtime.offline.words import Subject

#: Notes that are quoted as the closest ones.
_CLOSEST: Final = 2
#: Score of the second search: half of the floor of the first one, by default. What it finds is still judged by its words.
_LOWEST: Final = 0.15


def answer_question(request: OfflineRequest, frame: Frame) -> Script:
    """Answer a question; see above."""
    context = read_context(request.context)
    words = find_subjects(request.message, is_asked=True)
    if not words:
        return frame.say("aimless")
    asked = Question(request.message, words, context.notes)
    found = asked.choose(context.recall, shown=context.notes)
    if asked.is_held_whole(context.recall) or (found and "memory_search" not in request.tools):
        return _quote(found, f"{frame.say('sample')} {context.doubt}" if context.doubt else "")
    if "memory_search" not in request.tools:
        return _admit(frame.say("shown_only"), frame, context.doubt)
    return (yield from _search(request, context, words, frame))


def _search(request: OfflineRequest, context: Context, words: Sequence[Subject], frame: Frame) -> Script:
    """Look further, and answer from that and from what the turn shows."""
    answer = yield OfflineCall("memory_search", {"query": request.message})
    if "error" in answer:
        return frame.report("memory_search", answer)
    is_near = bool(answer.get("hits"))
    if not is_near and answer.get("belowFloor", {}).get("count"):
        answer = yield OfflineCall("memory_search", {"query": request.message, "minScore": _LOWEST})
    hits = _read_hits(answer)
    doubt = _find_doubt(answer, frame)
    asked = Question(request.message, words, [*context.notes, *hits])
    found = asked.choose([*hits, *context.recall], shown=context.notes)
    if not found and is_near and "memory_read" in request.tools:
        more = yield OfflineCall("memory_read", {"path": hits[0].path})
        found = asked.choose((), shown=read_notes(str(more.get("content", "")), hits[0].path))
    if found:
        return _quote(found, doubt)
    closest = asked.find_closest(hits, _CLOSEST)
    if closest:
        return f"{frame.say('closest')}\n{_quote(closest, doubt)}"
    return "\n".join(filter(None, [frame.say("nothing"), doubt]))


def _admit(text: str, frame: Frame, doubt: str) -> str:
    return f"{text}\n{frame.say('doubt')} {doubt}" if doubt else text


def _find_doubt(answer: Mapping[str, Any], frame: Frame) -> str:
    """Return what a search that could not look everywhere says about itself; '' for a healthy one."""
    coverage = answer.get("coverage", "full")
    if coverage == "full":
        return ""
    reasons = "; ".join(str(reason) for reason in answer.get("reasons", ()))
    return f"{frame.say('sample' if coverage == 'incomplete' else 'doubt')} {reasons}".rstrip()


def _read_hits(answer: Mapping[str, Any]) -> tuple[Note, ...]:
    return tuple(
        note
        for hit in answer.get("hits", ())
        for note in read_hit(str(hit["snippet"]), str(hit["path"]), hit.get("date"), score=float(hit.get("score", 0.0)))
    )


def _quote(found: Sequence[Found], doubt: str) -> str:
    lines = [f"- {one.text} [{one.path}]" for one in found]
    return "\n".join([*lines, doubt] if doubt else lines)
