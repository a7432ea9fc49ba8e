"""bench/structure/thresholds.py on a few short pages removes what a threshold, and the best labels, should."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("selectolax")

from pychunk.parsing.html import noise_model

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

BODY = "Cats purr when they are at ease, and some when they are not. A cat sleeps for most of the day. "
ASIDE = "Dogs bark at the moon when nobody listens. They do so every night. "
HTML = (
    "<title>Cats</title><body><nav><ul><li><a href=/>Home and more of it</a></li></ul></nav>"
    f"<main><h1>On cats</h1><p>{BODY * 3}</p><p>{ASIDE * 3}</p><p>{BODY * 2}</p></main>"
    "<footer><p>Copyright 2026 by us, all rights reserved.</p></footer>"
)
MARKED = f"On cats\n{BODY * 3}\n{BODY * 2}"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):
    """Return the script, with the shipped networks instead of those of the folds."""
    from bench.structure import thresholds

    monkeypatch.setattr(thresholds, "fold_models", lambda *_: [noise_model.load()] * 5)
    return thresholds


def row() -> dict:
    snippets = {"must_contain": ["A cat sleeps for most of the day."], "must_not_contain": ["all rights reserved"]}
    return {
        "html": HTML.encode(),
        "main_content": MARKED,
        "page_type": "article",
        "url": "https://a.example/",
    } | snippets


def test_the_best_labels_are_those_of_the_marked_text(bench) -> None:
    page = bench.load(row(), 0, [noise_model.load()] * 5, {"blocks": 0.0, "noise": 0.0})
    gone = [page.page.text[start:end] for start, end, *_ in bench.unmarked(page)]
    assert [text.split()[1 if text.startswith("-") else 0] for text in gone] == ["Home", "Dogs", "Copyright"]


@pytest.mark.slow
def test_a_row_a_threshold_and_one_of_the_best_labels(bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wcxb").mkdir()
    table = {name: [value] * 3 for name, value in row().items()} | {
        "url": [f"https://site{n}.example/" for n in range(3)]
    }
    pq.write_table(pa.table(table), tmp_path / "wcxb" / "dev.parquet")
    save = tmp_path / "thresholds.json"
    monkeypatch.setattr(sys, "argv", ["thresholds.py", "--data", str(tmp_path), "--save", str(save)])
    bench.main()
    rows = json.loads(save.read_text())["rows"]
    assert [each["threshold"] for each in rows] == [
        bench.DEFAULT,
        *(f"{each}" for each in bench.THRESHOLDS if each is not None),
        bench.BEST,
    ]
    kept = [each["marked text kept"]["mean"] for each in rows[1:-1]]
    assert kept == sorted(kept, reverse=True)  # a lower threshold removes more
    best = rows[-1]
    assert best["noise"]["mean"] == best["noise snippets"]["mean"] == 0
    assert best["marked text kept"]["mean"] == best["text snippets"]["mean"] == 1
    default = rows[0]  # the paragraph on dogs reads like the page's text, but is not marked
    assert default["noise"]["mean"] > 0.2
    assert default["noise snippets"]["mean"] == 0
