"""Notebooks become Markdown whose cells keep their text, in both versions of the format."""

import json
from typing import Any

import pytest

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.notebooks import convert
from pychunk.parsing.pdf.paged_text import Paged


def read(cells: list[Any], **metadata: Any) -> Paged:
    return convert(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}).encode())


def cell(kind: str, source: Any) -> dict[str, Any]:
    return {"cell_type": kind, "source": source}


def test_cells_are_blocks_in_order_and_outputs_are_left_out() -> None:
    code = {**cell("code", ["x = 1\n", "print(x)"]), "outputs": [{"text": ["secret"]}]}
    found = read(
        [cell("markdown", "# Tide\n\nIt rises."), code, cell("code", " \n"), cell("raw", "Note.")],
        kernelspec={"language": "python"},
        authors=[{"name": "Anna"}, {"name": "Ben"}, 3],
    )
    assert found.text == "# Tide\n\nIt rises.\n\n```python\nx = 1\nprint(x)\n```\n\nNote."
    assert [BLOCK_KINDS[kind] for kind in found.blocks.kind] == ["heading", "paragraph", "code", "paragraph"]
    assert (found.title, found.facts) == ("Tide", {"author": "Anna, Ben"})


def test_a_fence_is_longer_than_the_backticks_in_the_code() -> None:
    found = read([cell("code", '"""\n````\n"""')])
    assert found.text == '`````\n"""\n````\n"""\n`````'
    assert len(found.blocks.kind) == 1


def test_what_a_cell_leaves_open_ends_with_it() -> None:
    found = read(
        [cell("markdown", "```\nopen"), cell("markdown", "# Methods"), cell("markdown", "<!-- x"), cell("code", "y")]
    )
    assert found.text == "```\nopen\n\n# Methods\n\n<!-- x\n\n```\ny\n```"
    assert [BLOCK_KINDS[kind] for kind in found.blocks.kind] == ["code", "heading", "paragraph", "code"]
    assert found.title == "Methods"


def test_version_3_has_worksheets_inputs_and_headings() -> None:
    cells = [{"cell_type": "heading", "level": 2, "source": "A\nB"}, {"cell_type": "code", "input": ["x"]}]
    found = convert(json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}).encode())
    assert found.text == "## A B\n\n```\nx\n```"


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"cells": 3}', b"no JSON", b"\xff"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ConversionError, match=r"not (JSON|a notebook)"):
        convert(data)


def test_values_of_other_types_are_passed_over() -> None:
    assert (
        read([3, None, cell("code", 5), cell("markdown", [1, "a"]), {}], kernelspec=3, authors=4, title=5).text == "a"
    )
