"""LangChain's whole way with pychunk: files to Documents, chunks, and a store of any embeddings."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_text_splitters")

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from pdfs import Page, made

import pychunk
from pychunk.integrations.langchain import PychunkTextSplitter
from pychunk.integrations.langchain_loader import PychunkLoader
from pychunk.integrations.langchain_store import PychunkVectorStore

MARKDOWN = "# Cats\n\nCats purr when they are content.\n\n## Food\n\nThey eat mice and fish.\n"
HTML = "<html><head><title>Stars</title></head><body><h1>Stars</h1><p>Stars burn hydrogen for ages.</p></body></html>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = tmp_path / "files"
    files.mkdir()
    (files / "cats.md").write_text(MARKDOWN)
    (files / "stars.html").write_text(HTML)
    (files / "plain.txt").write_text("Rust is memory safe. It has no garbage collector.")
    (files / "paged.pdf").write_bytes(
        made([Page().put(72, 72, text) for text in ("Trains run on rails.", "Boats float on water.")])
    )
    return files


def test_a_folder_becomes_documents_and_chunks(folder: Path) -> None:
    documents = PychunkLoader(folder).load()
    by_name = {Path(str(each.metadata["source"])).name: each for each in documents}
    assert by_name.keys() == {"cats.md", "stars.html", "plain.txt", "paged.pdf"}
    assert by_name["stars.html"].metadata["title"] == "Stars"
    assert all(each.id == str(folder / name) for name, each in by_name.items())
    json.dumps([each.metadata for each in documents])
    parts = PychunkTextSplitter(max_tokens=12, add_start_index=True).split_documents(documents)
    for part in parts:
        text = by_name[Path(part.metadata["source"]).name].page_content
        start = part.metadata["start_index"]
        assert text[start : start + len(part.page_content)] == part.page_content
        assert "pychunk_structure" not in part.metadata
    paths = {part.metadata.get("path") for part in parts if part.metadata["source"].endswith(".md")}
    assert paths == {"Cats", "Cats > Food"}
    pages = {part.metadata["page"] for part in parts if part.metadata["source"].endswith(".pdf")}
    assert min(pages) == 1
    assert len({part.id for part in parts}) == len(parts)
    again = PychunkTextSplitter(max_tokens=12).split_documents(PychunkLoader(folder).load())
    assert [part.id for part in again] == [part.id for part in parts]


def test_the_chunks_of_loaded_documents_are_those_of_read(folder: Path) -> None:
    for name in ("cats.md", "stars.html", "plain.txt", "paged.pdf"):
        expected = pychunk.segment(pychunk.read(folder / name), max_tokens=16)
        parts = PychunkTextSplitter(max_tokens=16).split_documents(PychunkLoader(folder / name).load())
        assert [(part.page_content, part.id) for part in parts] == [(each.text, each.text_id) for each in expected]


def test_a_key_of_the_document_stays_as_it_is() -> None:
    document = Document(page_content=MARKDOWN, metadata={"path": "/a/b", "page": 0})
    for part in PychunkTextSplitter(markup="markdown", max_tokens=12).split_documents([document]):
        assert part.metadata == {"path": "/a/b", "page": 0}


def test_sizes_by_langchains_names() -> None:
    text = " ".join(f"Sentence number {i} is here." for i in range(40))
    for method, name in (("fixed", "size"), ("recursive", "size"), ("sentence", "max_tokens"), (None, "max_tokens")):
        parts = PychunkTextSplitter(method, chunk_size=30, chunk_overlap=5).split_text(text)  # type: ignore[arg-type]
        assert parts == pychunk.segment(text, method, **{name: 30, "overlap": 5}).texts  # type: ignore[call-overload]
        assert len(parts) > 3
    with pytest.raises(ValueError, match="either chunk_size or size"):
        PychunkTextSplitter("fixed", chunk_size=3, size=3)


def test_a_store_refuses_embeddings_of_another_model(tmp_path: Path) -> None:
    class Other(DeterministicFakeEmbedding):
        pass

    path = tmp_path / "index"
    PychunkVectorStore.from_texts(["One."], DeterministicFakeEmbedding(size=6), path=path).index.close()
    with pytest.raises(ValueError, match=r"'DeterministicFakeEmbedding'.*'Other'"):
        PychunkVectorStore(path, Other(size=6))
    with pytest.raises(ValueError, match="encoder 'DeterministicFakeEmbedding', which cannot be loaded"):
        PychunkVectorStore(path)
    store = PychunkVectorStore(path, DeterministicFakeEmbedding(size=8))
    with pytest.raises(ValueError, match=r"6.*8|8.*6"):
        store.similarity_search("One")
    with pytest.raises(ValueError, match=r"6.*8|8.*6"):
        store.add_texts(["Two."])
    with pytest.raises(ValueError, match=r"'DeterministicFakeEmbedding', and embedding is 'Other'"):
        PychunkVectorStore(store.index, Other(size=6))
    with pytest.raises(TypeError, match="with the method embed_documents; got int"):
        PychunkVectorStore.from_texts(["One."], 7)  # type: ignore[arg-type]


@pytest.mark.parametrize("own", [True, False])
def test_a_store_with_a_path_is_on_disk(tmp_path: Path, own: bool) -> None:
    embedding = None if own else DeterministicFakeEmbedding(size=6)
    metadata = {"page": 3, "path": ["a"], "id": 1, "score": None}
    document = Document(page_content="Cats purr.", metadata=metadata, id="c")
    path = tmp_path / "index"
    store = PychunkVectorStore.from_documents([document], embedding, path=path)
    store.add_texts(["Dogs bark."], ids=["d"])
    store.index.close(discard=False)
    again = PychunkVectorStore(path, embedding)
    assert again.get_by_ids(["c"]) == [document]
    assert again.similarity_search("Cats", k=1, filter={"page": 3}) == [document]
    assert again.delete(["c"])
    again.index.close()
    assert PychunkVectorStore(path, embedding).get_by_ids(["c", "d"]) == [Document(page_content="Dogs bark.", id="d")]


def test_an_open_index_is_saved_by_its_owner(tmp_path: Path) -> None:
    index = pychunk.Index.create(tmp_path / "index")
    PychunkVectorStore(index).add_texts(["Cats purr."])
    index.close(discard=True)
    assert len(pychunk.Index.open(tmp_path / "index")) == 0


def test_marginal_relevance_is_langchains(tmp_path: Path) -> None:
    from langchain_core.vectorstores import InMemoryVectorStore

    texts = [f"Cats purr {word}." for word in ("softly", "loudly", "at night", "on sofas", "never", "today")]
    embedding = DeterministicFakeEmbedding(size=16)
    store = PychunkVectorStore.from_texts(texts, embedding, dtype="float32", path=tmp_path / "index")
    expected = InMemoryVectorStore.from_texts(texts, embedding)
    for weight in (0.0, 0.5, 1.0):
        options: dict[str, Any] = {"k": 3, "fetch_k": 5, "lambda_mult": weight}
        vector = embedding.embed_query("Do cats purr?")
        found = store.max_marginal_relevance_search_by_vector(vector, **options)
        wanted = expected.max_marginal_relevance_search_by_vector(vector, **options)
        assert [each.page_content for each in found] == [each.page_content for each in wanted]
        asked = store.max_marginal_relevance_search("Do cats purr?", mode="dense", **options)
        later = asyncio.run(store.amax_marginal_relevance_search("Do cats purr?", mode="dense", **options))
        assert asked == later == found
    assert PychunkVectorStore.from_texts([], embedding).max_marginal_relevance_search("cats") == []
