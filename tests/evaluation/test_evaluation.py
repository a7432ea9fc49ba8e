"""The harness reports what searching and counting by hand give."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("faiss")

from command_line import invoke

import pychunk
from pychunk.evaluation import datasets, retrieval_setups, runner, systems
from pychunk.evaluation.datasets import Dataset, Question
from pychunk.evaluation.measures import metrics
from pychunk.evaluation.systems import Encoder
from pychunk.index import Bm25, Ranking

TEXTS = [
    "Cats purr when they are content. Kittens are blind at birth. A group of cats is called a clowder.\n"
    "Dogs descend from wolves. A border collie herds sheep. Puppies open their eyes after two weeks.",
    "The Rhine rises in Switzerland. It flows through Basel. It reaches the sea in the Netherlands.\n"
    "The Danube rises in the Black Forest. Its delta lies in Romania. Vienna stands on it.",
    "Python was released in 1991. Guido van Rossum designed it. Its name comes from a comedy group.\n"
    "Rust was released in 2015. Its compiler checks borrows. It has no garbage collector.",
]
ASKED = [
    ("What is a group of cats called?", 0, "clowder"),
    ("Which animals are the ancestors of dogs?", 0, "wolves"),
    ("Where does the Rhine rise?", 1, "Switzerland"),
    ("Which city stands on the Danube?", 1, "Vienna"),
    ("Who designed Python?", 2, "Guido van Rossum"),
    ("When was Rust released?", 2, "2015"),
]


def paragraph(text: str, answer: str) -> tuple[int, int]:
    at = text.index(answer)
    return (0, text.index("\n")) if at < text.index("\n") else (text.index("\n") + 1, len(text))


def answered() -> Dataset:
    questions = [Question(q, d, (a,), paragraph=paragraph(TEXTS[d], a)) for q, d, a in ASKED]
    return Dataset("small", "answers", ["animals", "rivers", "languages"], TEXTS, questions)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder("static")


@pytest.mark.parametrize("mode", runner.MODES)
def test_strict_hits_are_those_that_searching_by_hand_finds(tmp_path: Path, encoder: Encoder, mode: str) -> None:
    data = answered()
    chunked = systems.by_method("sentence", {}, data, encoder)
    vectors = encoder.encode([question.text for question in data.questions])
    found = runner.retrieve(chunked, data, encoder, mode, vectors, {"bm25": Bm25(stemmer="english")})
    values, within = runner.measure(found, data, encoder)

    layout = "chunk" if mode.startswith("recipe") else "sentence"
    chunks = pychunk.segment(TEXTS, "sentence", vectors=layout, ids=data.ids)
    with pychunk.Index.create(tmp_path / "index", vectors=layout, bm25=Bm25(stemmer="english")) as index:
        index.add(chunks)
        how = {"recipe": "dense", "recipe+bm25": "hybrid"}.get(mode, mode)
        lists = index.search([question.text for question in data.questions], k=20, mode=how)
    for i, (question, hits) in enumerate(zip(data.questions, lists)):
        begin, end = question.paragraph
        right = [
            hit.document_index == question.document
            and hit.start < end
            and hit.end > begin
            and f" {metrics.normalize_answer(question.answers[0])} " in f" {metrics.normalize_answer(hit.text)} "
            for hit in hits
        ]
        for k in runner.CUTOFFS:
            assert values[f"strict hits@{k}"][i] == any(right[:k])
        spent = np.cumsum([len(hit.text.split()) for hit in hits])
        for budget, share in zip(runner.BUDGETS, within[i]):
            assert share == any(ok and words <= budget for ok, words in zip(right, spent))


def test_results_hold_every_row_with_intervals_costs_and_differences(encoder: Encoder) -> None:
    data = answered()
    makers = [
        lambda: systems.by_method("sentence", {}, data, encoder),
        lambda: systems.by_method("paragraph", {}, data, encoder),
    ]
    results = runner.run(data, makers, encoder, ["hybrid", "recipe"], {"bm25": Bm25(stemmer="english")})
    assert [row["name"] for row in results["rows"]] == [
        "sentence, hybrid",
        "sentence, recipe",
        "paragraph, hybrid",
        "paragraph, recipe",
    ]
    for row in results["rows"]:
        for value in row["measures"].values():
            assert 0 <= value["low"] <= value["mean"] <= value["high"] <= 1
        assert row["cost"]["index bytes"] > 0
        assert row["lengths"]["chunks"] == (18 if row["name"].startswith("sentence") else 6)
    first = results["rows"][0]["measures"]
    for each in results["differences"]:
        other = next(row for row in results["rows"] if row["name"] == each["row"])
        expected = other["measures"][each["measure"]]["mean"] - first[each["measure"]]["mean"]
        assert each["mean"] == pytest.approx(expected)
    json.dumps(results)


def test_references_are_scored_by_characters(encoder: Encoder) -> None:
    spans = [((TEXTS[d].index(a), TEXTS[d].index(a) + len(a)),) for _, d, a in ASKED]
    questions = [Question(q, d, spans=own) for (q, d, _), own in zip(ASKED, spans)]
    data = Dataset("small", "references", ["a", "b", "c"], TEXTS, questions)
    whole = systems.by_method("fixed", {"size": 10_000, "unit": "words"}, data, encoder)
    vectors = encoder.encode([question.text for question in questions])
    found = runner.retrieve(whole, data, encoder, "hybrid", vectors, {})
    values, within = runner.measure(found, data, encoder)
    assert (values["recall@5"] == 1).all()  # three chunks in all: every one is retrieved
    everything = sum(len(text) for text in TEXTS)
    for i, ((begin, end),) in enumerate(spans):
        assert values["precision@5"][i] == pytest.approx((end - begin) / everything)
    assert (within[:, -1] == 1).all()


def test_pages_count_only_in_the_right_document(encoder: Encoder) -> None:
    starts = [[0, text.index("\n") + 1] for text in TEXTS]
    questions = [Question(q, d, page=1 + (TEXTS[d].index(a) >= starts[d][1])) for q, d, a in ASKED]
    data = Dataset("small", "pages", ["a", "b", "c"], TEXTS, questions, page_starts=starts)
    chunked = systems.by_method("paragraph", {}, data, encoder)
    vectors = encoder.encode([question.text for question in questions])
    values, _ = runner.measure(runner.retrieve(chunked, data, encoder, "hybrid", vectors, {}), data, encoder)
    assert values["accuracy doc"].mean() == 1
    assert values["page recall@20"].mean() == 1
    assert values["accuracy page"].mean() >= 0.75


def test_the_page_of_a_chunk_over_several_is_that_of_its_best_sentence(encoder: Encoder) -> None:
    starts = [[0, text.index("\n") + 1] for text in TEXTS]
    questions = [Question(q, d, page=1 + (TEXTS[d].index(a) >= starts[d][1])) for q, d, a in ASKED]
    data = Dataset("small", "pages", ["a", "b", "c"], TEXTS, questions, page_starts=starts)
    whole = systems.by_method("fixed", {"size": 10_000, "unit": "words"}, data, encoder)
    found = runner.retrieve(whole, data, encoder, "sparse", None, {})
    assert found.pages is not None
    assert found.milliseconds > 0
    gold = np.array([[question.document, question.page] for question in questions])
    right = found.rows[:, 0] == gold[:, 0]
    assert right.all()  # one chunk for each document
    assert (found.pages[:, 0] == gold[:, 1]).mean() >= 0.75
    assert set(np.unique(found.pages)) <= {-1, 1, 2}


def test_strategies_combine_and_find_what_a_search_finds(tmp_path: Path, encoder: Encoder) -> None:
    ways = retrieval_setups.combined(
        ["sparse", "recipe+bm25"], document_weight=[0.0, 0.5], rerank=[None, "m"], depth=[7]
    )
    assert [str(each) for each in ways[:3]] == ["sparse", "sparse, rerank=m", "sparse, document_weight=0.5"]
    assert (ways[-1].mode, ways[-1].recipe, ways[-1].depth) == ("hybrid", True, 7)
    with pytest.raises(ValueError, match="strategy must be one of hybrid, dense, sparse, recipe, recipe"):
        retrieval_setups.named("best")
    data = answered()
    chunked = systems.by_method("sentence", {}, data, encoder)
    asked = [question.text for question in data.questions]
    own = retrieval_setups.Strategy("sparse", document_weight=0.5)
    found = runner.retrieve(chunked, data, encoder, own, None, {"bm25": Bm25(stemmer="english")})
    with pychunk.Index.create(tmp_path / "index", bm25=Bm25(stemmer="english")) as index:
        index.add(pychunk.segment(TEXTS, "sentence", vectors="sentence", ids=data.ids))
        rows, _ = index.rank(asked, 5, "sparse", ranking=Ranking(document_weight=0.5))
        plain, _ = index.rank(asked, 5, "sparse")
    assert (found.rows[:, :5] == rows).all()
    assert (plain != rows).any()


def test_eval_runs_combinations_as_rows(tmp_path: Path) -> None:
    lines = [json.dumps({"question": q, "answers": [a], "document": TEXTS[d]}) for q, d, a in ASKED]
    file, out = tmp_path / "q.jsonl", tmp_path / "out.json"
    file.write_text("\n".join(lines), encoding="utf-8")
    call = ["eval", str(file), "-m", "sentence", "--mode", "sparse", "--document-weight", "0", "--document-weight", "1"]
    done = invoke([*call, "--json", str(out)])
    assert done.exit_code == 0, done.output
    rows = json.loads(out.read_text())["rows"]
    assert [row["name"] for row in rows] == ["sentence, sparse", "sentence, sparse, document_weight=1"]
    assert all(row["cost"]["ms a question"] > 0 for row in rows)
    refused = invoke([*call, "--pdf"])
    assert refused.exit_code == 2
    assert "no questions.csv about PDF files" in refused.output


def test_sections_found_exactly_score_perfectly(encoder: Encoder) -> None:
    cuts = [[text.index("\n") + 1] for text in TEXTS]
    data = Dataset("small", "boundaries", ["a", "b", "c"], TEXTS, boundaries=cuts)
    right = runner.measure_boundaries(systems.by_method("paragraph", {}, data, encoder), data)
    wrong = runner.measure_boundaries(systems.by_method("sentence", {}, data, encoder), data)
    assert right["pk"].tolist() == right["windowdiff"].tolist() == [0, 0, 0]
    assert right["boundary F1"].tolist() == [1, 1, 1]
    assert (wrong["windowdiff"] > 0).all()
    assert (wrong["boundary F1"] < 1).all()


def test_a_peer_is_asked_until_its_mean_length_is_right(encoder: Encoder, articles: list[str]) -> None:
    pytest.importorskip("langchain_text_splitters")
    from pychunk.evaluation import peers

    recursive = next(peer for peer in peers.PEERS if peer.name == "LangChain recursive")
    data = Dataset("wiki", "answers", [str(i) for i in range(20)], articles[:20], [])
    chunked = systems.by_peer(recursive, 80, data, encoder)
    assert chunked.words.mean() == pytest.approx(80, rel=0.08)
    for document, start, end, text in zip(
        *(chunked.table[name].to_pylist() for name in ("document_index", "start", "end", "text"))
    ):
        assert data.documents[document][start:end] == text


def test_eval_writes_table_json_and_page(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(
        "".join(json.dumps({"question": q, "answers": [a], "document": TEXTS[d]}) + "\n" for q, d, a in ASKED)
    )
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    call = ["eval", str(file), "-m", "sentence", "-m", "recursive:size=20", "--json", str(out), "--html", str(page)]
    done = invoke(call)
    assert done.exit_code == 0, done.output
    assert "recursive:size=20, hybrid" in done.output
    assert max(map(len, done.stdout.splitlines())) <= 120
    results = json.loads(out.read_text())
    assert len(results["rows"]) == 4
    assert "recursive:size=20, dense" in page.read_text()


def test_eval_says_that_articles_have_no_sections(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "text": ["One text.", None]}), tmp_path / "two.parquet")
    done = invoke(["eval", str(tmp_path / "two.parquet")])
    assert done.exit_code == 2
    assert "none of 2 articles has sections to compare with" in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.json"], "nothing.json"),
        (["questions.jsonl", "--mode", "psychic"], "psychic"),
        (["questions.jsonl", "-m", "sentense"], "sentense"),
        (["questions.jsonl", "-m", "fixed:size"], "NAME:OPTION=VALUE"),
    ],
)
def test_eval_says_what_is_wrong(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "a?", "answers": ["b"], "document": "b."}) + "\n")
    done = invoke(["eval", str(tmp_path / arguments[0]), *arguments[1:]])
    assert done.exit_code == 2
    assert words in done.output.replace("\n", "")


@pytest.mark.slow
def test_squad_with_the_recommended_options_finds_what_the_documentation_says(data: Path, encoder: Encoder) -> None:
    """A slice is used: 300 questions against all articles."""
    squad = datasets.squad(data / "squad" / "dev-v2.0.json", 300)
    vectors = encoder.encode([question.text for question in squad.questions])
    chunked = systems.by_method("recursive", {"size": 110, "unit": "words"}, squad, encoder)
    found = runner.retrieve(chunked, squad, encoder, "hybrid", vectors, {"bm25": Bm25(stemmer="english")})
    values, _ = runner.measure(found, squad, encoder)
    assert values["strict hits@1"].mean() > 0.7
    assert values["strict hits@5"].mean() > 0.88


@pytest.mark.parametrize(("method", "options"), [("pic", {}), ("recursive", {"size": 5, "unit": "words"})])
def test_sentences_encoded_once_are_what_the_segmenter_gives(tiny_encoder: Path, method: str, options: dict) -> None:
    data = answered()
    shared = systems.by_method(method, options, data, Encoder(str(tiny_encoder))).table
    own = pychunk.segment(
        TEXTS, method, vectors=pychunk.Vectors("sentence", str(tiny_encoder)), ids=data.ids, **options
    )
    assert shared["text"].to_pylist() == own.table["text"].to_pylist()
    assert shared["sentences"].to_pylist() == own.table["sentences"].to_pylist()


def test_answer_cosine_and_relevant_share_are_means_over_the_top(encoder: Encoder) -> None:
    data = answered()
    chunked = systems.by_method("pic", {}, data, encoder)
    asked = encoder.encode([question.text for question in data.questions])
    found = runner.retrieve(chunked, data, encoder, "dense", asked, {})
    values, _ = runner.measure(found, data, encoder)
    kinds = chunked.table["relevance"].to_pylist()
    for i, question in enumerate(data.questions):
        top = [row for row in found.rows[i, :5] if row >= 0]
        answer = encoder.model.encode([question.answers[0]])[0]
        cosines = []
        for row in top:
            total = np.sum([each["vector"] for each in chunked.table["sentences"][row].as_py()], axis=0)
            cosines.append(float(answer @ total / np.linalg.norm(total)))
        assert values["answer cosine@5"][i] == pytest.approx(np.mean(cosines), abs=1e-5)
        assert values["answer cosine@3"][i] == pytest.approx(np.mean(cosines[:3]), abs=1e-5)
        assert values["relevant among top 5"][i] == np.mean([kinds[row] == "relevant" for row in top])


def test_titles_stand_beside_chunks_where_a_data_set_tells_them(tmp_path: Path) -> None:
    articles = [
        {"title": title, "paragraphs": [{"context": text, "qas": [{"question": asked, "answers": [{"text": text}]}]}]}
        for title, text, asked in (
            ("Domestic_cat", "They purr.", "What do domestic cat articles say?"),
            ("Blank", " ", "Nothing?"),
            ("Dog", "They bark.", "What is said of the dog?"),
        )
    ]
    (tmp_path / "set.json").write_text(json.dumps({"data": articles}))
    done = invoke(["eval", str(tmp_path / "set.json"), "-m", "sentence", "--mode", "sparse", "--stemmer", "none"])
    assert done.exit_code == 0
    own = datasets.squad(tmp_path / "set.json")
    assert own.titles == ["Domestic cat", "Blank", "Dog"]
    encoder = Encoder("static")
    chunked = systems.by_method("sentence", {}, own, encoder)
    for way, first in (("title", 1.0), ("head", 0.0)):
        found = runner.retrieve(chunked, own, encoder, retrieval_setups.Strategy("sparse", augment=way), None, {})
        assert runner.measure(found, own, encoder)[0]["strict hits@1"][[0, 2]].mean() == first
    with pytest.raises(ValueError, match="the chunks have no column 'title'"):
        runner.retrieve(
            chunked, replace(own, titles=[]), encoder, retrieval_setups.Strategy("sparse", augment="title"), None, {}
        )
