"""Whole numbers of 32 bits in an index's files: values that fit, values that do not, and older parts."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

import pyarrow as pa
import pyarrow.compute as pc
from index_reference import answers, chunks_of, written_wide

from pychunk.index import writer
from pychunk.index.files import int32_columns
from pychunk.index.index import Index
from pychunk.index.store import index_folder as store_module

pytestmark = pytest.mark.usefixtures("one_faiss_thread")

EDGE = 2**31
TEXTS = ["Cats purr when content. They sleep.\n\nDogs bark.", "Owls hunt by night.", "Rust is memory safe."]
QUERIES = ["Who purrs?", "night owls"]
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-EDGE - 2, -EDGE + 2), st.integers(EDGE - 2, EDGE + 2)
)


def later(chunks: Any, by: int) -> pa.Table:
    """Return chunks at later offsets of their documents, since a test cannot have documents of 2 GB."""
    table = chunks.table
    for name in ("start", "end", "start_byte", "end_byte"):
        moved = pa.array(np.asarray(table[name], np.int64) + by)
        table = table.set_column(table.column_names.index(name), table.schema.field(name), moved)
    lists = table["sentences"].combine_chunks()
    start, end, vector = lists.flatten().flatten()
    moved = [pa.array(np.asarray(each, np.int64) + by) for each in (start, end)]
    items = pa.StructArray.from_arrays([*moved, vector], ["start", "end", "vector"])
    sentences = pa.LargeListArray.from_arrays(lists.offsets, items)
    return table.set_column(table.column_names.index("sentences"), "sentences", sentences)


def types(index: Index) -> list[tuple[set[str], str]]:
    """Return for each part its narrow columns, and the type of its spans."""
    index._contents.searcher()  # which ends the part
    return [(set(int32_columns.names(part.table.schema)), str(part.spans.dtype)) for part in index._contents._parts]


def version(folder: Path) -> int:
    return int(json.loads((folder / "manifest.json").read_text())["schema"])


def shown(index: Index, queries: list[str] = QUERIES) -> list[Any]:
    """Return all facts of hits, and the scores."""
    return [answers(index, queries), [list(map(vars, hits)) for hits in index.search(queries, k=9)]]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.none() | NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=5))
def test_what_fits_is_narrow_and_comes_back_as_it_was(rows: Any) -> None:
    line, start, year = zip(*rows, strict=True)
    table = pa.table(
        {"line": pa.array(line, pa.int64()), "start": start, "text": ["x"] * len(rows), "year": year},
        metadata={"a": "b"},
    )
    spans = np.array([year, start]).T
    fitting = int32_columns.fitting(table, spans)
    small = {
        name: all(each is None or -EDGE <= each < EDGE for each in values)
        for name, values in (("line", line), ("start", start), (int32_columns.SPANS, (*year, *start)))
    }
    assert set(fitting) == {name for name, fits in small.items() if fits}
    assert int32_columns.fits(table, spans, fitting)
    assert int32_columns.fits(table, spans, tuple(small)) == all(small.values())
    stored = int32_columns.narrowed(table, fitting)
    assert int32_columns.names(stored.schema) == fitting
    assert {field.name for field in stored.schema if field.type == pa.int32()} == set(fitting) - {int32_columns.SPANS}
    assert int32_columns.widened(stored).equals(table, check_metadata=True)
    assert int32_columns.widened_schema(stored.schema).equals(table.schema, check_metadata=True)


def test_a_table_has_the_types_that_were_added_and_half_of_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = chunks_of(TEXTS, ids=["a", "b", "c"])
    own = chunks.table.append_column("year", pa.array([5] * len(chunks))).append_column(
        "depth", pa.array([1] * len(chunks), pa.int32())
    )
    with monkeypatch.context() as before, Index.create(tmp_path / "wide") as wide:
        written_wide(before)
        wide.add(own)
        expected = wide.table
        assert wide._contents.searcher().stored.equals(expected, check_metadata=True)
    with Index.create(tmp_path / "x") as index:
        index.add(own)
        whole = {field.name for field in chunks.table.schema if field.type == pa.int64()}
        assert types(index) == [(whole | {int32_columns.SPANS}, "int32")]
        assert len(whole) == 10
        assert index.table.equals(expected, check_metadata=True)
        assert index.schema.equals(expected.schema, check_metadata=True)
        assert index.get("b").equals(index.table.slice(3, 1))
        hit = index.search("They sleep.", where="end < 3000000000 and start >= -3000000000")[0][0]
        assert (hit.start, hit.end, hit.sentence) == (24, 35, (24, 35))
        assert index.count({"end": [47, 2**40]}) == 1
        assert index.count(pc.field("end") * 2**30 > 2**35) == 2
        with pytest.raises(ValueError, match="the column 'end' is of type int64; got 'far'"):
            index.count("end = far")
        stored = index._contents.searcher().stored
    assert version(tmp_path / "x") == store_module.SCHEMA
    sizes = (tmp_path / "x" / "part-000001" / "sentence_spans.bin").stat().st_size
    assert (sizes, stored["start"].nbytes, stored.schema.field("year").type) == (8 * 5, 4 * 5, pa.int64())


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_documents_of_two_thousand_million_characters(
    order: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shifts = [0, EDGE - 30, 2**40]  # the second begins below the limit, and ends above it
    tables = [later(chunks_of(TEXTS, ids=[f"{i}{j}" for j in range(3)]), by) for i, by in enumerate(shifts)]

    def built(name: str) -> Index:
        index = Index.create(tmp_path / name)
        for i in order:
            index.add(tables[i])
        index.save()
        return index

    with monkeypatch.context() as before:
        written_wide(before)
        wide = built("wide")
    assert types(wide) == [(set(), "int64")]
    index = built("x")
    spans = [each for _, each in types(index)]
    assert spans == (["int32", "int64"] if order == (0, 1, 2) else ["int64"])
    for opened in (index, Index.open(tmp_path / "x")):
        assert shown(opened) == shown(wide)
        assert opened.table.equals(wide.table)
        assert opened.table.schema.equals(wide.table.schema, check_metadata=True)
        by_expression = pc.field("start") * 1024 > 2**45
        for condition in ("start >= 2147483648", {"end": {"lt": EDGE}}, "start = 1099511627776", by_expression):
            assert opened.count(condition) == wide.count(condition) > 0
        hits = opened.search("They sleep.", k=3, mode="dense")[0]
        assert sorted(hit.sentence[0] for hit in hits if hit.text == "They sleep.") == [by + 24 for by in shifts]
    for each in (index, wide):  # the rest is written again, with the limit in the middle of it
        each.remove(["20", "21", "22", "00", "01"])
        each.remove(["10"])
        each.save()
        assert each.info["removed"] == 0
    assert shown(index) == shown(wide)
    assert index.table.equals(wide.table)
    index.remove([f"1{j}" for j in range(3)])
    index.save()
    assert types(Index.open(tmp_path / "x")) == [
        (set(int32_columns.names(index._contents._parts[0].table.schema)), "int32")
    ]


def test_an_index_of_before_opens_and_answers_as_before_beside_new_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "PART_CHUNKS", 4)
    made = [chunks_of(TEXTS, ids=[f"{i}{j}" for j in range(3)]) for i in range(6)]
    with monkeypatch.context() as before:
        written_wide(before)
        with Index.create(tmp_path / "x") as index:
            for each in made[:2]:
                index.add(each)
            found = shown(index)
        store = store_module.Store(tmp_path / "x")
        store.commit({**store.read(), "schema": 4})
        shutil.copytree(tmp_path / "x", tmp_path / "old")
        with Index.open(tmp_path / "old") as index:
            for each in made[2:]:
                index.add(each)
    with Index.open(tmp_path / "x") as index, Index.open(tmp_path / "old") as old:
        assert shown(index) == found
        for each in made[2:]:
            index.add(each)
        index.save()
        assert {spans for _, spans in types(index)} == {"int32", "int64"}
        for each in (index, Index.open(tmp_path / "x")):
            assert shown(each) == shown(old)
            assert each.table.equals(old.table)
            assert each.table.schema.equals(old.table.schema, check_metadata=True)
        assert version(tmp_path / "x") == store_module.SCHEMA
        for each in (index, old):
            each.remove([f"{i}{j}" for i in range(4) for j in range(3)])
            each.save()
        assert shown(index) == shown(old)
        assert {spans for _, spans in types(index)} == {"int32"}
    assert version(tmp_path / "old") == store_module.SCHEMA
    now = store_module.SCHEMA
    monkeypatch.setattr(store_module, "SCHEMA", now - 1)
    told = rf"index version {now}; this one reads up to {now - 1}\): upgrade with pip install"
    with pytest.raises(ValueError, match=told):
        Index.open(tmp_path / "x")


def test_terms_of_a_part_take_four_bytes_less(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(TEXTS))
        found = index._contents.searcher().bm25.parts[0]
        assert (found.terms.type, found.offsets.dtype) == (pa.string(), np.uint8)
        assert found.terms.to_pylist() == sorted(found.terms.to_pylist())
        assert [len(rows) for rows, _ in found.find(["cats", "night", "unknown"])] == [1, 1, 0]
