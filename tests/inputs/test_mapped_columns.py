"""Documents in a dict of lists, and in a Dataset of Hugging Face, which is recognised by its attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pychunk

COLUMNS = {"id": [7, 8], "text": ["One. Two.", "Three."], "author": ["Ann", None], "title": ["A", "B"]}


class Dataset:
    """A stand-in for ``datasets.Dataset``: no mapping, columns by their names, a table in another format."""

    def __init__(self, columns: dict[str, Any], form: str | None = None) -> None:
        self._columns, self._form = columns, form

    column_names = property(lambda self: list(self._columns))

    def with_format(self, form: str) -> Dataset:
        return Dataset(self._columns, form)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, rows: slice) -> Any:
        assert self._form == "arrow"
        return pa.table(self._columns)

    def iter(self, size: int) -> Iterator[dict[str, Any]]:
        for row in range(0, len(self), size):
            yield {name: values[row : row + size] for name, values in self._columns.items()}


class IterableDataset:
    column_names = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield {"text": "One."}

    def __getitem__(self, name: str) -> Iterator[str]:
        return (row[name] for row in self)


class DatasetDict(dict[str, Any]):
    column_names = property(lambda self: {})


for each in (Dataset, IterableDataset, DatasetDict):
    each.__module__ = "datasets.looks"


def rows(found: pychunk.ChunkBatch) -> list[tuple[Any, str, Any]]:
    return list(zip(*(found.table[name].to_pylist() for name in ("document_id", "text", "author"))))


WHOLE = [(7, "One. Two.", "Ann"), (8, "Three.", None)]


@pytest.mark.parametrize(
    "documents",
    [
        COLUMNS,
        {name: tuple(values) for name, values in COLUMNS.items()},
        {name: np.array(values, object) for name, values in COLUMNS.items()},
        {name: pa.array(values) for name, values in COLUMNS.items()},
        Dataset(COLUMNS),
    ],
    ids=["lists", "tuples", "numpy", "arrow", "dataset"],
)
def test_columns_are_read(documents: Any) -> None:
    found = pychunk.segment(
        documents, "fixed", size=100, columns={"text": "text"}, ids="id", metadata_columns=["author"]
    )
    assert rows(found) == WHOLE


def test_batches_of_a_dataset_are_read() -> None:
    made = pychunk.Segmenter("fixed", size=100)
    batches = list(
        made.stream(Dataset(COLUMNS).iter(1), columns={"text": "text"}, ids="id", metadata_columns=["author"])
    )
    assert [row for batch in batches for row in rows(batch)] == WHOLE
    assert [batch.first_document for batch in batches] == [0, 1]


def test_the_only_text_column_is_found_and_titles_are() -> None:
    assert pychunk.segment({"n": [1], "body": ["One."]}).texts == ["One."]
    with pytest.raises(ValueError, match="column 'body' is not there; the string columns are: text, author, title"):
        pychunk.segment(COLUMNS, columns={"text": "body"})
    assert len(pychunk.segment(COLUMNS, "pic", summary="title", columns={"text": "text"})) == 2
    assert pychunk.split_sentences({"text": ["One. Two."]}) == [[(0, 5), (5, 9)]]


def test_rows_that_are_no_text_are_named() -> None:
    documents = {"id": [1, 2, 3], "text": ["One.", 5, None]}
    with pytest.raises(TypeError, match=r"row 1: the text must be str, got int \(1 more row cannot be used\)"):
        pychunk.segment(documents, columns={"text": "text"})
    found = pychunk.segment(documents, columns={"text": "text"}, ids="id", on_error="skip")
    assert (found.texts, [error.row for error in found.errors]) == (["One."], [1, 2])
    with pytest.raises(ValueError, match="row 0: lone surrogate"):
        pychunk.segment({"text": ["\ud800"]})


@pytest.mark.parametrize(
    ("documents", "kind", "message"),
    [
        (
            {"a": ["x"], "b": ["y", "z"]},
            ValueError,
            "of one length, with one value for each document; got 1 of 'a' and 2 of 'b'",
        ),
        (
            {"a.txt": "One.", "b.txt": "Two."},
            TypeError,
            r"pass list\(documents.values\(\)\) with ids=list\(documents\)",
        ),
        (IterableDataset(), TypeError, r"holds no rows yet: pass its batches to Segmenter.stream, as in"),
        (
            DatasetDict(train=1, test=2),
            TypeError,
            r"of several data sets \(train, test\): pass one, such as documents\[",
        ),
    ],
)
def test_what_is_none_is_told(documents: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pychunk.segment(documents)
