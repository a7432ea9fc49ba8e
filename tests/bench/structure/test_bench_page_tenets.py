"""bench/structure/page_tenets.py counts correctly on a few short pages, and finds chunks that lose text."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("selectolax")

from pychunk.parsing.html import noise_model
from pychunk.parsing.html.page import parse_html

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

BODY = "Cats purr when they are at ease, and some when they are not. A cat sleeps for most of the day. "
LINKS = "".join(f"<li><a href='/{name}'>{name} and more of it</a></li>" for name in ("Home", "News", "Shop", "Sale"))
HTML = (
    f"<title>Cats</title><script>var x = 1;</script><body><nav class=menu><ul>{LINKS}</ul></nav>"
    f"<main><h1>On cats</h1><p>{BODY * 3}</p><h2>Food</h2><p>You need:</p><ul><li>milk</li><li>fish</li></ul>"
    f"<table><tr><th>Age</th><th>Milk</th></tr><tr><td>One</td><td>Some</td></tr></table><p>{BODY * 2}</p></main>"
    f"<footer class=footer><ul>{LINKS}</ul><p>Copyright 2026 by us, all rights reserved.</p></footer>"
)
MARKED = f"On cats\n\n{BODY * 3}\n\nFood\n\nYou need:\n\nmilk\nfish\n\nAge Milk\nOne Some\n\n{BODY * 2}"
#: The page has no cookies, and its menu has an item that is also in the text.
SNIPPETS = {
    "must_contain": ["A cat sleeps for most of the day."],
    "must_not_contain": ["all rights reserved", "We use cookies.", "Food"],
}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):
    """Return the script, with the shipped networks instead of those of the folds."""
    from bench.structure import page_tenets

    monkeypatch.setattr(page_tenets, "fold_models", lambda *_: [noise_model.load()] * 5)
    return page_tenets


def loaded(bench, html: str = HTML, marked: str = MARKED):
    row = {
        "html": html.encode(),
        "main_content": marked,
        "page_type": "article",
        "url": "https://a.example/",
    } | SNIPPETS
    return bench.load(row, 0, [noise_model.load()] * 5, {"blocks": 0.0, "noise": 0.0})


@pytest.mark.slow
def test_tables_of_a_few_pages(bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wcxb").mkdir()
    table = {
        "html": [HTML.encode()] * 4,
        "main_content": [MARKED, MARKED.replace("Age Milk\nOne Some", ""), " ", MARKED],
        "page_type": ["article", "product", "article", "article"],
        "url": [f"https://site{number}.example/" for number in range(4)],
        **{name: [snippets] * 4 for name, snippets in SNIPPETS.items()},
    }
    pq.write_table(pa.table(table), tmp_path / "wcxb" / "dev.parquet")
    (tmp_path / "article_extraction" / "html").mkdir(parents=True)
    truth = {name: {"articleBody": MARKED, "url": ""} for name in ("one", "absent")}
    (tmp_path / "article_extraction" / "ground-truth.json").write_text(json.dumps(truth))
    (tmp_path / "article_extraction" / "html" / "one.html.gz").write_bytes(gzip.compress(HTML.encode()))
    save = tmp_path / "tenets.json"
    monkeypatch.setattr(sys, "argv", ["page_tenets.py", "--data", str(tmp_path), "--save", str(save)])
    bench.main()
    found = json.loads(save.read_text())
    assert found["pages"] == 3  # one has no marked text
    rows = {row["way"]: row for row in found["tenets"]}
    assert {bench.STRUCTURE, "pychunk structure, nothing removed", "pychunk recursive"} <= set(rows)
    assert rows[bench.STRUCTURE]["noise"]["mean"] < 0.05 < rows["pychunk recursive"]["noise"]["mean"]
    assert [rows[way]["noise snippets"]["mean"] for way in (bench.STRUCTURE, "pychunk recursive")] == [0, 1]
    assert [rows[way]["text snippets"]["mean"] for way in (bench.STRUCTURE, "pychunk recursive")] == [1, 1]
    for row in (*found["tenets"], *found["of which"]):
        assert all(0 <= cell["low"] <= cell["mean"] <= cell["high"] <= 1 for cell in list(row.values())[2:])
    assert [row["pages"] for row in found[bench.STRUCTURE]] == ["article", "product"]
    for row in found["sizes and time"]:
        assert 0 < row["p50 tokens"] <= row["p90 tokens"]
        assert row["seconds"] >= row["of these cutting"]
    whole = found[bench.WHOLE]
    assert [row["way"] for row in whole] == list(rows)
    assert whole[0]["noise"]["mean"] < 0.05 < whole[2]["noise"]["mean"]
    assert "noise snippets" not in whole[0]  # people noted none
    shares = found[f"what the noise of {bench.STRUCTURE} is"]
    assert {row["its noise"]: row["share"]["mean"] for row in shares} == {
        each: each == "tables and code" for each in bench.NATURES
    }
    from bench import results

    assert "marked text kept" in results.section(save, found)


def test_a_chunk_that_loses_text_is_found(bench) -> None:
    page = loaded(bench)
    way = next(each for each in bench.ways() if each.name == "pychunk recursive")
    texts = way.cut(page)
    bench.check(way, page, texts)
    with pytest.raises(AssertionError, match="do not rebuild"):
        bench.check(way, page, [texts[0][1:], *texts[1:]])
    for each in bench.ways():
        bench.check(each, page, each.cut(page))


def test_snippets_are_those_that_the_page_has(bench) -> None:
    page = loaded(bench)
    assert (page.unwanted, page.wanted) == ([" all rights reserved "], [" a cat sleeps for most of the day "])
    assert bench.spaced("Fish, and\nMILK!") == " fish and milk "


def test_units_are_found_by_their_words_in_any_form(bench) -> None:
    page = loaded(bench)
    assert "var x" not in page.html
    assert "#" not in page.plain
    assert "|" not in page.plain
    assert "Age\tMilk\nOne\tSome" in page.plain
    blocks, text = page.page.blocks, page.page.text
    units = [text[blocks.start[first] : blocks.end[last - 1]] for first, last in page.units]
    assert any(unit.startswith("# On cats") and unit.endswith("day.") for unit in units)
    assert "## Food\n\nYou need:\n\n- milk\n- fish" in units
    for form in (page.plain, text):
        words = [found.lower() for found in bench._WORD.findall(form)]
        spans = bench.located(page, words, False)
        for (first, last), start, end in zip(spans, blocks.start, blocks.end):
            assert words[first:last] == [each.lower() for each in bench._WORD.findall(text[start:end])]
    kept = bench.without_noise(page)
    spans = bench.located(page, [found.lower() for found in bench._WORD.findall(kept)], True)
    gone = np.array([first < 0 for first, _ in spans])
    assert gone.any()
    assert not gone.all()
    assert "Copyright" in text
    assert "Copyright" not in kept


def test_what_blocks_are_noise(bench) -> None:
    hidden = f"<p style='display:none'>{BODY}</p>"
    page = parse_html(f"<p>{BODY * 2}</p><p>Short.</p><p><a href=x>{BODY}</a> now</p>{hidden}<pre>x = 1</pre>")
    found = [bench.nature(page, row) for row in range(5)]
    assert found == ["prose", "short", "links", "hidden", "tables and code"]


def test_a_heading_over_nothing_is_no_part_of_a_unit(bench) -> None:
    page = parse_html("<h2>Empty</h2><h2>Full</h2><h3>Inner</h3><p>Text of it.</p>")
    assert bench.units_of(page) == [(1, 4)]
