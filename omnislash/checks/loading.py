"""The checks of `doctor/`: one module each, found by looking, so that a new file is a new check.

In a wheel the directory is the package `omnislash._checks`; in a checkout it lies beside the package and is given the
same name, so that nothing called `doctor` is ever importable.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import threading
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.checks.findings import Check, Group, fail
from omnislash.shipped import checks_directory

if TYPE_CHECKING:
    from types import ModuleType

    from omnislash.checks.examined import Examined
    from omnislash.checks.findings import Finding

_PACKAGE: Final = "omnislash._checks"
_LOADING: Final = threading.Lock()


def load_checks() -> tuple[type[Check], ...]:
    """Return every check, in the order of the table: by group, then by title.

    One that can't be loaded is a check that fails and says so, and keeps no other one from running.
    """
    with _LOADING:
        package = _load_package()
        checks = [_load_check(found.name) for found in pkgutil.iter_modules(package.__path__)]
    return tuple(sorted(checks, key=lambda check: (check.group, check.title)))


def _load_check(name: str) -> type[Check]:
    try:
        return _find_check(importlib.import_module(f"{_PACKAGE}.{name}"))
    except Exception as error:  # noqa: BLE001 - one check's mistake must hide nothing that others find
        return _make_broken(name, f"{type(error).__name__}: {error}")


def _make_broken(name: str, reason: str) -> type[Check]:
    """Return the check that stands for one that can't be loaded."""

    class Broken(Check):
        """Says that it is broken."""

        id: ClassVar[str] = name.replace("_", "-")
        title: ClassVar[str] = name.replace("_", " ").capitalize()
        protects: ClassVar[str] = "This check can't be loaded."
        group: ClassVar[Group] = Group.CONFIGURATION

        def conclude(self, brain: Examined) -> list[Finding]:
            del brain
            message = f"This check can't be loaded ({reason}), so nothing that it looks at was looked at."
            return [fail(message, hint="Install omnislash again; if that does not help, please report it.")]

    return Broken


def _load_package() -> ModuleType:
    if _PACKAGE in sys.modules:
        return sys.modules[_PACKAGE]
    directory = checks_directory()
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, directory / "__init__.py", submodule_search_locations=[str(directory)]
    )
    if spec is None or spec.loader is None:
        message = f"{directory} can't be loaded as a package."
        raise ImportError(message)
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    return package


def _find_check(module: ModuleType) -> type[Check]:
    """Return the one check that a module defines."""
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Check) and value.__module__ == module.__name__
    ]
    if len(found) != 1:
        message = f"{module.__name__} holds {len(found)} checks; one file is one check."
        raise ImportError(message)
    return found[0]
