"""Tables of a PDF: rows, cells with and without borders, tables that cross pages."""

import random
from pathlib import Path

import pytest
from pdfs import HEIGHT, Page, made

from pychunk import segment
from pychunk.io import open_source
from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import paragraph, rows, two_columns


def test_words_are_whole_in_cells_that_wrap() -> None:
    page = Page()
    for at, (option, lines) in enumerate(
        {
            "-a": ["read the argu-", "ments of a pump"],
            "-b": ["short- and long-", "and two-way"],
            "-c": ["stop", "it"],
        }.items()
    ):
        page.put(50, 100 + 40 * at, option).put(150, 100 + 40 * at, lines[0]).put(150, 112 + 40 * at, lines[1])
        page.put(300, 100 + 40 * at, "yes")
    table = rows(read_pdf(made([page])))[0]
    assert table[0] == "table"
    assert table[3].split("\n")[0] == "-a | read the arguments of a pump | yes"
    assert "short- and long- and two-way" in table[3]


TABLE = [("Animal", "Number", "Share"), ("Red fox", "12", "40 %"), ("Grey fox", "", "60 %"), ("Total", "30", "100 %")]


def test_a_table_is_one_block_with_a_line_a_row() -> None:
    drawn = random.Random(10)
    page = Page()
    y = page.lines(50, 60, paragraph(drawn, 480)) + 14
    page.put(50, y, "Table 1. Foxes by colour")
    y += 20
    for cells in TABLE:
        for column, cell in enumerate(cells):
            page.put(60 + 130 * column, y, cell)
        y += 15
    page.lines(50, y + 15, after := paragraph(drawn, 480))
    found = rows(read_pdf(made([page])))
    assert [kind for kind, *_ in found] == ["paragraph", "caption", "table", "paragraph"]
    assert found[2][3] == "\n".join(" | ".join(row) for row in TABLE)
    assert found[3][3] == " ".join(after)


@pytest.mark.slow
@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("heads", [True, False])
def test_a_table_that_goes_on_over_pages_is_one(tmp_path: Path, repeated: bool, heads: bool) -> None:
    header = ("Part", "Meaning", "Price")
    data = [(f"P-{number:03}", f"part {'abcdef'[number % 6]} of the pump", str(3 * number)) for number in range(60)]
    pages = []
    for first in range(0, 60, 20):
        page = Page()
        if heads:
            page.put(50, 40, "Parts of pumps", 8).put(290, 810, f"- {len(pages) + 1} -", 8)
        y = 80
        for cells in ([header] if repeated or not first else []) + data[first : first + 20]:
            for column, cell in enumerate(cells):
                page.put(60 + 130 * column, y, cell, bold=cells is header)
            y += 15
        pages.append(page)
    pages[-1].lines(50, 500, paragraph(random.Random(39), 480))
    pdf = read_pdf(made(pages))
    found = [text for kind, _, page, text in rows(pdf) if kind == "table" and "\n" in text]
    assert found == ["\n".join(" | ".join(cells) for cells in [header, *data])]
    left = [pdf.text[span.start : span.end] for span in pdf.removed if span.reason == "repeated_header"]
    assert left == ["Part | Meaning | Price"] * (2 if repeated else 0)
    (tmp_path / "a.pdf").write_bytes(made(pages))
    table = next(open_source(tmp_path / "a.pdf").batches()).table
    known = {name: name for name in ("text", "blocks", "page_starts", "removed")}
    chunks = segment(table, "structure", columns=known, ids="id", size=80)
    parts = [chunk for chunk in chunks if "P-0" in chunk.text]
    assert len(parts) > 3
    assert {chunk.header for chunk in parts if not chunk.text.startswith("Part |")} == {"Part | Meaning | Price"}


def test_two_tables_on_two_pages_are_two() -> None:
    pages = [Page(), Page()]
    for page, names in zip(pages, (("Animal", "Number"), ("Tree", "Age"))):
        for row in range(6):
            for column in range(2):
                text = names[column] if not row else f"{names[column]} {chr(ord('a') + row)}"
                page.put(60 + 150 * column, 80 + 15 * row, text, bold=not row)
    assert [kind for kind, *_ in rows(read_pdf(made(pages)))] == ["table", "table"]


def test_a_table_below_two_columns_is_neither_of_them() -> None:
    page = Page()
    wanted = two_columns(random.Random(11), page, 60)
    for number, cells in enumerate(TABLE):
        for column, cell in enumerate(cells):
            page.put(60 + 130 * column, 400 + 15 * number, cell)
    found = rows(read_pdf(made([page])))
    assert [text for kind, *_, text in found if kind == "paragraph"] == wanted
    assert found[-1][0] == "table"


def test_cells_with_borders_are_rows_however_their_text_is_wrapped() -> None:
    xs, ys = (60, 160, 300, 420), (100, 120, 170, 205)
    page = Page().put(50, 80, "Before the table.")
    for x in xs:
        page.content += f"{x} {HEIGHT - ys[0]} m {x} {HEIGHT - ys[-1]} l S\n"
    for y in ys:
        page.content += f"{xs[0]} {HEIGHT - y} m {xs[-1]} {HEIGHT - y} l S\n"
    page.put(65, 114, "Animal").put(165, 114, "What it does, said at length").put(305, 114, "Share")
    page.put(65, 145, "Red fox").lines(165, 134, ["jumps over the lazy dog", "and wonders what that", "was about"])
    page.put(305, 145, "40 %").put(65, 184, "Grey fox").put(65, 196, "or wolf").put(305, 190, "60 %")
    page.put(50, 240, "After the table.")
    found = rows(read_pdf(made([page])))
    assert [kind for kind, *_ in found] == ["paragraph", "table", "paragraph"]
    assert found[1][3].splitlines() == [
        "Animal | What it does, said at length | Share",
        "Red fox | jumps over the lazy dog and wonders what that was about | 40 %",
        "Grey fox or wolf |  | 60 %",
    ]


def test_wrapped_cells_without_borders_and_a_head_above_two_columns() -> None:
    page = Page().put(240, 100, "Dose in the morning and at night")
    body = [("Size of the", "20 mg", "30 mg"), ("fox, cm", "", "")], [("10 to 20", "1", "2")], [("21 to 30", "2", "3")]
    y = 120.0
    for row in (*body, [("31 to 40", "3", "4")]):
        for line in row:
            for x, cell in zip((60, 240, 350), line):
                if cell:
                    page.put(x, y, cell)
            y += 11
        y += 7
    found = rows(read_pdf(made([page])))
    assert [kind for kind, *_ in found][-1] == "table"
    assert found[-1][3].splitlines()[-4:] == [
        "Size of the fox, cm | 20 mg | 30 mg",
        "10 to 20 | 1 | 2",
        "21 to 30 | 2 | 3",
        "31 to 40 | 3 | 4",
    ]
