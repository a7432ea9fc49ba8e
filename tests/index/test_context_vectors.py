"""Contexts in the stored vectors of chunks, compared with a slow sum, in all types, orders and kinds of indexes."""

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

from index_reference import chunks_of

import pychunk
from pychunk.defaults import CONTEXTS
from pychunk.index import writer
from pychunk.index.dense import int8_vectors
from pychunk.index.index import Index
from pychunk.index.store.index_folder import SCHEMA

pytestmark = pytest.mark.usefixtures("one_faiss_thread")

OLDER = Path(__file__).parent / "data" / "schema_7" / "index"
TEXTS = ["Take it with food. Never twice a day.", "Keep it dry. Not in the sea.", "Cats purr. They sleep all day."]
OF = ["Aspirin leaflet", "Compass manual", ""]


def with_contexts(chunks: Any, contexts: list[str]) -> pa.Table:
    """Return chunks with the context of each document."""
    table = chunks if isinstance(chunks, pa.Table) else chunks.table
    own = [contexts[document] for document in table["document_index"].to_pylist()]
    return table.append_column("context", pa.array(own, pa.large_string()))


def stored(index: Index) -> dict[str, list[Any]]:
    """Return the stored bytes of each chunk's vectors, by its text and context, in the order of the index."""
    index._contents.searcher()
    found: dict[str, list[Any]] = {}
    alive = iter((~index._contents.removed).tolist())
    for part in index._contents._parts:
        contexts = part.table["context"].to_pylist() if "context" in part.table.column_names else [""] * len(part)
        for row, (text, context) in enumerate(zip(part.table["text"].to_pylist(), contexts, strict=True)):
            own = []
            if len(part.offsets):
                own.append(np.array(part.sentences[part.offsets[row] : part.offsets[row + 1]]))
            if len(part.pooled):
                own.append(np.array(part.pooled[row]))
            if next(alive):
                found[f"{context}|{text}"] = own
    return found


def equal(ours: dict[str, list[Any]], others: dict[str, list[Any]]) -> bool:
    """Return whether two indexes hold the same bits for the same chunks."""
    return ours.keys() == others.keys() and all(
        np.array_equal(a, b) for name in ours for a, b in zip(ours[name], others[name], strict=True)
    )


def vectors_of(path: Path, *tables: Any, **options: Any) -> dict[str, list[Any]]:
    with Index.create(path, **options) as index:
        for table in tables:
            index.add(table)
        found = stored(index)
        index.close(discard=True)
    return found


def slow_sum(vector: Any, context: str) -> Any:
    """Return the vector with the one of its context, number by number in double precision."""
    own = pychunk.embed(context).astype(float)
    summed = [float(v) + CONTEXTS.weight * float(c) for v, c in zip(vector, own, strict=True)]
    length = sum(each * each for each in summed) ** 0.5
    return np.array([each / length for each in summed])


def test_words_of_the_context_find_a_chunk_by_its_vectors(tmp_path: Path) -> None:
    chunks = chunks_of(TEXTS, ids=["a", "b", "c"])
    firsts = {}
    for name, table in (("plain", chunks.table), ("contexts", with_contexts(chunks, OF))):
        with Index.create(tmp_path / name, bm25=None) as index:
            index.add(table)
            firsts[name] = [index.search(query, 2, "dense")[0] for query in ("aspirin leaflet", "compass manual")]
    for hits, wanted in zip(firsts["contexts"], "ab", strict=True):
        assert [hit.document_id for hit in hits] == [wanted] * 2
        assert not any(hit.context.lower() in hit.text.lower() for hit in hits)
    assert firsts["plain"][0][0].score < firsts["contexts"][0][0].score - 0.1


@pytest.mark.parametrize("vectors", ["sentence", "chunk", "both"])
@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-6), ("float16", 1e-3), ("int8", 4e-3)])
def test_vectors_are_the_slow_sum(tmp_path: Path, vectors: str, dtype: str, error: float) -> None:
    chunks = chunks_of(TEXTS, vectors, ids=["a", "b", "c"])
    plain = vectors_of(tmp_path / "plain", with_contexts(chunks, [""] * 3), vectors=vectors, dtype="float32")
    found = vectors_of(tmp_path / "found", with_contexts(chunks, OF), vectors=vectors, dtype=dtype)
    assert len(found) == 6
    for name, own in found.items():
        context, text = name.split("|")
        for a, b in zip(own, plain[f"|{text}"], strict=True):
            rows, before = int8_vectors.unpacked(np.atleast_2d(a)), np.atleast_2d(b)
            if context:
                before = np.stack([slow_sum(row, context) for row in before])
                assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 20 * error
            assert np.abs(rows - before).max() < error


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_no_context_changes_no_bit(tmp_path: Path, dtype: str) -> None:
    chunks = chunks_of(TEXTS, "both", ids=["a", "b", "c"])
    options = {"vectors": "both", "dtype": dtype}
    plain = vectors_of(tmp_path / "plain", chunks, **options)
    for number, contexts in enumerate((["", "", ""], [" ", "\n", ""], ["ทะเล", "猫", ""])):
        found = vectors_of(tmp_path / str(number), with_contexts(chunks, contexts), **options)
        assert equal({name.split("|")[1]: own for name, own in found.items()}, {n[1:]: v for n, v in plain.items()})
    found = vectors_of(tmp_path / "some", with_contexts(chunks, OF), **options)
    assert [np.array_equal(own[0], plain[f"|{name.split('|')[1]}"][0]) for name, own in found.items()] == [
        name.startswith("|") for name in found
    ]


def test_texts_that_the_encoder_cannot_read_have_no_vector_with_a_context(tmp_path: Path) -> None:
    table = with_contexts(chunks_of(["ทะเล และ แม่น้ำ", "Cats purr."], ids=["a", "b"]), ["Aspirin", "Aspirin"])
    found = vectors_of(tmp_path / "x", table, dtype="float32")
    assert {name: bool(np.any(own[0])) for name, own in found.items()} == {
        "Aspirin|ทะเล และ แม่น้ำ": False,
        "Aspirin|Cats purr.": True,
    }


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from([*OF, "Rust", "x"])), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
    st.sampled_from([1, 3]),
)
def test_order_batches_and_threads_change_no_bit(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, random: Any, threads: int
) -> None:
    folder = tmp_path_factory.mktemp("order")
    each = [
        with_contexts(chunks_of([text], "both", ids=[str(number)]), [context])
        for number, (text, context) in enumerate(rows)
    ]
    options = {"vectors": "both", "dtype": "float32"}
    one = vectors_of(folder / "one", pa.concat_tables(_numbered(each)), **options)
    random.shuffle(each)
    assert equal(vectors_of(folder / "each", *each, placement=pychunk.Placement(threads=threads), **options), one)
    assert equal(vectors_of(folder / "other", pa.concat_tables(_numbered(each)), **options), one)


def _numbered(tables: list[pa.Table]) -> list[pa.Table]:
    """Return tables of one document each, numbered as those of one call."""
    at = tables[0].column_names.index("document_index")
    return [
        table.set_column(at, "document_index", pa.array([number] * len(table), pa.int64()))
        for number, table in enumerate(tables)
    ]


@pytest.mark.parametrize("kind", ["flat", "pq", "hnsw"])
def test_parts_compaction_and_kinds_keep_the_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(writer, "PART_CHUNKS", 5)
    names = [f"{letter}{number}" for number in range(6) for letter in "abc"]
    plain, mixed = chunks_of(TEXTS, ids=["a", "b", "c"]).table, {}
    with Index.create(tmp_path / "x", kind=kind) as index:
        for number in range(6):
            table = chunks_of(TEXTS, ids=names[3 * number : 3 * number + 3]).table
            index.add(with_contexts(table, OF) if number % 2 else table)
        mixed = stored(index)
        index.save()
        assert equal(stored(index), mixed)
        index.remove([name for name in names if name[1] not in "45"])
    again = Index.open(tmp_path / "x")
    assert again.info["removed"] == 0
    assert equal(stored(again), mixed)
    assert equal(mixed, vectors_of(tmp_path / "y", plain, with_contexts(chunks_of(TEXTS, ids=["d", "e", "f"]), OF)))
    hit = again.search("aspirin leaflet food", 1, "dense")[0][0]
    assert (hit.document_id, hit.text, hit.context) == ("a5", "Take it with food.", OF[0])


def test_chunks_without_vectors_are_encoded_and_mixed(tmp_path: Path) -> None:
    chunks = chunks_of(TEXTS, ids=["a", "b", "c"])
    table = with_contexts(chunks.table.drop_columns(["sentences"]), OF)
    assert equal(vectors_of(tmp_path / "x", table), vectors_of(tmp_path / "y", with_contexts(chunks, OF)))


def test_contexts_are_mixed_once_if_chunks_of_an_index_are_added_to_another(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as first:
        first.add(with_contexts(chunks_of(TEXTS[:2], ids=["a", "b"]), OF))
        first.save()
        with Index.create(tmp_path / "y") as second:
            second.add(with_contexts(chunks_of(TEXTS[2:], ids=["c"]), OF[2:]))
            second.add(first.table)
            ours, others = stored(first), stored(second)
            assert len(others) == 6
            assert equal(ours, {name: own for name, own in others.items() if name in ours})


def test_rows_of_one_document_that_are_joined_keep_their_contexts(tmp_path: Path) -> None:
    table = with_contexts(chunks_of(TEXTS, ids=["a", "a", "c"]), OF)
    with Index.create(tmp_path / "x") as index:
        index.add(table, on_duplicate="merge")
        assert equal(stored(index), vectors_of(tmp_path / "y", with_contexts(chunks_of(TEXTS, ids=range(3)), OF)))


def test_an_index_of_before_stays_unmixed(tmp_path: Path) -> None:
    shutil.copytree(OLDER, tmp_path / "old")
    facts = json.loads((tmp_path / "old" / "manifest.json").read_text())
    assert facts["schema"] == 7
    assert "context_weight" not in facts
    table = with_contexts(chunks_of(TEXTS, ids=["a2", "b2", "c2"], keep_together=False), OF)
    plain = vectors_of(tmp_path / "plain", chunks_of(TEXTS, ids=range(3), keep_together=False))
    with Index.open(tmp_path / "old") as index:
        before = stored(index)
        assert len(before) == 4
        assert [hit.document_id for hit in index.search("aspirin", mode="sparse")[0]] == ["a", "a"]
        with pytest.warns(UserWarning, match="older version .* count for BM25 only, not for vectors: build .* again"):
            index.add(table)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            index.add(table)
        assert index.info["context_weight"] == 0
        assert {hit.document_id for hit in index.search("aspirin", mode="sparse")[0]} == {"a", "a2"}
    again = Index.open(tmp_path / "old")
    found = stored(again)
    assert equal({name: own for name, own in found.items() if name in before}, before)
    assert equal({f"|{name.split('|')[1]}": own for name, own in found.items()}, plain)
    facts = json.loads((tmp_path / "old" / "manifest.json").read_text())
    assert facts["schema"] == SCHEMA
    assert "context_weight" not in facts


def test_the_weight_is_that_of_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = with_contexts(chunks_of(TEXTS, ids=["a", "b", "c"]), OF)
    with Index.create(tmp_path / "x") as index:
        index.add(table)
        assert index.info["context_weight"] == CONTEXTS.weight
        before = stored(index)
    monkeypatch.setattr("pychunk.index.index.CONTEXTS", type(CONTEXTS)(weight=0.9))
    with Index.create(tmp_path / "x", exist_ok=True) as index:
        index.add(table)
        assert index.info["context_weight"] == CONTEXTS.weight
        assert equal(stored(index), before)


@pytest.mark.parametrize(
    ("bm25", "said"),
    [("auto", "without an encoder .* count for BM25 only, not for vectors: create an index with an encoder"),
     (None, "without an encoder .* have no effect, as it has no BM25 either: create an index with an encoder")],
)  # fmt: skip
def test_vectors_of_the_caller_do_not_change_and_a_warning_says_so_once(tmp_path: Path, bm25: Any, said: str) -> None:
    own = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    batch = {"text": ["Food.", "Sea.", "Cats."], "sentence_vectors": [[row] for row in own.tolist()]}
    columns = {"text": "text", "sentence_vectors": "sentence_vectors"}
    chunks = pychunk.segment(batch, "sentence", columns=columns, vectors="sentence", ids=["a", "b", "c"])
    with Index.create(tmp_path / "x", encoder=None, dim=8, dtype="float32", bm25=bm25) as index:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            index.add(chunks)
            index.add(with_contexts(chunks, ["", "", ""]))
        with pytest.warns(UserWarning, match=said):
            index.add(with_contexts(chunks, OF))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            index.add(with_contexts(chunks, OF))
        assert index.info["context_weight"] == 0
        assert np.allclose(np.concatenate([each[0] for each in stored(index).values()]), own)


def test_contexts_of_a_transformer(tmp_path: Path, tiny_encoder: Path) -> None:
    vectors = pychunk.Vectors("sentence", tiny_encoder)
    chunks = chunks_of(TEXTS, vectors, ids=["a", "b", "c"])  # type: ignore[arg-type]  # a str, not a literal
    options = {"encoder": tiny_encoder, "dtype": "float32"}
    plain = vectors_of(tmp_path / "plain", chunks, **options)
    found = vectors_of(tmp_path / "found", with_contexts(chunks, OF), **options)
    context = pychunk.embed(OF[0], encoder=tiny_encoder)
    (name,) = [name for name in found if "with food" in name]
    wanted = plain[f"|{name.split('|')[1]}"][0] + CONTEXTS.weight * context
    assert np.allclose(found[name][0], wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("method", ["structure", "topic", "fixed"])
def test_words_of_a_header_find_every_part_of_its_table(method: str, tmp_path: Path) -> None:
    rows = "".join(f"| animal {i} | {i} hours | yes |\n" for i in range(60))
    table = f"# Sleep\n\nSome text.\n\n| mammal | sleeping time | dreams |\n|---|---|---|\n{rows}"
    cars = (
        "# Cars\n\n" + "Cars drive on roads. They need fuel. " * 20 + "\n\n```python\nx = 1\n" + "y = 2\n" * 90 + "```"
    )
    chunks = pychunk.segment(
        pychunk.parse([table, cars], "markdown", ids=["a", "b"]), method, max_tokens=100, vectors="sentence"
    )
    parts = {chunk.chunk_index for chunk in chunks if chunk.document_id == "a" and "animal" in chunk.text}
    assert len(parts) > 4
    with warnings.catch_warnings(), pychunk.Index.create(tmp_path / "i") as index:
        warnings.simplefilter("error")
        index.add(chunks)
        for mode in ("sparse", "dense", "hybrid"):
            found = index.search("dreams of a mammal", k=len(parts), mode=mode)[0]
            assert {hit.chunk_index for hit in found if hit.document_id == "a"} == parts
            assert [hit.context for hit in found] == [None] * len(parts)
        code = [hit for hit in index.search("python", k=50, mode="sparse")[0] if hit.header]
        assert not code  # The opening fence of code is no context.
