"""An updated index holds what a newly built one holds."""

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

from index_reference import PETS, chunks_of

import pychunk
from pychunk.cli.shared.batches import _taken
from pychunk.index.index import Index
from pychunk.index.store import document_digests
from pychunk.index.store.document_catalog import DocumentCatalog

pytestmark = pytest.mark.usefixtures("one_faiss_thread")

SEGMENTER = pychunk.Segmenter(
    "recursive", size=30, unit="words", vectors="sentence", placement=pychunk.Placement(threads=1)
)
Corpus = dict[str, str]


def update(index: Index, corpus: Corpus) -> int:
    """Update an index, and return the number of documents cut."""
    table = pa.table({"id": list(corpus), "text": pa.array(list(corpus.values()), pa.large_string())})
    documents = document_digests.of(table, ["text"], SEGMENTER.options)
    new = index.diff(documents)
    found = index.add(SEGMENTER(table.filter(new), columns={"text": "text"}, ids="id"), documents=documents.choose(new))
    assert found.added + found.replaced == new.sum()
    index.remove([name for name in index.ids() if name not in corpus])
    index.save()
    return int(new.sum())


def all_hits(index: Index, queries: list[str]) -> list[Any]:
    """Return every hit, independent of the order of documents, with every bit of the scores."""
    found = []
    for mode in ("dense", "sparse", "hybrid"):
        for hits in index.search(queries, k=100_000, mode=mode):
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            found.append(
                sorted(
                    (
                        hit.document_id,
                        hit.chunk_index,
                        hit.chunk_id,
                        hit.start,
                        hit.end,
                        hit.text,
                        hit.sentence,
                        struct.pack("d", hit.score),
                    )
                    for hit in hits
                )
            )
    return found


def check(path: Path, corpus: Corpus, queries: list[str], number: int) -> None:
    with Index.create(path.with_name(f"new{number}")) as new:
        new.add(SEGMENTER(list(corpus.values()), ids=list(corpus)))
        wanted = all_hits(new, queries)
    with Index.open(path) as index:
        assert all_hits(index, queries) == wanted
        assert sorted(index.ids()) == sorted(new_ids(corpus))


def new_ids(corpus: Corpus) -> list[str]:
    return [name for name, text in corpus.items() if text.strip()]


@pytest.mark.slow
def test_articles_that_change_come_and_go(articles: list[str], tmp_path: Path) -> None:
    texts = [text[:3000] for text in articles[:80]]
    corpus = {f"a{i}": text for i, text in enumerate(texts[:60])}
    rng, queries = random.Random(5), ["Who was born in France?", "The river in the north", "album music 1999"]
    Index.create(tmp_path / "x").close()
    for number in range(4):
        with Index.open(tmp_path / "x") as index:
            assert update(index, corpus) > 0
            assert update(index, corpus) == 0
        check(tmp_path / "x", corpus, queries, number)
        names = rng.sample(sorted(corpus), 20)
        for name in names[:5]:
            del corpus[name]
        for name in names[5:10]:
            corpus[name] = corpus[name][::2] + " It changed."
        for name in names[10:15]:
            corpus[f"{name} anew"] = corpus.pop(name)
        for name in names[15:]:
            corpus[name] = rng.choice(texts)


SMALL = st.dictionaries(st.text(max_size=3), st.text(max_size=30), max_size=5)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SMALL, min_size=2, max_size=4), st.text(max_size=5))
def test_any_texts_that_change_come_and_go(
    tmp_path_factory: pytest.TempPathFactory, states: list[Corpus], query: str
) -> None:
    path = tmp_path_factory.mktemp("again") / "x"
    Index.create(path).close()
    known: Corpus = {}
    for number, corpus in enumerate(states):
        corpus = {name: text for name, text in corpus.items() if _is_text(name + text)}
        with Index.open(path) as index:
            changed = sum(known.get(name) != text for name, text in corpus.items())
            assert update(index, corpus) <= changed + sum(not text.strip() for text in corpus.values())
        check(path, corpus, [query or "x", "cats"], number)
        known = corpus


def _is_text(text: str) -> bool:
    return not any("\ud800" <= each <= "\udfff" for each in text)


def test_what_is_known_of_documents_goes_with_them(tmp_path: Path) -> None:
    corpus = dict(zip("abc", PETS))
    with Index.create(tmp_path / "x") as index:
        assert update(index, corpus) == 3
        index.add(chunks_of(["Another text."], ids=["a"]))
        assert index.remove(["b"]) > 0
        assert index.remove(chunk_ids=[index.search("rust", k=1)[0][0].chunk_id]) == 1
        assert update(index, corpus) == 3
        index.add(chunks_of(["Another text."], ids=["a"]))
        index.close(discard=True)
    with Index.open(tmp_path / "x") as index:
        assert update(index, corpus) == 0
        index.remove(["a", "b"])
        index.save()
    with Index.open(tmp_path / "x") as index:
        assert update(index, corpus) == 2
        assert index.remove(text_ids=[index.search("rust", k=1)[0][0].text_id or ""]) == 1
        assert update(index, corpus) == 1  # A document that lost a chunk counts as changed.


def test_documents_that_do_not_fit_the_chunks_are_refused(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b"], "text": PETS[:2]})
    documents = document_digests.of(table, ["text"], None)
    with Index.create(tmp_path / "x") as index:
        for ids, told, message in (
            (["a", "c"], documents, "there are chunks of document 'c', which is not among documents="),
            (None, documents, "the chunks have none: segment with ids="),
            (["a", "b"], documents.choose(np.array([0, 1, 0])), "documents= has the id 'a' twice"),
        ):
            with pytest.raises(ValueError, match=message):
                index.add(chunks_of(PETS[:2], ids=ids), documents=told)
        assert len(index) == 0
        assert index.diff(documents).all()
    with pytest.raises(ValueError, match="documents must have an id; got 1 without one"):
        document_digests.of(pa.table({"id": ["a", None], "text": ["", ""]}), ["text"], None)


def test_a_damaged_file_of_documents_is_named(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        update(index, dict(zip("abc", PETS)))
    file = tmp_path / "x" / "documents-000001.npy"
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:200] + b"\1" + whole[201:]):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"documents-000001\.npy is damaged"):
            Index.open(tmp_path / "x")
    for array in (np.zeros((3, 2), np.uint64), np.zeros((2, 2), np.uint64), np.zeros(3)):
        np.save(file, array)
        with pytest.raises(ValueError, match=r"documents-000001\.npy is damaged"):
            DocumentCatalog.load(file)
    file.write_bytes(b"")
    with pytest.raises(ValueError, match=r"documents-000001\.npy is damaged"):
        DocumentCatalog.load(file)


# Digests


def columns() -> pa.Table:
    """Return six documents with columns of all kinds, including nulls."""
    blocks = [[{"kind": "heading", "level": 1, "start": 0}], None, [], [None], [{"kind": None, "level": 2}] * 3, []]
    return pa.table(
        {
            "id": list("abcdef"),
            "text": pa.array(["One.", "", "Ї 𝔸", "x" * 70, "a\0b", "One."], pa.large_string()),
            "number": pa.array([1, None, 0, -5, 2**40, 1]),
            "share": pa.array([0.5, None, 0.0, float("inf"), -0.0, 0.5], pa.float32()),
            "flag": pa.array([True, False, None, True, True, True]),
            "day": pa.array([0, 1, 2, None, 4, 0], pa.date32()),
            "word": pa.array(["x", "", None, "x", "y", "x"]).dictionary_encode(),
            "raw": pa.array([b"x", b"", None, b"xx", b"y", b"x"]),
            "tags": pa.array([["a", "b"], ["ab"], [], None, [""], ["a", "b"]]),
            "pair": pa.array([[1, 2], [3, 4], None, [5, 6], [7, 8], [1, 2]], pa.list_(pa.int16(), 2)),
            "map": pa.array([[("a", 1)], [], None, [("b", 2)], [], [("a", 1)]], pa.map_(pa.string(), pa.int8())),
            "blocks": pa.array(blocks),
            "none": pa.nulls(6),
        }
    )


def test_a_digest_hangs_on_the_document_alone() -> None:
    table = columns()
    names = [name for name in table.column_names if name != "id"]
    whole = document_digests.of(table, names, {"size": 5}).values
    in_pieces = pa.concat_tables([table[:2], table[2:3], table[3:]])
    assert (document_digests.of(in_pieces, names, {"size": 5}).values == whole).all()
    for row in range(6):
        alone = document_digests.of(table.slice(row, 1), names, {"size": 5}).values
        assert (alone[:, 0] == whole[:, row]).all()
        copied = pa.table(
            {name: pa.array(table[name].to_pylist()[row : row + 1], table[name].type) for name in table.column_names}
        )
        assert (document_digests.of(copied, names, {"size": 5}).values[:, 0] == whole[:, row]).all()
    assert (document_digests.of(table, names, {"size": 6}).values[1:] != whole[1:]).any(axis=0).all()


@pytest.mark.parametrize("name", [name for name in columns().column_names if name not in ("id", "none")])
def test_a_digest_is_another_where_one_value_is(name: str) -> None:
    table = columns()
    whole = document_digests.of(table, [name], None).values
    values = table[name].to_pylist()
    for row in range(6):
        others = [value for value in values if value != values[row]]
        other = pa.array([others[0]], table[name].type)
        changed = table.slice(row, 1).set_column(table.column_names.index(name), name, other)
        assert (document_digests.of(changed, [name], None).values[1:, 0] != whole[1:, row]).any()
    if name == "number":
        other = table.set_column(2, name, table[name].cast(pa.float64()))
        assert (document_digests.of(other, [name], None).values[1:] != whole[1:]).any(axis=0).all()


def test_lists_of_texts_do_not_run_together() -> None:
    rows = [[["a", "b"], "c"], [["a"], "bc"], [["ab"], "c"], [["a", "b", "c"], ""], [["a", "", "b"], "c"]]
    table = pa.table({"id": ["x"] * 5, "tags": [tags for tags, _ in rows], "text": [text for _, text in rows]})
    found = document_digests.of(table, ["tags", "text"], None).values
    assert len({tuple(each) for each in found[1:].T.tolist()}) == 5


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=6), max_size=12))
def test_a_register_is_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[int, int]]]
) -> None:
    path = tmp_path_factory.mktemp("register") / "documents.npy"
    register, known = DocumentCatalog(), {}
    for number, step in enumerate(steps):
        if number % 4 == 3:
            register.forget(np.array([key for key, _ in step], np.uint64))
            for key, _ in step:
                known.pop(key, None)
        else:
            register.note(np.array([(key, value + 1, value) for key, value in step], np.uint64).reshape(-1, 3).T)
            known.update(step)
        if number % 5 == 4:
            register.save(path)
            register = DocumentCatalog.load(path)
            assert len(register) == len(known)
        found = register.latest(np.arange(10, dtype=np.uint64))
        assert found[0].tolist() == [known[key] + 1 if key in known else 0 for key in range(10)]
        assert found[1].tolist() == [known.get(key, 0) for key in range(10)]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_digests_are_those_of_any_layout_in_memory(kind: pa.DataType) -> None:
    values = ["one", "", "three\0", "four" * 900, "five", "6"]
    table = pa.table(
        {"id": list("abcdef"), "text": pa.array(values, pa.large_string()), "more": pa.array(values, kind)}
    )
    whole = document_digests.of(table, ["text", "more"], {}).values
    pieces = pa.concat_tables([table[:1], table[1:1], table[1:4], table[4:]])
    assert (document_digests.of(pieces, ["text", "more"], {}).values == whole).all()
    with_nulls = table.set_column(2, "more", pa.array([*values[:5], None], kind))
    assert (document_digests.of(with_nulls, ["text", "more"], {}).values[:, :5] == whole[:, :5]).all()
    assert (document_digests.of(with_nulls, ["text", "more"], {}).values[1:, 5] != whole[1:, 5]).any()


@pytest.mark.parametrize("rows", [[0], [5], [0, 1, 2], [1, 3, 4], list(range(6))])
def test_rows_of_texts_in_pieces_are_those_of_texts_in_one(rows: list[int]) -> None:
    table = pa.table({"id": list("abcdef"), "text": pa.array(["x" * n for n in range(6)], pa.large_string())})
    pieces = pa.concat_tables([table[:1], table[1:4], table[4:]])
    assert _taken(pieces, np.array(rows)).equals(_taken(table, np.array(rows)))
    assert _taken(table, np.array(rows)).equals(table.take(pa.array(rows)))
