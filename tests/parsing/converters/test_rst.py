"""reStructuredText keeps its text; headings, lists, tables and code are blocks."""

import string

import pytest
from block_parts import between, parts
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.rst import convert

TEXT = """\
=====
Ports
=====

Many ports
are old.

Brest
-----

- One
  more.
- Two::

    x = 1

    y = 2

  - Nested.

1. First.

Harbour
    A port.

.. code-block:: python

    def f(): pass

    g = 1

.. note:: Watch.

   Inside.

====  ====
Name  Size
====  ====
Kyiv  3
====  ====

+---+
| a |
+---+

Deep
~~~~
>>> 1
1

Kyiv
----

Last.
"""


def test_blocks() -> None:
    found = convert(TEXT.encode())
    assert found.text == TEXT
    assert found.title == "Ports"
    assert parts(found) == [
        ("code", 1, "====="),
        ("heading", 1, "Ports"),
        ("paragraph", 0, "Many ports\nare old."),
        ("heading", 2, "Brest"),
        ("item", 1, "- One\n  more."),
        ("item", 1, "- Two::"),
        ("code", 0, "x = 1\n\n    y = 2"),
        ("item", 2, "- Nested."),
        ("item", 1, "1. First."),
        ("term", 0, "Harbour"),
        ("paragraph", 0, "A port."),
        ("code", 0, ".. code-block:: python\n\n    def f(): pass\n\n    g = 1"),
        ("paragraph", 0, ".. note:: Watch."),
        ("paragraph", 0, "Inside."),
        ("table", 0, "====  ====\nName  Size\n====  ====\nKyiv  3\n====  ===="),
        ("table", 0, "+---+\n| a |\n+---+"),
        ("heading", 3, "Deep"),
        ("code", 0, ">>> 1\n1"),
        ("heading", 2, "Kyiv"),
        ("paragraph", 0, "Last."),
    ]
    assert set(between(found)) == set("=-~")


def test_sections_begin_with_the_line_above_the_heading() -> None:
    found = convert(TEXT.encode())
    chunks = pychunk.segment([found.text], "structure", size=25, min_tokens=0, columns={"blocks": found.blocks})
    assert (chunks[0].text, chunks[0].path) == ("=====\nPorts\n=====\n\nMany ports\nare old.", ["Ports"])
    assert (chunks[-1].text, chunks[-1].path) == ("Kyiv\n----\n\nLast.", ["Ports", "Kyiv"])


@given(st.text(st.sampled_from("ab \n\n\n  =-~+|:.*1>é\t\r"), max_size=80))
def test_only_underlines_are_outside_of_blocks(text: str) -> None:
    found = convert(text.encode())
    assert found.text == text
    assert set(between(found)) <= set(string.punctuation)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ConversionError, match="invalid UTF-8"):
        convert(b"\xff\xfd=")


def test_the_body_of_a_directive_is_no_code_unless_it_holds_code() -> None:
    text = ".. note::\n\n   Ports close.\n\n.. code-block:: c\n\n   f();\n\nSo::\n\n   x\n"
    assert [(kind, part) for kind, _, part in parts(convert(text.encode()))] == [
        ("paragraph", ".. note::"),
        ("paragraph", "Ports close."),
        ("code", ".. code-block:: c\n\n   f();"),
        ("paragraph", "So::"),
        ("code", "x"),
    ]


@pytest.mark.parametrize("head", ["", "A    B\n===  ===\n"])
def test_the_rows_of_a_simple_table_may_be_apart(head: str) -> None:
    table = f"===  ===\n{head}1    2\n\n3    4\n===  ==="
    assert parts(convert(f"Cats.\n\n{table}\n\nPurr.\n".encode())) == [
        ("paragraph", 0, "Cats."),
        ("table", 0, table),
        ("paragraph", 0, "Purr."),
    ]
