"""bench/ingestion/text_recognition.py: the words of drawn pages are counted."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("rapidocr", reason="text in images is recognized by rapidocr (extra ocr)")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


@pytest.mark.slow
def test_words_of_drawn_pages_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.ingestion import text_recognition

    (tmp_path / "xquad").mkdir()
    text = "The keeper drains the pipes in winter, because ice would break them. " * 3
    data = {"data": [{"paragraphs": [{"context": text}] * 40}]}
    (tmp_path / "xquad" / "xquad.en.json").write_text(json.dumps(data))
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["x.py", "--data", str(tmp_path), "--pages", "1", "--save", str(out)])
    monkeypatch.setattr(text_recognition, "LANGUAGES", ("en",))
    names = ("none", "turned by 90 degrees")
    monkeypatch.setattr(text_recognition, "DAMAGES", {name: text_recognition.DAMAGES[name] for name in names})
    text_recognition.main()
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert [row["damage"] for row in rows] == list(names)
    assert all(row["recall"] > 0.9 and row["precision"] > 0.9 for row in rows)
    assert rows[0]["words"] == 396
