"""Reranking by cross-encoders."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pychunk.index import Rerank

pytest.importorskip("faiss")

from command_line import invoke
from index_reference import F32, PETS, chunks_of

import pychunk
from pychunk.evaluation.systems import count_tokens
from pychunk.index.index import Index
from pychunk.index.rerank import rerankers
from pychunk.index.search.hits import Hit

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


def test_rerank_orders_by_an_exported_cross_encoder(
    tiny_reranker: Path, article_chunks: pa.Table, questions: list[str], tmp_path: Path
) -> None:
    from pychunk.encoders.cross_encoder import PairScorer

    model = PairScorer(tiny_reranker, task="relevance")

    def relevance(query: str, text: str) -> float:
        data, size = (query + text).encode(), len(query.encode())
        bounds = np.array([0, size, len(data)])
        return float(model.logits(np.frombuffer(data, np.uint8), bounds, np.array([0]), np.array([1]))[0, 0])

    with Index.create(tmp_path / "x") as index:
        index.add(article_chunks)
        plain = index.search(questions[:3], k=12)
        found = index.search(questions[:3], k=5, stages=Rerank(tiny_reranker, 12))
        for query, before, hits in zip(questions, plain, found):
            own = {hit.chunk_id: relevance(query, hit.text) for hit in before}
            expected = sorted(own.values(), reverse=True)[:5]
            assert [own[hit.chunk_id] for hit in hits] == pytest.approx(expected, abs=1e-5)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            scores = {hit.chunk_id: hit.scores for hit in before}
            assert all(hit.scores == {**scores[hit.chunk_id], "rerank": hit.score} for hit in hits)


def test_rerank_refuses_a_model_for_something_else(
    tiny_pairs: Path, tiny_encoder: Path, tiny_reranker: Path, tmp_path: Path
) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS))
        for model in ("static", tiny_pairs, tiny_encoder, "nowhere"):
            with pytest.raises(ValueError, match=r"rerank: .*pass .*'features', 'logprob', 'listwise', or a function"):
                index.search("x", stages=Rerank(model))
    with pytest.raises(ValueError, match="holds a model for 'relevance', not for 'pairs'"):
        pychunk.segment(PETS, "nsp", encoder=tiny_reranker)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_relevance_is_the_logit_or_the_second_class_over_the_first(classes: int) -> None:
    class Model:
        path = "here"

        def logits(self, *_: Any, **__: Any) -> Any:
            return np.arange(2 * classes, dtype=F32).reshape(2, classes) ** 2

    if classes == 3:
        with pytest.raises(ValueError, match="here sorts pairs into 3 classes"):
            rerankers.scores(Model(), ["q"], [["a", "b"]])
    else:
        found = rerankers.scores(Model(), ["q"], [["a", "b"]])
        assert [each.tolist() for each in found] == [[0, 1] if classes == 1 else [1, 5]]


def test_a_function_reranks_and_equals_keep_their_order(tmp_path: Path) -> None:
    asked: list[Any] = []

    def shortest(queries: Sequence[str], hits: Sequence[Sequence[Hit]]) -> list[list[float]]:
        asked.append((list(queries), [[hit.text for hit in own] for own in hits]))
        return [[-len(hit.text) for hit in own] for own in hits]

    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS))
        queries = ["do cats purr?", "memory"]
        plain = index.search(queries, k=5)
        found = index.search(queries, k=2, stages=Rerank(shortest, 5))
        assert asked == [(queries, [[hit.text for hit in own] for own in plain])]  # all queries in one call
        for before, hits in zip(plain, found):
            lengths = [len(hit.text) for hit in before]
            expected = sorted(range(len(before)), key=lambda i: lengths[i])[:2]
            assert [hit.chunk_id for hit in hits] == [before[i].chunk_id for i in expected]
            assert [hit.scores["rerank"] for hit in hits] == [-lengths[i] for i in expected]
        same = index.search(queries, k=5, stages=Rerank(lambda queries, hits: [[1] * len(own) for own in hits]))
        assert [[hit.row for hit in hits] for hits in same] == [[hit.row for hit in hits] for hits in plain]
        documents = index.search_documents(queries, k=2, stages=Rerank(shortest))
        assert [[len(own.hits) for own in each] for each in documents] == [[1, 1], [1, 1]]


def _nan(queries: Sequence[str], hits: Sequence[Sequence[Hit]]) -> list[list[float]]:
    scores = [[float(i) for i in range(len(own))] for own in hits]
    scores[1][2] = float("nan")
    return scores


def _fails(queries: Sequence[str], hits: Sequence[Sequence[Hit]]) -> list[list[float]]:
    raise OSError("the service is away")


@pytest.mark.parametrize(
    ("function", "error", "message", "whole"),
    [
        (_nan, ValueError, r"the stage rerank \(_nan\) gave nan for query 1, hit 2 \(row \d+ of the index\)", False),
        (_fails, RuntimeError, r"the stage rerank \(_fails\) failed: OSError: the service is away", True),
        (lambda queries, hits: [[1.0]], ValueError, r"\(<lambda>\) gave scores for 1 of 2 queries", True),
        (
            lambda queries, hits: [[0.0] * len(hits[0]), [1.0]],
            ValueError,
            r"gave scores of shape \(1,\) for query 1; it has 5 hits",
            False,
        ),
        (lambda queries, hits: [[0.0] * len(hits[0]), "x"], ValueError, "gave no numbers for query 1", False),
    ],
)
def test_scores_of_no_use_are_an_error_or_are_skipped(
    function: Any, error: type[Exception], message: str, whole: bool, tmp_path: Path
) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS))
        index.save()
        queries = ["do cats purr?", "memory"]
        with pytest.raises(error, match=message):
            index.search(queries, k=3, stages=Rerank(function))
        plain = index.search(queries, k=3)
        found = index.search(queries, k=3, stages=Rerank(function, on_error="skip"))
        skipped = [0, 1] if whole else [1]
        for i in skipped:
            for before, hit in zip(plain[i], found[i], strict=True):
                assert (hit.row, hit.score) == (before.row, before.score)
                assert hit.scores.pop("rerank").startswith("the stage rerank (")
                assert hit.scores == before.scores
        if not whole:  # the other query's scores count
            assert all(isinstance(hit.scores["rerank"], float) for hit in found[0])
        with pytest.raises(ValueError, match="on_error must be 'raise' or 'skip'; got 'ignore'"):
            index.search(queries, stages=Rerank(function, on_error="ignore"))


def test_a_rerankers_cost_is_what_its_model_read(tiny_reranker: Path, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS))
        hits = index.search(["cats", "dogs"], k=3)
    stage = rerankers.load(tiny_reranker)
    best, cost = rerankers.reranked(stage, ["cats", "dogs"], hits, 2)
    assert [len(each) for each in best] == [2, 2]
    texts = [hit.text for own in hits for hit in own]
    # Each pair is [CLS] query [SEP] chunk [SEP].
    assert (cost.hits, cost.tokens) == (6, sum(count_tokens([text]) + 1 + 3 for text in texts))
    assert cost.seconds > 0
    assert rerankers.reranked(stage, [], [], 5) == ([], rerankers.Cost(0, 0, 0.0))
    assert rerankers.reranked(stage, ["cats"], [[]], 5)[0] == [[]]


def test_a_cross_encoder_reads_what_a_hit_renders(tiny_reranker: Path, tmp_path: Path) -> None:
    text = "# Cats\n\nThey purr.\n\n## Food\n\nFish and milk.\n\n## Sleep\n\nBy day, in the sun."
    chunks = pychunk.segment(pychunk.parse(text, "markdown"), max_tokens=8, min_tokens=0, vectors="sentence")
    with Index.create(tmp_path / "x") as index:
        index.add(chunks)
        index.add(chunks_of(PETS))
        found = index.search(["cats"], k=20)
    model = rerankers.load(tiny_reranker)
    assert isinstance(model, rerankers.CrossEncoder)
    read = [hit.render() if hit.path is not None else hit.text for hit in found[0]]
    assert any(own != hit.text for own, hit in zip(read, found[0]))
    assert any(hit.path is None for hit in found[0])
    expected = rerankers.scores(model.model, ["cats"], [read])
    assert np.array_equal(model.score(["cats"], found, 1).scores[0], expected[0])


def test_rerank_on_the_command_line(tiny_reranker: Path, saved_index: Path) -> None:
    out = invoke(["search", str(saved_index), "cats", "-k", "1", "--rerank", str(tiny_reranker), "--depth", "2"])
    assert out.exit_code == 0, out.output
    assert "rerank " in out.output
    assert "pychunk model get reranker" in " ".join(invoke(["search", "--help"]).output.split())
    with Index.open(saved_index) as index:
        found = index.search("cats", k=1, stages=Rerank(tiny_reranker, 2))[0][0]
    assert found.text in out.output
