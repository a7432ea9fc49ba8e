"""Documented commands print the figures of the pages; the hash of a commit chooses the commands that run."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from test_figures import ROOT, script

if not (ROOT / "bench" / "results").is_dir():
    pytest.skip("the figures are in the repository alone", allow_module_level=True)


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    return script("figures")


def results(hits: float = 0.8125) -> dict[str, Any]:
    def row(name: str, mean: float) -> dict[str, Any]:
        interval = {"mean": mean, "low": mean - 0.01, "high": mean + 0.01}
        return {"name": name, "measures": {"strict hits@1": interval}, "cost": {"words a chunk": 89.6}}

    gain = {"measure": "strict hits@1", "row": "x:size=1, dense", "mean": -0.1, "low": -0.15, "high": -0.05}
    return {"rows": [row("x:size=1, hybrid", hits), row("x:size=1, dense", hits - 0.1)], "differences": [gain]}


PLACES = [
    ("page.md", "| both | {hybrid|strict hits@1:.3f} |"),
    ("page.md", "{x:size=1, hybrid|words a chunk:.0f} words, Hits@1 {hybrid|strict hits@1:.2f}"),
    ("page.md", "{dense|strict hits@1|difference mean:+.2f} ({dense|strict hits@1|difference low:.2f} to"),
]
PAGE = "| both | 0.812 |\n\nOf 90 words,\nHits@1 0.81, by vectors\n-0.10 (-0.15 to -0.05).\n"


def line(figures: ModuleType, **more: Any) -> Any:
    return figures.Line("pychunk eval x", "x", 1.0, PLACES, **more)


def test_a_page_is_held_to_what_is_printed(figures: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert figures.problems(line(figures), results(), tmp_path) == []
    for right, wrong in [("0.812", "0.813"), ("90 words", "91 words"), ("-0.15", "-0.16"), ("-0.10", "+0.10")]:
        page.write_text(PAGE.replace(right, wrong))
        (problem,) = figures.problems(line(figures), results(), tmp_path)
        assert (right in problem.printed, wrong in " ".join(problem.stands.split())) == (True, True)
    page.write_text("another text")
    assert len(figures.problems(line(figures), results(), tmp_path)) == 3


def test_a_page_is_given_what_is_printed(figures: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    figures.mend(line(figures), results(0.71), tmp_path)
    assert page.read_text() == PAGE.replace("0.812", "0.710").replace("0.81,", "0.71,")
    page.write_text("another text")
    with pytest.raises(ValueError, match="nothing like"):
        figures.mend(line(figures), results(), tmp_path)


def test_a_file_of_figures_is_held_to_what_is_printed(figures: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    folder = tmp_path / "bench" / "results"
    folder.mkdir(parents=True)
    rows = [{"row": row["name"], "measures": row["measures"]} for row in results()["rows"]]
    (folder / "x.json").write_text(json.dumps({"rows": rows}))
    assert figures.problems(line(figures, file="x.json"), results(), tmp_path) == []
    rows[1]["measures"]["strict hits@1"]["mean"] += 0.001
    (folder / "x.json").write_text(json.dumps({"rows": rows}))
    (problem,) = figures.problems(line(figures, file="x.json"), results(), tmp_path)
    assert "x:size=1, dense, strict hits@1" in problem.page


def test_a_commit_chooses_the_same_lines_each_time_and_others_choose_others(figures: ModuleType) -> None:
    commits = [f"{number:040x}" for number in range(200)]
    seen = set()
    for commit in commits:
        own = figures.chosen(figures.LINES, commit)
        assert own == figures.chosen(list(reversed(figures.LINES)), commit)
        assert own
        assert sum(each.seconds for each in own) <= figures.BUDGET
        seen |= {each.command for each in own}
    assert seen == {each.command for each in figures.LINES}
    assert len({tuple(each.command for each in figures.chosen(figures.LINES, one)) for one in commits}) > 50


def test_every_place_is_on_its_page(figures: ModuleType) -> None:
    import re

    for each in figures.LINES:
        assert each.places
        for page, template in each.places:
            text = (ROOT / page).read_text(encoding="utf-8")
            assert len(re.findall(figures.pattern(template), text)) == 1, f"{page}: {template}"


@pytest.mark.slow
def test_the_script_fails_on_a_wrong_figure_and_tells_it(data: Path, tmp_path: Path) -> None:
    for name in ("docs", "bench/results"):
        shutil.copytree(ROOT / name, tmp_path / name)
    command = [sys.executable, str(ROOT / "bench" / "figures.py"), "--root", str(tmp_path)]
    command += ["--match", "chunking_evaluation/ -m recursive:size=110 -m pic"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    page = tmp_path / "docs" / "evaluation.md"
    text = page.read_text(encoding="utf-8")
    at = text.index("IoU at 5 is 0.") + len("IoU at 5 is 0.")
    page.write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :], encoding="utf-8")
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 1
    assert "WRONG" in out.stdout
    assert "its command prints: IoU at 5 is" in out.stdout
