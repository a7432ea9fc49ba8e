"""Query rewriting: several weighted texts, terms and vectors for a query, compared with their scores one by one."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pychunk.index import Ranking, Rewrite

pytest.importorskip("faiss")

from command_line import invoke
from index_reference import F32, chunks_of, encoded, seen

from pychunk.index.index import Index
from pychunk.index.lexical.analyzer import Analyzer
from pychunk.index.scoring.ranking import RankingOptions
from pychunk.index.scoring.subqueries import Subquery
from pychunk.index.search.query_rewriting import Choice, Feedback

WORDS = ["bark", "bread", "burn", "cats", "day", "dogs", "hydrogen", "night", "oven", "purr", "rust", "sleep", "star"]
PETS = ["Cats purr when content. They sleep all day.", "Dogs bark at night. Dogs fetch sticks.", "Rust is memory safe."]
QUERIES = ["Do cats sleep all day?", "the rust star", "what burns bread"]


def texts(seed: int, count: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [
        " ".join(
            " ".join(random.choice(WORDS, random.integers(1, 6))).capitalize() + "."
            for _ in range(random.integers(1, 6))
        )
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Index.create(tmp_path_factory.mktemp("rewrite") / "x") as made:
        made.add(chunks_of(texts(1, 60), ids=[f"d{i}" for i in range(60)]))
        yield made
        made.save()


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
@pytest.mark.parametrize("document_weight", [0.0, 1.0])
def test_scores_are_weighted_means_and_none_is_missed(index: Index, mode: str, document_weight: float) -> None:
    def rewrite(query: str) -> Any:
        return [query, (f"{query} dogs", 2.0), Subquery("oven", weight=0.5)]

    searcher, analyzer = index._contents.searcher(), Analyzer()
    found = index.search(QUERIES, 9, mode, ranking=Ranking(document_weight=document_weight), stages=Rewrite(rewrite))
    for query, hits in zip(QUERIES, found):
        weights, variants = np.array([1.0, 2.0, 0.5]), [query, f"{query} dogs", "oven"]
        expected = np.zeros(searcher.rows)
        for weight, text, vector in zip(weights / weights.sum(), variants, encoded(variants)):
            probe = Subquery(text, analyzer.terms(text), vector)
            ranking = RankingOptions(mode, document_weight=document_weight)
            ranked = searcher.rank([[probe]], searcher.rows, ranking, None)[0][0]
            expected[ranked.chunks] += weight * ranked.scores
        best = np.lexsort((np.arange(len(expected)), -expected))[:9]
        assert np.allclose([hit.score for hit in hits], expected[best], atol=2e-6)
        assert np.allclose([expected[hit.row] for hit in hits], expected[best], atol=2e-6)
        assert all(hit.sentence is not None for hit in hits) == (mode != "sparse")


def test_ranks_of_all_probes_are_fused(index: Index) -> None:
    variants = ["cats sleep", "dogs bark"]
    hits = index.search(
        "cats sleep", 5, ranking=Ranking(fusion="rrf"), stages=Rewrite(lambda query: [(query, 3.0), (variants[1], 1.0)])
    )[0]
    ranks = {
        (text, mode): [hit.row for hit in index.search(text, 100, mode)[0]]
        for text in variants
        for mode in ("dense", "sparse")
    }
    expected: Counter[int] = Counter()
    for (text, mode), rows in ranks.items():
        weight = (0.75 if text == variants[0] else 0.25) * (1.5 if mode == "sparse" else 1.0)
        for rank, row in enumerate(rows[:100]):
            expected[row] += weight / (61 + rank)  # type: ignore[assignment]  # a Counter of floats
    best = sorted(expected.items(), key=lambda each: (-each[1], each[0]))[:5]
    assert np.allclose([hit.score for hit in hits], [score for _, score in best], atol=1e-6)
    assert set(hits[0].scores) == {"dense", "sparse"}


def test_terms_and_vectors_are_searched_without_texts(index: Index) -> None:
    vector = encoded(["dogs bark"])[0]
    by_terms = index.search(
        "x", 5, "sparse", stages=Rewrite(lambda query: Subquery(terms={"dogs": 1.0, "bark": 0.25}))
    )[0]
    plain = index.search("dogs bark", 5, "sparse")[0]
    assert [hit.score for hit in by_terms] != [hit.score for hit in plain]
    whole = index.search("x", 5, "sparse", stages=Rewrite(lambda query: Subquery(terms=["bark", "dogs"])))[0]
    assert [(hit.row, round(hit.score, 5)) for hit in whole] == [(hit.row, round(hit.score, 5)) for hit in plain]
    for mode in ("dense", "hybrid"):
        by_vector = index.search("x", 5, mode, stages=Rewrite(lambda query: Subquery(vector=3 * vector)))[0]
        own = index.search("dogs bark", 5, "dense")[0]
        assert np.allclose([hit.scores["dense"] for hit in by_vector], [hit.score for hit in own], atol=1e-6)
    for mode, probe in (("dense", Subquery(terms=["cats"])), ("sparse", Subquery(vector=vector))):
        with pytest.raises(ValueError, match="nothing for query 0 that mode"):
            index.search("x", 5, mode, stages=Rewrite(lambda query, probe=probe: probe))


def test_a_query_may_have_no_vector_or_no_terms(index: Index) -> None:
    def rewrite(query: str) -> Any:
        return Subquery(terms=["dogs"]) if query == "words" else [Subquery(vector=encoded(["dogs"])[0]), "cats"]

    for fusion in ("score", "rrf"):
        words, both = index.search(
            ["words", "both"], 6, ranking=Ranking(fusion=fusion, document_weight=1.0), stages=Rewrite(rewrite)
        )
        sparse = index.search("dogs", 6, "sparse", ranking=Ranking(fusion=fusion, document_weight=1.0))[0]
        assert [hit.row for hit in words] == [hit.row for hit in sparse]
        assert {hit.scores["dense"] for hit in words} == {0.0}
        assert all(hit.sentence is None for hit in words)
        assert all(hit.sentence is not None for hit in both)


def test_one_probe_is_the_plain_search_of_it(index: Index) -> None:
    for mode in ("dense", "sparse", "hybrid"):
        found = index.search(["anything"] * 3, 7, mode, stages=Rewrite(lambda query: "the rust star"))
        plain = index.search(["the rust star"] * 3, 7, mode)
        assert list(map(seen, found)) == list(map(seen, plain))


def test_a_batched_function_is_asked_once(index: Index) -> None:
    asked: list[Any] = []

    class Model:
        batched = True

        def __call__(self, queries: list[str]) -> list[Any]:
            asked.append(queries)
            return [[query, "dogs"] for query in queries]

    found = index.search(QUERIES, 4, stages=Rewrite(Model()))
    single = index.search(QUERIES, 4, stages=Rewrite(lambda query: [query, "dogs"]))
    assert asked == [QUERIES]
    assert list(map(seen, found)) == list(map(seen, single))


def test_options_are_searched_with_their_question(index: Index) -> None:
    question, options = "what do they do at night", ["dogs bark", "cats purr"]
    expected = index.search("x", 6, stages=Rewrite(lambda _: [question, f"{question} dogs bark cats purr"]))
    for given in ([(question, options)], [Choice(question, tuple(options))], Choice(question, tuple(options))):
        assert list(map(seen, index.search(given, 6, stages=Rewrite("options")))) == list(map(seen, expected))
    with pytest.raises(ValueError, match=r"no options for query 1: pass \(question, \[options\]\)"):
        index.search([(question, options), "plain"], stages=Rewrite("options"))
    skipped = index.search([(question, options), "the rust star"], 6, stages=Rewrite("options", on_error="skip"))
    assert list(map(seen, skipped)) == [seen(expected[0]), seen(index.search("the rust star", 6)[0])]
    with pytest.raises(ValueError, match="takes texts; query 0 has the option 3"):
        index.search([(question, [3])], stages=Rewrite("options"))


def test_feedback_adds_what_the_first_hits_say(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    searcher, analyzer = index._contents.searcher(), Analyzer()
    feedback = Feedback(hits=2, terms=3, weight=0.5)
    assert searcher.bm25 is not None
    for query, vector in zip(QUERIES, encoded(QUERIES)):
        for mode in ("sparse", "dense", "hybrid"):
            first = index.search(query, 2, mode)[0]
            shares = np.array([hit.score for hit in first]) / sum(hit.score for hit in first)
            weights: dict[str, float] = {}
            for hit, share in zip(first, shares):
                for term, times in Counter(analyzer.terms(hit.text)).items():
                    weights[term] = weights.get(term, 0) + share * times / (times + float(searcher.bm25.norms[hit.row]))
            gain = {term: weights[term] * searcher.bm25.idf([term])[term] for term in weights}
            best = sorted(gain, key=lambda term: (-gain[term], term))[:3]
            probe = Subquery(terms={term: weights[term] for term in best}, weight=0.5)
            if mode != "sparse":
                assert searcher.sentences is not None
                rows = searcher.sentences.scan.score_chunks(vector, np.array([hit.row for hit in first]))[1]
                mean = (shares[:, None] * searcher.sentences.rows(rows)).sum(axis=0)
                probe = Subquery(terms=probe.terms, vector=mean, weight=0.5)
            expected = index.search(query, 8, mode, stages=Rewrite(lambda text, probe=probe: [text, probe]))[0]
            found = index.search(query, 8, mode, stages=Rewrite(feedback))[0]
            assert [hit.row for hit in found] == [hit.row for hit in expected]
            assert np.allclose([hit.score for hit in found], [hit.score for hit in expected], atol=1e-6)
    again = []
    for threads in (1, 3):
        monkeypatch.setattr(index, "_threads", threads)
        again.append([seen(hits) for hits in index.search(QUERIES, 8, stages=Rewrite("feedback"))])
    assert again[0] == again[1]
    assert index.search("zxqv", 3, "sparse", stages=Rewrite("feedback")) == [[]]


def test_feedback_by_vectors_alone_and_without_them(tmp_path: Path) -> None:
    for vectors in ("chunk", "both"):
        with Index.create(tmp_path / vectors, vectors=vectors, bm25=None) as made:
            made.add(chunks_of(PETS, vectors))
            hits = made.search(encoded(["cats"]), stages=Rewrite("feedback"), mode="dense")[0]
            assert hits[0].text.startswith("Cats")
            made.save()


def test_with_conditions_documents_and_reasons(index: Index) -> None:
    def fails(query: str) -> Any:
        if query == QUERIES[1]:
            raise RuntimeError("the endpoint is down")
        return [query, "dogs"] if query == QUERIES[0] else []

    with pytest.raises(RuntimeError, match=r"stage rewrite failed for query 1 .*the endpoint is down"):
        index.search(QUERIES[:2], stages=Rewrite(fails))
    with pytest.raises(ValueError, match="stage rewrite gave nothing for query 0"):
        index.search(QUERIES[2:], stages=Rewrite(fails))
    found = index.search(QUERIES, 4, stages=Rewrite(fails, on_error="skip"))
    assert "rewrite" not in found[0][0].scores
    assert "endpoint is down" in found[1][0].scores["rewrite"]
    assert "gave nothing for query 2" in found[2][0].scores["rewrite"]
    assert list(map(seen, found[1:])) == list(map(seen, index.search(QUERIES[1:], 4)))
    documents = index.search_documents(
        QUERIES, 4, ranking=Ranking(document_weight=1.0), stages=Rewrite("feedback"), ids=["d1", "d2"]
    )
    assert {each.document_id for hits in documents for each in hits} <= {"d1", "d2"}


@pytest.mark.parametrize(
    ("rewrite", "error", "match"),
    [
        (
            "hide",
            ValueError,
            "rewrite must be one of 'feedback', 'options', 'hyde', 'multi', or a function; got 'hide'",
        ),
        (3, TypeError, "or a function; got 3"),
        (lambda query: 7, ValueError, "gave nothing for query 0"),
        (lambda query: [7], ValueError, r"must give texts, \(text, weight\) or Subquery; for query 0"),
        (lambda query: [("x", 0)], ValueError, "weights above 0; for query 0"),
        (lambda query: [("x", float("nan"))], ValueError, "weights above 0; for query 0"),
        (lambda query: ["", "  "], ValueError, "gave nothing for query 0"),
        (lambda query: None, ValueError, "gave nothing for query 0"),
        (lambda query: Subquery(vector=[1.0, 2.0]), ValueError, r"vectors of \d+ finite numbers; for query 0"),
        (lambda query: Subquery(vector=np.full(256, np.nan, F32)), ValueError, "finite numbers; for query 0"),
        (lambda query: Subquery(terms={"cat": -1.0}), ValueError, "terms as texts, .* for query 0"),
    ],
)
def test_what_cannot_be_is_refused(index: Index, rewrite: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        index.search("cats", stages=Rewrite(rewrite))


def test_texts_are_needed_and_options_checked(index: Index) -> None:
    with pytest.raises(ValueError, match=r"reads the texts of queries; got vectors alone: pass \(texts, vectors\)"):
        index.search(encoded(["cats"]), mode="dense", stages=Rewrite(lambda query: query))
    with pytest.raises(ValueError, match="on_error must be"):
        index.search("cats", stages=Rewrite("feedback", on_error="ignore"))
    with pytest.raises(ValueError, match="hits must be"):
        Feedback(hits=0)


def test_on_the_command_line(tmp_path: Path) -> None:
    with Index.create(tmp_path / "pets.idx") as made:
        made.add(chunks_of(PETS, ids=["cats", "dogs", "rust"]))
    arguments = ["search", str(tmp_path / "pets.idx"), "why do cats purr", "-k", "1", "--document-weight", "1"]
    found = invoke([*arguments, "--rewrite", "feedback"])
    assert found.exit_code == 0, found.output
    assert "document cats" in found.output
    assert "document_sparse" in found.output
    wrong = invoke([*arguments, "--rewrite", "hide"])
    assert wrong.exit_code != 0
    assert "must be feedback, hyde, multi; got 'hide'" in wrong.output
