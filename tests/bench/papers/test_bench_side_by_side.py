"""bench/papers/side_by_side.py: the page has the figures of the files, and each paper's table is whole."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

if not (ROOT / "bench" / "results").is_dir():
    pytest.skip("the figures are in the repository alone", allow_module_level=True)

from bench.papers import side_by_side


@pytest.mark.parametrize("paper", side_by_side.PAPERS)
def test_the_page_has_the_figures_of_the_files(paper: str) -> None:
    page = side_by_side.PAGE.read_text(encoding="utf-8")
    assert f"{side_by_side.mark(paper)}\n\n{side_by_side.table(paper)}\n" in page, "run side_by_side.py --mend"


def test_the_file_has_the_figures_of_the_other_files() -> None:
    assert json.loads(side_by_side.FILE.read_text(encoding="utf-8"))["rows"] == side_by_side.rows()


@pytest.mark.parametrize("paper", side_by_side.PAPERS)
def test_every_row_has_a_figure_of_the_paper_and_a_command_that_exists(paper: str) -> None:
    figures = list(side_by_side.PAPERS[paper]())
    assert len({figure.name for figure in figures}) == len(figures)
    for figure in figures:
        assert re.fullmatch(r"\d+(\.\d+)?", figure.paper), figure
        own, command = side_by_side.cells(figure)
        assert (own == side_by_side.MISSING) == (not figure.table)
        named = re.search(r"python (\S+)", command)
        assert named is None or (ROOT / named[1]).exists(), command


def test_tables_of_a_page_are_written_again() -> None:
    page = "".join(f"# {paper}\n\n{side_by_side.mark(paper)}\n\n| old |\n\nText.\n" for paper in side_by_side.PAPERS)
    made = side_by_side.mended(page)
    assert "| old |" not in made
    assert side_by_side.mended(made) == made
    assert made.count("Text.") == len(side_by_side.PAPERS)
    with pytest.raises(ValueError, match="must have one line"):
        side_by_side.mended("no tables")
