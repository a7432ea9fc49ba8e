"""Chunks of documents with structure as a tree, with boxes, and removed spans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from block_texts import MARKDOWN, blocks_of, check_tree
from command_line import invoke

import pychunk
from pychunk._engine.data.blocks import Blocks
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.parsing.block_columns import blocks_to_arrow, removed_to_arrow


def test_what_is_removed_is_listed_with_reason_and_score() -> None:
    texts = ["Menu. Cats purr. Footer.", "Dogs bark.", ""]
    removed = [[(0, 5, "navigation", 0.9), {"start": 17, "end": 24, "reason": "footer"}], [], None]
    out = pychunk.segment(texts, "recursive", columns={"removed": removed}, ids=["a", "b", "c"])
    assert out.texts == ["Cats purr.", "Dogs bark."]
    assert out[0].end_reason == "removed"
    assert out.removed.to_pylist() == [
        {
            "document_index": 0,
            "document_id": "a",
            "start": 0,
            "end": 5,
            "reason": "navigation",
            "score": pytest.approx(0.9),
        },
        {"document_index": 0, "document_id": "a", "start": 17, "end": 24, "reason": "footer", "score": None},
    ]
    assert pychunk.segment(texts, "recursive").removed is None
    assert pychunk.segment(["All of it."], "structure", columns={"removed": [[(0, 10)]]}).texts == []


def test_a_title_that_is_left_out_heads_every_path_and_no_chunk() -> None:
    lines = ["# Menu", "# Red panda", "Share this.", "It eats bamboo.", "## Range", "It lives in Asia."]
    lines += ["# Other", "Cats."]
    text = "\n".join(lines)
    starts = [text.index(line) for line in lines]
    kinds = {line: ("heading", line.index(" ")) if line[0] == "#" else ("paragraph", 0) for line in lines}
    blocks = [(*kinds[line], start, start + len(line)) for line, start in zip(lines, starts, strict=True)]

    def rows(*removed: int) -> list[tuple[str, list[str], int | None]]:
        spans = [(starts[i], starts[i] + len(lines[i])) for i in removed]
        columns: DocumentColumns = {"blocks": [blocks], "removed": [spans]}
        chunks = list(pychunk.segment([text], "structure", size=6, unit="words", columns=columns))
        check_tree(chunks)
        return [(chunk.text.split("\n")[-1], chunk.path, chunk.parent) for chunk in chunks]

    panda = ["Red panda"]
    other = ("Cats.", ["Other"], None)
    assert rows(0, 1, 2) == [
        ("It eats bamboo.", panda, None),
        ("It lives in Asia.", [*panda, "Range"], None),
        other,
    ]
    # A removed heading after the first kept text heads nothing, nor does a block that is not a level 1 heading.
    assert rows(0, 1, 2, 4)[1] == ("It lives in Asia.", panda, None)
    assert rows(0, 1, 2, 6)[-1] == ("Cats.", [*panda, "Range"], 1)


def test_the_tree_as_objects_and_the_document_without_what_was_removed() -> None:
    text = "Menu.\n\n" + MARKDOWN
    blocks = [("paragraph", 0, 0, 5), *((kind, level, a + 7, b + 7) for kind, level, a, b in blocks_of(MARKDOWN))]
    columns: DocumentColumns = {"blocks": [[], blocks], "removed": [[], [(0, 5)]]}
    chunks = pychunk.segment(["", text], "structure", size=9, unit="words", columns=columns)
    (root,) = chunks.tree(1)
    assert [chunk.chunk_index for chunk in root] == list(range(9))
    assert [len(node.children) for node in root.children] == [0, 0, 0, 0, 2]
    assert root.children[4].chunk.path == ["Guide", "Details"]
    assert "Dogs bark." in root.children[4].text
    assert "Run this" not in root.children[4].text
    assert (chunks.tree(0), chunks.to_markdown(0)) == ([], "")
    assert "".join(chunks.to_markdown(1).split()) == "".join(MARKDOWN.split())
    overlapping = pychunk.segment(
        [MARKDOWN], "structure", size=9, unit="words", overlap=3, columns={"blocks": [blocks_of(MARKDOWN)]}
    )
    assert any(chunk.overlap for chunk in overlapping)
    assert "".join(overlapping.to_markdown().split()) == "".join(MARKDOWN.split())
    assert [node.chunk.chunk_index for node in chunks[4:7].tree(1)] == [4, 5]
    with pytest.raises(ValueError, match="holds several documents: pass document=, the row of one of them, from 0 to"):
        chunks.tree()
    with pytest.raises(ValueError, match="document must be a row from 0 to 1; got 2"):
        chunks.tree(2)
    with pytest.raises(ValueError, match='segment with method="structure"'):
        pychunk.segment(MARKDOWN, "recursive").tree()


def test_a_plain_heading_gets_marks() -> None:
    assert pychunk.segment("Cats\n\nCats purr. They sleep.", "structure").to_markdown() == (
        "# Cats\n\nCats purr. They sleep."
    )


def test_the_listing_is_a_tree_and_says_what_was_left_out(tmp_path: Path) -> None:
    text = "Menu. News.\n\n" + MARKDOWN
    blocks = [("paragraph", 0, 0, 11), *((kind, level, a + 13, b + 13) for kind, level, a, b in blocks_of(MARKDOWN))]
    removed = [(0, 5, "menu", 0.5), (6, 11, "menu", 0.5)]
    table = pa.table(
        {
            "id": ["guide", "none"],
            "text": [text, "Cats."],
            "blocks": blocks_to_arrow(Blocks.of([blocks, []])),
            "removed": removed_to_arrow([removed, []]),
        }
    )
    path = tmp_path / "in.parquet"
    pq.write_table(table, path)
    columns = ["--column", "text", "--ids", "id", "--column", "blocks=blocks", "--column", "removed=removed"]
    shown = invoke(["segment", str(path), "-m", "structure:size=9,unit=words", *columns]).output
    assert "Guide › Details\n  document guide, chunk 5" in shown
    assert "\n    document guide, chunk 6" in shown
    assert "\n      The sun burns hydrogen" in shown
    assert "document guide, removed: menu 2 spans, 10 characters (4%)" in shown
    assert "document none, left out" not in shown
    assert "removed: menu 2 spans" in invoke(["segment", str(path), "-m", "recursive", *columns]).output
    out = tmp_path / "out.csv"
    invoke(["segment", str(path), "-m", "structure:size=9,unit=words", *columns, "-o", str(out)])
    assert ",Guide > Details > Other," in out.read_text().replace('"', "")


def test_boxes_of_a_chunk_are_those_of_its_blocks(tmp_path: Path) -> None:
    text = "Cats\n\nCats purr.\fDogs bark. They run.\n\nNo box."
    blocks = Blocks.of(
        [
            [],
            [("heading", 1, 0, 4), ("paragraph", 0, 6, 16), ("paragraph", 0, 17, 37), ("paragraph", 0, 39, 46)],
        ]
    )
    box = np.arange(16, dtype=np.float32).reshape(4, 4)
    box[3] = np.nan
    blocks = replace(blocks, page=np.array([1, 1, 2, 2], np.int32), box=box)
    columns: DocumentColumns = {"blocks": blocks, "page_starts": [[0], [0, 17]]}
    chunks = pychunk.segment(["Plain.", text], "structure", size=3, unit="words", columns=columns)
    sides = ("page", "left", "top", "right", "bottom")
    found = [[tuple(box[side] for side in sides) for box in chunk.boxes] for chunk in chunks]
    own = [(1, 0, 1, 2, 3), (1, 4, 5, 6, 7), (2, 8, 9, 10, 11)]
    assert found == [[], own[:2], own[2:], own[2:], []]
    assert [chunk.page for chunk in chunks] == [1, 1, 2, 2, 2]
    assert "boxes" not in pychunk.segment([text], "structure", columns={"page_starts": [[0]]}).table.column_names
    chunks.write(tmp_path / "out.csv")
    assert '[{""page"": 1, ""left"": 0.0,' in (tmp_path / "out.csv").read_text()
    empty = pychunk.segment([], "structure", columns={"page_starts": [], "blocks": Blocks.of([])}).table
    assert empty.schema.field("boxes").type == chunks.table.schema.field("boxes").type
