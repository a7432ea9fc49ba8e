"""LangChain's own standard suites, for the embeddings, the vector store and its retriever."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_tests")

from langchain_core.documents import Document
from langchain_tests.integration_tests import (
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import EmbeddingsUnitTests

from pychunk.integrations.langchain_embeddings import PychunkEmbeddings
from pychunk.integrations.langchain_store import PychunkVectorStore

#: The suites do not mark their coroutines, and a mark on a class also meets its other tests, with a warning.
pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*marked with '@pytest.mark.asyncio'"),
]


class TestVectorStore(VectorStoreIntegrationTests):
    """The store with LangChain's fake embeddings of 6 numbers, saved in a folder."""

    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[PychunkVectorStore]:  # type: ignore[override]
        store = PychunkVectorStore.from_texts([], self.get_embeddings(), path=tmp_path / "index")
        yield store
        store.index.close()


class TestVectorStoreOfOwnEncoder(VectorStoreIntegrationTests):
    """The store with the static encoder, in a temporary folder."""

    @staticmethod
    def get_embeddings() -> PychunkEmbeddings:  # type: ignore[override]
        return PychunkEmbeddings()

    @pytest.fixture
    def vectorstore(self) -> Iterator[PychunkVectorStore]:  # type: ignore[override]
        yield PychunkVectorStore.from_texts([], self.get_embeddings())
        gc.collect()  # The folder goes with the store.


class OfEmbeddings:
    @property
    def embeddings_class(self) -> type[PychunkEmbeddings]:
        return PychunkEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"encoder": "static"}


class TestEmbeddingsUnit(OfEmbeddings, EmbeddingsUnitTests):  # type: ignore[misc]
    pass


class TestEmbeddings(OfEmbeddings, EmbeddingsIntegrationTests):  # type: ignore[misc]
    pass


def retriever(k: int = 4) -> Any:
    """Return a retriever of a store of five documents."""
    documents = [Document(page_content=f"Fact {i} about cats: they purr.", metadata={"n": i}) for i in range(5)]
    return PychunkVectorStore.from_documents(documents, PychunkEmbeddings()).as_retriever(search_kwargs={"k": k})


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> Any:
        return retriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {}

    @property
    def retriever_query_example(self) -> str:
        return "Do cats purr?"
