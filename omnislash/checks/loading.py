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
from typing import TYPE_CHECKING, Final

from omnislash.checks.findings import Check
from omnislash.shipped import checks_directory

if TYPE_CHECKING:
    from types import ModuleType

_PACKAGE: Final = "omnislash._checks"
_LOADING: Final = threading.Lock()


def load_checks() -> tuple[type[Check], ...]:
    """Return every check, in the order of the table: by group, then by title."""
    with _LOADING:
        package = _load_package()
        modules = [
            importlib.import_module(f"{_PACKAGE}.{found.name}") for found in pkgutil.iter_modules(package.__path__)
        ]
    return tuple(sorted((_find_check(module) for module in modules), key=lambda check: (check.group, check.title)))


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
