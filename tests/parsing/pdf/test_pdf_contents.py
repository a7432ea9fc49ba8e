"""Tables of contents of a PDF are removed, lists that resemble them are not."""

import random

import pytest
from pdfs import Page, made

from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import paragraph, rows


def entries(leaders: bool, names: list[str]) -> Page:
    page = Page()
    page.put(50, 60, "Contents", 16, bold=True)
    for number, name in enumerate(names):
        dots = " ." * 20 if leaders else ""
        page.put(50, 100 + 14 * number, f"{name}{dots} {3 * number + 1}")
    return page


@pytest.mark.parametrize("leaders", [True, False])
def test_tables_of_contents_are_left_out(leaders: bool) -> None:
    names = ["The fox", "The dog", "The forest", "What they do", "Where they are"]
    pages = [entries(leaders, names)]
    for number, name in enumerate(names):
        page = Page().put(50, 60, name, 14, bold=True)
        page.lines(50, 90, paragraph(random.Random(50 + number), 470, 120))
        pages.append(page)
    pdf = read_pdf(made(pages))
    rows(pdf)
    gone = "\n".join(pdf.text[span.start : span.end] for span in pdf.removed if span.reason == "contents")
    assert gone.startswith("Contents")
    assert all(gone.count(name) == 1 for name in names)
    assert {span.reason for span in pdf.removed} == {"contents"}


def test_what_a_box_contains_is_content() -> None:
    page = entries(False, ["Screws", "Bolts", "Nuts", "Washers", "Springs"])
    page.lines(50, 300, paragraph(random.Random(61), 470, 120))
    assert read_pdf(made([page])).removed == []


def test_lists_of_prices_with_leaders_are_content() -> None:
    page = Page().put(50, 60, "Prices", 16, bold=True)
    for number, name in enumerate(["Coffee", "Tea", "Milk", "Bread", "Soup", "Water"]):
        page.put(50, 100 + 14 * number, f"{name}{' .' * 20} {[3, 2, 1, 4, 7, 1][number]}")
    page.lines(50, 300, paragraph(random.Random(60), 470, 120))
    assert read_pdf(made([page])).removed == []


def test_entries_of_a_table_of_contents_are_no_headings() -> None:
    page = Page().put(50, 60, "Contents", 16, bold=True)
    for number, name in enumerate(("Foxes", "Wolves", "Dogs")):
        page.put(
            50, 90 + 16 * number, f"{number + 1} {name} . . . . . . . . . . . . . . . {5 * number + 1}", 12, bold=True
        )
    page.lines(50, 180, paragraph(random.Random(16), 480, 100))
    found = rows(read_pdf(made([page])))
    assert [kind for kind, *_ in found] == ["heading"] + ["paragraph"] * 4
    assert [text[:8] for *_, text in found][1:4] == ["1 Foxes ", "2 Wolves", "3 Dogs ."]
