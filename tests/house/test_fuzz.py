"""The fuzzing harness finds and shrinks planted faults (a wrong answer, a death, a hang), and its targets run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PLANTED = """
import os, time

class Planted:
    name = "planted.numbers"
    timeout = 1.0

    def make(self, rng):
        return [rng.randrange(490, 520) for _ in range(rng.randrange(5))]

    def check(self, case):
        if any(number % 17 == 3 for number in case):
            raise AssertionError("a number of the form 17 n + 3")
        if 500 in case:
            os.abort()
        if 501 in case:
            time.sleep(60)

    def simpler(self, case):
        for place in range(len(case)):
            yield case[:place] + case[place + 1 :]

    def test(self, case):
        return f"def test_planted():\\n    Planted().check({case!r})"

target = Planted()
"""


def fuzz(*arguments: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "tests.fuzz", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, **options)


@pytest.mark.slow
def test_planted_faults_are_found_and_shrunk(tmp_path: Path) -> None:
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "numbers.py").write_text(PLANTED)
    out = fuzz(
        "--only", "planted.numbers", "--minutes", "0.2", "--seed", "1", "--findings", str(tmp_path / "found"),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert out.returncode == 1, out.stderr
    found = "".join(path.read_text() for path in (tmp_path / "found").iterdir())
    assert "AssertionError" in found
    assert "died with status -6" in found
    assert "no end within 1 s" in found
    assert "check([500])" in found  # nothing is left that the failure does not need
    assert "check([501])" in found


def test_unknown_target_is_an_error() -> None:
    assert fuzz("--only", "nothing_of_that_name", "--minutes", "0.1").returncode == 2


TARGETS = [path.stem for path in (ROOT / "tests" / "fuzz").glob("*.py") if "\ntarget = " in path.read_text()]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_inputs_of_a_target_are_checked(name: str) -> None:
    """A CI job searches many inputs; a new process is used here, since one target limits its memory."""
    last = 8 if name == "writes" else 10  # a dozen processes each
    code = f"from tests.fuzz import worker; name = {name!r}; target = worker.load(name)\n"
    code += f"for seed in range(7, {last}): target.check(target.make(worker.rng_of(name, seed)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_target_runs(tmp_path: Path) -> None:
    options = ["--executions", "20", "--minutes", "1", "--seed", "7", "--jobs", "1", "--findings", str(tmp_path)]
    out = fuzz("--only", "urls", *options)
    assert out.returncode == 0, out.stdout + out.stderr


def test_time_that_fast_targets_leave_goes_to_the_slow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from tests.fuzz import schedule
    from tests.fuzz.runner import Outcome

    clock, rates = [0.0], {"fast": 1_000_000, "slow": 100, "failing": 1000}
    monkeypatch.setattr(schedule.time, "monotonic", lambda: clock[0])
    turns = []

    def search(name: str, seconds: float, seed: int, executions: int | None) -> Outcome:
        spent = seconds if executions is None else min(seconds, executions / rates[name])
        clock[0] += spent
        turns.append((name, seed))
        return Outcome(name, round(spent * rates[name]), spent, ["it"] if name == "failing" else [])

    last = {outcome.target: outcome for outcome in schedule.schedule(list(rates), 100, 1, None, search)}
    assert last["fast"].executions == 1_000_000  # the others then had the whole time
    assert last["slow"].seconds == pytest.approx(49.5)
    assert last["failing"].findings == ["it"]

    clock[0], rates["slow"], rates["failing"] = 0.0, 1_000_000, 1_000_000
    turns.clear()
    last = {outcome.target: outcome for outcome in schedule.schedule(list(rates), 100, 1, None, search)}
    assert sum(outcome.seconds for outcome in last.values()) == pytest.approx(100)
    assert turns[:3] == [("fast", 1), ("slow", 1), ("failing", 1)]
    assert [name for name, _ in turns[3:]] == ["fast", "slow"]  # with other seeds, without the targets that failed
    assert all(seed != 1 for _, seed in turns[3:])
