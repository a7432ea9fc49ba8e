"""The function diff(), compared with the definition of its changes."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.chunks.differences import CHANGES

SENTENCES = ["Cats purr.", "Dogs bark.", "Birds sing.", "Stars burn."]
BATCHES = st.lists(st.lists(st.sampled_from(SENTENCES), max_size=7), max_size=3)


def chunks_of(documents: list[list[str]], ids: bool = True) -> pychunk.ChunkBatch:
    names = [f"d{i}" for i in range(len(documents))] if ids else None
    return pychunk.segment(
        [" ".join(each) for each in documents], "sentence", ids=names, keep_together=False, min_tokens=0
    )


def longest_increasing(values: list[int]) -> int:
    runs = (each for size in range(len(values), 0, -1) for each in combinations(values, size))
    return next((len(each) for each in runs if list(each) == sorted(each)), 0)


@given(BATCHES, BATCHES, st.booleans())
@settings(deadline=None, max_examples=200)
def test_changes_are_as_defined(old: list[list[str]], new: list[list[str]], ids: bool) -> None:
    before, after = chunks_of(old, ids), chunks_of(new, ids)
    found = pychunk.diff(before, after)
    rows = found.table.to_pylist()
    assert found.table["change"].type.value_type == pa.string()
    # Each row of either table occurs once, in order, and names its text and its spans.
    assert [row["row"] for row in rows if row["change"] != "removed"] == list(range(len(after)))
    assert sorted(row["old_row"] for row in rows if row["change"] != "added") == list(range(len(before)))
    for row in rows:
        for number, chunks, names in ((row["old_row"], before, "old_start old_end"), (row["row"], after, "start end")):
            first, last = names.split()
            if number is None:
                assert row[first] is row[last] is None
            else:
                assert (row[first], row[last], row["text"]) == (
                    chunks[number].start,
                    chunks[number].end,
                    chunks[number].text,
                )
    # A text is added or removed only as often as one table has it more often than the other.
    counts = Counter(before.texts), Counter(after.texts)
    assert Counter(row["text"] for row in rows if row["change"] == "added") == counts[1] - counts[0]
    assert Counter(row["text"] for row in rows if row["change"] == "removed") == counts[0] - counts[1]
    if ids:
        assert {row["text_id"] for row in rows if row["change"] == "kept"} <= set(before.table["text_id"].to_pylist())
        for name in {row["document_id"] for row in rows}:
            own = [row for row in rows if row["document_id"] == name and row["text_id"] in _ids(before) & _ids(after)]
            kept = [row["old_row"] for row in own if row["change"] == "kept"]
            assert kept == sorted(kept)
            assert len(kept) == longest_increasing([row["old_row"] for row in own])
    assert found.counts == {change: sum(row["change"] == change for row in rows) for change in CHANGES}


def _ids(chunks: pychunk.ChunkBatch) -> set[str]:
    return set(chunks.table["text_id"].to_pylist())


def test_a_kept_chunk_has_its_new_span_and_a_moved_one_its_old_place() -> None:
    old, new = chunks_of([SENTENCES[:2], SENTENCES[2:3]]), chunks_of([["New.", *SENTENCES[:1]], SENTENCES[1:2]])
    found = pychunk.diff(old, new)
    assert found.table.select(["change", "document_id", "old_row", "row", "old_start", "start"]).to_pylist() == [
        {"change": "added", "document_id": "d0", "old_row": None, "row": 0, "old_start": None, "start": 0},
        {"change": "kept", "document_id": "d0", "old_row": 0, "row": 1, "old_start": 0, "start": 5},
        {"change": "moved", "document_id": "d1", "old_row": 1, "row": 2, "old_start": 11, "start": 0},
        {"change": "removed", "document_id": "d1", "old_row": 2, "row": None, "old_start": 0, "start": None},
    ]
    assert repr(found) == "<Differences: 1 kept, 1 moved, 1 added, 1 removed>"
    assert found.changed == 1 / 3
    assert pychunk.diff(new, chunks_of([["New."]])).changed == 2 / 3
    assert found.ids("removed") == [old[2].text_id]
    with pytest.raises(ValueError, match="change must be one of kept, moved, added, removed; got 'new'"):
        found.ids("new")


def test_tables_of_other_options_say_so() -> None:
    one, other = (pychunk.segment("One. Two.", method) for method in ("sentence", "paragraph"))
    assert "method: sentence in the old chunks, paragraph in the new" in pychunk.diff(one, other).notes
    assert pychunk.diff(chunks_of([SENTENCES]), chunks_of([SENTENCES])).notes == ()
    plain = other.table.replace_schema_metadata(None)
    assert pychunk.diff(one, plain).notes == ("the new chunks do not say how they were made",)
    assert pychunk.diff(plain, plain).notes == ()


def test_tables_without_text_ids_get_them() -> None:
    old, new = chunks_of([SENTENCES]), chunks_of([["New.", *SENTENCES]])
    found = pychunk.diff(old.table.drop_columns(["text_id"]), new)
    assert found.table == pychunk.diff(old, new).table
    assert found.counts == {"kept": 4, "moved": 0, "added": 1, "removed": 0}


def test_what_is_no_table_of_chunks_is_refused() -> None:
    chunks = chunks_of([SENTENCES])
    with pytest.raises(ValueError, match=r"the old chunks must have the columns .*; 'start' is missing: pass"):
        pychunk.diff(chunks.table.drop_columns(["start"]), chunks)
    with pytest.raises(TypeError, match=r"new must be the result of pychunk.segment or a pyarrow.Table; got str"):
        pychunk.diff(chunks, "chunks.parquet")


def test_empty_tables_are_compared() -> None:
    none, one = pychunk.segment([""], "sentence"), chunks_of([SENTENCES])
    assert pychunk.diff(none, none).counts == {"kept": 0, "moved": 0, "added": 0, "removed": 0}
    assert pychunk.diff(none, none).changed == 0
    assert pychunk.diff(none, one).counts == {"kept": 0, "moved": 0, "added": 4, "removed": 0}
    assert pychunk.diff(one, none).ids("removed") == [chunk.text_id for chunk in one]
