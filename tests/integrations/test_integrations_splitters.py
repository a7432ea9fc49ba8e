"""pychunk in the interfaces of LangChain, LlamaIndex, chonkie and chunking_evaluation, in their own harnesses."""

import asyncio
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sentence_splitter import TEXTS
from vocabularies import small_ranks, write_ranks

import pychunk
from pychunk.integrations import chunking_evaluation

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

#: The third text repeats itself: a search for "Yes." finds it inside the sentence before.
REPEATS = "Yes. No. He said Yes. Yes. He said Yes. No."
DOCUMENTS = ["One sentence here. Another one there.", "", REPEATS, " \n ", "Naïve café. 東京は首都。 🧑‍🚀 flew."]
BATCHES = st.lists(TEXTS, max_size=4)


def spans(texts: list[str], method: str = "sentence", **options: Any) -> list[list[tuple[int, int]]]:
    lists = pychunk.segment(texts, method, **options).by_document()
    return [[(chunk.start, chunk.end) for chunk in chunks] for chunks in lists]


def count_calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives the number of documents of each call of a Segmenter."""
    calls: list[int] = []
    call = pychunk.Segmenter.__call__

    def counted(self: Any, batch: Any, **arguments: Any) -> Any:
        calls.append(1 if isinstance(batch, str) else len(batch))
        return call(self, batch, **arguments)

    monkeypatch.setattr(pychunk.Segmenter, "__call__", counted)
    return calls


@pytest.fixture(scope="module")
def langchain() -> Any:
    pytest.importorskip("langchain_text_splitters")
    from pychunk.integrations import langchain

    return langchain


def test_langchain_spans_are_exact(langchain: Any) -> None:
    @given(BATCHES)
    @settings(deadline=None, max_examples=50)
    def check(texts: list[str]) -> None:
        texts = [*DOCUMENTS, *texts]
        splitter = langchain.PychunkTextSplitter("sentence", add_start_index=True)
        parts = splitter.create_documents(texts, [{"row": row} for row in range(len(texts))])
        found: list[list[tuple[int, int]]] = [[] for _ in texts]
        for part in parts:
            start, row = part.metadata["start_index"], part.metadata["row"]
            assert texts[row][start : start + len(part.page_content)] == part.page_content
            found[row].append((start, start + len(part.page_content)))
        assert found == spans(texts)
        single = [[part.page_content for part in parts if part.metadata["row"] == row] for row in range(len(texts))]
        assert [splitter.split_text(text) for text in texts] == single

    check()


def test_langchain_runs_it(langchain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_core.documents import Document
    from langchain_text_splitters import TextSplitter

    documents = [Document(page_content=text, metadata={"row": row, "tags": []}) for row, text in enumerate(DOCUMENTS)]
    splitter = pickle.loads(pickle.dumps(langchain.PychunkTextSplitter("sentence")))
    assert isinstance(splitter, TextSplitter)
    calls = count_calls(monkeypatch)
    parts = splitter.split_documents(documents)
    assert calls == [len(DOCUMENTS)]
    assert [part.page_content for part in parts if part.metadata["row"] == 2] == splitter.split_text(REPEATS)
    assert "start_index" not in parts[0].metadata
    parts[0].metadata["tags"].append("changed")
    assert parts[1].metadata["tags"] == documents[0].metadata["tags"] == []
    assert splitter.transform_documents(documents)[1:] == parts[1:]
    assert asyncio.run(splitter.atransform_documents(documents))[1:] == parts[1:]


def test_langchain_chunks_of_documents_with_ids_have_ids(langchain: Any) -> None:
    from langchain_core.documents import Document

    splitter = langchain.PychunkTextSplitter("sentence")
    texts, names = [REPEATS, "One. Two.", "One. Two.", "One. Two."], ["a", "b", None, ""]
    found = splitter.split_documents([Document(page_content=text, id=name) for text, name in zip(texts, names)])
    own = pychunk.segment(texts[:2], "sentence", ids=names[:2]).by_document()
    assert [part.id for part in found] == [chunk.text_id for chunks in own for chunk in chunks] + [None] * 4
    assert len({part.id for part in found if part.id}) == len(found) - 4
    edited = splitter.split_documents([Document(page_content="New. " + REPEATS, id="a")])
    assert {part.id for part in edited} >= {part.id for part in found[: len(own[0])]}
    same = splitter.split_documents([Document(page_content="One. Two.", id="b")] * 2)
    assert [part.id for part in same[:2]] == [chunk.text_id for chunk in own[1]]
    assert len({part.id for part in same}) == 4
    assert all(part.id is None for part in splitter.create_documents(texts))
    assert all(part.id is None for part in splitter.split_documents([Document(page_content="One. Two.")] * 2))


def test_langchain_takes_ids_from_metadata(langchain: Any, tmp_path: Path) -> None:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import InMemoryVectorStore

    from pychunk.integrations.langchain_embeddings import PychunkEmbeddings
    from pychunk.integrations.langchain_store import PychunkVectorStore

    def loaded(first: str) -> list[Document]:  # as loaders make them, which set no id
        texts = {"a.txt": first + REPEATS, "b.txt": "One. Two.", "c.txt": "One. Two."}
        return [Document(page_content=text, metadata={"source": name}) for name, text in texts.items()]

    splitter = pickle.loads(pickle.dumps(langchain.PychunkTextSplitter("sentence", ids="source")))
    texts = [document.page_content for document in loaded("")]
    expected = pychunk.segment(texts, "sentence", ids=["a.txt", "b.txt", "c.txt"]).table["text_id"].to_pylist()
    runs = [[part.id for part in splitter.split_documents(loaded(first))] for first in ("", "", "New. ")]
    assert runs[0] == runs[1] == expected
    assert len(set(runs[2]) - set(expected)) == 1
    metadatas = [document.metadata for document in loaded("")]
    assert [part.id for part in splitter.create_documents(texts, metadatas)] == expected
    own = splitter.split_documents([Document(page_content="One.", id="x", metadata={"source": "a.txt"})])
    assert own[0].id == pychunk.segment("One.", "sentence", ids="x")[0].text_id
    pages = [Document(page_content="One.", metadata={"source": "a.pdf", "page": page}) for page in range(2)]
    ids = [[part.id for part in splitter.split_documents(pages)] for _ in range(2)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2
    memory = InMemoryVectorStore(PychunkEmbeddings())
    store = PychunkVectorStore(pychunk.Index.create(tmp_path / "i"))
    for _ in range(2):
        for each in (memory, store):
            assert each.add_documents(splitter.split_documents(loaded(""))) == expected
    assert sorted(memory.store) == sorted(store.index.ids()) == sorted(expected)
    with pytest.raises(ValueError, match="ids='source': document 0 has no such key in its metadata"):
        splitter.create_documents(texts)
    assert (
        langchain.PychunkTextSplitter("sentence", ids="name").create_documents(["One."], [{"name": None}])[0].id is None
    )


TITLED = ["Cats purr. The sun burns. Dogs bark at night.", "One sentence. Stars burn hydrogen."]


def test_langchain_takes_titles_from_metadata(langchain: Any) -> None:
    expected = pychunk.segment(TITLED, "pic", summary="title", columns={"titles": ["Pets", "Sky"]}).texts
    documents = [{"title": "Pets", "name": "Pets"}, {"title": "Sky", "name": "Sky"}]
    for options in ({}, {"columns": {"titles": "name"}}):
        splitter = langchain.PychunkTextSplitter("pic", summary="title", **options)
        assert [part.page_content for part in splitter.create_documents(TITLED, documents)] == expected
    with pytest.raises(ValueError, match="titles='other': document 0 has no such key in its metadata"):
        langchain.PychunkTextSplitter("pic", summary="title", columns={"titles": "other"}).create_documents(
            TITLED, documents
        )
    with pytest.raises(TypeError, match="titles must be a key of the documents' metadata; got list"):
        langchain.PychunkTextSplitter("pic", summary="title", columns={"titles": ["a"]})


def test_langchain_metadata_must_fit(langchain: Any) -> None:
    with pytest.raises(ValueError, match="one dictionary for each of 2 texts; got 1"):
        langchain.PychunkTextSplitter().create_documents(["a", "b"], [{}])
    with pytest.raises(ValueError, match="either chunk_size or max_tokens"):
        langchain.PychunkTextSplitter(chunk_size=100, max_tokens=100)


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ({"chunk_size": 40, "chunk_overlap": 10, "method": "recursive"}, {"size": 40, "overlap": 10}),
        ({"chunk_size": 40, "method": "sentence"}, {"max_tokens": 40}),
    ],
)
def test_langchain_counts_with_an_encoding_of_tiktoken(
    langchain: Any, options: dict[str, Any], own: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tokenizers" / "o200k_base"
    folder.mkdir(parents=True)
    write_ranks(folder / "o200k_base.tiktoken", small_ranks())
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path))
    text = "Cats purr when they are content. " * 40
    splitter = langchain.PychunkTextSplitter.from_tiktoken_encoder("o200k_base", **options)
    assert splitter.split_text(text) == pychunk.segment(text, options["method"], tokenizer="o200k_base", **own).texts
    for wrong, says in (
        ({"unit": "words"}, "unit must be 'tokens' here, which chunk_size counts; got 'words'"),
        ({"max_tokens": 5}, "pass either chunk_size or max_tokens; got both"),
    ):
        with pytest.raises(ValueError, match=says):
            langchain.PychunkTextSplitter.from_tiktoken_encoder("o200k_base", chunk_size=9, **wrong)
    with pytest.raises(ValueError, match="special tokens in a text are counted as text; got 'all'"):
        langchain.PychunkTextSplitter.from_tiktoken_encoder("o200k_base", allowed_special="all")


def test_langchain_counts_with_a_tokenizer_of_transformers(langchain: Any) -> None:
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    own = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, "[UNK]"))
    own.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=own, unk_token="[UNK]")
    splitter = langchain.PychunkTextSplitter.from_huggingface_tokenizer(made, chunk_size=12, method="fixed")
    found = splitter.split_text("Cats purr when they are content. " * 10)
    assert [len(made.tokenize(text)) for text in found] == [7] * 10


@pytest.fixture(scope="module")
def llama_index() -> Any:
    pytest.importorskip("llama_index.core")
    from pychunk.integrations import llama_index

    return llama_index


def test_llama_index_spans_are_exact(llama_index: Any) -> None:
    from llama_index.core import Document

    parser = llama_index.PychunkNodeParser("sentence")

    @given(BATCHES)
    @settings(deadline=None, max_examples=50)
    def check(texts: list[str]) -> None:
        texts = [*DOCUMENTS, *texts]
        documents = [Document(text=text, id_=str(row)) for row, text in enumerate(texts)]
        found: list[list[tuple[int, int]]] = [[] for _ in texts]
        nodes = parser.get_nodes_from_documents(documents)
        for node in nodes:
            assert texts[int(node.ref_doc_id)][node.start_char_idx : node.end_char_idx] == node.text
            found[int(node.ref_doc_id)].append((node.start_char_idx, node.end_char_idx))
        assert found == spans(texts)
        single = [node.text for document in documents for node in parser.get_nodes_from_documents([document])]
        assert [node.text for node in nodes] == single

    check()


def test_llama_index_runs_it(llama_index: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from llama_index.core import Document
    from llama_index.core.ingestion import IngestionPipeline
    from llama_index.core.schema import NodeRelationship

    documents = [Document(text=text, id_=f"d{row}", metadata={"row": row}) for row, text in enumerate(DOCUMENTS)]
    parser = llama_index.PychunkNodeParser("sentence", vectors="chunk", id_func=lambda i, doc: f"{doc.id_}-{i}")
    calls = count_calls(monkeypatch)
    nodes = IngestionPipeline(transformations=[parser]).run(documents=documents)
    assert calls == [len(DOCUMENTS)]
    own = [node for node in nodes if node.metadata["row"] == 2]
    assert [(node.start_char_idx, node.end_char_idx) for node in own] == spans([REPEATS])[0]
    assert [node.id_ for node in own] == [f"d2-{i}" for i in range(len(own))]
    assert own[1].relationships[NodeRelationship.SOURCE].node_id == "d2"
    assert own[1].prev_node.node_id == "d2-0"
    assert own[1].next_node.node_id == "d2-2"
    assert own[0].prev_node is own[-1].next_node is None
    vectors = pychunk.segment(REPEATS, "sentence", vectors="chunk").table["vector"].to_pylist()
    assert [node.embedding for node in own] == vectors
    asynchronous = asyncio.run(parser.acall(documents))
    assert [node.text for node in asynchronous] == [node.text for node in nodes]


def test_llama_index_nodes_have_text_ids(llama_index: Any) -> None:
    from llama_index.core import Document

    parser = llama_index.PychunkNodeParser("sentence")
    texts, names = [REPEATS, "One. Two.", "One. Two."], ["a", "b", "c"]
    found = parser([Document(text=text, id_=name) for text, name in zip(texts, names)])
    expected = pychunk.segment(texts, "sentence", ids=names).table["text_id"].to_pylist()
    assert [node.id_ for node in found] == expected
    assert len(set(expected)) == len(expected)
    assert [node.id_ for node in pickle.loads(pickle.dumps(parser))([Document(text=REPEATS, id_="a")])] == expected[:-4]
    assert found[1].prev_node.node_id == expected[0]
    edited = parser([Document(text="New. " + REPEATS, id_="a")])
    assert {node.id_ for node in edited} >= set(expected[:-4])
    same = parser([Document(text="One. Two.", id_="b")] * 2)
    assert [node.id_ for node in same[:2]] == expected[-4:-2]
    assert len({node.id_ for node in same}) == 4
    without = parser([Document(text="One. Two."), Document(text="One. Two.")])
    assert len({node.id_ for node in without}) == 4
    own = llama_index.PychunkNodeParser("sentence", id_func=lambda at, node: f"{node.id_}-{at}")
    assert [node.id_ for node in own([Document(text="One. Two.", id_="b")])] == ["b-0", "b-1"]


def test_llama_index_nodes_of_files_have_the_same_ids_in_each_run(llama_index: Any, tmp_path: Path) -> None:
    from llama_index.core import SimpleDirectoryReader
    from llama_index.core.ingestion import IngestionPipeline

    def run() -> list[str]:
        documents = SimpleDirectoryReader(str(tmp_path), filename_as_id=True).load_data()
        stages = [llama_index.PychunkNodeParser("sentence")]
        return [node.node_id for node in IngestionPipeline(transformations=stages).run(documents=documents)]

    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(REPEATS)
    found = run()
    assert run() == found
    assert len(set(found)) == len(found)
    (tmp_path / "a.txt").write_text("New. " + REPEATS)
    assert len(set(run()) - set(found)) == 1


def test_llama_index_parses_nodes_again(llama_index: Any) -> None:
    from llama_index.core import Document
    from llama_index.core.ingestion import IngestionPipeline

    stages = [llama_index.PychunkNodeParser("paragraph"), llama_index.PychunkNodeParser("sentence")]
    nodes = IngestionPipeline(transformations=stages).run(documents=[Document(text="One. Two.\n\nThree. Four.")])
    assert [node.text for node in nodes] == ["One.", "Two.", "Three.", "Four."]
    assert [node.start_char_idx for node in nodes] == [0, 5, 0, 7]  # in the node that was parsed


def test_llama_index_takes_titles_from_metadata(llama_index: Any) -> None:
    from llama_index.core import Document

    documents = [Document(text=text, metadata={"name": name}) for text, name in zip(TITLED, ["Pets", "Sky"])]
    parser = llama_index.PychunkNodeParser("pic", summary="title", columns={"titles": "name"})
    again = pickle.loads(pickle.dumps(parser))
    expected = pychunk.segment(TITLED, "pic", summary="title", columns={"titles": ["Pets", "Sky"]}).texts
    for each in (parser, again):
        assert [node.text for node in each.get_nodes_from_documents(documents)] == expected


def test_llama_index_stores_it(llama_index: Any) -> None:
    from llama_index.core import Document

    parser = llama_index.PychunkNodeParser("fixed", size=2, unit="words", include_prev_next_rel=False)
    text = "One two. Three four. Five six."
    stored = parser.to_dict()
    del stored["id_func"]  # a function's name, which no node parser restores
    for copy in (pickle.loads(pickle.dumps(parser)), llama_index.PychunkNodeParser.from_dict(stored)):
        assert not copy.include_prev_next_rel
        assert [node.text for node in copy([Document(text=text)])] == ["One two.", "Three four.", "Five six."]
    options: Any = {"placement": pychunk.Placement(threads=1), "vectors": pychunk.Vectors("chunk", "static")}
    stored = llama_index.PychunkNodeParser("sentence", **options).to_dict()
    del stored["id_func"]
    read = llama_index.PychunkNodeParser.from_dict(json.loads(json.dumps(stored)))
    assert read.options == options
    assert [len(node.embedding) for node in read([Document(text=text)])] == [256] * 3
    with pytest.raises(ValueError, match="has no option 'breakpoint'"):
        llama_index.PychunkNodeParser("pic", breakpoint=3)


@pytest.fixture(scope="module")
def chonkie() -> Any:
    pytest.importorskip("chonkie")
    from pychunk.integrations import chonkie

    return chonkie


def test_chonkie_spans_are_exact(chonkie: Any) -> None:
    chunker = chonkie.PychunkChunker("sentence")

    @given(BATCHES)
    @settings(deadline=None, max_examples=50)
    def check(texts: list[str]) -> None:
        texts = [*DOCUMENTS, *texts]
        lists = chunker.chunk_batch(texts)
        assert [[(chunk.start_index, chunk.end_index) for chunk in chunks] for chunks in lists] == spans(texts)
        for text, chunks in zip(texts, lists):
            assert all(text[chunk.start_index : chunk.end_index] == chunk.text for chunk in chunks)
            assert [chunk.text for chunk in chunker(text)] == [chunk.text for chunk in chunks]

    check()


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("pic", {}),
        ("sentence", {}),
        ("recursive", {"size": 20, "unit": "characters"}),
        ("fixed", {"size": 4, "unit": "words"}),
        ("sentence", {"max_tokens": None}),
    ],
)
def test_chonkie_chunks_have_token_counts(chonkie: Any, method: str, options: dict[str, Any]) -> None:
    counted = pychunk.segment(DOCUMENTS, "sentence", max_tokens=10**6)
    tokens = {(chunk.document_index, chunk.start, chunk.end): chunk.tokens for chunk in counted}
    lists = chonkie.PychunkChunker(method, **options)(DOCUMENTS)
    assert [[(chunk.start_index, chunk.end_index) for chunk in chunks] for chunks in lists] == spans(
        DOCUMENTS, method, **options
    )
    for document, chunks in enumerate(lists):
        for chunk in chunks:
            assert chunk.token_count > 0
            span = (document, chunk.start_index, chunk.end_index)
            assert chunk.token_count == tokens.get(span, chunk.token_count)


def test_chonkies_tokenizer_counts_as_the_chunks_do(chonkie: Any) -> None:
    own = pychunk.Tokenizer(len, "characters:1", special=2)
    for options in ({}, {"max_tokens": 6}, {"tokenizer": own, "max_tokens": 30}):
        chunker = chonkie.PychunkChunker("sentence", **options)
        for chunk in chunker(DOCUMENTS[0]):
            assert chunker.tokenizer.count_tokens(chunk.text) == chunk.token_count
        assert chunker.tokenizer.count_tokens(" ") == 0


def test_chonkies_tokenizer_counts_as_a_network_on_other_vectors_does(chonkie: Any) -> None:
    pytest.importorskip("pychunk_multilingual", reason="the package pychunk-multilingual is not installed")
    text = "Die Katzen schnurren zufrieden. Hunde bellen nachts."
    chunker = chonkie.PychunkChunker("nsp", encoder="multilingual")
    assert chunker.tokenizer.count_tokens(text) == sum(chunk.token_count for chunk in chunker.chunk(text))


def test_chonkie_runs_it(chonkie: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from chonkie import BaseChunker, Chunk, Document, Pipeline

    chunker = pickle.loads(pickle.dumps(chonkie.PychunkChunker("sentence", vectors="chunk")))
    assert isinstance(chunker, BaseChunker)
    assert repr(chunker) == "PychunkChunker('sentence')"
    calls = count_calls(monkeypatch)
    lists = chunker(DOCUMENTS)
    assert calls == [len(DOCUMENTS)]
    assert all(type(chunk) is Chunk for chunks in lists for chunk in chunks)
    vectors = pychunk.segment(REPEATS, "sentence", vectors="chunk").table["vector"].to_pylist()
    assert [chunk.embedding for chunk in lists[2]] == vectors
    assert asyncio.run(chunker.achunk(REPEATS))[1].text == lists[2][1].text
    assert chunker([]) == []

    document = chunker.chunk_document(Document(content=REPEATS, metadata={"file": "a"}))
    assert [chunk.text for chunk in document.chunks] == [chunk.text for chunk in lists[2]]
    assert document.chunks[0].metadata == {"file": "a"}
    two_words = Pipeline().chunk_with("pychunk", method="fixed", options={"size": 2, "unit": "words"})
    document = two_words.run(texts="One two. Three four.")
    assert [chunk.text for chunk in document.chunks] == ["One two.", "Three four."]
    piped = Pipeline().chunk_with("pychunk", method="sentence").run(texts=DOCUMENTS)
    assert [[chunk.start_index for chunk in each.chunks] for each in piped] == [
        [start for start, _ in each] for each in spans(DOCUMENTS)
    ]


@given(TEXTS)
@settings(deadline=None)
def test_chunking_evaluation_finds_every_chunk(text: str) -> None:
    """Its harness searches each chunk in the corpus, by its exact text first."""
    at = 0
    for piece in chunking_evaluation.PychunkChunker("sentence").split_text(text):
        at = text.index(piece, at) + len(piece)
        assert piece.strip() == piece != ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "package", "command"),
    [
        ("langchain", "langchain_text_splitters", "pip install langchain-text-splitters"),
        ("llama_index", "llama_index", "pip install llama-index-core"),
        ("chonkie", "chonkie", "pip install chonkie"),
    ],
)
def test_a_missing_package_is_named_with_the_command(module: str, package: str, command: str, tmp_path: Path) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; import pychunk.integrations.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr.strip().endswith(command), done.stderr
