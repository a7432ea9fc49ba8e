"""DoclingDocument JSON to text, blocks and pages."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.io import DeadLetter, open_source
from pychunk.parsing.docling import DoclingError, parse_docling
from pychunk.parsing.pdf.paged_text import Paged


def ref(path: str) -> dict[str, str]:
    return {"$ref": f"#/{path}"}


def text(label: str, said: str, page: int, top: float = 100, **more: Any) -> dict[str, Any]:
    box = {"l": 50.0, "t": 800 - top, "r": 300.0, "b": 790 - top, "coord_origin": "BOTTOMLEFT"}
    prov = [{"page_no": page, "bbox": box, "charspan": [0, len(said)]}]
    return {"label": label, "text": said, "orig": said, "prov": prov, "children": [], **more}


def cell(row: int, column: int, said: str) -> dict[str, Any]:
    return {"text": said, "start_row_offset_idx": row, "start_col_offset_idx": column, "row_span": 1, "col_span": 1}


def document() -> dict[str, Any]:
    texts = [
        text("page_header", "Journal of Foxes", 1, 10, content_layer="furniture"),
        text("title", "About foxes", 1, 40),
        text("section_header", "Origins", 1, 80, level=1),
        text("text", "Foxes are\nold.", 1, 100),
        text("list_item", "quick", 1, 120, marker="-"),
        text("list_item", "brown", 1, 130, marker="1.", enumerated=True),
        text("list_item", "lazy", 2, 20, marker=""),
        text("page_footer", "1", 1, 700, content_layer="furniture"),
        text("caption", "Table 1. Foxes", 2, 60),
        text("section_header", "Today", 2, 200, level=2),
        text("code", "for fox in foxes:\n    jump(fox)", 2, 220),
        text("text", "A label in the picture", 2, 300),
        text("text", "Nobody refers to this.", 2, 300),
    ]
    cells = [cell(0, 0, "Name"), cell(0, 1, "Count"), cell(1, 0, "Red\nfox"), cell(1, 1, "12"), cell(2, 1, "30")]
    table = {"label": "table", "captions": [ref("texts/8")], "children": [], "data": {"table_cells": cells}}
    table["prov"] = [{"page_no": 2, "bbox": {"l": 1, "t": 2, "r": 3, "b": 4, "coord_origin": "TOPLEFT"}}]
    inner = {"label": "list", "name": "list", "children": [ref("texts/5")]}
    outer = {"label": "list", "name": "list", "children": [ref("texts/4"), ref("groups/1"), ref("texts/6")]}
    order = ["texts/0", "texts/1", "texts/2", "texts/3", "groups/0", "texts/7", "texts/8", "tables/0", "texts/9"]
    body = {"self_ref": "#/body", "children": [ref(each) for each in [*order, "texts/10", "pictures/0", "texts/99"]]}
    return {
        "schema_name": "DoclingDocument",
        "version": "1.3.0",
        "name": "foxes",
        "furniture": {"self_ref": "#/furniture", "children": []},
        "body": body,
        "groups": [outer, inner],
        "texts": texts,
        "tables": [table],
        "pictures": [{"label": "picture", "children": [ref("texts/11")], "captions": [], "prov": []}],
        "pages": {str(page): {"page_no": page, "size": {"width": 600, "height": 800}} for page in (1, 2, 3)},
    }


def parsed(document: dict[str, Any]) -> Paged:
    return parse_docling(json.dumps(document).encode())


def rows(found: Paged) -> list[tuple[str, int, str]]:
    blocks = found.blocks
    return [
        (BLOCK_KINDS[kind], level, found.text[start:end])
        for kind, level, start, end in zip(blocks.kind, blocks.level, blocks.start, blocks.end)
    ]


def test_order_kinds_levels_pages_and_boxes() -> None:
    found = parsed(document())
    assert rows(found) == [
        ("paragraph", 0, "Journal of Foxes"),
        ("heading", 1, "About foxes"),
        ("heading", 2, "Origins"),
        ("paragraph", 0, "Foxes are old."),
        ("item", 1, "- quick"),
        ("item", 2, "1. brown"),
        ("paragraph", 0, "1"),
        ("item", 1, "- lazy"),
        ("caption", 0, "Table 1. Foxes"),
        ("table", 0, "Name | Count\nRed fox | 12\n| 30"),
        ("heading", 3, "Today"),
        ("code", 0, "for fox in foxes:\n    jump(fox)"),
        ("paragraph", 0, "A label in the picture"),
    ]
    assert found.blocks.page is not None
    assert found.blocks.page.tolist() == [1] * 7 + [2] * 6
    assert found.page_starts.tolist() == [0, found.text.index("\f") + 1, len(found.text)]
    assert found.title == "About foxes"
    assert [(found.text[span.start : span.end], span.reason) for span in found.removed] == [
        ("Journal of Foxes", "running_head"),
        ("1", "running_foot"),
    ]
    assert found.blocks.box is not None
    assert found.blocks.box[1].tolist() == [50, 40, 300, 50]
    assert found.blocks.box[9].tolist() == [1, 2, 3, 4]


def test_tables_by_their_grid_and_documents_without_pages() -> None:
    made = document()
    grid = [[{"text": "Name"}, {"text": "Count"}], [{"text": "Red fox"}, {"text": "12"}]]
    made["tables"][0]["data"] = {"grid": grid, "num_rows": 2, "num_cols": 2}
    made["pages"] = {}
    found = parsed(made)
    assert ("table", 0, "Name | Count\nRed fox | 12") in rows(found)
    assert found.blocks.page is None
    assert found.page_starts.tolist() == []


def test_what_is_no_document_says_why() -> None:
    for data, reason in (
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe\xfd", "not JSON"),
        (b'{"schema_name": "Other"}', "not a DoclingDocument"),
        (b'{"schema_name": "DoclingDocument"}', "the document has no text"),
    ):
        with pytest.raises(DoclingError, match=reason):
            parse_docling(data)


def test_damaged_trees_are_read_as_far_as_they_are_trees() -> None:
    drawn = random.Random(21)
    values = [None, 3, -1, 1e308, "x", [], {}, True, [[]], {"$ref": 3}, {"$ref": "#/body"}, "\ud800", "a\fb", 10**30]
    for _ in range(400):
        made = document()
        for _ in range(drawn.choice((1, 2, 8))):
            node: Any = made
            for _ in range(drawn.randrange(1, 9)):
                keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
                if not keys:
                    break
                key = drawn.choice(list(keys))
                if drawn.random() < 0.3 or not isinstance(node[key], (dict, list)):
                    node[key] = drawn.choice(values)
                    break
                node = node[key]
        try:
            found = parsed(made)
        except DoclingError:
            continue
        assert found.text.count("\f") == max(0, len(found.page_starts) - 1)
        found.text.encode()
        assert (found.blocks.start[1:] > found.blocks.end[:-1]).all()


def test_a_group_that_holds_itself_ends() -> None:
    made = document()
    made["groups"][1]["children"].append(ref("groups/0"))
    assert len(rows(parsed(made))) == 13


def test_the_kind_is_known_by_content(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(document(), indent=2))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps(document()).encode()))
    (tmp_path / "c.json").write_text('{"text": "another kind of JSON"}')
    (tmp_path / "d.docling.json").write_text('{"schema_name": "DoclingDocument"}')
    (tmp_path / "e.txt").write_text("Text.")
    letters: list[DeadLetter] = []
    source = open_source(tmp_path, dead_letters=letters.append)
    batches = list(source)
    assert [Path(each).name for each in batches[0].table["id"].to_pylist()] == ["a.json", "b.json.gz"]
    assert batches[0].table["title"].to_pylist() == ["About foxes"] * 2
    assert batches[0].table["blocks"][0].as_py()[9]["kind"] == "table"
    assert [(Path(letter.source).name, letter.reason) for letter in letters] == [
        ("d.docling.json", "the document has no text; if it shows scanned pages, convert it again with OCR")
    ]
    assert [Path(each).name for each in source.ignored] == ["c.json"]
    assert open_source(tmp_path / "a.json").kind == "docling"
    assert open_source(tmp_path / "c.json").kind == "json"
