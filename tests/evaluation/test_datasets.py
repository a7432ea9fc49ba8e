"""Datasets: small files written here, and the shared data if it is present."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pdfs import Page, made

from pychunk.evaluation import datasets


def write_csv(file: Path, rows: list[dict[str, Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_jsonl(file: Path, rows: list[Any]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


# --- SQuAD ---


def squad_file(folder: Path) -> Path:
    asked = [
        {"question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}, {"text": "Ada"}], "is_impossible": False},
        {"question": "Why?", "answers": [], "is_impossible": True},
    ]
    plain = [{"question": "Where?", "answers": ["London", "in London"]}]
    paragraphs = [{"context": "Ada came first.", "qas": asked}, {"context": "She lived in London.", "qas": plain}]
    file = folder / "dev.json"
    file.write_text(json.dumps({"version": "2", "data": [{"title": "Ada", "paragraphs": paragraphs}]}))
    return file


def test_squad_keeps_answerable_questions_and_their_paragraphs(tmp_path: Path) -> None:
    found = datasets.squad(squad_file(tmp_path))
    assert (found.kind, found.ids) == ("answers", ["Ada"])
    assert found.documents == ["Ada came first.\nShe lived in London."]
    assert [(question.text, question.answers) for question in found.questions] == [
        ("Who?", ("Ada",)),
        ("Where?", ("London", "in London")),
    ]
    paragraphs = [found.documents[0][slice(*question.paragraph)] for question in found.questions]
    assert paragraphs == ["Ada came first.", "She lived in London."]
    assert datasets.load(tmp_path, limit=1).questions == found.questions[:1]


def test_another_json_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"rows": []}')
    with pytest.raises(ValueError, match=r"must have the key 'data'; got \['rows'\]"):
        datasets.load(tmp_path / "other.json")


# --- Chroma's chunking evaluation ---


def references_folder(folder: Path, content: str = "a cat") -> Path:
    (folder / "pets.md").write_text("I have a cat — and a dog.", encoding="utf-8")
    references = [{"content": content, "start_index": 7, "end_index": 12}]
    write_csv(
        folder / "questions.csv",
        [{"question": "Which pet?", "references": json.dumps(references), "corpus_id": "pets"}] * 2,
    )
    return folder


def test_reference_spans_are_checked_against_the_text(tmp_path: Path) -> None:
    found = datasets.load(references_folder(tmp_path))
    assert (found.kind, found.ids) == ("references", ["pets"])
    assert found.questions == [datasets.Question("Which pet?", 0, spans=((7, 12),))] * 2
    with pytest.raises(ValueError, match=r"row 1: characters 7 to 12 of pets.md are 'a cat', not 'a dog'"):
        datasets.load(references_folder(tmp_path, "a dog"))
    (tmp_path / "pets.md").rename(tmp_path / "animals.md")
    with pytest.raises(ValueError, match=r"row 1: corpus_id is 'pets', but .* has no pets.md, only animals.md"):
        datasets.load(tmp_path)


# --- UNLP ---


def leaflets(folder: Path, text: str, **columns: Any) -> Path:
    (folder / "txt").mkdir(exist_ok=True)
    (folder / "txt" / "leaflet.txt").write_text(text, encoding="utf-8")
    row = {"Question": "Doza?", **{option: option * 2 for option in "ABCDEF"}, "Correct_Answer": "B"}
    write_csv(folder / "questions.csv", [{**row, "Doc_ID": "leaflet.pdf", "Page_Num": 2, **columns}])
    return folder


@pytest.mark.parametrize(
    "text",
    [
        "One.\n===== Page 1 =====\nTwo.\n===== Page 2 =====\n",
        "One.\n===== Page 1 =====\nTwo.\n===== Page 2 =====",
        "===== Page 1 =====\nOne.\n===== Page 2 =====\nTwo.\n",
    ],
)
def test_page_marks_follow_or_precede_their_pages(tmp_path: Path, text: str) -> None:
    found = datasets.load(leaflets(tmp_path, text))
    assert (found.kind, found.ids, found.documents, found.page_starts) == (
        "pages",
        ["leaflet"],
        ["One.\nTwo.\n"],
        [[0, 5]],
    )
    options = ("AA", "BB", "CC", "DD", "EE", "FF")
    assert found.questions == [datasets.Question("Doza?", 0, ("BB",), (), (5, 10), 2, options)]


def test_the_first_page_may_be_blank(tmp_path: Path) -> None:
    found = datasets.load(leaflets(tmp_path, "\n===== Page 1 =====\nTwo.\n===== Page 2 =====\n"))
    assert (found.documents, found.page_starts) == (["\nTwo.\n"], [[0, 1]])


def test_leaflets_that_do_not_fit_are_named(tmp_path: Path) -> None:
    text = "One.\n===== Page 1 =====\nTwo.\n===== Page 2 =====\n"
    with pytest.raises(ValueError, match=r"row 1: Page_Num must be from 1 to 2, the number of pages of leaflet"):
        datasets.load(leaflets(tmp_path, text, Page_Num=3))
    with pytest.raises(ValueError, match=r"row 1: no text of other.pdf"):
        datasets.load(leaflets(tmp_path, text, Doc_ID="other.pdf"))
    with pytest.raises(ValueError, match=r"from 1 on .*; got the pages \[2\]"):
        datasets.load(leaflets(tmp_path, "One.\n===== Page 2 =====\n"))
    with pytest.raises(ValueError, match=r"before its first page mark, 'One\.\\n', and after"):
        datasets.load(leaflets(tmp_path, text + "Three."))
    assert datasets.load(leaflets(tmp_path, text, Correct_Answer="")).questions[0].answers == ()


# --- Wikipedia ---

ARTICLE = (
    "Ada Lovelace was an English mathematician.\n"
    "Biography.\n"
    "Early years.\n"
    "She was born in London in 1815.\n"
    "Her father left soon afterwards...\n"
    "and so on.\n"
    " An indented line.\n"
    "He never once came back to see his daughter again.\n"
    '"Notes".\n'
    "\n"
    "They describe an algorithm for the engine that Babbage planned.\n"
    "References.\n"
    "Bibliography"
)


def test_sections_begin_at_the_first_of_their_headings(tmp_path: Path) -> None:
    starts = datasets.section_starts(ARTICLE)
    assert [ARTICLE[start:].split("\n")[0] for start in starts] == ["Biography.", '"Notes".', "References."]
    assert datasets.section_starts("") == datasets.section_starts("Heading.\nA longer line follows it.") == []
    pq.write_table(pa.table({"id": [12, 25], "text": [ARTICLE, "One."]}), tmp_path / "articles.parquet")
    found = datasets.load(tmp_path)
    assert (found.kind, found.ids, found.boundaries) == ("boundaries", ["12", "25"], [starts, []])
    assert datasets.load(tmp_path, limit=1).documents == [ARTICLE]
    pq.write_table(pa.table({"id": [1], "body": ["a"]}), tmp_path / "articles.parquet")
    with pytest.raises(ValueError, match="must have the columns id and text; got id, body"):
        datasets.load(tmp_path)


# --- JSONL ---


def test_jsonl_with_the_text_in_each_row(tmp_path: Path) -> None:
    rows = [
        {"question": "1?", "answers": ["a", "b", "a"], "document": "text a"},
        {"question": "2?", "answer": "c", "document": "text c"},
        {"question": "3?", "answers": "a", "document": "text a"},
    ]
    found = datasets.load(write_jsonl(tmp_path / "mine.jsonl", rows))
    assert (found.name, found.ids, found.documents) == ("mine", ["0", "1"], ["text a", "text c"])
    assert [(question.document, question.answers) for question in found.questions] == [
        (0, ("a", "b")),
        (1, ("c",)),
        (0, ("a",)),
    ]


def test_jsonl_with_documents_beside_it(tmp_path: Path) -> None:
    documents = write_jsonl(tmp_path / "documents.jsonl", [{"id": 7, "text": "seven"}, {"id": 8, "text": "eight"}])
    rows = [{"question": "1?", "answers": ["e"], "document": 8}, {"question": "2?", "answers": ["e"]}]
    questions = write_jsonl(tmp_path / "questions.jsonl", rows)
    found = datasets.load(tmp_path)
    assert (found.ids, found.documents) == (["7", "8"], ["seven", "eight"])
    assert [question.document for question in found.questions] == [1, -1]
    assert len(datasets.load(tmp_path, limit=1).documents) == 2
    write_jsonl(questions, [{"question": "1?", "answers": ["e"], "document": 9}])
    with pytest.raises(ValueError, match=r"line 1: document '9' is not an id in .*; choose from '7', '8'"):
        datasets.questions_of(questions, documents)
    write_jsonl(documents, [{"id": 7, "text": "seven"}] * 2)
    with pytest.raises(ValueError, match="each id once; got '7' twice"):
        datasets.questions_of(questions, documents)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"text": "a"}, r"line 1 must be a JSON object with the key 'question'; got the keys \['text'\]"),
        (
            {"question": "1?", "answers": ["a"]},
            r"'document' must be the text; got None .for ids, pass documents=",
        ),
        ([1], "got a list"),
        ({"question": "1?", "document": "a"}, "'answers' must be .*; got None"),
    ],
)
def test_jsonl_of_another_kind_is_refused(tmp_path: Path, row: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        datasets.load(write_jsonl(tmp_path / "x.jsonl", [row]))


# --- load ---


def test_what_is_no_dataset_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no dataset at nowhere"):
        datasets.load("nowhere")
    with pytest.raises(ValueError, match=r"must have questions\.csv.*; found none of them"):
        datasets.load(tmp_path)
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(ValueError, match=r"must be \.json .*; got '\.txt'"):
        datasets.load(tmp_path / "notes.txt")
    write_csv(tmp_path / "questions.csv", [{"q": "1?"}])
    with pytest.raises(ValueError, match=r"must have the column question .*; got q"):
        datasets.load(tmp_path)
    with pytest.raises(ValueError, match="limit must be at least 1; got 0"):
        datasets.load(tmp_path, limit=0)


def test_a_name_is_looked_for_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    squad_file(tmp_path / "mine")
    monkeypatch.setenv("PYCHUNK_DATA", str(tmp_path))
    assert len(datasets.load("mine").questions) == 2


# --- the shared data ---


def test_squad_dev(data: Path) -> None:
    found = datasets.load(data / "squad")
    assert (len(found.documents), len(found.questions)) == (35, 5928)
    for question in found.questions:
        start, end = question.paragraph
        assert any(answer in found.documents[question.document][start:end] for answer in question.answers)


def test_chunking_evaluation_data(data: Path) -> None:
    found = datasets.load(data / "chunking_evaluation")
    assert (len(found.documents), len(found.questions)) == (2, 220)


def test_unlp_data(data: Path) -> None:
    found = datasets.load(data / "unlp2026")
    assert (len(found.documents), len(found.questions)) == (30, 262)
    assert all(len(question.options) == 6 and len(question.answers) == 1 for question in found.questions)
    with (data / "unlp2026" / "questions.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    # The table holds the text of each gold page; a few rows have that of a neighbour, or of another conversion.
    same = 0
    for row, question in zip(rows, found.questions):
        start, end = question.paragraph
        assert len(found.page_starts[question.document]) == int(row["N_Pages"])
        same += found.documents[question.document][start:end].split() == row["Page_Text"].split()
    assert same >= 0.95 * len(rows)


@pytest.mark.slow
def test_leaflets_as_pdf_have_the_pages_of_their_texts(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    (tmp_path / "own").mkdir()
    pages = [Page().put(72, 100, text) for text in ("Cats purr.", "Stars burn.")]
    (tmp_path / "own" / "leaflet.pdf").write_bytes(made(pages))
    header = "Question,Doc_ID,Page_Num,A,B,C,D,E,F,Correct_Answer"
    (tmp_path / "questions.csv").write_text(f"{header}\nWhat burns?,leaflet.pdf,2,cats,stars,c,d,e,f,B\n")
    for found in (datasets.load(tmp_path), datasets.load(tmp_path, pdf=True)):
        (question,) = found.questions
        begin, end = question.paragraph
        assert (found.documents[0][begin:end].strip(), question.page, question.answers) == (
            "Stars burn.",
            2,
            ("stars",),
        )
        assert len(found.page_starts[0]) == 2


@pytest.mark.slow
def test_unlp_data_as_pdf(data: Path) -> None:
    pytest.importorskip("pypdfium2")
    texts, found = datasets.load(data / "unlp2026"), datasets.load(data / "unlp2026", pdf=True)
    assert found.ids == texts.ids
    assert list(map(len, found.page_starts)) == list(map(len, texts.page_starts))
    assert [each.page for each in found.questions] == [each.page for each in texts.questions]


def test_wikipedia_data(data: Path) -> None:
    found = datasets.load(data / "wiki", limit=50)
    assert len(found.documents) == 50
    headings = [
        text[start:].split("\n")[0] for text, starts in zip(found.documents, found.boundaries) for start in starts
    ]
    assert len(headings) > 200
    assert {"History.", "References."} <= set(headings)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            '"Never again,a\nWhat?,"b"\nWhy?,c\n',
            r"questions.csv, line 2: ',' expected after '\"': inside a quoted field",
        ),
        ('What?,a\n"Never,b\nWhy?,c\n', "questions.csv, line 3: unexpected end of data: a quoted field is not closed"),
        ("What?,a,b\n", "row 1, which ends in line 2, has 3 fields, but the header has 2"),
        ("What?\n", "row 1, which ends in line 2, has 1 field, but the header has 2: add the missing field"),
    ],
)
def test_a_stray_quote_swallows_no_question(tmp_path: Path, rows: str, said: str) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("question,answer\n" + rows)
    with pytest.raises(ValueError, match=said):
        list(datasets._csv_rows(path, {"question"}))
