"""User questions and documents, in files and in Python, and user methods and encoders as rows."""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("faiss")

from command_line import invoke

import pychunk
from pychunk.evaluation import custom, datasets, evaluate, runner
from pychunk.evaluation.reports import report
from pychunk.evaluation.systems import Encoder, by_method
from pychunk.index import Bm25


def run(*words: str) -> Any:
    return invoke(list(words))


DOCUMENTS = {
    "pets": "Cats purr when they are content. Dogs bark at night.",
    "sky": "The sun is a star. Stars burn hydrogen. They shine.",
}
QUESTIONS = [
    {"question": "When do cats purr?", "answers": ["when they are content", "content"], "document": "pets"},
    {"question": "What do stars burn?", "answers": ["hydrogen"], "document": "sky"},
]
OWN = """
import numpy as np
import pychunk


class Every(pychunk.Method):
    name = "every"

    def __init__(self, count=1):
        self.count = count

    def cuts(self, features):
        return pychunk.Cuts.of([list(range(0, n, self.count)) for n in features.given("sentences").counts])


def halves(text):
    return [(0, len(text) // 2), (len(text) // 2, len(text))]


class Letters:
    def encode(self, texts):
        return np.array([[text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnop"] for text in texts])


number = 3
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "mine_of_eval.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("mine_of_eval", None)


def write_questions(file: Path, rows: list[dict[str, Any]]) -> Path:
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif file.suffix == ".json":
        file.write_text(json.dumps(rows))
    else:
        with file.open("w", newline="") as out:
            writer = csv.DictWriter(out, ["question", "answers", "document"])
            writer.writeheader()
            writer.writerows({**row, "answers": json.dumps(row["answers"])} for row in rows)
    return file


def write_documents(place: Path) -> Path:
    table = pa.table({"id": list(DOCUMENTS), "text": list(DOCUMENTS.values())})
    if place.suffix == ".parquet":
        pq.write_table(table, place)
    elif place.suffix == ".csv":
        with place.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["id", "text"])
            writer.writerows(DOCUMENTS.items())
    elif place.suffix == ".json":
        place.write_text(json.dumps(table.to_pylist()))
    else:
        place.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return place


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv"])
@pytest.mark.parametrize("table", [".jsonl", ".json", ".csv", ".parquet"])
def test_questions_name_their_documents_by_id(ending: str, table: str, tmp_path: Path) -> None:
    asked = write_questions(tmp_path / f"q{ending}", QUESTIONS)
    texts = write_documents(tmp_path / f"texts{table}")
    found = datasets.load(asked, documents=texts)
    assert dict(zip(found.ids, found.documents, strict=True)) == DOCUMENTS
    assert [found.ids[each.document] for each in found.questions] == ["pets", "sky"]
    assert [each.answers for each in found.questions] == [tuple(each["answers"]) for each in QUESTIONS]
    assert found.gold.nowhere == []


@pytest.mark.parametrize("table", ["documents.jsonl", "documents.csv", "documents.parquet"])
def test_a_table_of_documents_beside_questions_is_found(table: str, tmp_path: Path) -> None:
    asked = write_questions(tmp_path / "q.jsonl", QUESTIONS)
    write_documents(tmp_path / table)
    out = run("eval", str(asked), "-m", "sentence", "--mode", "sparse", "--json", str(tmp_path / "o.json"))
    assert out.exit_code == 0, out.output
    (row,) = json.loads((tmp_path / "o.json").read_text())["rows"]
    assert row["measures"]["strict hits@1"]["mean"] == 1.0


def test_files_of_a_folder_are_named_by_their_paths_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    (folder / "pets.txt").write_text(DOCUMENTS["pets"])
    (folder / "deep" / "sky.txt").write_text(DOCUMENTS["sky"])
    rows = [{**QUESTIONS[0], "document": "pets.txt"}, {**QUESTIONS[1], "document": "deep/sky.txt"}]
    found = datasets.load(write_questions(tmp_path / "q.jsonl", rows), documents=folder)
    assert sorted(found.ids) == ["deep/sky.txt", "pets.txt"]
    assert found.gold.nowhere == []


def test_texts_beside_a_table_of_documents_stay_texts(tmp_path: Path) -> None:
    rows = [{**each, "document": DOCUMENTS[each["document"]]} for each in QUESTIONS]
    write_documents(tmp_path / "documents.jsonl")
    found = datasets.load(write_questions(tmp_path / "q.jsonl", rows))
    assert found.documents == list(DOCUMENTS.values())
    rows[1]["document"] = "sky"
    with pytest.raises(ValueError, match=r"is not an id in .*documents\.jsonl, though others are"):
        datasets.load(write_questions(tmp_path / "q.jsonl", rows))


def test_ids_without_their_documents_end_the_command(tmp_path: Path) -> None:
    asked = write_questions(tmp_path / "q.jsonl", QUESTIONS)
    out = run("eval", str(asked), "-m", "sentence", "--mode", "sparse")
    assert out.exit_code == 2
    said = " ".join(out.output.split())
    assert "has an answer in its document" in said
    assert "--documents" in said


def test_an_unknown_document_is_named_with_its_line(tmp_path: Path) -> None:
    rows = [*QUESTIONS, {"question": "Who?", "answers": ["x"], "document": "moon"}]
    asked = write_questions(tmp_path / "q.jsonl", rows)
    texts = write_documents(tmp_path / "texts.csv")
    out = run("eval", str(asked), "--documents", str(texts), "-m", "sentence", "--mode", "sparse")
    assert out.exit_code == 2
    assert "line 3: document 'moon' is not an id in" in " ".join(out.output.split())
    assert run("eval", str(asked), "--documents", str(tmp_path / "none.csv")).exit_code == 2


def test_questions_without_an_answer_in_their_document_are_counted_and_told(tmp_path: Path) -> None:
    rows = [*QUESTIONS, {"question": "What do stars drink?", "answers": ["water"], "document": "sky"}]
    asked = write_questions(tmp_path / "q.csv", rows)
    texts = write_documents(tmp_path / "texts.jsonl")
    result = tmp_path / "o.json"
    out = run(
        "eval", str(asked), "--documents", str(texts), "-m", "sentence", "--mode", "sparse", "--json", str(result)
    )
    assert out.exit_code == 0
    assert "1 question has no answer in the document, of 3, and counts as missed: question 3" in " ".join(
        out.output.split()
    )
    found = json.loads(result.read_text())
    assert found["dataset"]["without an answer"] == 1
    assert "1 question has no answer in the document, of 3" in report.html(found)
    assert found["rows"][0]["measures"]["strict hits@20"]["mean"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"question": 3, "answers": ["a"], "document": "pets"}, "'question' must be a text that is not blank; got 3"),
        ({"question": "?", "answers": [], "document": "pets"}, "'answers' must be a string"),
        ({"question": "?", "answers": [None], "document": "pets"}, "'answers' must be a string"),
        ({"question": "?", "spans": [[0, 99]], "document": "pets"}, "in a document of 52 characters"),
        ({"question": "?", "spans": [[4, 2]], "document": "pets"}, "'spans' must be pairs of"),
        ({"question": "?", "answers": ["a"], "document": 9}, "document '9' is not an id"),
    ],
)
def test_rows_that_cannot_be_read_are_named(row: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=f"question 0: .*{problem}"):
        evaluate(DOCUMENTS, [row], ["sentence"])


def test_places_of_answers_are_held_to() -> None:
    text = "Cats purr at night. Dogs bark. Owls hunt at night."
    last = text.rindex("night")
    row: dict[str, Any] = {"question": "When do owls hunt?", "document": "a"}
    given = [
        {**row, "answers": [{"text": "night", "answer_start": last}]},
        {**row, "answers": {"text": ["night"], "answer_start": [last]}},
        {**row, "spans": [[last, last + 5]]},
        {**row, "answers": ["night"], "spans": [[last, last + 5]]},
        {**row, "answers": ["night"]},
        {**row, "answers": [{"text": "night", "answer_start": 2}]},
    ]
    data = datasets.questions_from([("q", each) for each in given], "q", (["a"], [text]))
    assert [each.spans for each in data.questions] == [((last, last + 5),)] * 4 + [()] * 2
    assert data.notes == [
        "1 question has its answer, of 6, at another place than answer_start says; their text was searched for instead"
    ]
    encoder = Encoder("static")
    chunked = by_method("sentence", {"keep_together": False}, data, encoder)
    rows = np.array([[0]] * 6)  # only the first sentence
    found = runner.SearchResults(chunked, rows, chunked.words[rows], 0, 0)
    values, _ = runner.measure(found, data, encoder)
    assert values["strict hits@1"].tolist() == [0, 0, 0, 0, 1, 1]
    assert values["hits@1"].tolist() == [1] * 6


@pytest.mark.slow
def test_methods_and_encoders_of_ones_own_are_rows_of_the_command(mine: Path) -> None:
    asked = write_questions(mine / "q.jsonl", QUESTIONS)
    write_documents(mine / "documents.jsonl")
    options = ["-m", "mine_of_eval:Every:count=1,keep_together=false", "-m", "mine_of_eval:halves", "-m", "sentence"]
    encoders = ["--encoder", "static", "--encoder", "mine_of_eval:Letters"]
    out = run("eval", str(asked), *options, *encoders, "--mode", "hybrid", "--mode", "recipe", "--json", "o.json")
    assert out.exit_code == 0, out.output
    rows = json.loads((mine / "o.json").read_text())["rows"]
    assert len(rows) == 12
    assert rows[0]["name"] == "mine_of_eval:Every:count=1,keep_together=false, static, hybrid"
    assert rows[-1]["name"] == "sentence, mine_of_eval:Letters, recipe"
    assert [row["encoder"] for row in rows] == ["static"] * 6 + ["mine_of_eval:Letters"] * 6
    assert rows[0]["lengths"]["chunks"] == 5
    assert rows[2]["lengths"]["chunks"] == 4
    assert rows[0]["measures"]["strict hits@20"]["mean"] == 1.0


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("nowhere_at_all:Every", "no module 'nowhere_at_all'"),
        ("mine_of_eval:Each", "mine_of_eval has no 'Each'"),
        ("mine_of_eval:number", "must be a pychunk.Method, a class of methods, or a function"),
        ("mine_of_eval:halves:size=3", "is a function, which takes no options"),
    ],
)
def test_what_is_no_method_is_named(option: str, problem: str, mine: Path) -> None:
    asked = write_questions(mine / "q.jsonl", QUESTIONS)
    write_documents(mine / "documents.jsonl")
    out = run("eval", str(asked), "-m", option, "--mode", "sparse")
    assert out.exit_code == 2
    assert problem in " ".join(out.output.split())


@pytest.mark.slow
def test_evaluate_gives_the_rows_of_the_command(tmp_path: Path) -> None:
    class Every(pychunk.Method):
        name = "every"

        def cuts(self, features: pychunk.Features) -> pychunk.Cuts:
            return pychunk.Cuts.of([list(range(n)) for n in features.given("sentences").counts.tolist()])

    methods = {
        "class": Every,
        "object": Every(),
        "function": lambda text: text.split(". "),
        "options": ("recursive", {"size": 6, "unit": "words"}),
        "default": None,
        "sentence": "sentence",
    }
    rows = evaluate(DOCUMENTS, QUESTIONS, methods, modes=["sparse", "dense"], bm25=Bm25(stemmer="english"))
    assert [row["name"] for row in rows] == [f"{name}, {mode}" for name in methods for mode in ("sparse", "dense")]
    asked = write_questions(tmp_path / "q.jsonl", QUESTIONS)
    texts = write_documents(tmp_path / "texts.parquet")
    result = tmp_path / "o.json"
    out = run("eval", str(asked), "--documents", str(texts), "-m", "sentence", "--mode", "dense", "--json", str(result))
    assert out.exit_code == 0, out.output
    (row,) = json.loads(result.read_text())["rows"]
    assert rows[-1]["measures"] == row["measures"]
    (again,) = evaluate(texts, asked, ["sentence"], modes=["dense"], bm25=Bm25(stemmer="english"))
    assert again["measures"] == row["measures"]


def test_evaluate_warns_of_questions_that_nothing_can_answer() -> None:
    asked = [*QUESTIONS, {"question": "Why?", "answers": ["because"], "document": "sky"}]
    with pytest.warns(UserWarning, match="1 question has no answer in the document"):
        rows = evaluate(
            list(DOCUMENTS.values()), [{**each, "document": int(each["document"] == "sky")} for each in asked]
        )
    assert rows[0]["measures"]["strict hits@1"]["mean"] == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"no question of \d+ has an answer in its document"):
        evaluate(DOCUMENTS, asked[-1:])
    with pytest.raises(TypeError, match="documents must be texts; got 3 for the document 'a'"):
        evaluate({"a": 3}, asked)  # type: ignore[dict-item]  # what is refused


def test_vectors_and_chunks_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a row of finite numbers for each text, \[1, d\]; got shape \(1,\)"):
        custom.Model(lambda texts: [1.0] * len(texts), "flat")
    with pytest.raises(ValueError, match="must be an object with encode"):
        custom.Model(3, "three")
    with pytest.raises(ValueError, match="is not in a text of 3 characters"):
        custom.pieces([(0, 9)], "abc", "cut")
    with pytest.raises(ValueError, match="must return the texts of chunks"):
        custom.pieces([1, 2], "abc", "cut")
    with pytest.raises(ValueError, match="cut: chunk 0 is not in the text"):
        evaluate(DOCUMENTS, QUESTIONS, {"cut": lambda text: ["elsewhere"]})


@pytest.mark.parametrize(
    "language", ["ar", "zh", *(pytest.param(each, marks=pytest.mark.slow) for each in ("hi", "tr"))]
)
def test_hits_are_those_that_are_counted_by_hand(language: str, data: Path) -> None:
    file = data / "xquad" / f"xquad.{language}.json"
    if not file.exists():
        pytest.skip(f"{file.name} is not in the data folder")
    found = datasets.load(file)
    encoder = Encoder("static")
    chunked = by_method("paragraph", {}, found, encoder)
    best = runner.retrieve(chunked, found, encoder, "sparse", None, {"bm25": Bm25(stemmer="english")})
    values, _ = runner.measure(best, found, encoder)
    table = chunked.table.select(["document_index", "start", "end", "text"]).to_pylist()
    by_hand = []
    for row, question in zip(best.rows[:, 0], found.questions, strict=True):
        hit, (begin, end) = table[row], question.paragraph or (0, 0)
        right = row >= 0 and hit["document_index"] == question.document and hit["start"] < end and begin < hit["end"]
        by_hand.append(right and any(answer in hit["text"] for answer in question.answers))
    assert values["strict hits@1"].mean() == pytest.approx(np.mean(by_hand), abs=0.01)
    bare = datasets.Dataset(
        found.name,
        "answers",
        found.ids,
        found.documents,
        [
            datasets.Question(each.text, each.document, each.answers, paragraph=each.paragraph)
            for each in found.questions
        ],
    )
    values, _ = runner.measure(best, bare, encoder)
    assert values["strict hits@1"].mean() == pytest.approx(np.mean(by_hand), abs=0.01)
