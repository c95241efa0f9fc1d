"""No module needs itself: the imports at the top of modules, and those inside functions, form no circle."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp


def test_imports_form_no_circle() -> None:
    """Imports for type checkers alone are left out, for nothing runs because of them."""
    graph = grimp.build_graph("omnislash", exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imported) > 100
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        message = f"these modules import one another: {circle}"
        raise AssertionError(message) from None
