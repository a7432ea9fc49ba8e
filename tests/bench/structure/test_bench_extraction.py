"""bench/structure/extraction.py compares texts of articles as its measures define."""

from pathlib import Path

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):
    from bench.structure import extraction

    return extraction


def test_runs_of_four_words_are_counted_page_by_page(bench) -> None:
    assert bench.four_gram_shares(["a b c d e", "x"], ["b c d e f", "x"]).tolist() == [[1 / 3, 1 / 3, 1 / 3], [1, 0, 0]]
    found = bench.four_grams(["a b c d e", "x"], ["b c d e f", "x"])
    assert (found["4-gram F1"], found["precision"], found["recall"]) == (0.8, 0.8, 0.8)
    assert found["low"] <= found["4-gram F1"] <= found["high"]


def test_headlines_are_lines_that_say_what_the_title_or_the_first_heading_says(bench) -> None:
    html = b"<title>The river rises | Town News</title><h1>Floods: the river rises</h1><h1>Sport</h1><p>Text"
    known = bench.headlines(html)
    assert known == {
        ("the", "river", "rises", "town", "news"),
        ("the", "river", "rises"),
        ("town", "news"),
        ("floods", "the", "river", "rises"),
    }
    text = "# Floods: The river rises\n\nThe river rises in the hills.\nTHE RIVER RISES\n# Sport\n"
    assert bench.body(text, known).split("\n") == ["", "The river rises in the hills.", "# Sport", ""]
    assert bench.headlines(b"") == set()
