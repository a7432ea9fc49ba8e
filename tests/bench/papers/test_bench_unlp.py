"""bench/papers/unlp.py has on two short leaflets every table with the paper's rows, and other questions."""

import functools
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("faiss")

from pychunk.evaluation.measures import intervals

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

MEASURES = {"Accuracy_doc", "Accuracy_page", "Recall@1", "Recall@3", "Recall@5", "Recall@10", "Recall@20"}
LEAFLETS = {
    "aspirin": "Аспірин для дорослих.\n===== Page 1 =====\nДозування: дві таблетки на день.\n===== Page 2 =====\n",
    "ibuprofen": "Ібупрофен для дітей.\n===== Page 1 =====\nДозування: одна ложка на день.\n===== Page 2 =====\n",
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of data; the script can be imported."""
    monkeypatch.setattr(intervals, "of_sums", functools.partial(intervals.of_sums, resamples=20))
    for folder in ("squad", "chunking_evaluation", "unlp2026"):
        (tmp_path / folder).mkdir()
    for name, text in LEAFLETS.items():
        (tmp_path / "unlp2026" / f"{name}.txt").write_text(text, encoding="utf-8")
    header = "Question,Doc_ID,Page_Num,A,B,C,D,E,F,Correct_Answer"
    asked = [
        "Яке дозування аспірину?,aspirin.pdf,2,дві,одна,c,d,e,f,A",
        "Кому ібупрофен?,ibuprofen.pdf,1,дітям,b,c,d,e,f,A",
    ]
    (tmp_path / "unlp2026" / "questions.csv").write_text("\n".join([header, *asked]) + "\n", encoding="utf-8")
    paragraphs = [{"context": "Cats purr.", "qas": [{"question": "Who purrs?", "answers": [{"text": "Cats"}]}]}]
    (tmp_path / "squad" / "dev-v2.0.json").write_text(json.dumps({"data": [{"title": "T", "paragraphs": paragraphs}]}))
    (tmp_path / "chunking_evaluation" / "both.md").write_text("Cats purr. Stars burn.")
    reference = json.dumps([{"content": "Cats", "start_index": 0, "end_index": 4}]).replace('"', '""')
    table = f'question,references,corpus_id\nWho purrs?,"{reference}",both\n'
    (tmp_path / "chunking_evaluation" / "questions.csv").write_text(table)
    return tmp_path


@pytest.mark.slow
def test_every_table_has_its_rows_and_the_papers(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.papers import unlp

    out = data / "out.json"
    tables = [argument for name in (*unlp.TABLES, "elsewhere") for argument in ("--only", name)]
    monkeypatch.setattr(sys, "argv", ["unlp.py", "--data", str(data), "-o", str(out), *tables])
    unlp.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    assert (found["documents"], found["pages"], found["questions"]) == (2, 4, 2)
    for title, _ in unlp.TABLES.values():
        for row in found[title]:
            assert {*MEASURES} - set(row) <= ({"Recall@10", "Recall@20"} if row["found by"] == "the paper" else set())
    splitters = found[unlp.TABLES["table3"][0]]
    assert sum(row["found by"] == "the paper" for row in splitters) == 11
    assert sum(row["found by"] == "BM25" for row in splitters) == 9
    assert sum(row["found by"] == "BM25, cut by static encoder" for row in splitters) == 2
    best = found[unlp.TABLES["table2"][0]][0]
    assert best["Accuracy_doc"] == {"mean": 1, "low": 1, "high": 1}
    assert found[unlp.TABLES["table4"][0]][0]["found by"] == "static encoder"
    squad, references = (
        [
            row["row"].partition(",")[0]
            for row in found["Augmentation and document evidence elsewhere"]
            if row["questions"] == name
        ]
        for name in ("dev-v2.0", "chunking_evaluation")
    )
    ways = ["augment=head", "augment=title", "augment=summary", "augment=neighbours", "document_weight=1"]
    assert squad == ["recommended", *ways, "augment=head", "structure"]
    assert references == [each for each in squad if each != "augment=title"]  # which get no titles
