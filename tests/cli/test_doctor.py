"""`pychunk doctor` says what an installation has, lacks and has broken, and how to mend it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import pychunk
from pychunk._util.checksums import sha256
from pychunk.cli import doctor
from pychunk.cli.main import app

MODEL = "pychunk/models/static.npy"
REQUIRES = (
    "numpy>=1.24",
    'pychunk-native[io]; extra == "docs"',
    'no-such-reader<9,>=2; extra == "docs"',
    'no-such-package>=1; extra == "io"',
    'pyarrow>=18; extra == "index"',
    'broken-package; extra == "7z"',
)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that the metadata of an installed pychunk is in, first on the path of Python."""
    folder = tmp_path / "pychunk_native-0.1.0.dist-info"
    folder.mkdir()
    lines = [
        "Metadata-Version: 2.1",
        "Name: pychunk-native",
        "Version: 0.1.0",
        *(f"Requires-Dist: {r}" for r in REQUIRES),
    ]
    (folder / "METADATA").write_text("\n".join(lines) + "\n")
    (folder / "direct_url.json").write_text('{"dir_info": {}, "url": "file:///home/me/a%20checkout"}')
    model = tmp_path / MODEL
    model.parent.mkdir(parents=True)
    model.write_bytes(b"weights")
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"weights").digest()).rstrip(b"=").decode()
    (folder / "RECORD").write_text(f"{MODEL},sha256={digest},7\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    return tmp_path


def report(status: int = 0) -> dict[str, dict[str, Any]]:
    """Return the checks by part, and check the status of the command."""
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert done.exit_code == status, done.output
    said = json.loads(done.stdout)
    assert said["works"] == (status == 0)
    return {check["part"]: check for check in said["checks"]}


def test_a_report_names_what_works_and_what_installs_the_rest(installed: Path) -> None:
    found = report()
    assert found["pychunk"]["found"].endswith("installed from file:///home/me/a%20checkout")
    for part in ("python", "core", "threads", "memory", "packages", "extra index", "shipped models", "self-test"):
        assert found[part]["works"] is True, found[part]
    assert found["packages"]["found"].startswith("numpy ")
    lacking = found["extra docs"]
    assert lacking["works"] is None
    assert lacking["found"] == "reading HTML and PDF: no-such-package, no-such-reader not installed"
    assert lacking["remedy"] == 'pip install "pychunk-native[docs]"'
    assert found["shipped models"]["found"] == "1 files, 7 bytes"


def test_a_package_that_cannot_be_imported_is_broken(installed: Path) -> None:
    (installed / "broken_package-1.0.dist-info").mkdir()
    (installed / "broken_package-1.0.dist-info" / "METADATA").write_text("Name: broken-package\nVersion: 1.0\n")
    (installed / "broken_package.py").write_text("raise OSError('libz.so: no such file')")
    broken = report(1)["extra 7z"]
    assert (broken["works"], broken["found"]) == (
        False,
        "reading .7z: cannot import broken-package: OSError: libz.so: no such file",
    )
    assert broken["remedy"] == "pip install --force-reinstall broken-package"


@pytest.mark.parametrize("damage", [lambda file: file.write_bytes(b"Weights"), Path.unlink])
def test_a_damaged_model_is_broken(installed: Path, damage: Any) -> None:
    damage(installed / MODEL)
    broken = report(1)["shipped models"]
    assert broken["found"] == f"damaged or missing: {installed / MODEL}"
    assert broken["remedy"] == "pip install --force-reinstall --no-deps '/home/me/a checkout'"


def test_a_damaged_model_of_the_cache_is_named(installed: Path) -> None:
    folder = installed / "cache" / "models" / "mine"
    folder.mkdir(parents=True)
    (folder / "pychunk.json").write_text("{")
    broken = report(1)["model mine"]
    assert "is damaged" in broken["found"]
    assert broken["remedy"] == "pychunk model get mine"


def test_wrong_chunks_are_broken(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.SPANS, "sentence", ({}, [(0, 1)]))
    assert report(1)["self-test"]["found"].startswith("sentence cuts at [(0, 32), (33, 59)")


def test_the_table_has_a_line_for_each_part_and_one_for_each_remedy(installed: Path) -> None:
    lines = CliRunner().invoke(app, ["doctor"]).stdout.splitlines()
    assert lines[0].startswith("ok     pychunk")
    at = next(i for i, line in enumerate(lines) if line.startswith("-      extra docs"))
    assert lines[at + 1].strip() == 'pip install "pychunk-native[docs]"'


def test_a_source_folder_says_that_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISTRIBUTION", "no-such-distribution")
    found = report()
    assert "not installed" in found["pychunk"]["found"]
    assert found["extras"]["works"] is None
    assert found["shipped models"]["works"] is None
    assert found["shipped models"]["found"] == "not checked, because pychunk is not installed"
    assert found["model static"]["works"] is True  # by the checksum next to it


def test_models_are_listed_with_their_checksums(installed: Path) -> None:
    found = report()
    folder = Path(str(pychunk.__file__)).parent / "models"
    for name, file in (("static", "static.npy"), ("topic", "topic.npz"), ("rank", "rank.npz")):
        assert found[f"model {name}"]["found"].endswith(f"SHA-256 {sha256(folder / file)[:16]}")
    weights = {path.stem for path in folder.glob("*.np[yz]")} | {path.parent.name for path in folder.glob("*/*.npz")}
    assert {f"model {name}" for name in weights} <= found.keys()


@pytest.mark.parametrize("damage", ["weights", "facts"])
def test_a_shipped_model_that_differs_from_its_checksum_is_broken(
    installed: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = installed / "models"
    models.mkdir()
    for file in ("rank.npz", "rank.json"):
        shutil.copy(Path(str(pychunk.__file__)).parent / "models" / file, models)
    monkeypatch.setattr(doctor.static_encoder, "SHIPPED", models)
    assert [check.works for check in doctor._models() if check.part == "model rank"] == [True]
    (models / ("rank.npz" if damage == "weights" else "rank.json")).write_bytes(b"{}")
    (broken,) = (check for check in doctor._models() if check.part == "model rank")
    assert broken.works is False
    assert "is damaged" in broken.found or "has format None" in broken.found
    assert broken.remedy == "pip install --force-reinstall --no-deps '/home/me/a checkout'"


@pytest.mark.parametrize(
    ("error", "works"),
    [(ImportError("it is not installed; pip install it"), None), (ValueError("it is damaged; pip install it"), False)],
)
def test_a_model_of_a_package_is_missing_or_broken(
    installed: Path, error: Exception, works: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(_: object) -> Path:
        raise error

    monkeypatch.setattr(doctor.model_packages, "folder", folder)
    found = report(1 if works is False else 0)["model nsp"]
    assert (found["works"], found["remedy"]) == (works, "pip install it")
    assert found["found"] == str(error).partition(";")[0]


def extras() -> dict[str, list[str]]:
    """Return the requirements of pychunk's extras of one line."""
    project = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    lines = re.findall(r"(?m)^([\w-]+) = \[(.*)\]$", project.partition("[project.optional-dependencies]")[2])
    return {name: re.findall(r'"([^"]+)"', line) for name, line in lines}


def packages_of(extra: str) -> set[str]:
    found = set()
    for requirement in extras()[extra]:
        name, *others = re.findall(r"[\w.-]+", requirement.partition(">")[0].partition("=")[0])
        found |= set().union(*map(packages_of, others)) if name == "pychunk-native" else {name}
    return found


def test_gpu_and_index_have_one_faiss_and_one_runtime() -> None:
    both = packages_of("gpu") | packages_of("index")
    assert [name for name in both if "faiss" in name] == ["faiss-gpu"]
    assert [name for name in both if "onnxruntime" in name] == ["onnxruntime-gpu"]
    assert [name for name in packages_of("index") | packages_of("hnsw") if "faiss" in name] == ["faiss-cpu"]


def put(site: Path, name: str) -> None:
    """Install an empty package in a folder."""
    info = site / f"{name.replace('-', '_')}-9.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 9.0\n")
    module = site.joinpath(*doctor.MODULES.get(name, name.replace("-", "_")).split("."))
    module.mkdir(parents=True)
    (module / "__init__.py").touch()


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with nothing but the metadata of pychunk, the only packages that Python has in the test."""
    info = tmp_path / "pychunk_native-0.1.0.dist-info"
    info.mkdir()
    lines = [f'Requires-Dist: {each}; extra == "{name}"' for name, all_of in extras().items() for each in all_of]
    (info / "METADATA").write_text("\n".join(["Name: pychunk-native", "Version: 0.1.0", *lines]) + "\n")
    monkeypatch.setattr(doctor.model_packages, "ROOT", tmp_path)  # without a copy of a checkout
    standard = [each for each in sys.path if "-packages" not in each]
    before = dict(sys.modules)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *standard])
    for name in {
        *map(str, doctor.MODULES.values()),
        *(n.replace("-", "_") for e in doctor.EXTRAS for n in packages_of(e)),
    }:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    for name in set(sys.modules) - set(before):
        del sys.modules[name]


@pytest.mark.slow
@pytest.mark.parametrize("extra", doctor.EXTRAS)
def test_each_extra_is_there_or_not(bare: Path, extra: str) -> None:
    def found() -> dict[str, doctor.Check]:
        return {check.part.removeprefix("extra "): check for check in doctor._packages()}

    without = found()
    assert without.keys() == {"packages", *doctor.EXTRAS}
    assert {without[each].works for each in doctor.EXTRAS} == {None}
    for name in sorted(packages_of(extra)):
        assert name in without[extra].found
        assert f'pychunk-native[{extra}]"' in without[extra].remedy
        put(bare, name)
    there = found()
    assert there[extra].works is True
    assert all(f"{name} 9.0" in there[extra].found for name in packages_of(extra))
    for other in doctor.EXTRAS:
        assert there[other].works is (True if packages_of(other) <= packages_of(extra) else None)


def test_a_checkout_has_the_model_that_an_extra_needs(bare: Path) -> None:
    (bare / "pyproject.toml").touch()
    (bare / "data" / "pychunk-nsp").mkdir(parents=True)
    found = {check.part: check for check in doctor._packages()}["extra nsp"]
    assert "pychunk-nsp" not in found.found
    assert found.remedy == "pip install onnxruntime onnx safetensors tokenizers"
    for name in packages_of("onnx"):
        put(bare, name)
    found = {check.part: check for check in doctor._packages()}["extra nsp"]
    assert (found.works, found.found.rpartition(", ")[2]) == (True, "pychunk-nsp 1.0.0")
