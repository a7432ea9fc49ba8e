"""Questions about sections: their spans by hand, and no trace of a heading in the searched text."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pychunk
from pychunk.evaluation.datasets import Dataset, Question
from pychunk.index.search.hits import Hit, Passage
from pychunk.training import section_questions as questions_module
from pychunk.training.section_questions import COMMON, LEAST_WORDS, MARK, section_questions

BENCH = Path(__file__).resolve().parents[2] / "bench"
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


@pytest.mark.slow
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
    chunks = pychunk.segment(every.documents, columns={"blocks": every.blocks})
    assert chunks.metadata["method"] == "structure"


@pytest.mark.skipif(not BENCH.is_dir(), reason="the benchmarks are in the repository alone")
def test_what_is_handed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    from bench.structure import section_hits as bench

    made = section_questions(["Ada Lovelace"], [TEXT])
    with pychunk.Index.create(tmp_path / "it.idx") as index:
        options = {"size": 20, "unit": "words", "vectors": "sentence"}
        index.add(pychunk.segment(made.documents, "structure", columns={"blocks": made.blocks}, ids=["a"], **options))
        monkeypatch.setattr(bench, "WORDS", 130)
        found = bench.measured(made, index)
        assert set(found) == {*bench.WAYS, bench.MERGED}
        # Of the section's 109 words, all but those of its last chunk, which the next section shares.
        assert found["section"][bench.RECALL][0] == pytest.approx(0.91, abs=0.02)
        monkeypatch.setattr(bench, "WORDS", 10_000)
        assert all(values[bench.RECALL][0] > 0.95 for values in bench.measured(made, index).values())
        spans = bench.handed_over(index.search("born in London", k=20, expansion=1)[0], 45)
        assert sum(len(made.documents[0][a:b].split()) for _, a, b in spans) <= 45
        assert len(spans) == len(set(spans))


@pytest.mark.skipif(not BENCH.is_dir(), reason="the benchmarks are in the repository alone")
def test_how_relevant_the_first_chunks_are(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss")
    from bench.structure import section_hits as bench

    def hit(chunk: int, document: int, around: tuple[int, ...] = ()) -> Hit:
        """Return a chunk of 100 characters, with others around it."""
        whole = tuple(Passage(each, 100 * each, 100 * each + 100, "x") for each in around)
        return Hit(0, document, "a", chunk, "c", 100 * chunk, 100 * chunk + 100, "x", 1.0, {}, around=whole)

    question = questions_module.Question("Ada: Life", 0, 230, 400)
    # Chunk 3 is in the section (4), 70 % of 2 is (3), 1 is in the same article (1), and the other article counts
    # nothing.
    plain = [hit(3, 0), hit(3, 1), hit(1, 0), hit(2, 0)]
    assert bench.precisions(question, plain) == [pytest.approx(5 / 12), pytest.approx(8 / 20)]
    # Chunks around a hit count in reading order, each once.
    wide = [hit(3, 0, (2, 3)), hit(2, 0, (1, 2, 3)), hit(3, 1)]
    assert bench.precisions(question, wide) == [pytest.approx(8 / 12), pytest.approx(8 / 20)]
    assert bench.precisions(question, []) == [0, 0]


@pytest.mark.skipif(not BENCH.is_dir(), reason="the benchmarks are in the repository alone")
def test_every_way_to_cut_a_section_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("faiss")
    from bench.structure import long_sections as bench

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
    rows = bench.lines(ways, bench.of_sections(tmp_path, 0, 5, ways))
    assert [row["within"] for row in rows] == ways
    assert all(row["recall"]["mean"] == pytest.approx(1.0, abs=0.02) for row in rows)
    assert [row["strict hits"]["mean"] for row in rows] == [1.0] * 3
    assert "nsp" in capsys.readouterr().out
