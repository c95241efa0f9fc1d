"""The form of the memory settings: what it shows of the manifest, and which keys a sent form changes.

Every field comes from the one table of settings; nothing about a key is said here but where it stands in the form.
A field that was not touched is not changed, also when it is sent: what the form was made from is sent along.

Rules: DASH-07, DASH-O2.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.brain.settings import SettingKind, SettingRow, settings_table
from omnislash.brain.tree import Mapping as Keys
from omnislash.brain.tree import Scalar, Sequence, find_node
from omnislash.brain.yaml_editing import Value, Word
from omnislash.brain.yaml_text import parse_yaml
from omnislash.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Sequence as Listed

    from omnislash.surfaces.dashboard.forms import Form

#: Where keys stand in the form: the title of a group, and the keys, or beginnings of keys, in it.
_GROUPS: Final = (
    ("Line and reach", ("memory.write", "memory.report", "memory.read", "memory.recall")),
    ("Budgets", ("memory.fileMaxChars", "memory.lines", "memory.priorityChars")),
    ("Window of days", ("memory.recentDays", "memory.recentChars")),
    ("Summaries in a turn", ("memory.periodCount", "memory.periodChars")),
    (
        "Recall and search",
        (
            "memory.recallResults",
            "memory.recallScore",
            "memory.recallChars",
            "memory.searchScore",
            "memory.recallGate",
        ),
    ),
    ("Writing", ("memory.priorityDefault", "memory.secrets")),
    ("Flush", ("memory.flush",)),
    ("Consolidation", ("memory.consolidation",)),
    ("Time zone", ("locale",)),
    ("Git", ("sync",)),
)
_OTHER: Final = "Other"
#: Stands in the table of settings for a name that people choose.
_ANY: Final = ".<name>."
#: Behind the key of a table: the name of a new row, and what begins the fields of it.
_NEW: Final = "+"

#: What a field holds: the words of a list, else one word; '' and () where there is none.
Held: TypeAlias = "str | tuple[str, ...]"


@functools.cache
def _rows() -> tuple[SettingRow, ...]:
    return tuple(row for row in settings_table() if row.file == MANIFEST_FILE)


@functools.cache
def _columns(table: SettingRow) -> tuple[SettingRow, ...]:
    return tuple(row for row in _rows() if row.key.startswith(f"{table.key}{_ANY}"))


@functools.cache
def _tables() -> tuple[SettingRow, ...]:
    return tuple(row for row in _rows() if row.kind is SettingKind.TABLE)


def _fields() -> Iterator[SettingRow]:
    """Yield the settings that have a field of their own or a table of rows."""
    skipped = {SettingKind.BLOCK, SettingKind.FREE}
    return (row for row in _rows() if row.kind not in skipped and _ANY not in row.key)


@functools.cache
def _label(key: str) -> str:
    """Return the last part of a key as words: `recallResults` is `Recall results`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key.rpartition(".")[2]).lower()
    return words[:1].upper() + words[1:]


# -- what a text and a form hold ---------------------------------------------------------------------------------------


def _held(root: Keys | None, keys: Listed[str], kind: SettingKind) -> Held:
    """Return what the file says under a chain of keys, as it was typed."""
    node = find_node(root, *keys) if root is not None else None
    if kind is SettingKind.LIST:
        items = node.items if isinstance(node, Sequence) else ()
        return tuple(item.text for item in items if isinstance(item, Scalar))
    return node.text if isinstance(node, Scalar) and not node.is_null else ""


def _typed(form: Form, name: str, row: SettingRow) -> Held | None:
    """Return what was typed into a field; None when the form has no such field."""
    if row.kind is SettingKind.LIST and row.options:
        chosen = tuple(option for option in row.options if f"{name}:{option}" in form.fields)
        return chosen if f"{name}:" in form.fields else None
    if name not in form.fields:
        return None
    if row.kind is SettingKind.LIST:
        return tuple(line.strip() for line in form.text(name).split("\n") if line.strip())
    return form.fields[name].strip()


def _is_same(row: SettingRow, one: Held, other: Held) -> bool:
    return set(one) == set(other) if row.kind is SettingKind.LIST and row.options else one == other


def _names(root: Keys | None, table: SettingRow) -> tuple[str, ...]:
    node = find_node(root, *table.key.split(".")) if root is not None else None
    return tuple(node.entries) if isinstance(node, Keys) else ()


def _value(row: SettingRow, held: Held) -> Value | None:
    if not held:
        return None
    if isinstance(held, tuple):
        return tuple(Word(each) for each in held)
    return Word(held, is_text=row.kind not in {SettingKind.NUMBER, SettingKind.SWITCH})


# -- what a form changes -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Sent:
    """A form that was sent."""

    form: Form
    #: What the form was made from.
    base: Keys | None
    #: The keys that were touched, with what they are set to.
    changes: dict[tuple[str, ...], Value | None] = field(default_factory=dict)
    #: What was typed into each touched field, by the field's name.
    touched: dict[str, Held] = field(default_factory=dict)
    #: What keeps the form from saying anything at all.
    faults: list[Fault] = field(default_factory=list)

    def take(self, row: SettingRow, keys: tuple[str, ...]) -> None:
        """Note a field that was touched."""
        typed, held = _typed(self.form, ".".join(keys), row), _held(self.base, keys, row.kind)
        if typed is None or (_is_same(row, typed, held) and not (not typed and self._is_null(keys))):
            return
        self.touched[".".join(keys)] = typed
        self.changes[keys] = _value(row, typed)

    def _is_null(self, keys: tuple[str, ...]) -> bool:
        """Tell whether the key stands there without a value, which is a fault that only its removal mends."""
        node = find_node(self.base, *keys) if self.base is not None else None
        return isinstance(node, Scalar) and node.is_null

    def take_table(self, table: SettingRow) -> None:
        """Note the rows of a table that were touched, those that were emptied, and a new one."""
        above = tuple(table.key.split("."))
        for name in _names(self.base, table):
            columns = {(*above, name, row.key.rpartition(".")[2]): row for row in _columns(table)}
            for keys, row in columns.items():
                self.take(row, keys)
            if columns.keys() & self.changes.keys() and not any(self._now(keys, row) for keys, row in columns.items()):
                for keys in columns:
                    self.changes.pop(keys, None)
                self.changes[*above, name] = None
        self._take_new(table, above)

    def _now(self, keys: tuple[str, ...], row: SettingRow) -> Held:
        return self.touched.get(".".join(keys), _held(self.base, keys, row.kind))

    def _take_new(self, table: SettingRow, above: tuple[str, ...]) -> None:
        name = self.form.word(f"{table.key}{_NEW}name")
        columns = {row.key.rpartition(".")[2]: row for row in _columns(table)}
        typed = {key: _typed(self.form, f"{table.key}{_NEW}.{key}", row) for key, row in columns.items()}
        given = {key: held for key, held in typed.items() if held}
        for key, held in given.items():
            self.touched[f"{table.key}{_NEW}.{key}"] = held
        if name is not None:
            self.touched[f"{table.key}{_NEW}name"] = name
        problem = self._find_problem(table, name, given)
        if problem:
            self.faults.append(Fault(MANIFEST_FILE, problem, key=table.key))
        elif name is not None:
            self.changes |= {(*above, name, key): _value(columns[key], held) for key, held in given.items()}

    def _find_problem(self, table: SettingRow, name: str | None, given: Mapping[str, Held]) -> str | None:
        if name is None:
            return "The new row has values and no name. Name the line that they are for." if given else None
        if name in _names(self.base, table):
            return f"{name} has a row already. Change that one."
        return None if given else f"The new row {name} has no value. Fill one in, or clear the name."


def read_sent(form: Form) -> Sent:
    """Return which keys a sent form changes, compared with the text that it was made from."""
    sent = Sent(form, parse_yaml(form.text("base"), path=MANIFEST_FILE).root)
    for row in _fields():
        if row.kind is SettingKind.TABLE:
            sent.take_table(row)
        else:
            sent.take(row, tuple(row.key.split(".")))
    return sent


# -- what a form shows -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Drawing:
    root: Keys | None
    sent: Sent | None
    faults: Listed[Fault]
    count: int = 0
    #: Ids of the elements at which faults are shown, by index of the fault.
    places: dict[int, str] = field(default_factory=dict)

    def field(self, row: SettingRow, keys: tuple[str, ...], name: str | None = None) -> dict[str, Any]:
        """Return one field as JSON has it; with the name of its own when it is one of a new row."""
        name = name or ".".join(keys)
        held = _held(self.root, keys, row.kind)
        touched = self.sent.touched.get(name) if self.sent is not None else None
        shown = held if touched is None else touched
        return {
            **self._about(row),
            "name": name,
            "value": list(shown) if isinstance(shown, tuple) else shown,
            "isSet": self.root is not None and find_node(self.root, *keys) is not None,
            "overrides": self._overrides(row),
            "faults": self._faults(".".join(keys)),
            "id": self._id(".".join(keys)),
        }

    def _overrides(self, row: SettingRow) -> list[dict[str, Any]] | None:
        """Return the rows of a table beside a setting that set it for themselves; None where no table can."""
        above, _, end = row.key.rpartition(".")
        beside = (table for table in _tables() if table.key.rpartition(".")[0] == above)
        for table in beside:
            if any(column.key == f"{table.key}{_ANY}{end}" for column in _columns(table)):
                keys = tuple(table.key.split("."))
                held = {name: _held(self.root, (*keys, name, end), row.kind) for name in _names(self.root, table)}
                return [{"name": name, "value": value} for name, value in held.items() if value]
        return None

    @staticmethod
    def _about(row: SettingRow) -> dict[str, Any]:
        return {
            "key": row.key,
            "label": _label(row.key),
            "kind": row.kind.value,
            "expects": row.expects,
            "unit": row.unit,
            "default": row.default,
            "isRequired": row.is_required,
            "minimum": row.minimum,
            "maximum": row.maximum,
            "options": list(row.options),
            "help": row.help,
        }

    def table(self, row: SettingRow) -> dict[str, Any]:
        """Return a table of rows as JSON has it."""
        above, columns = tuple(row.key.split(".")), _columns(row)

        def draw(name: str, prefix: str | None = None) -> list[dict[str, Any]]:
            ends = [each.key.rpartition(".")[2] for each in columns]
            return [
                self.field(each, (*above, name, end), f"{prefix}.{end}" if prefix else None)
                for each, end in zip(columns, ends, strict=True)
            ]

        rows = [{"name": name, "fields": draw(name)} for name in self._table_names(row)]
        typed = self.sent.touched.get(f"{row.key}{_NEW}name", "") if self.sent is not None else ""
        blank = {"field": f"{row.key}{_NEW}name", "name": typed, "fields": draw("", f"{row.key}{_NEW}")}
        within = self._take_loose(row, rows)
        return {**self._about(row), "rows": rows, "blank": blank, "faults": within, "id": f"setting-{self.count}"}

    def _take_loose(self, row: SettingRow, rows: Listed[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the faults of a table that no field of its rows shows, such as those of a name."""
        shown = {each["name"] for drawn in rows for each in drawn["fields"]}
        self.count += 1
        loose = {
            number: fault
            for number, fault in enumerate(self.faults)
            if (key := self._plain(fault)) not in shown and f"{key}.".startswith(f"{row.key}.")
        }
        self.places |= dict.fromkeys(loose, f"setting-{self.count}")
        return [draw_fault(fault) for fault in loose.values()]

    def _table_names(self, row: SettingRow) -> tuple[str, ...]:
        """Return the names of the file, and those that are gone from it and were changed in the form."""
        names = _names(self.root, row)
        if self.sent is None:
            return names
        gone = (name for name in _names(self.sent.base, row) if name not in names)
        return (
            *names,
            *(name for name in gone if any(key.startswith(f"{row.key}.{name}.") for key in self.sent.touched)),
        )

    def _id(self, key: str) -> str:
        """Return the id of an element, and note it for the faults that are shown there."""
        self.count += 1
        for number, fault in enumerate(self.faults):
            if self._plain(fault) == key:
                self.places[number] = f"setting-{self.count}"
        return f"setting-{self.count}"

    def _faults(self, key: str) -> list[dict[str, Any]]:
        return [draw_fault(fault) for fault in self.faults if self._plain(fault) == key]

    @staticmethod
    def _plain(fault: Fault) -> str:
        """Return the key of a fault without the number of a list item; '' for one of another file."""
        return re.sub(r"\[\d+\]$", "", fault.key or "") if fault.path == MANIFEST_FILE else ""

    def all_faults(self) -> list[dict[str, Any]]:
        """Return every fault with the id of the element that it is shown at; those of rows that are not there with none."""
        return [{**draw_fault(fault), "id": self.places.get(number)} for number, fault in enumerate(self.faults)]


def draw_fault(fault: Fault) -> dict[str, Any]:
    """Return `{message, hint, path, line, key}` of a fault."""
    return {"message": fault.message, "hint": fault.hint, "path": fault.path, "line": fault.line, "key": fault.key}


def draw_form(root: Keys | None, *, sent: Sent | None = None, faults: Iterable[Fault] = ()) -> dict[str, Any]:
    """Return `{groups, kept, faults}`: the form over a file's text, with what was typed and what is wrong with it.

    Args:
        root: What the file says; None shows the defaults.
        sent: A form that was refused: its touched fields show what was typed.
        faults: What is shown beside the fields.
    """
    drawing = _Drawing(root, sent, tuple(faults))
    groups: dict[str, list[dict[str, Any]]] = {title: [] for title in (*dict(_GROUPS), _OTHER)}
    for row in _fields():
        drawn = drawing.table(row) if row.kind is SettingKind.TABLE else drawing.field(row, tuple(row.key.split(".")))
        groups[_group_of(row.key)].append(drawn)
    return {
        "groups": [{"title": title, "settings": drawn} for title, drawn in groups.items() if drawn],
        "kept": [{"key": row.key, "help": row.help} for row in _rows() if row.kind is SettingKind.FREE],
        "faults": drawing.all_faults(),
    }


def _group_of(key: str) -> str:
    found = (title for title, keys in _GROUPS if any(key == each or key.startswith(f"{each}.") for each in keys))
    return next(found, _OTHER)
