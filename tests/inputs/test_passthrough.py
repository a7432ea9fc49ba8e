"""Columns of documents that every chunk repeats: their names, their types, their rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pychunk
from pychunk.inputs import TextBatch
from pychunk.inputs.passthrough import check_names, kept_columns, with_kept

TABLE = pa.table({"text": ["Cats purr.", "Dogs bark."], "year": pa.array([1984, None], pa.int16())})


def test_columns_keep_their_types() -> None:
    texts = TextBatch.of(TABLE, column="text")
    assert kept_columns([], texts) == {}
    found = kept_columns(["year"], texts)
    assert found["year"].type == pa.int16()
    chunks = pa.table({"document_index": [5, 5, 6]})
    assert with_kept(chunks, found, 5)["year"].to_pylist() == [1984, 1984, None]
    assert with_kept(chunks, {}, 5).equals(chunks)


def test_chunks_keep_values_that_the_caller_changes_after_the_call() -> None:
    segmenter = pychunk.Segmenter("sentence")
    days = pd.to_datetime(["2020-01-01", "2021-01-01"])
    frame = pd.DataFrame({"text": ["Cats purr.", "They sleep."], "year": [2020, 2021], "day": days, "kind": ["a", "b"]})
    frame["kind"] = frame["kind"].astype("category")
    names = ["year", "day", "kind"]
    numbers = np.array([5, 6])
    chunks = segmenter(frame, columns={"text": "text"}, ids="year", metadata_columns=names)
    others = segmenter(["Cats purr.", "They sleep."], ids=numbers)
    table = pa.table({"text": ["Cats purr.", "They sleep."], "size": pa.array(numbers)})
    of_table = segmenter(table, columns={"text": "text"}, metadata_columns=["size"])
    expected = frame[names].copy()
    frame.loc[:, "year"], frame.loc[:, "day"], frame.loc[:, "kind"] = 1999, days[0], "a"
    numbers[:] = 9
    assert chunks.table.select(names).to_pandas().astype(expected.dtypes).equals(expected)
    assert chunks.table["document_id"].to_pylist() == [2020, 2021]
    assert others.table["document_id"].to_pylist() == of_table.table["size"].to_pylist() == [5, 6]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("year", r"must be a list of columns; got 'year': write metadata_columns=\['year'\]"),
        (["year", "year"], "must name each column once; got 'year' twice: leave one out"),
        (["chunk_index"], "must not name a column of pychunk's own chunk table; got 'chunk_index': rename this column"),
    ],
)
def test_names_are_checked_whatever_the_documents(names: Sequence[str], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        check_names(names)
    for batch in (["Cats purr."], TABLE):
        with pytest.raises((TypeError, ValueError), match=message):
            kept_columns(names, TextBatch.of(batch))


def test_a_column_must_be_there() -> None:
    with pytest.raises(ValueError, match=r"metadata_columns=\['year'\] names columns, but the documents have none"):
        kept_columns(["year"], TextBatch.of(["Cats purr."]))
    with pytest.raises(ValueError, match="metadata_columns='lang' is not a column; the columns are text, year"):
        kept_columns(["lang"], TextBatch.of(TABLE, column="text"))
