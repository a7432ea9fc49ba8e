"""The exit statuses and errors of `pychunk bench`, and its comparison with other installations."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench_stubs import FAST, base_of, interpreter, stub
from command_line import invoke

import pychunk
from pychunk.benchmark import launch, measure, workloads
from pychunk.cli.shared.value_types import share_of

PARENT = Path(pychunk.__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def few_timings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the number of timings, since nothing here depends on their precision."""
    monkeypatch.setattr(measure, "TIMINGS", 2)


@pytest.mark.parametrize(
    ("factor", "changes", "rounds", "status", "printed"),
    [
        (100.0, {}, 2, 1, "1 of 1 slower by more than 10 %: latency"),
        pytest.param(0.01, {}, 2, 0, "improved", marks=pytest.mark.slow),
        pytest.param(100.0, {"definition": "other"}, 1, 0, "redefined", marks=pytest.mark.slow),
        (0.01, {"answer": "other"}, 1, 0, "the base gives other chunks"),
    ],
)
def test_exit_statuses(
    tmp_path: Path, base: str, factor: float, changes: dict, rounds: int, status: int, printed: str
) -> None:
    path = tmp_path / "base.json"
    path.write_text(base)
    base_of(path, factor, **changes)
    result = invoke(["bench", "--only", "latency", "--rounds", str(rounds), "--compare", str(path)])
    assert result.exit_code == status, result.output
    assert printed in result.stdout


@pytest.mark.slow
def test_missing_and_new_workloads_are_listed_as_json(tmp_path: Path, base: str) -> None:
    path = tmp_path / "base.json"
    found = json.loads(base)
    found["workloads"] = {"semantic": found["workloads"]["latency"]}
    found["facts"]["cpu"] = "another"
    path.write_text(json.dumps(found))
    result = invoke(["bench", "--only", "latency", "--rounds", "1", "--compare", str(path), "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert [(each["name"], each["status"]) for each in printed["comparison"]] == [("latency", "new")]
    assert printed["workloads"]["latency"]["unit"] == "ms"
    assert any("another CPU" in note for note in printed["notes"])


@pytest.mark.slow
def test_a_wrong_answer_names_the_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    wrong = dataclasses.replace(workloads.WORKLOADS["latency"], answer="0" * 16)
    monkeypatch.setitem(workloads.WORKLOADS, "latency", wrong)
    result = invoke(["bench", "--only", "latency", "--rounds", "1"])
    assert result.exit_code == 2
    assert "workload latency gave a wrong answer" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "fast"], "--only must name workloads (sentence,"),
        (["--max-regression", "much"], "--max-regression must be a percentage"),
        (["--max-regression", "-5%"], "--max-regression must be a percentage"),
        (["--compare", "a.json", "--against", "python"], "--compare cannot be combined with --against"),
        (["--compare", "absent.json"], "No such file"),
        (["--against", "absent"], "no Python interpreter at 'absent'"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke(["bench", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", "")


@pytest.mark.parametrize(("text", "share"), [("10%", 0.1), ("0.1", 0.1), (" 7.5 % ", 0.075)])
def test_percentages(text: str, share: float) -> None:
    assert math.isclose(share_of("--max-regression", text, most=10), share)


def test_listing() -> None:
    result = invoke(["bench", "--list"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(workloads.WORKLOADS)


@pytest.mark.slow
def test_the_same_code_in_another_environment_is_no_regression(tmp_path: Path) -> None:
    other = interpreter(tmp_path / "venv", PARENT)
    arguments = ["bench", "--only", "latency", "--rounds", "2", "--against", str(other), "--max-regression", "100%"]
    result = invoke(arguments)
    assert result.exit_code == 0, result.output
    assert "none of 1 is slower" in result.stdout
    assert "both interpreters import the same pychunk" in result.stderr.replace("\n", " ")


@pytest.mark.slow
def test_the_other_package_is_the_one_timed(tmp_path: Path) -> None:
    """A faster stub has wrong chunks: the workloads come from here, the package from there."""
    other = interpreter(tmp_path / "venv", stub(tmp_path / "stub", FAST))
    result = invoke(["bench", "--only", "latency", "--rounds", "2", "--against", str(other)])
    assert result.exit_code == 1, result.output
    assert "the base gives other chunks" in result.stdout


@pytest.mark.slow
def test_a_base_that_lacks_a_method_compares_the_rest(tmp_path: Path) -> None:
    other = interpreter(tmp_path / "venv", stub(tmp_path / "stub", "raise ValueError('unknown method [onnx]')"))
    result = invoke(["bench", "--only", "latency", "--rounds", "1", "--against", str(other)])
    assert result.exit_code == 0, result.output
    assert "new" in result.stdout
    assert "ValueError: unknown method [onnx]" in " ".join(result.stdout.split())


def test_an_interpreter_without_pychunk_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty" / "pychunk").mkdir(parents=True)
    (tmp_path / "empty" / "pychunk" / "__init__.py").write_text("raise ImportError('no such thing')\n")
    other = interpreter(tmp_path / "venv", tmp_path / "empty")
    result = invoke(["bench", "--against", str(other)])
    assert result.exit_code == 2
    assert "ImportError: no such thing" in result.stderr.replace("\n", "")


def test_a_process_takes_the_package_that_it_was_given(tmp_path: Path) -> None:
    """PYTHONPATH points at a stub first; the process must time the requested installation."""
    shadow = stub(tmp_path / "shadow", "raise ValueError('the wrong package')")
    found = launch.Installation(str(interpreter(tmp_path / "venv", shadow) / "bin" / "python"), str(PARENT / "pychunk"))
    with launch.Process(found, [], "") as process:
        assert process.about["facts"]["package"] == str(PARENT / "pychunk")


@pytest.mark.slow
def test_a_process_takes_that_package_before_an_editable_install(tmp_path: Path) -> None:
    """Editable installs put a finder of their own before every path."""
    shadow = stub(tmp_path / "shadow", "raise ValueError('the wrong package')")
    finder = (
        "import sys\nfrom importlib.machinery import PathFinder\n\n\nclass Editable:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        return PathFinder.find_spec(name, [{str(shadow)!r}]) if name == 'pychunk' else None\n\n\n"
        "sys.meta_path.insert(0, Editable())\n"
    )
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(finder)
    python = str(interpreter(tmp_path / "venv", tmp_path / "site") / "bin" / "python")
    with launch.Process(launch.Installation(python, None), [], "") as process:
        assert process.about["facts"]["package"] == str(shadow / "pychunk")
    with launch.Process(launch.Installation(python, str(PARENT / "pychunk")), [], "") as process:
        assert process.about["facts"]["package"] == str(PARENT / "pychunk")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are listed in /proc")
def test_an_interrupt_ends_the_command_and_its_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pychunk", "bench", "--only", "latency", "--rounds", "500"]
    environment = {**os.environ, "PYTHONPATH": str(PARENT)}
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # If a shell runs the tests in the background, interrupts are ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    listed = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    try:
        until = time.monotonic() + 30
        while not (children := listed.read_text().split()) and time.monotonic() < until:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=30)
    finally:
        running.kill()
    assert children
    assert running.returncode == 130
    assert errors.decode().strip() == "interrupted; nothing was written"
    until = time.monotonic() + 30  # a process that is just starting ends by itself
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in children)
