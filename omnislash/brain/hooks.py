"""`*.hook.md`: an event, the agent that it runs, and a prompt.

Rules: RESOLVE-03, KNOB-23, KNOB-25, REPORT-02.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnislash.brain.beats import Beat, BeatFile, find_doubled, shared_fields
from omnislash.brain.decoding import Decoded, decode, required
from omnislash.brain.fields import ListOf, Named
from omnislash.brain.frontmatter import parse_document
from omnislash.brain.names import parse_event
from omnislash.brain.tree import key_lines

#: End of the name of a hook file.
HOOK_SUFFIX = ".hook.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFile(BeatFile):
    """The frontmatter of a hook."""

    #: Events that it runs on.
    on: tuple[str, ...] = required(
        ListOf(Named("the name of an event, area:event", parse_event), single=True, filled=True, distinct=True),
        text="Write what it runs on, for example `on: memory:written`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook(Beat):
    """A hook that may run."""

    #: Events that it runs on, each once.
    events: tuple[str, ...]


def parse_hook(text: str, *, beat_id: str, path: str) -> Decoded[Hook]:
    """Return a hook, or every fault in its frontmatter.

    Args:
        text: Text of the file.
        beat_id: Its id, which the file name gives.
        path: Name of the file in faults, relative to the brain.
    """
    document = parse_document(text, path=path)
    header = decode(HookFile, document.tree, path=path)
    if header.value is None or header.root is None:
        return Decoded(None, header.faults, header.root)
    lines = key_lines(header.root)
    doubled = find_doubled(header.value, lines, path=path)
    if doubled:
        return Decoded(None, doubled, header.root)
    fields: dict[str, Any] = shared_fields(header.value)
    hook = Hook(id=beat_id, path=path, events=header.value.on, body=document.body, key_lines=lines, **fields)
    return Decoded(hook, (), header.root)
