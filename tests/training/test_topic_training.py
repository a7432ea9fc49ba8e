"""Training of the topic model: its split, its articles, and the command for the vectors of any encoder."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pychunk
from pychunk._util.model_facts import read_facts
from pychunk.encoders import static_encoder
from pychunk.evaluation.measures import boundaries
from pychunk.training import corpus
from training import topic, topic_articles, topic_eval, topic_fit
from training.cards import topic_card
from training.topic_articles import HIDDEN, PARAGRAPHS, WHOLE

ARTICLE = (
    "Ada was a mathematician. She lived in London.\nLife.\nYouth.\n"
    "Ada was born in 1815. She read very much as a child.\n"
    "Her mother taught her because she feared that poetry would harm her.\n"
    "Work.\nShe wrote about the engine. It was never built."
)


def test_headings_are_hidden_and_sections_begin_after_them() -> None:
    text, starts = topic_articles.seen(ARTICLE, HIDDEN)
    assert "\n" not in text
    assert "Youth" not in text
    assert [text[at:].split(".")[0] for at in starts] == ["Ada was born in 1815", "She wrote about the engine"]
    text, starts = topic_articles.seen(ARTICLE, PARAGRAPHS)
    assert text.count("\n") == 3
    assert [text[at:].split(".")[0] for at in starts] == ["Ada was born in 1815", "She wrote about the engine"]
    text, starts = topic_articles.seen(ARTICLE, WHOLE)
    assert text == ARTICLE
    assert [text[at:].split(".")[0] for at in starts] == ["Life", "Work"]


def test_a_hidden_heading_leaves_the_gap_that_any_paragraph_leaves() -> None:
    """Only the sentences reveal its position."""
    for view, gap in ((HIDDEN, " "), (PARAGRAPHS, "\n")):
        text, starts = topic_articles.seen(ARTICLE, view)
        assert all(text[at - 2 : at] == f".{gap}" for at in starts)


def test_the_split_is_of_ids_alone() -> None:
    parts = Counter(corpus.part_of(str(i)) for i in range(20_000))
    assert parts["test"] / 20_000 == pytest.approx(corpus.TEST, abs=0.01)
    assert parts["validation"] / 20_000 == pytest.approx(corpus.VALIDATION, abs=0.01)
    assert [corpus.part_of(str(i)) for i in (7, 12, 4)] == ["train", "test", "validation"]


def test_the_curve_is_that_of_all_pairs() -> None:
    drawn = np.random.default_rng(0)
    scores = [drawn.random(n).astype(np.float32) for n in (30, 50, 1)]
    articles = [topic_eval.Article(np.array(own), n) for own, n in (([3, 9], 31), ([40], 51), ([1], 2))]
    flat = np.concatenate(scores)
    begins = np.concatenate([np.isin(np.arange(1, a.sentences), a.begins) for a in articles])
    right = np.mean([(x < y) + (x == y) / 2 for x in flat[begins] for y in flat[~begins]])
    assert topic_eval.curve(scores, articles).mean == pytest.approx(right, abs=0.01)


def test_thresholds_give_their_size() -> None:
    scores = [np.linspace(0, 1, 101, dtype=np.float32)]
    found = topic_eval.thresholds(scores, tokens=6400)
    assert {64, 128, 640 // 4} <= {size for size, _ in found}
    for size, threshold in found:
        assert abs((np.sum(scores[0] < threshold) + 1) - 6400 / size) <= 1


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return sixty articles with two sections each, one about cats, one about stars."""
    drawn = np.random.default_rng(0)
    words = {
        "Cats": ["cats", "purr", "sleep", "hunt", "mice", "milk", "fur", "paws"],
        "Stars": ["stars", "burn", "shine", "light", "hydrogen"],
    }
    texts = []
    for _ in range(60):
        lines = ["This article tells of two things that have little to do with each other."]
        for heading, own in words.items():
            sentences = [" ".join(drawn.choice(own, 6)).capitalize() + "." for _ in range(6)]
            lines += [f"{heading}.", " ".join(sentences)]
        texts.append("\n".join(lines))
    file = tmp_path_factory.mktemp("articles") / "articles.parquet"
    pq.write_table(pa.table({"id": [str(i) for i in range(60)], "text": texts}), file)
    return file


def trained(table: Path, out: Path, *more: str) -> dict:
    pytest.importorskip("torch")
    arguments = ["--articles", str(table), "--out", str(out), "--epochs", "12", "--batch", "8", "--words", "20"]
    assert topic.main([*arguments, "--threads", "1", *more]) == 0
    return json.loads((out / "topic.json").read_text())


def test_a_model_is_trained_by_one_command(table: Path, tmp_path: Path) -> None:
    facts = trained(table, tmp_path)
    assert facts["encoder"] == static_encoder.load().fingerprint
    assert facts["history"][-1] > 0.8
    assert (tmp_path / "topic.md").read_text() == topic_card.card(read_facts(tmp_path / "topic.json", ""))
    article = topic_articles.seen(pq.read_table(table)["text"][0].as_py(), HIDDEN)
    cuts = pychunk.Segmenter("topic", model=tmp_path, size=30).cuts([article[0]])
    spans = pychunk.split_sentences(article[0])[0]
    expected = boundaries.in_units(article[1], [a for a, _ in spans])
    assert set(expected) <= set(cuts.part(0).tolist())


def test_a_model_of_another_encoder_is_for_that_one(table: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    facts = trained(table, tmp_path, "--encoder", str(tiny_encoder), "--epochs", "1")
    assert facts["encoder"] != static_encoder.load().fingerprint
    segmenter = pychunk.Segmenter("topic", encoder=tiny_encoder, model=tmp_path, max_tokens=40)
    out = segmenter(["Cats purr. Stars burn hydrogen. They shine. Mice run."] * 2)
    assert out.table["tokens"].to_numpy().max() <= 40
    with pytest.raises(ValueError, match=r"these are of pychunk-static-en"):
        pychunk.Segmenter("topic", model=tmp_path)
    with pytest.raises(ValueError, match=r"for vectors of pychunk-static-en"):
        pychunk.Segmenter("topic", encoder=tiny_encoder)


@pytest.mark.parametrize("name", topic_fit.NAMES)
def test_an_input_that_is_left_out_is_not_seen(table: Path, tmp_path: Path, name: str) -> None:
    """The ablations measure it in the same way."""
    pytest.importorskip("torch")
    options = topic.parser().parse_args(["--articles", str(table), "--threads", "1"])
    plan = topic_fit.Plan(epochs=1, batch=8, words=20)
    corpus = topic.Corpus(options, plan)
    topic.learn(corpus, plan, tmp_path, (name,))
    model = topic.topic_model.TopicModel(tmp_path)
    vectors, inputs, first, second, _, _, skip = model.parts
    if name == "vectors":
        assert not vectors.any()
    elif name == "words":
        assert len(first) == len(second) == 3
    else:
        columns = topic_fit.GROUPS[name]
        assert not inputs[columns].any()
        assert not skip[columns].any()
