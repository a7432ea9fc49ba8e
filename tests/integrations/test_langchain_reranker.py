"""The LangChain document compressor that reranks documents."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

pytest.importorskip("langchain_core")

from langchain_core.documents import Document

from pychunk.integrations.langchain_reranker import PychunkReranker


def test_a_reranker_orders_documents() -> None:
    documents = [Document(page_content=text, metadata={"n": n}, id=str(n)) for n, text in enumerate(["a", "ccc", "bb"])]
    reranker = PychunkReranker(lambda queries, hits: [[len(hit.text) for hit in own] for own in hits], k=2)
    found = reranker.compress_documents(documents, "?")
    assert [(each.id, each.metadata) for each in found] == [
        ("1", {"n": 1, "relevance_score": 3.0}),
        ("2", {"n": 2, "relevance_score": 2.0}),
    ]
    assert documents[1].metadata == {"n": 1}
    assert asyncio.run(reranker.acompress_documents(documents, "?")) == found
    assert reranker.compress_documents([], "?") == []
    with pytest.raises(ValueError, match="gave nan for query 0"):
        PychunkReranker(lambda queries, hits: [np.full(len(own), np.nan) for own in hits]).compress_documents(
            documents, "?"
        )
    with pytest.raises(ValueError, match="rerank: 'static' does not score relevance"):
        PychunkReranker("static")
