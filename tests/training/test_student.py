"""The student of a cross-encoder: its training data, its equality with the graph, its training and card."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from pychunk._util.checksums import sha256
from pychunk.encoders import registry, static_encoder
from pychunk.encoders.cross_encoder import PairScorer
from pychunk.encoders.files import huggingface, model_dir
from pychunk.encoders.files.bert_graph import bert_graph
from pychunk.encoders.files.bert_weights import BertWeights, read_weights
from pychunk.index.rerank import rerankers
from pychunk.training import student, student_fit, student_lessons
from pychunk.training.student_lessons import Article, Lessons
from training.random_bert import random_weights

PLAN = student_fit.Plan(layers=2, steps=4, queries=2, candidates=3, part=2, rate=1e-3)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cross-encoder of four layers and 32 dimensions, of random weights."""
    path = tmp_path_factory.mktemp("teacher")
    weights, config = random_weights(4, 32, 4)
    weights = {name: values * 8 if values.ndim == 2 else values for name, values in weights.items()}
    head = np.random.default_rng(1).normal(0, 1, (1, 32)).astype(np.float32), np.zeros(1, np.float32)
    (path / "model.onnx").write_bytes(bert_graph(weights, config, head=head).SerializeToString())
    vocabulary = static_encoder.SHIPPED / "vocab.txt"
    (path / "vocab.txt").write_bytes(vocabulary.read_bytes())
    facts = model_dir.ModelFacts(
        name="teacher",
        task="relevance",
        model="model.onnx",
        model_sha256=sha256(path / "model.onnx"),
        tokenizer="vocab.txt",
        tokenizer_sha256=sha256(vocabulary),
        **huggingface.template(vocabulary),
        max_length=512,
        dim=32,
        source="random weights",
        licence="Apache-2.0",
    )
    model_dir.write_facts(path, facts)
    return path


@pytest.fixture(scope="module")
def stored(teacher: Path) -> BertWeights:
    return read_weights(teacher / "model.onnx")


@pytest.fixture(scope="module")
def taught() -> Lessons:
    """Return three queries of four candidates each, of random tokens."""
    random = np.random.default_rng(0)
    ids = [random.integers(999, 30000, length).astype(np.int32) for length in random.integers(6, 20, 12)]
    return Lessons(ids, np.full(12, 4, np.int64), np.arange(0, 13, 4))


def trained(stored: BertWeights, taught: Lessons, folder: Path, threads: int = 2) -> dict[str, np.ndarray]:
    folder.mkdir(exist_ok=True)
    begun, whole = student_fit.student_of(stored, PLAN.layers), student_fit.Bert(stored)
    made = student_fit.fit(begun, whole, taught, PLAN, folder, threads=threads)
    return {name: each.numpy() for name, each in made.weights.items()}


def test_scores_are_those_of_the_graph(teacher: Path, stored: BertWeights) -> None:
    scorer = PairScorer(teacher, task="relevance")
    query, texts = "who sleeps", ["Cats sleep by day.", "The sun is a star of many others.", "Bread."]
    data = [text.encode() for text in (query, *texts)]
    found = scorer.tokens_of(np.frombuffer(b"".join(data), np.uint8), np.cumsum([0, *map(len, data)]))
    first, *others = (each.tolist() for each in np.split(found.ids, found.offsets[1:-1]))
    rows = [np.array([101, *first, 102, *other, 102], np.int32) for other in others]
    taught = Lessons(rows, np.full(3, 2 + len(first)), np.array([0, 3]))
    expected = rerankers.scores(scorer, [query], [texts])[0]
    assert expected.std() > 0.1
    np.testing.assert_allclose(student_fit.scores(student_fit.Bert(stored), taught), expected, atol=0.05)


def test_a_student_of_all_layers_has_nothing_to_learn(stored: BertWeights, taught: Lessons) -> None:
    whole = student_fit.Bert(stored).halved()
    rows = student_fit.rows_of(taught, range(4))
    of_scores, of_states, same = student_fit.losses(student_fit.student_of(stored, 4).halved(), whole, rows)
    assert (float(of_scores), float(of_states), same) == (0, 0, 1)
    half = student_fit.student_of(stored, 2)
    np.testing.assert_array_equal(
        half.weights["encoder.layer.0.qkv.weight"].numpy(), stored.arrays["encoder.layer.1.qkv.weight"].T
    )
    of_scores, of_states, _ = student_fit.losses(half.halved(), whole, rows)
    assert float(of_scores) > 0 < float(of_states)
    with pytest.raises(ValueError, match="divide"):
        student_fit.student_of(stored, 3)


def test_losses_by_hand(stored: BertWeights, taught: Lessons) -> None:
    """The loss is half the mean square, over pairs of candidates, of the difference between both differences."""
    rows = student_fit.rows_of(taught, range(4))
    whole, half = student_fit.Bert(stored).halved(), student_fit.student_of(stored, 2).halved()
    own, wanted = (model.run(rows)[1].numpy() for model in (half, whole))
    pairs = [((own[i] - own[j]) - (wanted[i] - wanted[j])) ** 2 for i in range(4) for j in range(4)]
    assert float(student_fit.losses(half, whole, rows)[0]) == pytest.approx(np.mean(pairs) / 2, rel=1e-4)


@pytest.mark.slow
def test_threads_and_interruptions_change_nothing(
    stored: BertWeights, taught: Lessons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trained(stored, taught, tmp_path / "two")
    before = student_fit.student_of(stored, 2).weights
    assert (whole["pooler.weight"] != before["pooler.weight"].numpy()).any()
    np.testing.assert_array_equal(
        whole["embeddings.word_embeddings.weight"], stored.arrays["embeddings.word_embeddings.weight"]
    )

    saved = student_fit.whole_file

    def stops(path: Path) -> object:
        monkeypatch.setattr(student_fit, "whole_file", killed)
        return saved(path)

    def killed(path: Path) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(student_fit, "whole_file", stops)
    with pytest.raises(KeyboardInterrupt):
        trained(stored, taught, tmp_path / "again", threads=1)
    monkeypatch.setattr(student_fit, "whole_file", saved)
    assert torch.load(tmp_path / "again" / "checkpoint.pt", weights_only=True)["step"] == 2
    again = trained(stored, taught, tmp_path / "again", threads=1)
    for name, values in whole.items():
        np.testing.assert_array_equal(again[name], values, err_msg=name)


@pytest.mark.slow
def test_a_checkpoint_of_other_options_is_refused(stored: BertWeights, taught: Lessons, tmp_path: Path) -> None:
    trained(stored, taught, tmp_path)
    other = student_fit.Plan(**{**vars(PLAN), "rate": 1e-4})
    with pytest.raises(ValueError, match="other options"):
        student_fit.fit(student_fit.student_of(stored, 2), student_fit.Bert(stored), taught, other, tmp_path)
    longer = student_fit.Plan(**{**vars(PLAN), "steps": 1000})
    assert not PLAN.same_so_far(longer, 2)
    assert student_fit.Plan(steps=2000).same_so_far(student_fit.Plan(steps=1000), 150)


def test_steps_ask_each_query_once_a_round(taught: Lessons) -> None:
    steps = student_fit.steps_of(taught, PLAN)
    assert steps == student_fit.steps_of(taught, PLAN)
    assert len(steps) == PLAN.steps
    for pairs in (pairs for step in steps for pairs in step):
        assert pairs[0] % 4 == 0
        assert pairs == sorted(set(pairs))
        assert len(pairs) == PLAN.candidates
        assert {pair // 4 for pair in pairs} == {pairs[0] // 4}
    assert sorted(pairs[0] for step in steps[:2] for pairs in step) == [0, 4, 8]
    with pytest.raises(ValueError, match="more articles"):
        student_fit.steps_of(taught, student_fit.Plan(candidates=5))


def test_questions_ask_for_what_they_lack() -> None:
    random = np.random.default_rng(0)
    assert student_lessons.question("It was built by Gustave Eiffel.", random) == "where It was built by?"
    for _ in range(20):
        assert "1889" not in student_lessons.question("the tower was opened to all in 1889 after two years", random)
        asked = student_lessons.question("this has no name but " + "many words " * 20, random)
        assert 5 <= len(asked.split()) <= student_lessons.WORDS + 2
    assert student_lessons.question("a b c", random) == "a b c"


def paragraph(town: int, line: int) -> str:
    return (
        f"The mayor of Town {town} in year {line} was Anna Smith of Norwich and her friends. They built {line} long "
        f"bridges over the river near Oxford. Later the town sold {town * line} boats to Cambridge, and then to many "
        "other places in the country. Nobody knows why this was done by them in those days."
    )


ARTICLES = [
    Article(f"Town {town}", "\n".join([f"Town {town}.", "History.", *(paragraph(town, line) for line in range(2, 8))]))
    for town in range(1, 5)
]


def test_lessons_are_hits_of_queries(teacher: Path) -> None:
    documents, queries = student_lessons.drawn(ARTICLES, 4, 0)
    assert (documents, queries) == student_lessons.drawn(ARTICLES, 4, 0)
    assert 8 <= len(queries) <= 16
    assert any(len(document) < len(article.text) for document, article in zip(documents, ARTICLES))
    assert student_lessons.heading(ARTICLES[0].text, np.random.default_rng(0)) in ("History", "Town 1")
    taught = student_lessons.lessons(ARTICLES, 4, 60, 0, PairScorer(teacher, task="relevance"))
    assert len(taught) == len(queries)
    assert len(taught.ids) == taught.offsets[-1] == len(taught.first)
    for ids, first in zip(taught.ids, taught.first):
        assert len(ids) <= 60
        assert ids[0] == 101
        assert ids[first - 1] == ids[-1] == 102


@pytest.mark.slow
def test_training_from_a_few_articles(teacher: Path, tmp_path: Path) -> None:
    rows = [{"id": number, "title": each.title, "text": each.text} for number, each in enumerate(ARTICLES * 5)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "articles.parquet")
    command = ["--articles", tmp_path / "articles.parquet", "--teacher", teacher, "--out", tmp_path / "out"]
    command += ["--work", tmp_path / "work", "--layers", 2, "--steps", 3, "--part", 2]
    assert student.main(list(map(str, command))) == 0
    facts = json.loads((tmp_path / "out" / "pychunk.json").read_text())
    assert facts["model_sha256"] == sha256(tmp_path / "out" / "model.onnx")
    assert facts["notes"]["metrics"]["queries"] > 0
    card = (tmp_path / "out" / "README.md").read_text()
    assert "2 layers" in card
    assert "--steps 3" in card
    scorer = registry.relevance_model(tmp_path / "out")
    texts = ["Anna Smith built bridges.", "Boats were sold to Cambridge."]
    both = rerankers.scores(scorer, ["who built bridges"], [texts])[0]
    np.testing.assert_array_equal(both[1:], rerankers.scores(scorer, ["who built bridges"], [texts[1:]])[0])
