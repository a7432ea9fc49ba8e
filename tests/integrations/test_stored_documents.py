"""The documents of other packages in an index: metadata come back unchanged, and filters compare them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import pychunk
from pychunk.integrations import stored_documents

#: Keys that mean something to an index, to JSON or to Arrow, in addition to plain ones.
KEYS = ["id", "text", "page", "path", "level", "context", "vector", "metadata_json", "metadata_page", "_own"]
KEYS += ["", " ", "a.b", "a'b", 'a"b', "Jahr", "年", "\ud800", "and", "year", "tags", "score", "document_id", "x\0y"]


def value(draw: random.Random, depth: int = 0) -> Any:
    """Return a random JSON value."""
    kind = draw.randrange(9 if depth < 3 else 7)
    if kind == 7:
        return [value(draw, depth + 1) for _ in range(draw.randrange(3))]
    if kind == 8:
        return {draw.choice(KEYS): value(draw, depth + 1) for _ in range(draw.randrange(3))}
    scalars = (None, draw.random() < 0.5, draw.randrange(-9, 9), draw.uniform(-1, 1), 2**70, "cats\n", "\udc80 é")
    return scalars[kind]


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal, types included: 1 and True, or 1 and 1.0, are not."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.fixture
def index(tmp_path: Path) -> Any:
    with pychunk.Index.create(tmp_path / "index") as made:
        yield made


def found(index: pychunk.Index) -> dict[str, Any]:
    """Return the metadata of each document, as a search returns them."""
    hits = index.search("Text", len(index))[0]
    return {hit.document_id: stored_documents.metadata_of(hit.metadata) for hit in hits}


@pytest.mark.slow
def test_a_thousand_random_dictionaries_come_back_as_they_were(index: Any) -> None:
    draw = random.Random(7)
    metadatas = [{draw.choice(KEYS): value(draw) for _ in range(draw.randrange(6))} for _ in range(1000)]
    ids = [f"d{i}" for i in range(1000)]
    for begin in range(0, 1000, 250):
        part = slice(begin, begin + 250)
        texts = [f"Text {name}." for name in ids[part]]
        stored_documents.add(index, ids[part], texts, metadatas[part])
    index.save()
    again = found(pychunk.Index.open(index.path))
    assert again.keys() == set(ids)
    assert all(same(again[name], own) for name, own in zip(ids, metadatas))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"year": 2001}, ["a"]),
        ({"year": {"gt": 2001}}, ["b"]),
        ({"price": 1.5}, ["b"]),
        ({"price": {"lt": 2}}, ["a", "b"]),
        ({"page": 3}, ["a"]),
        ("metadata_page = 4", ["b"]),
        ({"tags": "x"}, ["a"]),
        ({"new": True}, ["a"]),
        ("year = 2002 or tags = 'x'", ["a", "b"]),
        ({"metadata_page": "own"}, ["b"]),
    ],
)
def test_filters_compare_metadata(index: Any, where: Any, expected: list[str]) -> None:
    one = {"year": 2001, "price": 1, "page": 3, "tags": ["x", "y"], "new": True}
    stored_documents.add(index, ["a"], ["Text one."], [one])
    stored_documents.add(
        index, ["b"], ["Text two."], [{"year": 2002, "price": 1.5, "page": 4, "metadata_page": "own", "new": False}]
    )
    assert index.ids(stored_documents.where_of(index, where)) == expected
    assert same(found(index)["a"], one)


def test_a_replaced_document_loses_its_metadata(index: Any) -> None:
    stored_documents.add(index, ["a", "b"], ["Text.", "Text two."], [{"year": 1, "by": "Ann"}, {"year": 2}])
    stored_documents.add(index, ["a"], ["Text again."], [{"year": 3}])
    assert found(index) == {"a": {"year": 3}, "b": {"year": 2}}
    assert index.ids({"by": "Ann"}) == []
    stored_documents.add(index, ["a", "a"], ["First.", "Text last."], [{}, {"year": 4}])
    assert found(index) == {"a": {"year": 4}, "b": {"year": 2}}


@pytest.mark.parametrize(
    ("one", "other", "types"),
    [
        (2001, "2001", "type number and, in document 'b', of type string"),
        (True, 1, "type boolean and, in document 'b', of type number"),
        ("x", ["x"], "type string and, in document 'b', of type list of strings"),
        (1, 2**70, "type number and, in document 'b', of type integer above"),
    ],
)
@pytest.mark.parametrize("calls", [1, 2])
def test_a_filter_on_several_types_names_both(index: Any, one: Any, other: Any, types: str, calls: int) -> None:
    if calls == 1:
        stored_documents.add(index, ["a", "b"], ["Text.", "Text two."], [{"key": one}, {"key": other}])
    else:
        stored_documents.add(index, ["a"], ["Text."], [{"key": one}])
        stored_documents.add(index, ["b"], ["Text two."], [{"key": other}])
    assert all(same(found(index)[name]["key"], own) for name, own in (("a", one), ("b", other)))
    for where in ({"key": one}, "key = 1", "not (key = 'a')"):
        with pytest.raises(ValueError, match=types):
            stored_documents.where_of(index, where)
    assert stored_documents.where_of(index, "other = 'key'") == "other = 'key'"


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"when": object()}, "document 'a' must be JSON.*got object at 'when'"),
        ({"a": [{"b": {1, 2}}]}, r"got set at 'a\[\].b'"),
        ({"a": {1: 2}}, "got tuple at 'a keys'"),
        ({"a": (1, 2)}, "got tuple at 'a'"),
    ],
)
def test_values_that_json_would_change_are_errors(index: Any, metadata: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        stored_documents.add(index, ["a"], ["Text."], [metadata])
    assert len(index) == 0


def test_columns_of_segmented_documents_stay(index: Any) -> None:
    chunks = pychunk.segment(["Text of old."], "sentence", ids=["old"], vectors="sentence")
    index.add(chunks, metadata={"year": [1999]})
    stored_documents.add(index, ["new"], ["Text of new."], [{"year": 2000, "page": 1}])
    assert found(index) == {"old": {"year": 1999}, "new": {"year": 2000, "page": 1}}
    assert index.ids({"year": {"lte": 2000}}) == ["old", "new"]
