"""The arguments of adapters about each document, and texts with markup."""

from __future__ import annotations

from typing import Any

import pytest

from pychunk import Placement, Segmenter
from pychunk.integrations.document_metadata import keys_of, parsed, restored, said_of

MARKDOWN = "# Cats\n\nThey purr when they are content, and sleep for most of the day.\n"


def test_columns_are_keys_of_the_metadata() -> None:
    options: dict[str, Any] = {"columns": {"titles": "headline"}, "size": 5}
    assert keys_of(options) == {"titles": "headline"}
    assert options == {"size": 5}
    for wrong, message in (({"text": "body"}, "leave it out"), ({"title": "x"}, "did you mean 'titles'")):
        with pytest.raises(ValueError, match=message):
            keys_of({"columns": wrong})
    with pytest.raises(TypeError, match="must be a key of the documents' metadata; got list"):
        keys_of({"columns": {"titles": ["A title"]}})


def test_values_come_from_each_document() -> None:
    made = Segmenter("pic", summary="title")
    assert said_of(made, {"titles": "headline"}, [{"headline": "a"}, {"headline": "b"}]) == {"titles": ["a", "b"]}
    with pytest.raises(ValueError, match="document 1 has no such key"):
        said_of(made, {"titles": "headline"}, [{"headline": "a"}, {}])


def test_a_stored_placement_is_an_object_again() -> None:
    assert restored({"placement": {"threads": 2}, "size": 5}) == {"placement": Placement(threads=2), "size": 5}


def test_texts_keep_their_headings_with_markup_alone() -> None:
    made = Segmenter()
    assert "path" not in made(parsed([MARKDOWN], None)).table.column_names
    assert made(parsed([MARKDOWN], "markdown")).table["path"].to_pylist() == [["Cats"]]
    assert made(parsed([f"<html><h1>Cats</h1><p>{MARKDOWN[8:]}</html>"], "auto")).table["path"].to_pylist() == [
        ["Cats"]
    ]
