"""`pychunk doctor` says what an installation has, lacks and has broken, and how to mend it."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

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
    assert found["shipped models"]["found"] == "not checked"
