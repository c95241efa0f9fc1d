"""Everything is caught at the edges of a process, and nowhere else."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "omnislash"

#: Each place that may catch every error, and why.
EDGES = {
    ("runtime/announcing.py", "_tell"): "a listener is somebody else's code, and undoes no write (EVENT-O4)",
    ("runtime/beats/beat_runs.py", "_run"): "a model may be somebody else's code, and ends no scheduler (EVENT-O4)",
    ("runtime/syncing/curating.py", "watch_run"): "a sync never fails a beat (CURATE-05)",
    ("runtime/syncing/curating.py", "commit_run"): "the same",
    ("runtime/beats/scheduler.py", "look"): "the worker writes on without heartbeats and hooks",
    (
        "runtime/beats/scheduler.py",
        "_carry_out",
    ): "a run that could not be noted ends no worker, and is noted as failed",
    ("checks/examining.py", "see"): "one check's mistake hides nothing that others find",
    ("checks/examining.py", "conclude"): "the same",
    ("checks/loading.py", "_load_check"): "the same for a check that can't be loaded",
    ("runtime/loop/running.py", "_ask"): "a model may be somebody else's code, and its failure becomes one sentence",
    ("runtime/models/provider_summaries.py", "summarise"): "the same for a provider's library",
    ("runtime/ladder/summary_runs.py", "_ask"): "a model may be somebody else's code, and ends no tick",
    ("runtime/flushing/flush.py", "_review"): "a flush never fails the turn that it follows (FLUSH-O5)",
    ("runtime/ticking.py", "look"): "the worker writes on without summaries or sync",
    ("writer/applying.py", "_plan_one"): "one job's surprise is its own verdict, and the queue goes on",
    ("writer/worker.py", "_run"): "the loop of the worker answers its callers and goes on",
    ("writer/serving.py", "answer"): "a caller's request ends no worker",
    ("surfaces/cli/root.py", "run"): "the command line shows a sentence instead of a stack trace",
    ("surfaces/cli/following.py", "watch"): "following files is a convenience of the worker",
    ("surfaces/mcp/calling.py", "attempt"): "a mistake in a tool is told to the agent, and ends no connection",
    ("surfaces/mcp/server.py", "_explain_errors"): "the same for every other request",
    ("surfaces/mcp/threads.py", "_fulfil"): "it is raised again where the call is waited for",
    ("surfaces/mcp/changes.py", "watch"): "telling of changed files is a convenience",
    ("surfaces/adapters/hook_call.py", "serve"): "a hook fails no session of a host (FLUSH-O5)",
    ("runtime/flushing/flush_queue.py", "look"): "the worker writes on without reviews",
    ("index/watcher.py", "_catch_up"): "the worker writes on without an index",
    ("index/watcher.py", "_listen"): "watching files is a convenience of the worker",
}


def _caught(handler: ast.ExceptHandler) -> set[str]:
    """Return the names that a handler catches; `BaseException` for a bare one."""
    if handler.type is None:
        return {"BaseException"}
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}


def _handlers(file: Path) -> list[tuple[str, ast.ExceptHandler]]:
    """Return every handler of a file with the innermost function that holds it."""
    found: list[tuple[str, ast.ExceptHandler]] = []

    def visit(node: ast.AST, function: str) -> None:
        name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        if isinstance(node, ast.ExceptHandler):
            found.append((name, node))
        for child in ast.iter_child_nodes(node):
            visit(child, name)

    visit(ast.parse(file.read_text()), "")
    return found


HANDLERS = [
    (file.relative_to(PACKAGE).as_posix(), function, handler)
    for file in sorted(PACKAGE.rglob("*.py"))
    for function, handler in _handlers(file)
]


def test_everything_is_caught_at_the_edges_only() -> None:
    """`except Exception` stands where the list says and nowhere else."""
    broad = {(name, function) for name, function, handler in HANDLERS if "Exception" in _caught(handler)}

    assert len(HANDLERS) > 50
    assert broad == set(EDGES)


def test_what_catches_even_more_raises_again() -> None:
    """Whoever catches `BaseException` cleans up and raises it again."""
    swallowing = [
        f"{name}:{handler.lineno}"
        for name, _, handler in HANDLERS
        if "BaseException" in _caught(handler)
        and not (isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None)
    ]

    assert swallowing == []


def test_nothing_suppresses_everything() -> None:
    """`contextlib.suppress` names what it suppresses."""
    calls = [
        (file.name, node.lineno)
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "suppress"
        and any(isinstance(each, ast.Name) and each.id in {"Exception", "BaseException"} for each in node.args)
    ]

    assert calls == []
