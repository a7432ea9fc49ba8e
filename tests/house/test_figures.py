"""Figures of the documentation: each file states how it was made, and pages of results equal the files."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "bench" / "results"

if not FILES.is_dir():
    pytest.skip("the figures are in the repository alone", allow_module_level=True)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"bench_{name}", ROOT / "bench" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(root / "bench" / "results.py"), "--check"], capture_output=True, text=True, check=False
    )


def test_the_page_of_results_is_that_of_the_files() -> None:
    out = check(ROOT)
    assert out.returncode == 0, out.stdout


def test_shares_that_pages_quote_are_in_the_page_of_results() -> None:
    results = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "results").glob("*.md"))
    quoted = 0
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))):
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for figure in re.findall(r"(?<![\w.-])\d\.\d{3,}(?!\d)", text):
            quoted += 1
            assert figure in results, f"{page.name}: {figure}"
    assert quoted > 50


def test_another_figure_makes_the_page_stale(tmp_path: Path) -> None:
    shutil.copytree(FILES, tmp_path / "bench" / "results")
    shutil.copy(ROOT / "bench" / "results.py", tmp_path / "bench")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "docs" / "results", tmp_path / "docs" / "results")
    shutil.copy(ROOT / "docs" / "results.md", tmp_path / "docs")
    assert check(tmp_path).returncode == 0
    linear = tmp_path / "bench" / "results" / "linear.json"
    found = json.loads(linear.read_text(encoding="utf-8"))
    found["rows"][0]["seconds"] += 1
    linear.write_text(json.dumps(found), encoding="utf-8")
    out = check(tmp_path)
    assert out.returncode == 1
    assert "stale: python bench/results.py" in out.stdout


@pytest.mark.parametrize("file", sorted(FILES.glob("*.json")), ids=lambda file: file.stem)
def test_every_file_says_how_it_came_to_be(file: Path) -> None:
    facts = json.loads(file.read_text(encoding="utf-8"))
    assert set(script("results").ABOUT) <= set(facts)
    assert facts["title"]
    assert facts["command"].split()[0] in ("python", "pychunk", "pytest")


def test_saved_figures_say_how_they_came_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = script("record")
    monkeypatch.setattr(
        sys, "orig_argv", ["/bin/python3", str(ROOT / "bench" / "x.py"), "--data", str(tmp_path / "data"), "-n", "3"]
    )
    rows, packages = [{"row": "a", "value": 1}], ["pytest", "nothing"]
    record.save(tmp_path / "new" / "x.json", "X", {"rows": rows}, packages=packages, encoder=record.shipped())
    facts = json.loads((tmp_path / "new" / "x.json").read_text(encoding="utf-8"))
    assert facts["command"] == "python bench/x.py --data data -n 3"
    assert set(facts["versions"]) == {"python", "pychunk", "numpy", "pyarrow", "pytest"}
    assert facts["encoder"] == record.shipped()
    assert "CPUs" in facts["machine"]
    assert len(facts["day"]) == 10
    assert facts["commit"] is None or len(facts["commit"].split()[0]) == 12
    assert facts["rows"] == rows
    assert list(facts) == [*script("results").ABOUT, "rows"]


def test_a_page_tells_no_encoder_from_one_that_was_not_recorded() -> None:
    results = script("results")
    lines = [results.section(Path("x.json"), {"title": "X", "encoder": each}) for each in ("a:1", "", None)]
    for text, encoder in zip(lines, ("a:1", "none", "not recorded")):
        assert f"\n- Encoder: {encoder}\n" in text


def test_tables_join_the_keys_of_nested_rows_and_write_intervals() -> None:
    results = script("results")
    rows = [
        {"row": "a|b", "modes": {"x": {"hits": {"mean": 0.5, "low": 0.25, "high": 1.0}}}},
        {"row": "<c>", "n": 12345},
    ]
    assert list(results.table(rows)) == [
        "| row | x hits | n |",
        "| --- | ---: | ---: |",
        "| a\\|b | 0.5 (0.25 to 1.0) |  |",
        "| &lt;c> |  | 12,345 |",
    ]


def test_a_file_of_another_version_is_read_and_both_are_named() -> None:
    facts = json.loads((FILES / "linear.json").read_text(encoding="utf-8"))
    results = script("results")
    assert "this is" not in results.section(FILES / "linear.json", facts)
    facts["versions"]["pychunk"] = "0.0.9"
    found = results.section(FILES / "linear.json", facts)
    assert f"\n- Measured with pychunk 0.0.9; this is {results.VERSION}\n" in found
