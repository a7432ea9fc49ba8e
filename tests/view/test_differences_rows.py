"""The rows of two tables of chunks: each chunk once, in the order of its table, next to the one that it equals."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

import pychunk
from pychunk.view.differences_rows import Sides


def random_table(draw: random.Random, documents: int, ids: bool) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for number in range(documents):
        name = draw.choice([f"d{number}", f"d{number}", "d0", None])
        for at in range(draw.randrange(12)):
            rows.append({"document_index": number, "start": at, "end": at + 1, "text": draw.choice("abcdefghijk")})
            rows[-1] |= {"document_id": name} if ids else {}
    kinds = {"document_index": pa.int64(), "start": pa.int64(), "end": pa.int64(), "text": pa.string()}
    return pa.Table.from_pylist(rows, pa.schema(kinds | ({"document_id": pa.string()} if ids else {})))


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_each_chunk_is_in_one_row_of_one_document(seed: int, ids: bool) -> None:
    draw = random.Random(seed)
    old, new = (random_table(draw, draw.randrange(5), ids) for _ in range(2))
    found = pychunk.diff(old, new)
    sides = Sides(found, old, new)
    documents = sides.documents()
    seen: tuple[list[int], list[int]] = ([], [])
    for document in documents:
        for rows, own in zip(seen, zip(*document.rows)):
            there = [row for row in own if row is not None]
            assert there == sorted(there)
            rows += there
        kept = sum(sides.is_kept(row) for row in document.rows)
        assert kept <= document.counts["kept"]
    assert [sorted(rows) for rows in seen] == [list(range(old.num_rows)), list(range(new.num_rows))]
    told = sum((document.counts for document in documents), Counter[str]())
    for change in ("added", "removed"):
        assert told[change] == found.counts[change]
    for row, change in enumerate(sides.changes[0]):
        assert (change == "removed") == (sides.others[0][row] < 0)
    assert sides.changes[1] == found.table["change"].to_pylist()[: new.num_rows]


def test_what_is_between_two_kept_chunks_is_side_by_side() -> None:
    def table(texts: str) -> pa.Table:
        rows = [{"document_index": 0, "start": at, "end": at + 1, "text": text} for at, text in enumerate(texts)]
        return pa.Table.from_pylist(rows)

    old, new = table("abcdXz"), table("aBCDdz")
    (document,) = Sides(pychunk.diff(old, new), old, new).documents()
    assert document.rows == [(0, 0), (1, 1), (2, 2), (None, 3), (3, 4), (4, None), (5, 5)]
    assert document.counts == {"kept": 3, "moved": 0, "added": 3, "removed": 3}
    assert document.changed == 6
