"""JSON becomes one line for each value, with the path to it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.json_text import convert

WORDS = st.text("ab é", min_size=1).map(str.strip).filter(bool)
VALUES = st.recursive(WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3))


def lines(path: str, value: object) -> list[str]:
    """Return the lines by the definition, in recursion."""
    if isinstance(value, (dict, list)) and (value or not path):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        return [line for key, each in entries for line in lines(f"{path}.{key}" if path else str(key), each)]
    said = f"{value}" if value or not isinstance(value, (dict, list)) else ""
    return [f"{path}: {said}".rstrip() if path else said]


@given(VALUES)
def test_every_value_is_a_line_in_order(value: object) -> None:
    found = convert(json.dumps(value).encode())
    assert [line for line in found.text.split("\n") if line] == lines("", value)
    assert all(found.text[start:end] for start, end in zip(found.blocks.start, found.blocks.end))


def test_numbers_and_words_stay_as_they_are_written() -> None:
    assert convert(b'[1.50, 1e400, true, null, "", {"a": false}]').text.split("\n\n") == [
        "0: 1.50", "1: 1e400", "2: true", "3: null", "4:", "5.a: false",
    ]  # fmt: skip


def test_deep_objects_are_no_error_of_recursion() -> None:
    depth = 500
    assert convert(b'{"a":' * depth + b"1" + b"}" * depth).text == ".".join("a" * depth) + ": 1"


@pytest.mark.parametrize("data", [b"{", b"a: b", b""])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ConversionError, match="not JSON"):
        convert(data)


def test_a_key_that_occurs_twice_keeps_both_values() -> None:
    assert convert(b'{"a": 1, "b": {"c": 2, "c": 3}, "a": 4}').text == "a: 1\n\nb.c: 2\nb.c: 3\n\na: 4"
