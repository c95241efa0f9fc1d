"""Only `store/disk.py` changes the disk of a brain, so that stopping or failing its calls reaches every change."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "omnislash"

#: Who else may change a disk, with what, and why.
ALLOWED = {
    # The state directory: made before there is anything to be lost in it.
    ("store/state_directory.py", "mkdir"): "makes .omnislash/",
    ("store/state_directory.py", "write_text"): "hides .omnislash/ from git",
    # The lock file: a label that nobody believes.
    ("store/locks.py", "mkdir"): "makes the directory of the locks of heartbeats and hooks",
    ("store/locks.py", "os.open"): "makes the lock file",
    ("store/locks.py", "os.ftruncate"): "writes the label of the lock",
    ("store/locks.py", "os.pwrite"): "writes the label of the lock",
    # The search index is derived: it is set aside when it is damaged, and nothing is lost with it.
    ("index/opening.py", "mkdir"): "makes memory/ for the index of a brain that has only sources",
    ("index/database.py", "os.replace"): "sets a damaged index aside",
    ("index/database.py", "os.unlink"): "removes what belonged to one that was set aside before",
    # The socket of the worker.
    ("writer/serving.py", "unlink"): "removes the socket of a dead worker",
    # The log of hooks: a hook loads nothing that it can do without.
    ("surfaces/adapters/hook_log.py", "os.mkdir"): "makes the directory of the log",
    ("surfaces/adapters/hook_log.py", "os.open"): "adds a line to the log",
    ("surfaces/adapters/hook_log.py", "os.replace"): "sets a full log aside",
    # A new brain, the log file, and the demo, which works in a temporary directory of its own.
    ("surfaces/cli/init.py", "mkdir"): "makes a new brain",
    ("surfaces/cli/init.py", "open"): "makes the files of a new brain, only where there are none",
    ("surfaces/cli/logs.py", "mkdir"): "makes the directory of the log",
    ("surfaces/cli/demo_stage.py", "tempfile.mkdtemp"): "makes the directory of the demo",
    ("surfaces/cli/demo_stage.py", "shutil.rmtree"): "removes the directory of the demo",
}
#: The shipped twin that plays a power cut has to write what is left.
TWINS = {"testing/power.py", "testing/disks.py"}

_OS = {
    "open", "rename", "renames", "replace", "unlink", "remove", "mkdir", "makedirs", "rmdir", "removedirs", "link",
    "symlink", "truncate", "ftruncate", "pwrite", "pwritev", "chmod", "fchmod", "chown", "utime", "mkfifo",
    "mknod", "posix_fallocate", "sendfile", "copy_file_range",
}  # fmt: skip
_PATH = {
    "write_text", "write_bytes", "mkdir", "unlink", "rename", "rmdir", "touch", "symlink_to", "hardlink_to", "chmod",
}  # fmt: skip
_TEMPFILE = {"mkdtemp", "mkstemp", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory", "SpooledTemporaryFile"}
_SHUTIL = {"copy", "copy2", "copyfile", "copyfileobj", "copymode", "copystat", "copytree", "move", "rmtree", "chown"}
_READING_FLAGS = {"O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY", "O_BINARY"}


def _owner(call: ast.Call) -> tuple[str, str]:
    """Return what a method is called on, as far as it has a name, and the method."""
    if isinstance(call.func, ast.Name):
        return "", call.func.id
    if isinstance(call.func, ast.Attribute):
        value = call.func.value
        name = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else "?"
        return name, call.func.attr
    return "?", "?"


def _mode(call: ast.Call, *, at: int) -> str:
    """Return the mode of an `open`: read when none is given, everything when it can't be told."""
    given = [word.value for word in call.keywords if word.arg == "mode"] or call.args[at : at + 1]
    if not given:
        return "r"
    return given[0].value if isinstance(given[0], ast.Constant) and isinstance(given[0].value, str) else "w?"


def _reads_only(call: ast.Call) -> bool:
    """Tell whether the flags of an `os.open` can only read."""
    names = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute) and node.attr.startswith("O_")}
    names |= {
        node.value
        for node in ast.walk(call)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("O_")
    }
    return bool(names) and names <= _READING_FLAGS


def find_change(call: ast.Call) -> str | None:
    """Return the name of a call that can change a disk, None for any other."""
    owner, name = _owner(call)
    if name == "open" and owner not in {"os", "Brain", "Repository"}:
        return "open" if set(_mode(call, at=1 if owner in {"", "io"} else 0)) & set("wax+") else None
    if owner in {"os", "shutil", "tempfile"}:
        return f"{owner}.{name}" if _is_of_module(call, owner, name) else None
    is_path = owner not in {"", "?", "disk", "inner"} or (owner == "?" and name in _PATH)
    is_rename = name == "replace" and len(call.args) == 1 and not call.keywords
    return name if is_path and (name in _PATH or is_rename) else None


def _is_of_module(call: ast.Call, owner: str, name: str) -> bool:
    """Tell whether a function of `os`, `shutil` or `tempfile` can change a disk."""
    if owner == "os":
        return name in _OS and not (name == "open" and _reads_only(call))
    return name in (_TEMPFILE if owner == "tempfile" else _SHUTIL)


def find_changes(text: str) -> set[str]:
    """Return the names of all calls of a module that can change a disk."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return {found for call in calls if (found := find_change(call))}


def test_only_the_port_changes_the_disk() -> None:
    """Outside of the port no call changes a disk, but for the listed ones; and each of those is still needed."""
    found = {
        (name, change)
        for file in sorted(PACKAGE.rglob("*.py"))
        if (name := file.relative_to(PACKAGE).as_posix()) != "store/disk.py" and name not in TWINS
        for change in find_changes(file.read_text())
    }
    # A descriptor for the null device, and one that the flags of which stand in a constant.
    found -= {
        ("surfaces/cli/streams.py", "os.open"),
        ("surfaces/adapters/hook_call.py", "os.open"),
        ("brain/reading.py", "os.open"),
        ("store/documents.py", "os.open"),
    }

    assert found == set(ALLOWED)


def test_flags_of_the_reader_only_read() -> None:
    """The one reader whose flags stand in a constant opens for reading."""
    flags = (PACKAGE / "brain/reading.py").read_text().split("_OPEN_FLAGS = ")[1].split("\n")[0]

    assert "O_RDONLY" in flags
    assert not any(word in flags for word in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"))


def test_search_finds_what_it_looks_for() -> None:
    """Each way to change a disk is found, and what only reads or is no file is not."""
    changing = {
        "os.rename(a, b)": "os.rename",
        "os.open(a, os.O_RDWR)": "os.open",
        "os.open(a, flags)": "os.open",
        "shutil.copytree(a, b)": "shutil.copytree",
        "open(a, 'w')": "open",
        "open(a, mode=m)": "open",
        "a.open('xb')": "open",
        "a.b.open('r+')": "open",
        "a.write_text('x')": "write_text",
        "self.a.unlink()": "unlink",
        "(a / b).mkdir()": "mkdir",
        "a.replace(b)": "replace",
        "tempfile.mkstemp()": "tempfile.mkstemp",
    }
    harmless = ["os.open(a, os.O_RDONLY)", "open(a)", "a.open('rb')", "self.disk.unlink(a)", "'a'.replace('b', 'c')"]
    harmless += ["replace(a, b=c)", "a.replace(tzinfo=b)", "Brain.open(a)", "shutil.which('git')"]

    assert {text: find_changes(text) for text in changing} == {text: {name} for text, name in changing.items()}
    assert {text: find_changes(text) for text in harmless} == {text: set() for text in harmless}
