"""bench/papers/nsp_squad.py has on two articles every row, pool and measure, with intervals and differences."""

import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

TEXTS = [
    "Cats purr when they are content. Dogs bark at night. The moon has no air.",
    "The sun is a star. Stars burn hydrogen. Planets go around them.",
    "Rivers run to the sea. Salt makes sea water heavy. Boats float higher on it.",
    "Bread is made of flour. Yeast makes it rise. Ovens bake it for an hour.",
]
ASKED = [("What do cats do?", "purr"), ("What do stars burn?", "hydrogen"), ("What is heavy?", "sea water")]
ASKED += [("What makes bread rise?", "Yeast")]


@pytest.fixture
def found(
    tmp_path: Path, tiny_pairs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[dict, str, str]:
    """Return the saved results, the page, and the printed output."""
    paragraphs = [
        {"context": text, "qas": [{"question": question, "answers": [{"text": answer, "answer_start": 0}]}] * 3}
        for text, (question, answer) in zip(TEXTS, ASKED)
    ]
    (tmp_path / "squad").mkdir()
    data = {"data": [{"title": "one", "paragraphs": paragraphs[:2]}, {"title": "two", "paragraphs": paragraphs[2:]}]}
    (tmp_path / "squad" / "dev-v2.0.json").write_text(json.dumps(data))
    from bench.papers import nsp_squad

    save, page = tmp_path / "found.json", tmp_path / "found.html"
    arguments = ["--data", tmp_path, "--encoder", "static", "--nsp", tiny_pairs, "--save", save, "--html", page]
    monkeypatch.setattr(sys, "argv", ["nsp_squad.py", *map(str, arguments)])
    nsp_squad.main()
    return json.loads(save.read_text()), page.read_text(), capsys.readouterr().out


@pytest.mark.slow
def test_the_table_is_complete(found: tuple[dict, str, str], tiny_pairs: Path) -> None:
    saved, page, printed = found
    own = f"nsp, {tiny_pairs.name}"
    methods = ["cosine", "sentence", "nsp", "cosine, int8", "nsp, int8", "cosine, static", "nsp, static", own]
    assert [row["method"] for row in saved["rows"]] == methods * 3
    assert {row["pool"] for row in saved["rows"]} == {"paragraph", "article", "corpus"}
    for row in saved["rows"]:
        for measure in ("recall@3", "precision@3", "semantic precision@3"):
            assert row[measure]["low"] <= row[measure]["mean"] <= row[measure]["high"]
    whole = [row for row in saved["rows"] if row["pool"] == "paragraph" and row["method"] == "sentence"]
    assert whole[0]["recall@3"]["mean"] == 1  # of three sentences each
    for pool in ("paragraph", "article", "corpus"):
        means = {row["method"]: row["recall@3"]["mean"] for row in saved["rows"] if row["pool"] == pool}
        minus = [row for row in saved["differences"] if row["pool"] == pool]
        assert [row["method"] for row in minus] == methods[1:]
        assert {row["method"]: row["minus"] for row in minus}["nsp, static"] == "cosine, static"
        for row in minus:
            assert row["recall@3"]["mean"] == pytest.approx(means[row["method"]] - means[row["minus"]])
    lengths = saved["chunk lengths"]
    assert sum(row["sentence"] for row in lengths) == 12
    assert lengths[0]["words"] == "0 to 9"
    assert lengths[0]["sentence"] == 12
    assert page.count("Chunk lengths of ") == len(methods)
    assert f"{own}: " in printed
