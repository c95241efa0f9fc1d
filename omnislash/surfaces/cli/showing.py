"""How the answers of the tools look to a person."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from omnislash.surfaces.cli.output import is_terminal, print_line, print_table, show_controls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: So many periods of one level are named one by one.
_NAMED = 6


def show_overview(answer: Mapping[str, Any]) -> None:
    """Print what a role's memory consists of."""
    days = answer["days"]
    span = f"{days['count']}, {days['first']} to {days['last']}" if days["count"] else "none yet"
    _show_fields(
        ("line", answer["line"]),
        ("file", f"{answer['path']}: {answer['reading'] or 'not there yet'}"),
        ("days", span),
        *((level, _span(found)) for level, found in answer["periods"].items()),
        ("may read", _join(answer["read"])),
        ("recalls", _join(answer["recall"])),
        ("deposits in", _join(answer["report"])),
    )


def _show_fields(*fields: tuple[str, str]) -> None:
    width = max(len(name) for name, _ in fields)
    for name, value in fields:
        print_line(f"{name.ljust(width)}  {value}")


def _span(names: Sequence[str]) -> str:
    """Return a few periods by name, and many as their number with the first and the last."""
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)}, {names[0]} to {names[-1]}"


def _join(names: Sequence[str]) -> str:
    return ", ".join("every line" if name == "*" else name for name in names) or "nothing"


def show_listing(answer: Mapping[str, Any]) -> None:
    """Print the files of a listing."""
    entries = answer["entries"]
    rows = [(each["path"], each["kind"], each["chars"], _minute(each["modifiedAt"])) for each in entries]
    print_table(("path", "kind", "chars", "changed (UTC)"), rows)
    if not rows:
        print_line("No files.", err=True)
    if "nextCursor" in answer:
        print_line(f"There are more: go on with --cursor {answer['nextCursor']}", err=True)


def show_content(answer: Mapping[str, Any], *, quiet: bool) -> None:
    """Print the text of a file: as it is in a pipe, with control characters made visible on a terminal."""
    text = answer["content"]
    if is_terminal():
        text = show_controls(text)
        text += "" if text.endswith("\n") or not text else "\n"
    sys.stdout.write(text)
    sys.stdout.flush()
    if "nextOffset" in answer:
        print_line(
            f"Cut here: the file has {answer['chars']} chars; go on with --offset {answer['nextOffset']}", err=True
        )
    elif answer["budget"] and is_terminal() and not quiet:
        print_line(_render_budget(answer["budget"]), err=True, dim=True)


def _render_budget(budget: Mapping[str, Any]) -> str:
    if budget["fileMaxChars"] is None:
        return f"{budget['chars']} chars (no fileMaxChars)"
    return f"{budget['chars']} of {budget['fileMaxChars']} fileMaxChars ({budget['percent']}%)"


def show_audit(answer: Mapping[str, Any], *, narrowed: bool = False) -> None:
    """Print rows of the action log.

    Args:
        answer: What the log gave.
        narrowed: True when only some of the rows were asked for.
    """
    columns = ("when (UTC)", "who", "tool", "outcome", "chars", "files")
    print_table(columns, [_audit_cells(row) for row in answer["rows"]])
    if not answer["rows"]:
        print_line("No rows match." if narrowed else "Nobody has tried to change memory yet.", err=True)
    if "nextCursor" in answer:
        print_line(f"There are older rows: go on with --cursor {answer['nextCursor']}", err=True)


def _audit_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    beat = f" · {row['heartbeat']}" if row.get("heartbeat") else ""
    who = f"{row['role'] or row['actor']}{beat}" + (" (approved by a person)" if row["actor"] == "person" else "")
    return _minute(row["at"]), who, row["tool"], row["outcome"], str(row["chars"]), ", ".join(row["paths"])


def show_approvals(answer: Mapping[str, Any], *, every: bool = False) -> None:
    """Print the deletions that wait for a person.

    Args:
        answer: The list.
        every: True when those that were decided are in it, too; then each has its state.
    """
    state = ("state",) if every else ()
    rows = [
        (each["id"], *(each[name] for name in state), _minute(each["at"]), _asker(each), _target(each))
        for each in answer["approvals"]
    ]
    print_table(("id", *state, "asked (UTC)", "by", "to delete"), rows)
    if not rows:
        print_line("Nobody was asked yet." if every else "Nothing waits for a person.", err=True)


def _minute(instant: str) -> str:
    """Return an ISO instant as `YYYY-MM-DD HH:MM` in UTC."""
    return datetime.fromisoformat(instant).astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _asker(approval: Mapping[str, Any]) -> str:
    return f"{approval['role']}" + (f" · {approval['heartbeat']}" if approval["heartbeat"] else "")


def _target(approval: Mapping[str, Any]) -> str:
    arguments = approval["arguments"]
    for part in ("entry", "section"):
        if part in arguments:
            return f"{arguments['path']}: the {part} {arguments[part]!r}"
    return str(arguments["path"])


# -- the search index ------------------------------------------------------------------------------------------------

#: Files that are named of each kind of difference; `--json` has them all.
_NAMED = 5


def show_index(answer: Mapping[str, Any]) -> None:
    """Print what the search index holds, and how far it is behind the files."""
    embedders = [f"{each['name']}: {each['vectors']} vectors" for each in answer["embedders"]]
    _show_fields(
        ("files", str(answer["files"])),
        ("notes", str(answer["notes"])),
        ("embedders", "; ".join(embedders) or "none: notes are found by their words alone"),
        ("languages", ", ".join(answer["languages"])),
        ("coverage", answer["coverage"]),
        ("size", _render_bytes(answer["bytes"])),
    )
    _show_drift(answer["drift"])
    for each in answer["problems"]:
        line = f":{each['line']}" if each["line"] else ""
        print_line(f"{each['path']}{line}: {each['message']}")
    for each in answer["advice"]:
        print_line(each)


def _show_drift(drift: Mapping[str, Any]) -> None:
    """Print the files that differ from the index; nothing when none does."""
    for name, title in (("added", "not indexed"), ("changed", "changed"), ("removed", "removed")):
        if places := drift[name]:
            more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
            print_line(f"{title}: {', '.join(places[:_NAMED])}{more}")
    if drift["pending"]:
        print_line(f"without a vector: {_count(drift['pending'], 'note')}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _render_bytes(size: int) -> str:
    """Return a size as a person says it, in steps of 1000."""
    value, units = float(size), ["bytes", "kB", "MB", "GB"]
    while value >= 1000 and len(units) > 1:  # noqa: PLR2004 - the step
        value /= 1000
        del units[0]
    return f"{value:.0f} bytes" if units[0] == "bytes" else f"{value:.1f} {units[0]}"


def show_index_work(answer: Mapping[str, Any], *, done: str) -> None:
    """Print what came of making or catching up the index.

    Args:
        answer: The state of the index, with what could not be taken up.
        done: What is the case now, without a full stop.
    """
    print_line(f"{done[:1].upper()}{done[1:]}: {_count(answer['files'], 'file')}, {_count(answer['notes'], 'note')}.")
    for failure in answer["failures"]:
        print_line(f"  {failure}")
    _show_drift(answer["drift"])


def show_calibrations(found: Sequence[Mapping[str, Any]]) -> None:
    """Print where each model lies on the scale of scores."""
    for each in found:
        how = "measured now" if each["new"] else "known already"
        line = f"meaning = {each['slope']:.3f} × cosine {each['offset']:+.3f}"  # noqa: RUF001 - as people write it
        print_line(f"{each['name']} ({how}): {line}")
        print_line(f"  {each['source']}")
    if not found:
        print_line("There is no embedder to measure: memory.embeddingModel is none.", err=True)
