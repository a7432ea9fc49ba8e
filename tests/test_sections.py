"""Questions about sections: their spans by hand, and nothing of a heading in the text that is searched."""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pychunk
from pychunk.evaluation.datasets import Dataset, Question
from pychunk.evaluation.sections import COMMON, LEAST_WORDS, MARK, section_questions

BENCH = Path(__file__).resolve().parents[1] / "bench"
BODY = "She was born in London and wrote about engines. " * 6
SHORT = "Short text, which is no answer to anything at all."
TEXT = f"Ada lived.\nLife.\n{BODY}\n{BODY}\nWork.\n{SHORT}\nNotes.\n{BODY}"


def test_sections_by_hand() -> None:
    made = section_questions(["Ada Lovelace", "Empty"], [TEXT, ""])
    assert [question.text for question in made.questions] == ["Ada Lovelace: Life"]  # short, or a common heading
    question = made.questions[0]
    assert made.documents[0][question.start : question.end] == f"{BODY.strip()}\n\n{BODY.strip()}"
    assert made.documents[0].count(MARK) == 3
    assert not {"Life", "Work", "Notes"} & set(made.documents[0].split())
    assert made.documents[1] == ""


def test_questions_are_drawn_by_seed(articles: list[str]) -> None:
    titles = [f"Article {number}" for number in range(len(articles))]
    every = section_questions(titles, articles)
    drawn = section_questions(titles, articles, 50, seed=3)
    assert len(drawn.questions) == 50 < len(every.questions)
    assert drawn.questions == section_questions(titles, articles, 50, seed=3).questions
    assert set(drawn.questions) <= set(every.questions)
    for question in every.questions:
        text = every.documents[question.document][question.start : question.end]
        assert text == text.strip()
        assert len(text.split()) >= LEAST_WORDS
        assert question.text.split(": ")[-1].lower() not in COMMON
        assert not any(line == MARK for line in text.split("\n"))
    chunks = pychunk.segment(every.documents, blocks=every.blocks)
    assert chunks.metadata["method"] == "structure"


@pytest.mark.skipif(not BENCH.is_dir(), reason="the benchmarks are in the repository alone")
def test_what_is_handed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    monkeypatch.syspath_prepend(str(BENCH))
    import structure_sections as bench

    made = section_questions(["Ada Lovelace"], [TEXT])
    with pychunk.Index.create(tmp_path / "it.idx") as index:
        options = {"size": 20, "unit": "words", "vectors": "sentence"}
        index.add(pychunk.segment(made.documents, "structure", blocks=made.blocks, ids=["a"], **options))
        monkeypatch.setattr(bench, "WORDS", 130)
        found = bench.recalls(made, index)
        assert set(found) == {*bench.WAYS, bench.MERGED}
        assert found["section"][0] == pytest.approx(1.0, abs=0.02)  # all but white space between chunks
        monkeypatch.setattr(bench, "WORDS", 10_000)
        assert all(values[0] > 0.95 for values in bench.recalls(made, index).values())
        spans = bench.handed_over(index.search("born in London", k=20, expand=1)[0], 45)
        assert sum(len(made.documents[0][a:b].split()) for _, a, b in spans) <= 45
        assert len(spans) == len(set(spans))
    assert "bench" not in sys.modules


@pytest.mark.skipif(not BENCH.is_dir(), reason="the benchmarks are in the repository alone")
def test_every_way_to_cut_a_section_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("faiss")
    monkeypatch.syspath_prepend(str(BENCH))
    import structure_within as bench

    text = "Cats purr loudly at night. Stars burn hydrogen for ages. Bread needs flour, water and salt. " * 8
    asked = Question("What burns hydrogen?", 0, ("Stars",), ((27, 56),))
    data = Dataset("toy", "references", ["a", "b"], [text, "Dogs bark."], [asked])
    answers = bench.lines(["size", "topic"], bench.of_answers(data, ["size", "topic"]))
    assert [row["strict hits"]["mean"] for row in answers] == [1.0, 1.0]
    assert answers[1]["strict hits minus"]["mean"] == 0.0

    rows = pa.table({"id": ["1"], "title": ["Ada"], "text": [TEXT]})
    (tmp_path / "wiki").mkdir()
    pq.write_table(rows, tmp_path / "wiki" / "articles.parquet")
    monkeypatch.setattr(bench, "part_of", lambda name: "test")
    ways = ["size", "semantic", "nsp"]
    sections = bench.lines(ways, bench.of_sections(tmp_path, 0, 5, ways))
    assert [row["within"] for row in sections] == ways
    assert all(row["recall"]["mean"] == pytest.approx(1.0, abs=0.02) for row in sections)
    assert [row["strict hits"]["mean"] for row in sections] == [1.0] * 3
    assert "nsp" in capsys.readouterr().out
