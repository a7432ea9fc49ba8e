"""Converters are called by name, may return Markdown or blocks, and every error becomes a reason."""

import sys
import types
from typing import Any

import numpy as np
import pytest

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.converters.dispatch import (
    ConversionError,
    convert,
    decoded,
    joined,
    of_markdown,
    plain_line,
    request,
)


@pytest.fixture
def converter(monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = types.ModuleType("own_converter")
    monkeypatch.setitem(sys.modules, "own_converter", module)
    return module


def test_markdown_gets_blocks_and_a_title(converter: Any) -> None:
    converter.read = lambda data: "# One\n\n" + data.decode() + "\ud800"
    found = convert(request("own_converter:read", b"a\0b"))
    assert (found.text, found.title) == ("# One\n\na\0b?", "One")
    assert [BLOCK_KINDS[kind] for kind in found.blocks.kind] == ["heading", "paragraph"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConversionError("too old: save it again"), "too old: save it again"),
        (KeyError("a"), "cannot be read: KeyError: 'a'"),
        (RecursionError(), "nested too deeply"),
    ],
)
def test_errors_are_reasons(converter: Any, error: Exception, reason: str) -> None:
    def read(data: bytes) -> str:
        raise error

    converter.read = read
    with pytest.raises(ConversionError, match=reason):
        convert(request("own_converter:read", b"x"))
    for lack in (ImportError("needs a package"), MemoryError()):
        error = lack
        with pytest.raises(type(lack)):
            convert(request("own_converter:read", b"x"))


def test_empty_files_and_other_results_are_refused(converter: Any) -> None:
    converter.read = lambda data: 3
    with pytest.raises(ConversionError, match="the file is empty"):
        convert(request("own_converter:read", b""))
    with pytest.raises(ConversionError, match="must return Markdown or a Paged; got int"):
        convert(request("own_converter:read", b"x"))


def test_joined_documents_have_the_blocks_of_their_parts() -> None:
    parts = [of_markdown(text) for text in ("# A\n", "", "b\n\n- c", "\n")]
    found = joined(parts, "T", {"author": "x"})
    assert (found.text, found.title, found.facts) == ("# A\n\nb\n\n- c", "T", {"author": "x"})
    whole = of_markdown(found.text)
    for name in ("kind", "level", "start", "end"):
        np.testing.assert_array_equal(getattr(found.blocks, name), getattr(whole.blocks, name))
    assert joined([], "").text == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_no_text(encoding: str) -> None:
    assert decoded("Café".encode(encoding)) == "Café"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xef\xbb\xbfcaf\xe9", "invalid UTF-8-SIG at byte"),
        ("a".encode("utf-16") + b"\x00", "invalid UTF-16 at byte"),
        (b"caf\xe9 au lait", "invalid UTF-8 at byte 3"),
    ],
)
def test_bytes_that_are_no_text_are_an_error_also_after_a_mark(data: bytes, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        decoded(data)


def test_a_line_has_no_breaks() -> None:
    assert plain_line(" a\n\tb\ud800 ") == "a b?"
