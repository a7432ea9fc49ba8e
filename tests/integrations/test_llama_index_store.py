"""LlamaIndex's whole way with pychunk: files to Documents, nodes with ids and relations, and a vector store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import Document, SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeRelationship, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from pdfs import Page, made

import pychunk
from pychunk.integrations.llama_index import PychunkNodeParser
from pychunk.integrations.llama_index_embedding import PychunkEmbedding
from pychunk.integrations.llama_index_reader import PychunkReader
from pychunk.integrations.llama_index_store import PychunkVectorStore

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

MARKDOWN = "# Cats\n\nCats purr when they are content.\n\n## Food\n\nThey eat mice and fish.\n\n## Sleep\n\nAll day.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = tmp_path / "files"
    files.mkdir()
    (files / "cats.md").write_text(MARKDOWN)
    (files / "plain.txt").write_text("Rust is memory safe. It has no garbage collector.")
    (files / "paged.pdf").write_bytes(
        made([Page().put(72, 72, text) for text in ("Trains run on rails.", "Boats float on water.")])
    )
    return files


def test_files_become_nodes_with_paths_pages_and_ids(folder: Path) -> None:
    documents = PychunkReader().load_data(folder)
    assert {each.id_ for each in documents} == {str(folder / name) for name in ("cats.md", "plain.txt", "paged.pdf")}
    nodes: Any = PychunkNodeParser(max_tokens=12).get_nodes_from_documents(documents)
    assert PychunkNodeParser(max_tokens=12).get_nodes_from_documents(documents) == nodes
    texts = {each.id_: each.text for each in documents}
    for node in nodes:
        assert texts[node.ref_doc_id][node.start_char_idx : node.end_char_idx] == node.text
        assert "pychunk_structure" not in node.to_json()
        assert "pychunk_structure" not in node.get_content(metadata_mode="all")
    assert "Cats > Food" in {node.metadata.get("path") for node in nodes}
    assert {node.metadata["page"] for node in nodes if node.ref_doc_id.endswith(".pdf")} >= {1}
    for path in (folder / "cats.md", folder / "paged.pdf"):
        own = [node.id_ for node in nodes if node.ref_doc_id == str(path)]
        assert own == [chunk.text_id for chunk in pychunk.segment(pychunk.read(path), max_tokens=12)]


def test_nodes_are_related_to_neighbours_and_parents() -> None:
    parser = PychunkNodeParser("structure", markup="markdown", size=8, unit="words", keep_together=False)
    nodes: Any = parser.get_nodes_from_documents([Document(text=MARKDOWN, id_="cats")])
    parents = [chunk.parent for chunk in parser._segmenter(pychunk.parse([MARKDOWN], "markdown"), ids=["cats"])]
    assert any(parent is not None for parent in parents)
    for at, (node, parent) in enumerate(zip(nodes, parents)):
        above = node.relationships.get(NodeRelationship.PARENT)
        assert (above and above.node_id) == (None if parent is None else nodes[parent].node_id)
        below = [each.node_id for each in node.relationships.get(NodeRelationship.CHILD, [])]
        assert below == [nodes[i].node_id for i, own in enumerate(parents) if own == at]
        assert (node.next_node and node.next_node.node_id) == (nodes[at + 1].node_id if at + 1 < len(nodes) else None)
        assert node.source_node.node_id == "cats"


SCRIPT = """
import sys
from llama_index.core import SimpleDirectoryReader
from pychunk.integrations.llama_index import PychunkNodeParser
from pychunk.integrations.llama_index_reader import PychunkReader
for documents in (PychunkReader().load_data(sys.argv[1]), SimpleDirectoryReader(sys.argv[1]).load_data()):
    print([node.id_ for node in PychunkNodeParser("sentence").get_nodes_from_documents(documents)])
"""


@pytest.mark.slow
def test_ids_are_the_same_in_two_processes(folder: Path) -> None:
    (folder / "paged.pdf").unlink()  # LlamaIndex needs another package to read it.
    run = [sys.executable, "-c", SCRIPT, str(folder)]
    first, second = (subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first == second
    assert first.count("'") > 8


def test_ids_of_files_do_not_depend_on_random_ids(folder: Path) -> None:
    one, other = (SimpleDirectoryReader(input_files=[folder / "cats.md"]).load_data() for _ in range(2))
    assert one[0].id_ != other[0].id_
    parser = PychunkNodeParser("sentence")
    ids = [[node.id_ for node in parser.get_nodes_from_documents(each)] for each in (one, other)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(ids[0])


def nodes() -> list[TextNode]:
    facts: list[dict[str, Any]] = [
        {"year": 2001, "page": 1, "tags": ["x"], "by": None},
        {"year": 2002, "page": 2, "deep": {"a": [1, {"b": None}]}},
        {"year": 2003, "text": "own", "id": 7},
    ]
    texts = ["Cats purr when content.", "Stars burn hydrogen.", "Rust is memory safe."]
    vectors = [[1.0, 0.0, 0.1], [0.0, 1.0, 0.0], [0.5, 0.5, 1.0]]
    return [
        TextNode(text=text, id_=f"n{i}", metadata=own, embedding=vector)
        for i, (text, own, vector) in enumerate(zip(texts, facts, vectors))
    ]


@pytest.mark.parametrize("saved", [True, False])
def test_nodes_come_back_as_they_were(tmp_path: Path, saved: bool) -> None:
    store = PychunkVectorStore(tmp_path / "index" if saved else None)
    assert store.query(VectorStoreQuery(query_embedding=[1.0, 0.0, 0.0])).nodes == []
    assert store.get_nodes() == []
    assert store.add(nodes()) == ["n0", "n1", "n2"]
    if saved:
        assert store.client is not None
        store.client.close()
        store = PychunkVectorStore(tmp_path / "index")
    found: Any = {node.node_id: node for node in store.get_nodes()}
    for node in nodes():
        again = found[node.node_id]
        assert (again.text, again.metadata, again.relationships) == (node.text, node.metadata, node.relationships)
    result = store.query(VectorStoreQuery(query_embedding=[1.0, 0.0, 0.0], similarity_top_k=2))
    assert result.ids is not None
    assert result.ids[0] == "n0"
    store.delete_nodes(["n0", "nobody"])
    assert [node.node_id for node in store.get_nodes()] == ["n1", "n2"]
    store.clear()
    assert store.get_nodes() == []
    store.add(nodes()[:1])
    assert [node.node_id for node in store.get_nodes()] == ["n0"]


def one(key: str, operator: str, value: Any) -> MetadataFilter:
    return MetadataFilter(key=key, operator=FilterOperator(operator), value=value)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([one("year", "==", 2001)], {"n0"}),
        ([one("year", "!=", 2001)], {"n1", "n2"}),
        ([one("year", ">=", 2002), one("page", "<", 3)], {"n1"}),
        ([one("year", "in", [2001, 2003])], {"n0", "n2"}),
        ([one("year", "nin", [2001, 2003])], {"n1"}),
        ([one("text", "==", "own")], {"n2"}),
    ],
)
@pytest.mark.parametrize("mode", ["default", "hybrid", "sparse"])
def test_filters(filters: list[Any], expected: set[str], mode: str) -> None:
    store = PychunkVectorStore()
    store.add(nodes())
    found = MetadataFilters(filters=filters)
    assert {node.node_id for node in store.get_nodes(filters=found)} == expected
    query = VectorStoreQuery(
        query_embedding=[1.0, 1.0, 1.0],
        query_str="cats, stars and rust",
        similarity_top_k=9,
        filters=found,
        mode=VectorStoreQueryMode(mode),
    )
    assert set(store.query(query).ids or ()) == expected
    store.delete_nodes(filters=found)
    assert {node.node_id for node in store.get_nodes()} == {"n0", "n1", "n2"} - expected


def test_conditions_of_filters() -> None:
    store = PychunkVectorStore()
    store.add(nodes())
    both = [one("year", "==", 2001), one("page", "==", 2)]
    for condition, expected in (("and", set()), ("or", {"n0", "n1"})):
        filters = MetadataFilters(filters=both, condition=FilterCondition(condition))  # type: ignore[arg-type]
        assert {node.node_id for node in store.get_nodes(filters=filters)} == expected
    nested = MetadataFilters(filters=[MetadataFilters(filters=both, condition=FilterCondition.OR), both[0]])  # type: ignore[list-item]
    assert [node.node_id for node in store.get_nodes(filters=nested)] == ["n0"]
    with pytest.raises(ValueError, match=r"the operator of a filter must be one of ==.*got 'text_match'"):
        store.get_nodes(filters=MetadataFilters(filters=[one("by", "text_match", "a")]))


def test_an_index_of_llama_index_adds_finds_and_deletes(folder: Path, tmp_path: Path) -> None:
    store = PychunkVectorStore(tmp_path / "index")
    documents = PychunkReader().load_data(folder / "cats.md")
    index = VectorStoreIndex.from_documents(
        documents,
        transformations=[PychunkNodeParser("sentence", keep_together=False)],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=PychunkEmbedding(),
    )
    (found,) = index.as_retriever(similarity_top_k=1).retrieve("What do they eat?")
    assert "mice" in found.text
    assert found.node.ref_doc_id == str(folder / "cats.md")
    again = VectorStoreIndex.from_vector_store(store, embed_model=PychunkEmbedding())
    assert again.as_retriever(similarity_top_k=1).retrieve("What do they eat?")[0].node_id == found.node_id
    index.delete_ref_doc(str(folder / "cats.md"))
    assert store.get_nodes() == []


def test_what_a_store_cannot_keep_is_named() -> None:
    store = PychunkVectorStore()
    store.add(nodes())
    with pytest.raises(ValueError, match=r"'x' has an embedding of 2 numbers, and the store has vectors of 3"):
        store.add([TextNode(text="a", id_="x", embedding=[1.0, 2.0])])
    with pytest.raises(ValueError, match="finite"):
        store.add([TextNode(text="a", id_="x", embedding=[1.0, 2.0, float("nan")])])
    with pytest.raises(ValueError, match=r"float\[q, 3\]; got \(1, 2\)"):
        store.query(VectorStoreQuery(query_embedding=[1.0, 2.0]))
    with pytest.raises(ValueError, match=r"mode must be one of .*; got"):
        store.query(VectorStoreQuery(query_embedding=[1.0, 2.0, 3.0], mode=VectorStoreQueryMode.MMR))
    with pytest.raises(ValueError, match="needs query_embedding; got None"):
        store.query(VectorStoreQuery(query_str="cats"))
    with pytest.raises(ValueError, match="node_ids and filters are missing"):
        store.delete_nodes()
    with pytest.raises(ValueError, match="text 0 is blank"):
        store.add([TextNode(text=" ", embedding=[1.0, 2.0, 3.0])])
    assert len(store.get_nodes()) == 3
