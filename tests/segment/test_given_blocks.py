"""Blocks that the caller gives: their forms, checks, and their effect on vectors and methods."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from block_texts import MARKDOWN, blocks_of

import pychunk
from pychunk._engine.data.blocks import Blocks
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.parsing.block_columns import blocks_to_arrow


def test_blocks_may_be_columns_dicts_or_blocks() -> None:
    lists = [blocks_of(MARKDOWN), []]
    wanted = pychunk.segment([MARKDOWN, "Cats."], "structure", columns={"blocks": lists}).table
    blocks = Blocks.of(lists)
    column = blocks_to_arrow(blocks)
    table = pa.table({"text": [MARKDOWN, "Cats."], "blocks": column})
    dicts = [[dict(zip(("kind", "level", "start", "end"), block, strict=True)) for block in each] for each in lists]
    for batch, said in [
        (table, "blocks"),
        ([MARKDOWN, "Cats."], blocks),
        ([MARKDOWN, "Cats."], column),
        (table, dicts),
    ]:
        assert pychunk.segment(batch, "structure", columns={"text": None, "blocks": said}).table.equals(wanted)


def test_documents_that_are_left_out_need_no_blocks() -> None:
    said: DocumentColumns = {"blocks": [[("paragraph", 0, 0, 5)], [("paragraph", 0, 0, 5)]], "removed": [[], [(0, 4)]]}
    out = pychunk.segment(["Cats.", None], "structure", on_error="skip", columns=said)
    assert out.texts == ["Cats."]
    assert [error.row for error in out.errors] == [1]
    assert not out.removed.num_rows


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            {"blocks": [[("heading", 1, 0, 3), ("paragraph", 0, 2, 5)]]},
            "blocks of document 0 must be in ascending order",
        ),
        ({"blocks": [[("heading", 1, 3, 3)]]}, "start before they end"),
        ({"blocks": [[("heading", 1, 0, 99)]]}, "blocks of document 0 must lie in its 10 characters"),
        ({"blocks": [[("title", 1, 0, 3)]]}, "unknown kind of block 'title'; the kinds are paragraph, heading"),
        ({"blocks": [[], []]}, "as many lists as there are documents, 1; got 2"),
        ({"removed": [[(0, 3), (2, 4)]]}, "removed of document 0 must be in ascending order"),
        ({"removed": [[(0, 99)]]}, "removed of document 0 must lie in its 10 characters"),
    ],
)
def test_bad_blocks_are_told(said: DocumentColumns, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        pychunk.segment(["Cats purr."], "structure", columns=said)


def test_given_vectors_and_python_methods_see_the_sentences_of_blocks() -> None:
    class EachSentence(pychunk.Method):
        name = "each"

        def cuts(self, features: pychunk.Features) -> pychunk.Cuts:
            return pychunk.Cuts.of([list(range(count)) for count in features.given("sentences").counts])

    text = "| a. b | c |\n| d. e | f |\nCats purr. Dogs bark."
    blocks = [[("table", 0, 0, 25), ("paragraph", 0, 26, len(text))]]
    out = pychunk.segment(
        [text], EachSentence(), columns={"blocks": blocks, "removed": [[(26, 36)]]}, keep_together=False
    )
    assert out.texts == ["| a. b | c |", "| d. e | f |", "Dogs bark."]
    with pytest.raises(ValueError, match="a page, block or removed span begins inside one"):
        pychunk.segment(["Cats purr"], "semantic", columns={"sentence_vectors": [np.eye(1, 4)], "removed": [[(0, 4)]]})
