"""Where the shipped text lies: inside the wheel, or beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def _find(packaged: str, beside: str) -> Path:
    inside = _PACKAGE / packaged
    return inside if inside.is_dir() else _PACKAGE.parent / beside


def constitution_directory() -> Path:
    """Return the directory of the shipped constitution: `MANIFEST.yaml`, `Agents/` and the rest."""
    return _find("_constitution", "constitution")


def example_directory() -> Path:
    """Return the directory of the example brain."""
    return _find("_brain_example", "brain-example")


def checks_directory() -> Path:
    """Return the directory of doctor's checks, one module each."""
    return _find("_checks", "doctor")
