"""The saved figures of `pychunk bench --save` and `--compare`, and the copy of the package next to them."""

import json
import os
import sys
from pathlib import Path

import pytest
from bench_stubs import FAST, base_of, flat, stub
from command_line import invoke

import pychunk
from pychunk.benchmark import baseline, launch, measure, package_copies

PARENT = Path(pychunk.__file__).resolve().parents[1]


def a_run(cost: float = 1.0) -> measure.Run:
    return measure.Run({"cpu": "x"}, {"pic": flat(cost)}, {"pic": "abc"})


def test_a_saved_run_comes_back(tmp_path: Path) -> None:
    base = baseline.Base(a_run(), {"pic": "def"}, "0123")
    baseline.save(tmp_path / "base.json", base)
    assert baseline.load(tmp_path / "base.json") == base
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
        (lambda found: json.dumps(found).replace("[1.0, ", "[", 1), "one number for each round"),
        (lambda found: json.dumps(found).replace("1.0", "0.0"), "times must be above 0, got 0"),
    ],
)
def test_files_that_cannot_be_used_say_why(tmp_path: Path, change, message: str) -> None:
    path = tmp_path / "base.json"
    baseline.save(path, baseline.Base(a_run(), {"pic": "def"}))
    path.write_text(change(json.loads(path.read_text())))
    with pytest.raises(ValueError, match=message):
        baseline.load(path)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("copy") / "base.json.pychunk.zip"
    return path, package_copies.keep(launch.this_installation(), path)


@pytest.mark.slow
def test_a_copy_runs_in_place_of_this_package(copied: tuple[Path, str]) -> None:
    with package_copies.unpacked(*copied) as package:
        assert package != PARENT / "pychunk"
        with launch.Process(launch.copied_installation(package), [], "") as process:
            assert process.about["facts"]["package"] == str(package)
            assert process.about["facts"]["pychunk"] == pychunk.backend()["version"]
    assert not package.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), "is not the copy that was saved"),
    ],
)
def test_a_copy_that_is_not_the_bases_is_refused(tmp_path: Path, copied: tuple[Path, str], change, message) -> None:
    path = tmp_path / "base.json.pychunk.zip"
    path.write_bytes(copied[0].read_bytes())
    change(path)
    with pytest.raises(ValueError, match=message), package_copies.unpacked(path, copied[1]):
        pass
    with pytest.raises(ValueError, match="without a copy"), package_copies.unpacked(path, ""):
        pass


@pytest.mark.slow
def test_the_copy_is_what_a_run_is_compared_with(tmp_path: Path, base: str) -> None:
    """The copy holds a faster stub with wrong chunks; the figures next to it would raise no alarm."""
    path = tmp_path / "base.json"
    other = launch.Installation(sys.executable, str(stub(tmp_path / "stub", FAST) / "pychunk"))
    found = {**json.loads(base), "copy": package_copies.keep(other, package_copies.path_of(path))}
    path.write_text(json.dumps(found))
    base_of(path, 0.01)
    result = invoke(["bench", "--only", "latency", "--rounds", "2", "--compare", str(path)])
    assert result.exit_code == 1, result.output
    assert "the base gives other chunks" in result.stdout
    assert "older figures" not in result.stderr


@pytest.mark.parametrize("when", ["imported", pytest.param("run", marks=pytest.mark.slow)])
def test_a_copy_that_cannot_run_leaves_the_figures(
    tmp_path: Path, base: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "TIMINGS", 2)
    path = tmp_path / "base.json"
    broken = stub(tmp_path / "stub", "raise TypeError('built for another Python')") / "pychunk"
    if when == "imported":
        (broken / "__init__.py").write_text("raise ImportError('built for another Python')\n")
    digest = package_copies.keep(launch.Installation(sys.executable, str(broken)), package_copies.path_of(path))
    path.write_text(json.dumps({**json.loads(base), "copy": digest}))
    base_of(path, 0.01)
    result = invoke(["bench", "--only", "latency", "--rounds", "2", "--compare", str(path)])
    assert result.exit_code == 0, result.output
    assert "improved" in result.stdout
    told = " ".join(result.stderr.split())
    assert "built for another Python" in told
    assert "; therefore this compares with older figures" in told


def test_every_base_has_a_copy_of_its_own() -> None:
    names = ["v1.2", "v1.3", "v1", "v1.json"]
    assert len({package_copies.path_of(Path(name)) for name in names}) == len(names)


def test_files_of_any_age_are_copied(tmp_path: Path) -> None:
    """Some package managers set every time to 1970."""
    package = stub(tmp_path, "pass") / "pychunk"
    os.utime(package / "__init__.py", (1, 1))
    digest = package_copies.keep(launch.Installation(sys.executable, str(package)), tmp_path / "copy.zip")
    with package_copies.unpacked(tmp_path / "copy.zip", digest) as found:
        assert (found / "__init__.py").read_bytes() == (package / "__init__.py").read_bytes()


@pytest.mark.slow
def test_without_room_for_a_copy_the_figures_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(package_copies, "keep", full)
    arguments = ["bench", "--only", "latency", "--rounds", "1", "--save", str(tmp_path / "base.json")]
    result = invoke(arguments)
    assert result.exit_code == 0, result.output
    assert "No space left on device" in " ".join(result.stderr.split())
    assert baseline.load(tmp_path / "base.json").copy == ""
