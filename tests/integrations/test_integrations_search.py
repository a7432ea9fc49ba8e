"""pychunk's vectors and index in the interfaces of LangChain and LlamaIndex, in their own harnesses."""

import asyncio
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pychunk
from pychunk.index import Expansion, Ranking, Rerank, Rewrite

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

TEXTS = ["Cats purr when they are content.", "The sun is a star of middle age.", "Rust is memory safe."]
ASKED = "Why do cats purr?"


@pytest.fixture(scope="module")
def store() -> Any:
    pytest.importorskip("langchain_core")
    from pychunk.integrations import langchain_store

    return langchain_store


@pytest.fixture(scope="module")
def llama() -> Any:
    pytest.importorskip("llama_index.core")
    from pychunk.integrations import llama_index_embedding, llama_index_retriever

    return llama_index_embedding, llama_index_retriever


@pytest.fixture
def documents(tmp_path: Path) -> Any:
    """Return an index of two documents with a column of their own."""
    texts = ["# Cats\n\nCats purr. They sleep all day.", "# Stars\n\nThe sun is a star. It burns hydrogen."]
    with pychunk.Index.create(tmp_path / "documents") as index:
        chunks = pychunk.segment(texts, "structure", size=8, unit="words", ids=["c", "s"], vectors="sentence")
        index.add(chunks, metadata={"year": [2001, 2002]})
    return pychunk.Index.open(tmp_path / "documents")


#: Options of a search, which adapters pass on.
SEARCHES: list[dict[str, Any]] = [
    {"ranking": Ranking(fusion="rrf")},
    {"ranking": Ranking(document_weight=1.0, min_score=0.5)},
    {"ranking": None, "mode": "dense"},
    {"expansion": Expansion("section", max_words=12)},
    {"expansion": 1, "stages": Rerank("features")},
    {"stages": [Rewrite("feedback"), Rerank(lambda queries, hits: [[hit.start for hit in own] for own in hits])]},
]


def test_langchain_embeddings_in_a_store_of_its_own(store: Any) -> None:
    from langchain_core.vectorstores import InMemoryVectorStore

    from pychunk.integrations.langchain_embeddings import PychunkEmbeddings

    embeddings = PychunkEmbeddings(placement=pychunk.Placement(threads=1))
    np.testing.assert_array_equal(np.float32(embeddings.embed_documents(TEXTS)), pychunk.embed(TEXTS))
    np.testing.assert_array_equal(np.float32(embeddings.embed_query(ASKED)), pychunk.embed(ASKED, task="query"))
    found = InMemoryVectorStore.from_texts(TEXTS, embeddings).similarity_search(ASKED, k=1)
    assert [document.page_content for document in found] == TEXTS[:1]
    with pytest.raises(ValueError, match="no such"):
        PychunkEmbeddings("no such")


@pytest.mark.parametrize("vectors", ["sentence", "chunk", "both"])
def test_a_langchain_store_adds_replaces_finds_and_deletes(store: Any, tmp_path: Path, vectors: str) -> None:
    options = {"path": tmp_path / "index", "vectors": vectors}
    metadatas = [{"year": 2001}, {"year": 2002, "by": "Ann"}, {}]
    found = store.PychunkVectorStore.from_texts(TEXTS, metadatas=metadatas, ids=["c", "s", "r"], **options)
    best = found.similarity_search(ASKED, k=2)[0]
    assert (best.id, best.page_content, best.metadata) == ("c", TEXTS[0], {"year": 2001})
    assert [each.id for each in found.similarity_search("star", where={"by": "Ann"})] == ["s"]
    assert [each.id for each in found.similarity_search_by_vector(pychunk.embed(ASKED, task="query").tolist(), 1)] == [
        "c"
    ]
    (_, score), *_ = found.similarity_search_with_relevance_scores(ASKED, k=1)
    assert 0 < score <= 1
    assert found.add_texts(["Dogs bark. Cats purr twice."], ids=["c"]) == ["c"]
    assert len(found.index) == 3
    assert found.similarity_search(ASKED, k=1)[0].page_content == "Dogs bark. Cats purr twice."
    found.delete(["c", "unknown"])
    assert {each.id for each in found.similarity_search(ASKED, k=9)} == {"s", "r"}
    found.index.save()
    found.index.close()
    again = store.PychunkVectorStore(tmp_path / "index", mode="dense")
    assert {each.id for each in again.as_retriever(search_kwargs={"k": 1}).invoke("memory safety")} == {"r"}
    assert asyncio.run(again.asimilarity_search("memory safety", k=1))[0].id == "r"


def test_a_langchain_store_of_segmented_documents_tells_where_chunks_are(store: Any, documents: Any) -> None:
    found = store.PychunkVectorStore(documents, include=("start", "end", "path"))
    best = found.similarity_search("Do cats purr?", k=1)[0]
    assert best.metadata["year"] == 2001
    assert best.metadata["path"] == ["Cats"]
    assert best.metadata["start"] == 0
    wider = found.similarity_search("Do cats purr?", k=1, expansion="subtree")[0]
    assert wider.page_content.startswith(best.page_content)
    assert "sleep all day" in wider.page_content


@pytest.mark.parametrize("options", SEARCHES)
def test_a_langchain_store_searches_as_the_index_does(store: Any, documents: Any, options: dict[str, Any]) -> None:
    expected = [(hit.document_id, hit.score) for hit in documents.search(ASKED, 3, **options)[0]]
    each_search, for_all = store.PychunkVectorStore(documents), store.PychunkVectorStore(documents, **options)
    for pairs in (
        each_search.similarity_search_with_score(ASKED, 3, **options),
        for_all.similarity_search_with_score(ASKED, 3),
    ):
        assert [(document.id, score) for document, score in pairs] == expected
    shares = [share for _, share in for_all.similarity_search_with_relevance_scores(ASKED, 3)]
    assert len(shares) == len(expected) > 0
    assert all(0 <= share <= 1 for share in shares)


def test_a_langchain_store_filters_and_gives_documents_by_id(store: Any, documents: Any) -> None:
    found = store.PychunkVectorStore(documents, where={"year": 2001})
    assert {each.id for each in found.similarity_search("a star", k=9)} == {"c"}
    assert {each.id for each in found.similarity_search("a star", k=9, filter=None)} == {"c"}
    found = store.PychunkVectorStore(documents)
    for condition in ({"year": 2001}, "year < 2002"):
        assert {each.id for each in found.similarity_search("a star", k=9, filter=condition)} == {"c"}
    retriever = found.as_retriever(search_kwargs={"k": 9, "filter": {"year": {"gt": 2001}}})
    assert {each.id for each in retriever.invoke("cats")} == {"s"}
    with pytest.raises(ValueError, match="filter= and where= both choose"):
        found.similarity_search("a star", filter="year = 1", where="year = 2")
    both = found.get_by_ids(["s", "nobody", "c"])
    assert [each.id for each in both] == ["s"] * len(documents.get("s")) + ["c"] * len(documents.get("c"))
    assert "".join(each.page_content for each in both).count("burns hydrogen") == 1
    assert both[0].metadata == {"year": 2002}


def test_what_a_langchain_store_cannot_do_is_named(store: Any, tmp_path: Path) -> None:
    new = store.PychunkVectorStore.from_texts
    for options, message in (
        ({"texts": TEXTS, "ids": ["a"], "path": tmp_path / "b"}, "ids must hold one value for each of 3 texts; got 1"),
        ({"texts": ["a", " "], "path": tmp_path / "c"}, "text 1 is blank"),
    ):
        with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
            new(**options)
    with pychunk.Index.create(tmp_path / "d", encoder=None, dim=4) as index:
        with pytest.raises(ValueError, match="made without an encoder"):
            store.PychunkVectorStore(index).add_texts(["a"])
        with pytest.raises(ValueError, match=r"include must name fields of pychunk\.Hit .*score.*; got 'span'"):
            store.PychunkVectorStore(index, include=["span"])


def test_llama_index_embedding_in_an_index_of_its_own(llama: Any) -> None:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    embedding = llama[0].PychunkEmbedding(options={"placement": pychunk.Placement(threads=1)})
    np.testing.assert_array_equal(np.float32(embedding.get_text_embedding_batch(TEXTS)), pychunk.embed(TEXTS))
    np.testing.assert_array_equal(
        np.float32(asyncio.run(embedding.aget_query_embedding(ASKED))), pychunk.embed(ASKED, task="query")
    )
    assert type(embedding).from_dict(embedding.to_dict()).options == embedding.options
    index = VectorStoreIndex([TextNode(text=text) for text in TEXTS], embed_model=embedding)
    assert [each.text for each in index.as_retriever(similarity_top_k=1).retrieve(ASKED)] == TEXTS[:1]


def test_llama_index_retrieves_from_an_index(llama: Any, documents: Any) -> None:
    retriever = llama[1].PychunkRetriever(documents, k=1, where={"year": 2001})
    (best,) = retriever.retrieve("What burns hydrogen?")  # the document about the sun is from 2002
    assert best.node.metadata == {"ref_id": "c", "year": 2001, "path": ["Cats"]}
    assert best.node.end_char_idx - best.node.start_char_idx == len(best.text)
    (sun,) = asyncio.run(
        llama[1].PychunkRetriever(documents.path, k=1, expansion="subtree").aretrieve("Is the sun a star?")
    )
    assert sun.text.startswith("# Stars")
    assert "hydrogen" in sun.text


@pytest.mark.parametrize("options", SEARCHES)
def test_llama_index_searches_as_the_index_does(llama: Any, documents: Any, options: dict[str, Any]) -> None:
    expected = [(hit.text_id, hit.score) for hit in documents.search(ASKED, 3, **options)[0]]
    found = llama[1].PychunkRetriever(documents, 3, **options).retrieve(ASKED)
    assert [(each.node.node_id, each.score) for each in found] == expected
    assert expected


def test_llama_index_nodes_without_document_ids_have_chunk_ids(llama: Any, tmp_path: Path) -> None:
    texts = ["# Cats\n\nCats purr.", "# Pets\n\nCats purr."]
    with pychunk.Index.create(tmp_path / "plain") as index:
        index.add(pychunk.segment(texts, "sentence", vectors="sentence", keep_together=False))
        found = llama[1].PychunkRetriever(index, 4).retrieve("Do cats purr?")
        hits = index.search("Do cats purr?", 4)[0]
    assert len({hit.text_id for hit in hits}) < len(hits)
    assert [each.node.node_id for each in found] == [hit.chunk_id for hit in hits]
    assert len({each.node.node_id for each in found}) == len(found)
