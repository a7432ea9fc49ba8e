"""Boundaries equal LangChain's SemanticChunker and LlamaIndex's SemanticSplitterNodeParser on the same vectors."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

import pychunk

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

#: (sentences, dimensions, seed); with one and two sentences percentiles and gradients have no room.
DOCUMENTS = [(1, 4, 0), (2, 4, 1), (3, 8, 2), (21, 16, 3), (101, 32, 4), (400, 64, 5)]
#: The kind, LangChain's amount over distances 1 - a, and pychunk's over similarities a.
KINDS = [
    ("percentile", 95, ("percentile", 5)),
    ("percentile", 80, ("percentile", 20)),
    ("percentile", 62.5, ("percentile", 37.5)),
    ("standard_deviation", 3, ("std", 3)),
    ("standard_deviation", 0.5, ("std", 0.5)),
    ("interquartile", 1.5, ("iqr", 1.5)),
    ("interquartile", 0.3, ("iqr", 0.3)),
    ("gradient", 95, ("gradient", 95)),
    ("gradient", 70, ("gradient", 70)),
]


def document(sentences: int, dim: int, seed: int) -> tuple[str, npt.NDArray[np.float32]]:
    """Return numbered sentences that every splitter splits alike, and a walk of vectors with a few leaps."""
    random = np.random.default_rng(seed)
    steps = random.normal(size=(sentences, dim)) * np.where(random.random(sentences) < 0.15, 3.0, 0.4)[:, None]
    vectors = np.cumsum(steps, axis=0) + random.normal(size=dim)
    text = " ".join(f"Sentence number {i} stands here." for i in range(sentences))
    return text, (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def ours(text: str, vectors: npt.NDArray[np.float32], threshold: tuple[str, float]) -> list[str]:
    spans = pychunk.split_sentences(text)[0]
    assert len(spans) == len(vectors)
    out = pychunk.segment(
        text,
        method="semantic",
        threshold=threshold,
        max_tokens=None,
        keep_together=False,
        min_tokens=0,
        columns={"sentence_vectors": [vectors], "sentence_spans": [spans]},
    )
    return [chunk.text for chunk in out]


@pytest.mark.parametrize(("sentences", "dim", "seed"), DOCUMENTS)
@pytest.mark.parametrize(("kind", "amount", "threshold"), KINDS)
def test_boundaries_equal_langchain(
    sentences: int, dim: int, seed: int, kind: str, amount: float, threshold: tuple[str, float]
) -> None:
    splitter = pytest.importorskip("langchain_experimental.text_splitter", exc_type=ImportError)
    embeddings = pytest.importorskip("langchain_core.embeddings").Embeddings
    text, vectors = document(sentences, dim, seed)

    class Given(embeddings):  # type: ignore[misc, valid-type]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            assert len(texts) == len(vectors)
            return vectors.astype(float).tolist()

        def embed_query(self, text: str) -> list[float]:
            raise AssertionError("only documents are embedded")

    peer = splitter.SemanticChunker(
        Given(), buffer_size=0, breakpoint_threshold_type=kind, breakpoint_threshold_amount=amount
    )
    expected = peer.split_text(text)
    assert ours(text, vectors, threshold) == expected
    assert sentences < 20 or amount == 3 or len(expected) > 1


@pytest.mark.parametrize(("sentences", "dim", "seed"), DOCUMENTS)
@pytest.mark.parametrize("percentile", [95, 80, 50])
def test_boundaries_equal_llamaindex(sentences: int, dim: int, seed: int, percentile: int) -> None:
    parser = pytest.importorskip("llama_index.core.node_parser")
    core = pytest.importorskip("llama_index.core")
    base = pytest.importorskip("llama_index.core.embeddings")
    text, vectors = document(sentences, dim, seed)

    class Given(base.BaseEmbedding):  # type: ignore[misc, name-defined]
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            at = self.__dict__.setdefault("_at", 0)
            self.__dict__["_at"] = at + len(texts)
            return vectors[at : at + len(texts)].astype(float).tolist()

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            raise AssertionError("only documents are embedded")

        async def _aget_query_embedding(self, query: str) -> list[float]:
            raise AssertionError("only documents are embedded")

    def split(whole: str) -> Sequence[str]:
        starts = [start for start, _ in pychunk.split_sentences(whole)[0]]
        return [whole[a:b] for a, b in zip(starts, [*starts[1:], len(whole)])]

    peer = parser.SemanticSplitterNodeParser(
        embed_model=Given(), breakpoint_percentile_threshold=percentile, buffer_size=1, sentence_splitter=split
    )
    nodes = peer.get_nodes_from_documents([core.Document(text=text)])
    expected = [node.get_content().strip() for node in nodes]
    assert ours(text, vectors, ("percentile", 100 - percentile)) == expected
    assert sentences < 20 or len(expected) > 1
