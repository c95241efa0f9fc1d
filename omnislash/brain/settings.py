"""The one table of settings: every key of every file, for help pages, the dashboard and the docs test."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from omnislash.brain.access import ACCESS_FILE, Access
from omnislash.brain.capabilities import CAPABILITIES_FILE, CapabilityOverride
from omnislash.brain.config import PROJECT_FILE, LanguageList, ProjectConfig
from omnislash.brain.decoding import Block, settings_of
from omnislash.brain.fields import Choice, Flag, Fraction, Free, Ignored, ListOf, Table, Whole
from omnislash.brain.heartbeats import HEARTBEAT_SUFFIX, HeartbeatFile
from omnislash.brain.hooks import HOOK_SUFFIX, HookFile
from omnislash.brain.manifest import MANIFEST_FILE, Manifest
from omnislash.brain.roles import ROLE_SUFFIX, RoleFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omnislash.brain.decoding import Setting

#: Files with their models, in the order of the table.
_FILES: tuple[tuple[str, str, type[Any]], ...] = (
    (PROJECT_FILE, "", ProjectConfig),
    (MANIFEST_FILE, "", Manifest),
    (f"*{ROLE_SUFFIX}", "", RoleFile),
    (f"*{HEARTBEAT_SUFFIX}", "", HeartbeatFile),
    (f"*{HOOK_SUFFIX}", "", HookFile),
    (ACCESS_FILE, "", Access),
    (CAPABILITIES_FILE, "<capability>.", CapabilityOverride),
)


class SettingKind(StrEnum):
    """What a value looks like, for a form."""

    NUMBER = "number"
    SWITCH = "switch"
    #: One of a few words.
    CHOICE = "choice"
    TEXT = "text"
    #: Values of one kind, in an order.
    LIST = "list"
    #: Keys that have rows of their own.
    BLOCK = "block"
    #: A block whose keys are names that people choose.
    TABLE = "table"
    #: Kept as it is.
    FREE = "free"


#: What each reader takes; every other one takes text.
_KINDS: Mapping[type[Any], SettingKind] = {
    **dict.fromkeys((Whole, Fraction), SettingKind.NUMBER),
    Flag: SettingKind.SWITCH,
    Choice: SettingKind.CHOICE,
    **dict.fromkeys((ListOf, LanguageList), SettingKind.LIST),
    Block: SettingKind.BLOCK,
    Table: SettingKind.TABLE,
    Free: SettingKind.FREE,
}


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One key as help shows it."""

    #: Path or pattern of the file that it stands in.
    file: str
    #: Dotted key; names that people choose stand in angle brackets, list items as `[]`.
    key: str
    #: What is expected, as a phrase.
    expects: str
    #: Unit of a number.
    unit: str | None
    #: Default as a person would write it.
    default: str | None
    #: Least number.
    minimum: float | None
    #: Greatest number.
    maximum: float | None
    #: One sentence.
    help: str
    #: Whether the key must be there.
    is_required: bool
    #: What the value looks like.
    kind: SettingKind
    #: The words that may stand there, for a choice and for a list of choices; empty when there are too many to name.
    options: tuple[str, ...]


def settings_table() -> tuple[SettingRow, ...]:
    """Return every setting, file by file, a block before the keys in it; keys without meaning are left out."""
    return tuple(row for file, prefix, model in _FILES for row in _rows(file, prefix, model))


def _rows(file: str, prefix: str, model: type[Any]) -> Iterator[SettingRow]:
    for entry in settings_of(model).values():
        if isinstance(entry.reader, Ignored):
            continue
        key = prefix + entry.key
        yield _row(file, key, entry)
        inner, below = _inner(entry.reader, key)
        if inner is not None:
            yield from _rows(file, f"{below}.", inner)


def _row(file: str, key: str, entry: Setting) -> SettingRow:
    reader = entry.reader
    least, most = (reader.ge, reader.le) if isinstance(reader, (Whole, Fraction)) else (None, None)
    return SettingRow(
        file=file,
        key=key,
        expects=reader.expects,
        unit=entry.unit,
        default=entry.default,
        minimum=least,
        maximum=most,
        help=entry.help,
        is_required=entry.is_required,
        kind=_kind(reader),
        options=_options(reader),
    )


def _kind(reader: object) -> SettingKind:
    return _KINDS.get(type(reader), SettingKind.TEXT)


def _options(reader: object) -> tuple[str, ...]:
    match reader:
        case Choice():
            return reader.options
        case ListOf():
            return _options(reader.item)
        case _:
            return ()


def _inner(reader: object, key: str) -> tuple[type[Any] | None, str]:
    """Return the model below a key, and the dotted key that its own keys follow."""
    match reader:
        case Block():
            return reader.model, key
        case ListOf():
            return _inner(reader.item, f"{key}[]")
        case Table():
            return _inner(reader.value, f"{key}.<name>")
        case _:
            return None, key
