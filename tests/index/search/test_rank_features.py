"""The reranker that weighs the facts of a search's stages: its inputs against plain arithmetic, its training."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pychunk.index import Bm25, Rerank

pytest.importorskip("faiss")
pytest.importorskip("Stemmer")

from index_reference import PETS, chunks_of

import pychunk
from pychunk.encoders import static_encoder
from pychunk.encoders.registry import vector_encoder
from pychunk.index.index import Index
from pychunk.index.rerank import linear_reranker
from pychunk.training import rank
from training.cards import rank_card

TEXTS = [
    "Cats purr when they are content. Old cats sleep all day long. Purring cats heal.",
    "Dogs bark at night and cats do not care. Nobody knows why dogs bark.",
    "One sentence about cats that purr.",
    "Stars burn hydrogen. The sun is a star. It burns, too. Stars die.",
]
QUERIES = ["Why do cats purr?", "star burning hydrogen", "zebra", "cats cats bark"]


def plain(index: Index, query: str, hit: Any) -> list[float]:
    """Return the inputs of a hit, one after the other."""
    searcher = index._contents.searcher()
    terms = searcher.layout.analyzer.terms
    rows = np.arange(searcher.offsets[hit.row], searcher.offsets[hit.row + 1])
    vectors = searcher.sentences.rows(rows)
    vector = static_encoder.load().encode([query])[0]

    def cosine(vector_of: Any) -> float:
        return float(vector_of @ vector / np.linalg.norm(vector_of))

    cosines = sorted((float(each @ vector) for each in vectors), reverse=True)
    pairs = [cosine(a + b) for a, b in zip(vectors, vectors[1:])]
    rarity = searcher.bm25.idf(terms(query))
    whole = sum(rarity.values()) or 1
    words = terms(hit.text)
    inside = terms(hit.text[hit.sentence[0] - hit.start : hit.sentence[1] - hit.start])
    windows = [set(words[i : i + 20]) for i in range(len(words))]
    asked = list(dict.fromkeys(zip(terms(query), terms(query)[1:])))
    weights = {pair: min(rarity.get(pair[0], 0), rarity.get(pair[1], 0)) for pair in asked}
    return [
        cosines[0],
        cosines[1] if len(cosines) > 1 else cosines[0] - 0.3,
        cosine(vectors.sum(axis=0)),
        max(pairs, default=cosines[0]),
        hit.scores["sparse"],
        sum(rarity[term] for term in rarity if term in words) / whole,
        sum(rarity[term] for term in rarity if term in inside) / whole,
        max(sum(rarity[term] for term in rarity if term in window) for window in windows) / whole,
        sum(weights[pair] for pair in asked if pair in zip(words, words[1:])) / (sum(weights.values()) or 1),
    ]


@pytest.mark.parametrize("stemmer", ["english", None])
def test_inputs_are_what_their_names_say(stemmer: str | None, tmp_path: Path) -> None:
    texts = [*TEXTS, "Cats and stars. " + "Filler words go on and on here. " * 6 + "At last they purr."]
    with Index.create(tmp_path / "x", bm25=Bm25(stemmer=stemmer)) as index:
        index.add(pychunk.segment(texts, "recursive", size=110, unit="words", vectors="sentence"))
        index.save()
        vectors = static_encoder.load().encode(QUERIES)
        inputs = linear_reranker.Inputs(index._contents.searcher())
        for query, vector, hits in zip(QUERIES, vectors, index.search(QUERIES, 9)):
            found = inputs.of(query, vector, hits)
            expected = np.array([plain(index, query, hit) for hit in hits])
            assert np.abs(found - expected).max() < 1e-5
            alone = np.concatenate([inputs.of(query, vector, [hit]) for hit in hits])
            assert np.array_equal(found, alone)  # a hit's inputs do not depend on the others
        assert inputs.of("x", vectors[0], []).shape == (0, len(linear_reranker.INPUTS))


def test_search_orders_by_the_weighted_sum(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x", bm25=Bm25(stemmer="english")) as index:
        index.add(pychunk.segment(TEXTS, "sentence", vectors="sentence"))
        index.save()
        before = index.search(QUERIES, k=9)
        found = index.search(QUERIES, k=3, stages=Rerank("features", 9))
        vectors, inputs = static_encoder.load().encode(QUERIES), linear_reranker.Inputs(index._contents.searcher())
        for query, vector, hits, ordered in zip(QUERIES, vectors, before, found):
            scores = inputs.of(query, vector, hits) @ linear_reranker.load().weights
            assert [hit.row for hit in ordered] == [hits[i].row for i in np.argsort(-scores, kind="stable")[:3]]
            assert [hit.score for hit in ordered] == sorted(map(float, scores), reverse=True)[:3]
        for name in ("rank.json", "rank.npz"):
            shutil.copyfile(static_encoder.SHIPPED / name, tmp_path / name)
        for folder in (tmp_path, str(tmp_path)):
            assert index.search(QUERIES, k=3, stages=Rerank(folder, 9)) == found
        one = [index.search(query, k=3, stages=Rerank("features", 9))[0] for query in QUERIES]
        assert [[hit.score for hit in hits] for hits in one] == [[hit.score for hit in hits] for hits in found]


def test_features_say_what_they_need(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS))
        index.save()
        for mode in ("dense", "sparse"):
            with pytest.raises(
                ValueError,
                match=r"needs a search by both terms and vectors of sentences; got .*: search with mode",
            ):
                index.search("cats", mode=mode, stages=Rerank("features"))
        searcher, vectors = index._contents.searcher(), static_encoder.load().encode(["cats"])
        with pytest.raises(ValueError, match=r"is for vectors of pychunk-static.* index are of mine:1"):
            linear_reranker.LinearReranker(searcher, vectors, "mine:1")
    with Index.create(tmp_path / "y", vectors="chunk") as index:
        index.add(chunks_of(PETS, "chunk"))
        index.save()
        with pytest.raises(ValueError, match="needs vectors of sentences, and this index has none: leave out"):
            index.search("cats", stages=Rerank("features"))


def test_features_are_those_of_the_encoder(tmp_path: Path) -> None:
    pytest.importorskip("pychunk_multilingual", reason="the package pychunk-multilingual is not installed")
    encoder = vector_encoder("multilingual")
    weights = linear_reranker.named("features", encoder)
    assert weights is not None
    assert weights.facts["encoder"] == encoder.fingerprint
    assert linear_reranker.named("features", static_encoder.load()) is linear_reranker.load()
    texts = ["Katzen schlafen am Tag. Nachts jagen sie.", "Hunde bellen, wenn jemand kommt.", "Der Zug hält im Dorf."]
    with Index.create(tmp_path / "x", encoder="multilingual") as index:
        index.add(pychunk.segment(texts, encoder="multilingual", vectors="sentence"))
        index.save()
        first = index.search("Wann jagen Katzen?", k=3, stages=Rerank("features", 3))[0]
        inputs = linear_reranker.Inputs(index._contents.searcher())
        own = inputs.of("Wann jagen Katzen?", encoder.encode_queries(["Wann jagen Katzen?"])[0], first)
    assert first[0].document_index == 0
    np.testing.assert_allclose([hit.score for hit in first], own @ weights.weights, rtol=1e-5)


def test_damaged_weights_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"rank.json is missing"):
        linear_reranker.load(tmp_path)
    for name in ("rank.json", "rank.npz"):
        shutil.copyfile(static_encoder.SHIPPED / name, tmp_path / name)
    assert np.array_equal(linear_reranker.load(tmp_path).weights, linear_reranker.load().weights)
    facts = json.loads((tmp_path / "rank.json").read_text())
    (tmp_path / "rank.json").write_text(json.dumps({**facts, "inputs": ["dense"]}))
    with pytest.raises(ValueError, match=r"rank.json is for other features than the \d+ that this pychunk computes"):
        linear_reranker.load(tmp_path)
    (tmp_path / "rank.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"rank.npz"):
        linear_reranker.load(tmp_path)


def test_queries_name_the_chunk_that_they_were_made_of() -> None:
    sentence = "The {} river rises in the high mountains and crosses three old countries to the sea."
    paragraphs = [" ".join(sentence.format(f"w{i}x{j}") for j in range(5)) for i in range(4)]
    articles = ["Title.\n\n" + "\n".join(paragraphs)] * 6
    plan = rank.Plan(queries=3, absent=0.5)
    documents, queries = rank.drawn(articles, plan)
    assert (documents, queries) == rank.drawn(articles, plan)  # from a seed
    assert {query.taken_out for query in queries} == {False, True}
    for query in queries:
        text = documents[query.document][query.start : query.end]
        assert len(text.split("\n")) == 1
        words = text.split()
        if query.taken_out:
            assert len(words) == 4 * 16  # the paragraph without its sentence
            assert not {word for word in query.text.split() if word.startswith("w")} & set(words)
        else:
            assert [word for word in words if word in query.text.split()][: len(query.text.split())]
            assert set(query.text.split()) <= set(words)
            assert len(query.text.split()) < len(words) == 16


def test_weights_are_learned_and_the_card_tells_of_them(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    inputs = random.normal(0, 1, (400, rank.DEPTH, len(linear_reranker.INPUTS))).astype(np.float32)
    truth = random.normal(0, 1, len(linear_reranker.INPUTS))
    asked = np.zeros((400, rank.DEPTH), np.bool_)
    asked[np.arange(400), (inputs @ truth).argmax(axis=1)] = True
    lessons = rank.Lessons(inputs, np.ones_like(asked), asked, np.arange(400) % 2 == 0)
    weights = rank.fit(lessons, rank.Plan())
    assert np.array_equal(weights, rank.fit(lessons, rank.Plan()))
    assert np.corrcoef(weights, truth)[0, 1] > 0.99
    found = rank.measured(lessons, weights)
    assert found["in a chunk"]["gain"]["mean"] > 0.8
    facts = json.loads((static_encoder.SHIPPED / "rank.json").read_text())
    assert rank_card.card(facts).count("\n| ") > 10
    assert facts["bytes"] == (static_encoder.SHIPPED / "rank.npz").stat().st_size < 300_000


@pytest.mark.slow
def test_training_from_a_few_articles(articles: list[str], tmp_path: Path) -> None:
    table = pa.table({"id": [str(i) for i in range(300)], "text": articles[:300]})
    pq.write_table(table, tmp_path / "articles.parquet")
    arguments = ["--articles", tmp_path / "articles.parquet", "--out", tmp_path, "--documents", 60, "--steps", 50]
    assert rank.main(list(map(str, arguments))) == 0
    assert linear_reranker.load(tmp_path).facts["metrics"]["in a chunk"]["queries"] > 10
    assert not (tmp_path / "rank.md").exists()
    assert rank_card.card(linear_reranker.load(tmp_path).facts).startswith("# pychunk-rank-features")
