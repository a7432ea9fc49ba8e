"""Source code stays as it is; without grammars it is one block."""

import sys

import pytest

import pychunk
from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.converters import dispatch, grammars
from pychunk.parsing.converters.code import convert
from pychunk.parsing.converters.dispatch import ConversionError

PYTHON = '''import os


def add(one):
    """Sum."""
    return one


class Sum:
    one = add(1)
    two = add(2)
    three = add(3)
'''


def test_without_grammars_the_text_is_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    grammars.parser_of.cache_clear()
    try:
        found = convert(PYTHON.encode(), ".py")
    finally:
        grammars.parser_of.cache_clear()
    blocks = found.blocks
    assert (blocks.start.tolist(), blocks.end.tolist()) == ([0], [len(PYTHON.strip())])
    assert BLOCK_KINDS[blocks.kind[0]] == "code"
    chunks = pychunk.segment([found.text], "structure", size=25, min_tokens=0, columns={"blocks": found.blocks})
    assert any(text.startswith("class Sum") for text in chunks.texts)


def test_an_empty_file_is_an_empty_document() -> None:
    assert dispatch.convert(dispatch.request("pychunk.parsing.converters.code:convert", b"", ".py")).text == ""


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ConversionError, match="invalid UTF-8 at byte 4"):
        convert("x = é".encode("latin-1"), ".py")


@pytest.mark.parametrize("size", [60, 75, 90, 120])
def test_statements_over_several_lines_are_cut_last(size: int) -> None:
    """No cut is inside a call or an object that fits, after an open bracket, a comma or an operator."""
    call = "  const options = {\n    ...this.flat, // all of them\n    audit: true,\n    path: this.prefix,\n  }\n"
    test = "  if (first(a) &&\n      second(b)) {\n    run(options)\n  }\n"
    text = "function one() {\n" + (call + test) * 12 + "}\n"
    found = convert(text.encode(), ".js")
    table = pychunk.segment([text], "structure", size=size, columns={"blocks": found.blocks}).table
    starts = table["start"].to_pylist()[1:]
    assert len(starts) > 3
    for start in starts:
        before = text[:start].rstrip().split("\n")[-1].partition(" //")[0]
        assert not before.endswith((",", "(", "{", "&&")), text[start - 60 : start + 20]
        assert not text[start:].startswith(("}", ")"))
