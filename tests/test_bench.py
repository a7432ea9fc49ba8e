"""`pychunk bench`: texts and answers, statistics on made-up noise, the saved file, exit statuses."""

import hashlib
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import pychunk
from pychunk import bench_cli
from pychunk.benchmark import compare, copies, estimates, launch, measure, report, saved, workloads
from pychunk.benchmark.calibration import Calibration
from pychunk.benchmark.texts import Author, corpora
from pychunk.cli import app

RUNNER = CliRunner()
PARENT = Path(pychunk.__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    return corpora()


# texts and workloads


def test_the_texts_are_those_recorded(texts: dict[str, list[str]]) -> None:
    """Figures of different machines and commits are of the same text; changing it makes saved files incomparable."""
    found = {name: hashlib.sha256("\0".join(each).encode()).hexdigest()[:16] for name, each in texts.items()}
    assert found == {
        "articles": "355c9fc0222604ce",
        "few": "a5cf5e47ab75cb6a",
        "large": "70d83551eb8db2fc",
        "tiny": "e31aeceab0b80e43",
        "small": "ecab56b3c95cfb04",
        "leaflet": "e841b8a850d345b0",
    }


def test_the_texts_are_like_english(texts: dict[str, list[str]]) -> None:
    joined = texts["large"][0]
    sentences = pychunk.sentences(texts["few"])
    lengths = [end - start for document in sentences for start, end in document]
    assert 60 < statistics.median(lengths) < 160
    assert 0.001 < sum(not character.isascii() for character in joined) / len(joined) < 0.05
    assert joined.count("\n\n") > 150
    words = joined.lower().split()
    assert 0.005 < words.count("the") / len(words) < 0.2


@given(st.integers(0, 2**32), st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_a_seed_writes_the_same_document_again(seed: int, sections: int) -> None:
    document = Author(seed).document(sections)
    assert document == Author(seed).document(sections)
    assert document.count("\n\n") >= 3 * sections - 1  # a heading and at least two paragraphs each
    assert not any(line != line.strip() for line in document.splitlines())


@pytest.mark.parametrize("name", workloads.WORKLOADS)
def test_every_workload_gives_the_recorded_answer(name: str, texts: dict[str, list[str]]) -> None:
    if name == "nsp":
        pytest.importorskip("onnxruntime")
    workload = workloads.WORKLOADS[name]
    documents = texts[workload.corpus]
    found = workload.prepare(documents)()
    assert workload.check(found, documents) == workload.answer
    workloads.check_tiling(workloads.spans_of(found), documents)


def test_another_cut_gives_another_hash(texts: dict[str, list[str]]) -> None:
    few = texts["small"]
    hashes = set()
    for options in ({"size": 40}, {"size": 41}, {"size": 41, "vectors": "sentence"}):
        found = pychunk.segment(few, "fixed", unit="tokens", **options)
        hashes.add(workloads.hash_of(workloads.spans_of(found), found))
    assert len(hashes) == 3


@pytest.mark.parametrize(
    "spans", [[], [(0, 0, 5)], [(0, 2, 10)], [(0, 0, 5), (0, 4, 10)], [(0, 0, 4), (0, 6, 10)], [(0, 6, 10), (0, 0, 5)]]
)
def test_what_does_not_tile_is_refused(spans: list[tuple[int, int, int]]) -> None:
    with pytest.raises(ValueError, match="document 0 is not tiled"):
        workloads.check_tiling(np.array(spans, dtype=np.int64).reshape(-1, 3), ["abcde fghi"])
    workloads.check_tiling(np.array([(0, 0, 5), (0, 6, 10)]), ["abcde fghi"])


def test_definitions_differ_where_timed_work_differs(texts: dict[str, list[str]]) -> None:
    found = {name: each.definition(texts[each.corpus]) for name, each in workloads.WORKLOADS.items()}
    assert len(set(found.values())) == len(found)
    assert found["pic"] != workloads.WORKLOADS["pic"].definition(texts["few"])


def test_calibration_takes_time() -> None:
    assert 1e-5 < Calibration().seconds(2) < 1


# statistics

FIGURES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30)


TRIMS = st.sampled_from([estimates.OF_TIMES, estimates.OF_RATIOS])


@given(FIGURES, TRIMS)
def test_a_trimmed_mean_is_that_of_the_figures_kept(values: list[float], trim: tuple[float, float]) -> None:
    """Beside an obvious reference: drop one by one from either end."""
    left = sorted(values)
    for _ in range(int(trim[1] * len(values))):
        if len(left) > 2:
            left.pop()
    for _ in range(int(trim[0] * len(values))):
        left.pop(0)
    assert math.isclose(estimates.trimmed_mean(values, trim), sum(left) / len(left), rel_tol=1e-9)


@given(st.lists(st.floats(1, 2), min_size=10, max_size=30), st.floats(10, 1e9), TRIMS, st.randoms())
def test_one_figure_can_be_anything(
    values: list[float], factor: float, trim: tuple[float, float], shuffle: random.Random
) -> None:
    for outlier in (factor, 1 / factor):
        spoiled = [*values[:-1], outlier]
        shuffle.shuffle(spoiled)
        assert 1 <= estimates.trimmed_mean(spoiled, trim) <= 2
        assert estimates.standard_error(spoiled, trim) <= 1


@given(st.lists(st.floats(1, 2), min_size=2, max_size=3, unique=True), TRIMS)
def test_few_figures_are_not_taken_for_certain(values: list[float], trim: tuple[float, float]) -> None:
    assert estimates.standard_error(values, trim) > 0


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.5, 2)), min_size=2, max_size=20), st.floats(0.5, 2))
def test_what_both_of_a_pair_meet_cancels(pairs: list[tuple[float, float]], factor: float) -> None:
    base = [cost * noise for cost, noise in pairs]
    found = estimates.mean_of_ratios([factor * value for value in base], base)
    assert all(math.isclose(value, factor, rel_tol=1e-6) for value in (found.value, found.low, found.high))


def test_a_single_figure_says_nothing_of_its_noise() -> None:
    assert estimates.ratio_of_means([2.0], [1.0]) == estimates.Ratio(2.0, 0.0, math.inf)


def noisy(random: np.random.Generator, cost: float, rounds: int, deviation: float = 0.04) -> measure.Figures:
    """Processes that differ by 4 %, as the noisiest workloads' do, one in ten of them in a burst, on a drifting CPU."""
    speed = 1 + 0.3 * random.random(rounds)
    burst = np.where(random.random(rounds) < 0.1, 1 + random.random(rounds), 1)
    cpu = cost * speed * burst * np.exp(deviation * random.normal(size=rounds))
    return measure.Figures(cpu.tolist(), (cpu * 1.1).tolist(), speed.tolist(), [0.1] * rounds)


def test_intervals_hold_what_they_say() -> None:
    random = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        found = compare.by_calibration(noisy(random, 1.1, 10), noisy(random, 1.0, 10))
        held += found.low <= 1.1 <= found.high
    assert held / 400 >= 0.93


@pytest.mark.parametrize(("cost", "least", "most"), [(1.0, 0, 0.002), (0.9, 0, 0), (1.15, 0.95, 1), (1.3, 0.99, 1)])
def test_noise_raises_no_alarm_and_slowdowns_do(cost: float, least: float, most: float) -> None:
    random = np.random.default_rng(2)
    alarms = 0
    for _ in range(500):
        base, new, second = (
            {"pic": noisy(random, each, rounds)} for each, rounds in ((1.0, 10), (cost, 10), (cost, 15))
        )
        again = lambda names, found=(second, base): found  # noqa: E731
        found = compare.verdicts(new, base, compare.by_calibration, 0.1, again)
        alarms += found[0].status == "regressed"
    assert least <= alarms / 500 <= most


def flat(cost: float) -> measure.Figures:
    return measure.Figures([cost] * 5, [cost] * 5, [1.0] * 5, [0.25] * 5)


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        (1.0, None, "unchanged"),
        (1.04, None, "unchanged"),
        (0.95, None, "unchanged"),
        (0.8, None, "improved"),
        (1.06, 1.12, "regressed"),
        (1.5, 1.02, "unchanged"),
        (1.5, 1.5, "regressed"),
        (1.2, 0.8, "improved"),
    ],
)
def test_the_second_measurement_decides(first: float, second: float | None, status: str) -> None:
    asked = []

    def again(names: list[str]) -> tuple[dict[str, measure.Figures], dict[str, measure.Figures]]:
        asked.extend(names)
        return {"pic": flat(second or 0)}, {"pic": flat(1.0)}

    new, base = {"pic": flat(first), "same": flat(3.0)}, {"pic": flat(1.0), "same": flat(3.0), "gone": flat(1.0)}
    found = {each.name: each for each in compare.verdicts(new, base, compare.by_pairs, 0.1, again)}
    assert asked == ([] if second is None else ["pic"])
    assert found["pic"].status == status
    assert math.isclose(found["pic"].ratio.value, first if second is None else second)
    assert (found["pic"].first is not None) == (second is not None)
    assert found["same"].status == "unchanged"


def test_a_busy_machine_raises_no_alarm_that_its_load_explains() -> None:
    quiet, busy = flat(1.0), flat(1.12)
    assert compare.status_of(compare.by_calibration(busy, quiet), 0.1) == "regressed"
    busy.waiting = [0.8] * 5
    assert compare.status_of(compare.by_calibration(busy, quiet), 0.1) == "unclear"
    slow = measure.Figures([1.4] * 5, [1.4] * 5, [1.0] * 5, [0.8] * 5)
    assert compare.status_of(compare.by_calibration(slow, quiet), 0.1) == "regressed"


@given(st.lists(st.tuples(st.floats(0.001, 10), st.floats(0, 10)), min_size=1, max_size=20))
def test_a_round_keeps_the_fastest_timing_and_the_share_of_waiting(timings: list[tuple[float, float]]) -> None:
    figures = measure.Figures()
    figures.add([{"cpu": cpu, "wall": cpu + waited, "calibration": 2 * cpu} for cpu, waited in timings])
    assert figures.cpu == [min(cpu for cpu, _ in timings)]
    assert figures.costs == [0.5]
    cpu, waited = (sum(each) for each in zip(*timings))
    assert math.isclose(figures.waiting[0], waited / (cpu + waited), abs_tol=1e-9)


def test_noise_wider_than_the_slowdown_is_unclear() -> None:
    assert compare.status_of(estimates.Ratio(1.2, 0.9, 1.6), 0.1) == "unclear"
    assert compare.status_of(estimates.Ratio(0.7, 0.4, 1.2), 0.1) == "unchanged"


@given(FIGURES, st.floats(0.5, 2))
def test_spread_is_relative(values: list[float], factor: float) -> None:
    assert math.isclose(
        report.spread([factor * value for value in values]), report.spread(values), rel_tol=1e-6, abs_tol=1e-9
    )


# the saved file


def a_run(cost: float = 1.0) -> measure.Run:
    return measure.Run({"cpu": "x"}, {"pic": flat(cost)}, {"pic": "abc"})


def test_a_saved_run_comes_back(tmp_path: Path) -> None:
    base = saved.Base(a_run(), {"pic": "def"}, "0123")
    saved.save(tmp_path / "base.json", base)
    assert saved.load(tmp_path / "base.json") == base
    assert [path.name for path in tmp_path.iterdir()] == ["base.json"]
    assert json.loads((tmp_path / "base.json").read_text())["format"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: "{", "is not JSON"),
        (lambda found: "[]", "has format None"),
        (lambda found: json.dumps({**found, "format": 2}), "has format 2, but this pychunk reads 1"),
        (lambda found: json.dumps({"format": 1}), "is damaged"),
        (lambda found: json.dumps({**found, "workloads": {"pic": {}}}), "is damaged"),
        (lambda found: json.dumps(found).replace("[1.0, ", "[", 1), "one number a round"),
        (lambda found: json.dumps(found).replace("1.0", "0.0"), "times must be positive"),
    ],
)
def test_files_that_cannot_be_used_say_why(tmp_path: Path, change, message: str) -> None:
    path = tmp_path / "base.json"
    saved.save(path, saved.Base(a_run(), {"pic": "def"}))
    path.write_text(change(json.loads(path.read_text())))
    with pytest.raises(ValueError, match=message):
        saved.load(path)


# the copy of the base's package


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("copy") / "base.json.pychunk.zip"
    return path, copies.keep(launch.this_installation(), path)


def test_a_copy_runs_in_place_of_this_package(copied: tuple[Path, str]) -> None:
    with copies.unpacked(*copied) as package:
        assert package != PARENT / "pychunk"
        with launch.Process(launch.copied_installation(package), [], "") as process:
            assert process.about["facts"]["package"] == str(package)
            assert process.about["facts"]["pychunk"] == pychunk.backend()["version"]
    assert not package.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "is not there"),
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), "is not the copy that was saved"),
    ],
)
def test_a_copy_that_is_not_the_bases_is_refused(tmp_path: Path, copied: tuple[Path, str], change, message) -> None:
    path = tmp_path / "base.json.pychunk.zip"
    path.write_bytes(copied[0].read_bytes())
    change(path)
    with pytest.raises(ValueError, match=message), copies.unpacked(path, copied[1]):
        pass
    with pytest.raises(ValueError, match="without a copy"), copies.unpacked(path, ""):
        pass


def test_the_copy_is_what_a_run_is_compared_with(tmp_path: Path, base: str) -> None:
    """A faster stub, whose chunks are wrong, lies in the copy; the figures beside it would raise no alarm."""
    path = tmp_path / "base.json"
    other = launch.Installation(sys.executable, str(stub(tmp_path / "stub", FAST) / "pychunk"))
    found = {**json.loads(base), "copy": copies.keep(other, copies.path_of(path))}
    path.write_text(json.dumps(found))
    base_of(path, 0.01)
    result = RUNNER.invoke(app, ["bench", "--only", "latency", "--rounds", "2", "--compare", str(path)])
    assert result.exit_code == 1, result.output
    assert "the base gives other chunks" in result.stdout
    assert "figures of another time" not in result.stderr


@pytest.mark.parametrize("when", ["imported", "run"])
def test_a_copy_that_cannot_run_leaves_the_figures(tmp_path: Path, base: str, when: str) -> None:
    path = tmp_path / "base.json"
    broken = stub(tmp_path / "stub", "raise TypeError('built for another Python')") / "pychunk"
    if when == "imported":
        (broken / "__init__.py").write_text("raise ImportError('built for another Python')\n")
    digest = copies.keep(launch.Installation(sys.executable, str(broken)), copies.path_of(path))
    path.write_text(json.dumps({**json.loads(base), "copy": digest}))
    base_of(path, 1 / 3)
    result = RUNNER.invoke(app, ["bench", "--only", "latency", "--rounds", "2", "--compare", str(path)])
    assert result.exit_code == 0, result.output
    assert "improved" in result.stdout
    told = " ".join(result.stderr.split())
    assert "built for another Python" in told
    assert "; so this compares with figures of another time" in told


def test_every_base_has_a_copy_of_its_own() -> None:
    names = ["v1.2", "v1.3", "v1", "v1.json"]
    assert len({copies.path_of(Path(name)) for name in names}) == len(names)


def test_files_of_any_age_are_copied(tmp_path: Path) -> None:
    """Some package managers set every time to 1970."""
    package = stub(tmp_path, "pass") / "pychunk"
    os.utime(package / "__init__.py", (1, 1))
    digest = copies.keep(launch.Installation(sys.executable, str(package)), tmp_path / "copy.zip")
    with copies.unpacked(tmp_path / "copy.zip", digest) as found:
        assert (found / "__init__.py").read_bytes() == (package / "__init__.py").read_bytes()


def test_without_room_for_a_copy_the_figures_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(copies, "keep", full)
    arguments = ["bench", "--only", "latency", "--rounds", "1", "--save", str(tmp_path / "base.json")]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "No space left on device" in " ".join(result.stderr.split())
    assert saved.load(tmp_path / "base.json").copy == ""


# the command


def base_of(path: Path, factor: float, **changes: str) -> None:
    """Divides the saved times, so that the run to come is slower by `factor`, and changes entries of its workload."""
    found = json.loads(path.read_text())
    for entry in found["workloads"].values():
        entry["cpu"] = [value / factor for value in entry["cpu"]]
        entry.update(changes)
    path.write_text(json.dumps(found))


#: A segmenter that gives one empty chunk.
FAST = (
    "import pyarrow as pa\n    t = pa.table({name: pa.array([0]) for name in ('document', 'start', 'end')})\n"
    "    class Found:\n        table = t\n    return lambda batch: Found"
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bench") / "base.json"
    result = RUNNER.invoke(app, ["bench", "--only", "latency", "--rounds", "2", "--save", str(path)])
    assert result.exit_code == 0, result.output
    assert "latency" in result.stdout
    assert sorted(each.name for each in path.parent.iterdir()) == ["base.json", "base.json.pychunk.zip"]
    return path.read_text()


@pytest.mark.parametrize(
    ("factor", "changes", "status", "printed"),
    [
        (3.0, {}, 1, "1 of 1 slower by more than 10 %: latency"),
        (1 / 3, {}, 0, "improved"),
        (3.0, {"definition": "other"}, 0, "redefined"),
        (1 / 3, {"answer": "other"}, 0, "the base gives other chunks"),
    ],
)
def test_exit_statuses(tmp_path: Path, base: str, factor: float, changes: dict, status: int, printed: str) -> None:
    path = tmp_path / "base.json"
    path.write_text(base)
    base_of(path, factor, **changes)
    result = RUNNER.invoke(app, ["bench", "--only", "latency", "--rounds", "2", "--compare", str(path)])
    assert result.exit_code == status, result.output
    assert printed in result.stdout


def test_missing_and_new_workloads_are_listed_as_json(tmp_path: Path, base: str) -> None:
    path = tmp_path / "base.json"
    found = json.loads(base)
    found["workloads"] = {"semantic": found["workloads"]["latency"]}
    found["facts"]["cpu"] = "another"
    path.write_text(json.dumps(found))
    result = RUNNER.invoke(app, ["bench", "--only", "latency", "--rounds", "1", "--compare", str(path), "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert [(each["name"], each["status"]) for each in printed["comparison"]] == [("latency", "new")]
    assert printed["workloads"]["latency"]["unit"] == "ms"
    assert any("another CPU" in note for note in printed["notes"])


def test_a_wrong_answer_names_the_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    wrong = dataclasses.replace(workloads.WORKLOADS["latency"], answer="0" * 16)
    monkeypatch.setitem(workloads.WORKLOADS, "latency", wrong)
    result = RUNNER.invoke(app, ["bench", "--only", "latency", "--rounds", "1"])
    assert result.exit_code == 2
    assert "workload latency gave a wrong answer" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "fast"], "--only must name workloads (sentence,"),
        (["--max-regression", "much"], "--max-regression must be a percentage"),
        (["--max-regression", "-5%"], "--max-regression must be a percentage"),
        (["--compare", "a.json", "--against", "python"], "give one of them"),
        (["--compare", "absent.json"], "No such file"),
        (["--against", "absent"], "no Python interpreter at 'absent'"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(app, ["bench", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", "")


@pytest.mark.parametrize(("text", "share"), [("10%", 0.1), ("0.1", 0.1), (" 7.5 % ", 0.075)])
def test_percentages(text: str, share: float) -> None:
    assert math.isclose(bench_cli._share(text), share)


def test_listing() -> None:
    result = RUNNER.invoke(app, ["bench", "--list"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(workloads.WORKLOADS)


# another installation


def interpreter(folder: Path, path: Path) -> Path:
    """A virtual environment's folder whose interpreter finds pychunk in `path`."""
    (folder / "bin").mkdir(parents=True)
    file = folder / "bin" / "python"
    file.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" "$@"\n')
    file.chmod(0o755)
    return folder


def stub(folder: Path, segmenter: str) -> Path:
    """A folder with another pychunk."""
    (folder / "pychunk").mkdir(parents=True)
    code = f"def backend():\n    return {{'version': '0.0'}}\n\n\ndef Segmenter(*_, **__):\n    {segmenter}\n"
    (folder / "pychunk" / "__init__.py").write_text(code)
    return folder


def test_the_same_code_in_another_environment_is_no_regression(tmp_path: Path) -> None:
    other = interpreter(tmp_path / "venv", PARENT)
    arguments = ["bench", "--only", "latency", "--rounds", "2", "--against", str(other), "--max-regression", "100%"]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "none of 1 is slower" in result.stdout
    assert "both interpreters import the same pychunk" in result.stderr.replace("\n", " ")


def test_the_other_package_is_the_one_timed(tmp_path: Path) -> None:
    """A faster stub, whose chunks are wrong: the workloads come from here, the package from there."""
    other = interpreter(tmp_path / "venv", stub(tmp_path / "stub", FAST))
    result = RUNNER.invoke(app, ["bench", "--only", "latency", "--rounds", "2", "--against", str(other)])
    assert result.exit_code == 1, result.output
    assert "the base gives other chunks" in result.stdout


def test_a_base_that_lacks_a_method_compares_the_rest(tmp_path: Path) -> None:
    other = interpreter(tmp_path / "venv", stub(tmp_path / "stub", "raise ValueError('unknown method [onnx]')"))
    result = RUNNER.invoke(app, ["bench", "--only", "latency", "--rounds", "1", "--against", str(other)])
    assert result.exit_code == 0, result.output
    assert "new" in result.stdout
    assert "ValueError: unknown method [onnx]" in " ".join(result.stdout.split())


def test_an_interpreter_without_pychunk_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty" / "pychunk").mkdir(parents=True)
    (tmp_path / "empty" / "pychunk" / "__init__.py").write_text("raise ImportError('no such thing')\n")
    other = interpreter(tmp_path / "venv", tmp_path / "empty")
    result = RUNNER.invoke(app, ["bench", "--against", str(other)])
    assert result.exit_code == 2
    assert "ImportError: no such thing" in result.stderr.replace("\n", "")


def test_a_process_takes_the_package_that_it_was_given(tmp_path: Path) -> None:
    """PYTHONPATH points at a stub first; the process must time the installation asked for."""
    shadow = stub(tmp_path / "shadow", "raise ValueError('the wrong package')")
    found = launch.Installation(str(interpreter(tmp_path / "venv", shadow) / "bin" / "python"), str(PARENT / "pychunk"))
    with launch.Process(found, [], "") as process:
        assert process.about["facts"]["package"] == str(PARENT / "pychunk")


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
        # Where the tests run in the background of a shell, interrupts are ignored, and children inherit that.
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
    until = time.monotonic() + 30  # a process that was just being started ends by itself
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in children)
