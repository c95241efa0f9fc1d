"""`*.heartbeat.md`: a schedule, the agent that it runs, and a prompt.

Rules: RESOLVE-03, KNOB-23, KNOB-25, REPORT-02, REPORT-O4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnislash.brain.beats import Beat, BeatFile, find_doubled, shared_fields
from omnislash.brain.decoding import Decoded, decode, required
from omnislash.brain.fields import Named
from omnislash.brain.frontmatter import parse_document
from omnislash.brain.schedules import parse_schedule
from omnislash.brain.tree import key_lines

#: End of the name of a heartbeat file.
HEARTBEAT_SUFFIX = ".heartbeat.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatFile(BeatFile):
    """The frontmatter of a heartbeat."""

    #: Cron expression, read in `locale.timezone`.
    schedule: str = required(
        Named("a cron expression of five fields", parse_schedule),
        text="Write when it runs, for example `schedule: '0 7 * * *'`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Beat):
    """A heartbeat that may run."""

    #: Cron expression, read in `locale.timezone`.
    schedule: str


def parse_heartbeat(text: str, *, beat_id: str, path: str) -> Decoded[Heartbeat]:
    """Return a heartbeat, or every fault in its frontmatter.

    Args:
        text: Text of the file.
        beat_id: Its id, which the file name gives.
        path: Name of the file in faults, relative to the brain.
    """
    document = parse_document(text, path=path)
    header = decode(HeartbeatFile, document.tree, path=path)
    if header.value is None or header.root is None:
        return Decoded(None, header.faults, header.root)
    lines = key_lines(header.root)
    doubled = find_doubled(header.value, lines, path=path)
    if doubled:
        return Decoded(None, doubled, header.root)
    fields: dict[str, Any] = shared_fields(header.value)
    beat = Heartbeat(
        id=beat_id, path=path, schedule=header.value.schedule, body=document.body, key_lines=lines, **fields
    )
    return Decoded(beat, (), header.root)
