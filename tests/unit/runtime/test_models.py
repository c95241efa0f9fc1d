"""Which model writes a line's summaries, and a command as a model."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash.brain.loading import load_brain
from omnislash.core.lines import LineName
from omnislash.core.periods import parse_period
from omnislash.errors import ModelError
from omnislash.runtime.ladder.summarising import Source, SummaryRequest
from omnislash.runtime.models.harness import ANSWER_MAX_BYTES, HarnessModel
from omnislash.runtime.models.summarisers import find_reference, resolve_model
from omnislash.shipped import constitution_directory

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles

PROJECT = """
models: {offline: offline, still: offline, fast: claude-haiku-4-5, command: 'cli:smart'}
harnesses: {smart: [cat], quick: [head, -c, '5']}
"""


def make_config(root: Path, *, memory: str = "{}", role: str = "", project: str = PROJECT) -> BrainFiles:
    """Return the configuration of a brain with this manifest, and with this frontmatter of the consolidator."""
    files = {"omnislash.yaml": project, "constitution/MANIFEST.yaml": f"memory: {memory}\n"}
    if role:
        files["constitution/Agents/system/role-consolidator.md"] = f"---\n{role}\n---\nSum it up.\n"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return load_brain(root, shipped=constitution_directory())


def python(code: str, *, time_limit_s: float = 20.0, **options: object) -> HarnessModel:
    """Return a model whose command is a Python program."""
    return HarnessModel(
        "cli:py",
        [sys.executable, "-c", code],
        directory=Path("/"),
        environment=os.environ,
        time_limit_s=time_limit_s,
        **options,  # type: ignore[arg-type]
    )


# -- which model -----------------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-15")
@pytest.mark.parametrize(
    ("memory", "role", "expected"),
    [
        pytest.param("{lines: {main: {periods: [week]}}}", "", None, id="nothing named"),
        pytest.param("{lines: {main: {periods: [week]}}}", "modelRef: still", "still", id="the role's name"),
        pytest.param("{lines: {main: {periods: [week]}}}", "model: claude-x", "claude-x", id="the role's model"),
        pytest.param("{lines: {main: {periods: [week]}}, modelRef: fast}", "modelRef: still", "fast", id="the brain's"),
        pytest.param(
            "{lines: {main: {periods: [week], modelRef: 'cli:smart'}}, modelRef: fast}",
            "",
            "cli:smart",
            id="the line's",
        ),
        pytest.param(
            "{lines: {main: {periods: [week]}, ops: {periods: [week], modelRef: still}}, modelRef: fast}",
            "",
            "fast",
            id="not another line's",
        ),
    ],
)
def test_the_most_specific_reference_counts(tmp_path: Path, memory: str, role: str, expected: str | None) -> None:
    """The line's, else the brain's, else the role's."""
    config = make_config(tmp_path, memory=f"{{consolidation: {memory}}}", role=role)

    assert find_reference(config, LineName("main")) == expected


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        (None, "offline"),
        ("offline", "offline"),
        ("still", "offline"),
        ("cli:smart", "cli:smart"),
        ("command", "cli:smart"),
    ],
)
def test_a_reference_that_leads_to_a_model(tmp_path: Path, reference: str | None, name: str) -> None:
    """None means offline, names stand for their model, and `cli:` for a harness."""
    assert resolve_model(reference, make_config(tmp_path), environment={}).name == name


def test_offline_needs_no_entry(tmp_path: Path) -> None:
    """A brain without models can name the offline one."""
    config = make_config(tmp_path, project="memory: {}\n")

    assert resolve_model("offline", config, environment={}).name == "offline"


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        (
            "fast",
            "There is no model 'claude-haiku-4-5', which 'fast' stands for. Did you mean 'anthropic:claude-haiku-4-5'?",
        ),
        ("claude-x", "There is no model 'claude-x'. Name one of models: in omnislash.yaml"),
        (
            "openai:gpt-4o-mini",
            "The model 'openai:gpt-4o-mini' needs a key: set OPENAI_API_KEY, or name another model.",
        ),
        ("cli:smrt", "omnislash.yaml has no harness 'smrt'. Did you mean 'cli:smart'?"),
        ("cli:other", "omnislash.yaml has no harness 'other'."),
    ],
)
def test_a_reference_that_leads_nowhere(tmp_path: Path, reference: str, told: str) -> None:
    """The error names what was asked for, and what can be named instead."""
    with pytest.raises(ModelError) as caught:
        resolve_model(reference, make_config(tmp_path), environment={})

    assert told in caught.value.message
    assert caught.value.to_json()["kind"] == "model"


# -- a command -------------------------------------------------------------------------------------------------------


def test_the_prompt_goes_in_and_the_answer_comes_out() -> None:
    """Both are UTF-8, and neither is cut."""
    model = python("import sys; sys.stdout.write(sys.stdin.read().upper())")

    assert model.ask("привет, 你好 " * 20_000) == "ПРИВЕТ, 你好 " * 20_000


def test_a_request_becomes_a_prompt() -> None:
    """The command is told the period, the criteria, and every source with its path."""
    source = Source(
        "memory/main/2026/08/2026-08-20.md", date(2026, 8, 20), date(2026, 8, 20), "- 09:00 The choir came.\n"
    )
    period = parse_period("2026-W34")
    request = SummaryRequest("main", period, (source,), 900, is_clipped=False, lost="", criteria="Bring out decisions.")

    prompt = python("import sys; sys.stdout.write(sys.stdin.read())").summarise(request)

    for told in ("2026-W34", "Bring out decisions.", source.path, "The choir came.", "900"):
        assert told in prompt


def test_it_runs_in_the_brain_with_its_variables(tmp_path: Path) -> None:
    """Directory and environment are those that were handed in; no shell reads the words."""
    code = "import os, sys; print(os.getcwd(), os.environ['TONE'], sys.argv[1])"
    command = [sys.executable, "-c", code, "$TONE; rm -rf *"]
    model = HarnessModel("cli:py", command, directory=tmp_path, environment={"TONE": "calm"})

    assert model.ask("") == f"{tmp_path.resolve()} calm $TONE; rm -rf *\n"


def test_an_answer_without_reading() -> None:
    """A command that ends before it has read a long prompt has answered all the same."""
    assert python("print('short')").ask("x" * 5_000_000) == "short\n"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        pytest.param("import sys; sys.exit(3)", "cli:py ended with the code 3.", id="fails in silence"),
        pytest.param(
            "import sys; print('half'); sys.exit('no credit left')",
            "ended with the code 1: no credit left.",
            id="says why",
        ),
        pytest.param("import sys; sys.exit('x' * 90000 + ' the end')", "x the end.", id="says too much why"),
        pytest.param("import os; os.kill(os.getpid(), 9)", "ended with the code -9.", id="was killed"),
        pytest.param("import os; os.write(1, b'\\xff\\xfe')", "bytes that are no UTF-8.", id="no text"),
        pytest.param(
            "print('y' * 1_000_001)", f"answered more than {ANSWER_MAX_BYTES} bytes.", id="a byte too much at the end"
        ),
        pytest.param(
            "while True: print('y' * 60_000)", f"answered more than {ANSWER_MAX_BYTES} bytes.", id="without end"
        ),
    ],
)
def test_a_command_that_gives_no_answer(code: str, told: str) -> None:
    """One sentence says why, with the end of what it said itself."""
    with pytest.raises(ModelError) as caught:
        python(code).ask("prompt")

    assert told in caught.value.message
    assert len(caught.value.message) < 400


def test_the_longest_answer() -> None:
    """A million bytes are taken whole."""
    assert len(python("import sys; sys.stdout.write('y' * 1_000_000)").ask("")) == ANSWER_MAX_BYTES


def test_a_credential_is_not_repeated() -> None:
    """What a command says on standard error may hold a key, and a log must not."""
    key = "sk-ant-" + "a1B2" * 10
    with pytest.raises(ModelError) as caught:
        python(f"import sys; sys.exit('bad key {key}')").ask("")

    hidden = "what it said on stderr holds a credential and is not shown"
    assert caught.value.message == f"cli:py ended with the code 1 ({hidden})."


@pytest.mark.parametrize("command", ["no-such-program-here", "/etc/hostname"])
def test_a_command_that_does_not_start(tmp_path: Path, command: str) -> None:
    """The error names the program and the file to mend."""
    model = HarnessModel("cli:gone", [command], directory=tmp_path, environment=os.environ)

    with pytest.raises(ModelError, match=rf"cli:gone can't be started: {command}: .*omnislash\.yaml"):
        model.ask("")


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 5
    while _is_alive(pid):
        assert time.monotonic() < deadline, "it is still running"
        time.sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("end", ["late", "not wanted"])
def test_whatever_it_started_ends_with_it(tmp_path: Path, end: str) -> None:
    """A late command, and one that nobody waits for, is killed with its children, although they ignore SIGTERM."""
    child = tmp_path / "child"
    code = (
        "import signal, subprocess, sys, time, pathlib; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        f"pathlib.Path({str(child)!r}).write_text(str(p.pid)); time.sleep(600)"
    )
    is_over = child.exists if end == "not wanted" else lambda: False
    model = python(code, time_limit_s=1.5 if end == "late" else 60.0, is_over=is_over)
    started = time.monotonic()

    with pytest.raises(ModelError, match=r"gave no answer within|nobody waits for it"):
        model.ask("x" * 1_000_000)

    assert time.monotonic() - started < 15
    _wait_for_end(int(child.read_text()))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_what_it_left_running_holds_nobody_up(tmp_path: Path) -> None:
    """A child that keeps the pipe open after the command has ended is killed, and the answer counts."""
    child = tmp_path / "child"
    code = (
        "import subprocess, sys, pathlib;"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        f"pathlib.Path({str(child)!r}).write_text(str(p.pid)); print('done')"
    )

    assert python(code).ask("") == "done\n"
    _wait_for_end(int(child.read_text()))


def test_nothing_is_left_open() -> None:
    """Pipes and threads of ten runs are gone afterwards."""
    before = len(list(Path("/dev/fd").iterdir()))
    model = python("print('x')")
    for _ in range(10):
        model.ask("y")

    assert len(list(Path("/dev/fd").iterdir())) <= before


#: Runs a command that starts another one, both of which would take minutes.
_KILLED = """
import os, sys
from pathlib import Path
from omnislash.runtime.models.harness import HarnessModel
script = 'sleep 600 & echo $$ $! > "$1.new"; mv "$1.new" "$1"; wait'
HarnessModel("cli:sh", ["/bin/sh", "-c", script, "sh", sys.argv[1]], directory=Path("/"), environment=os.environ).ask("")
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_a_command_does_not_outlive_a_killed_process(tmp_path: Path) -> None:
    """After SIGKILL nothing runs on: neither the command nor what it has started."""
    pids = tmp_path / "pids"
    process = subprocess.Popen([sys.executable, "-c", _KILLED, str(pids)])
    deadline = time.monotonic() + 30
    while not pids.exists():
        assert time.monotonic() < deadline, "the command did not start"
        time.sleep(0.01)
    started = [int(pid) for pid in pids.read_text().split()]
    assert [_is_alive(pid) for pid in started] == [True, True]

    process.kill()
    process.wait()

    for pid in started:
        _wait_for_end(pid)


def test_without_a_shell_to_watch_a_command_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard is a precaution, and no condition."""
    monkeypatch.setattr("omnislash.runtime.models.guard._SHELL", "/no/such/shell")

    assert python("print('here')").ask("") == "here\n"
