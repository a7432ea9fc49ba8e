"""Reranking by cross-encoders."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("faiss")

from index_reference import F32, PETS, chunks_of

import pychunk
from pychunk.retrieval import rerank
from pychunk.retrieval.index import Index

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


def test_rerank_orders_by_an_exported_cross_encoder(
    tiny_reranker: Path, article_chunks: pa.Table, questions: list[str], tmp_path: Path
) -> None:
    from pychunk.encoders.pairs import PairScorer

    model = PairScorer(tiny_reranker, task="relevance")

    def relevance(query: str, text: str) -> float:
        data, size = (query + text).encode(), len(query.encode())
        bounds = np.array([0, size, len(data)])
        return float(model.logits(np.frombuffer(data, np.uint8), bounds, np.array([0]), np.array([1]))[0, 0])

    with Index.create(tmp_path / "x") as index:
        index.add(article_chunks)
        plain = index.search(questions[:3], k=12)
        found = index.search(questions[:3], k=5, rerank=tiny_reranker, depth=12)
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
            with pytest.raises(
                ValueError, match=r"rerank takes an exported cross-encoder for relevance \(pychunk export"
            ):
                index.search("x", rerank=model)
    with pytest.raises(ValueError, match="holds a model for relevance; one for pairs is needed here"):
        pychunk.segment(PETS, "nsp", encoder=tiny_reranker)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_relevance_is_the_logit_or_the_second_class_over_the_first(classes: int) -> None:
    class Model:
        path = "here"

        def logits(self, *_: Any, **__: Any) -> Any:
            return np.arange(2 * classes, dtype=F32).reshape(2, classes) ** 2

    if classes == 3:
        with pytest.raises(ValueError, match="here sorts pairs into 3 classes"):
            rerank.scores(Model(), ["q"], [["a", "b"]])
    else:
        found = rerank.scores(Model(), ["q"], [["a", "b"]])
        assert [each.tolist() for each in found] == [[0, 1] if classes == 1 else [1, 5]]
