"""Documents of Word become Markdown with their headings, lists, tables, notes and comments."""

import pytest
from office_files import W, docx, paragraph, table

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.converters import office
from pychunk.parsing.pdf.paged_text import Paged

pytest.importorskip("mammoth", reason="documents of Word are read by mammoth (extra office)")
pytest.importorskip("selectolax", reason="documents of Word are read by selectolax (extra docs)")


def blocks(found: Paged) -> list[tuple[str, int, str]]:
    rows = zip(found.blocks.kind, found.blocks.level, found.blocks.start, found.blocks.end)
    return [(BLOCK_KINDS[kind], int(level), found.text[start:end]) for kind, level, start, end in rows]


def test_headings_are_known_by_style_and_by_outline_level() -> None:
    body = paragraph("Tides", "Heading1") + paragraph("Moon", "Kapitel") + paragraph("Sun", "Teil")
    found = office.convert(docx(body + paragraph("Text &amp; more.", "A")))
    assert blocks(found) == [
        ("heading", 1, "# Tides"),
        ("heading", 2, "## Moon"),
        ("heading", 2, "## Sun"),
        ("paragraph", 0, "Text & more."),
    ]
    assert (found.title, found.facts) == ("Report", {"author": "Anna", "date": "2024-05-06T07:08:09Z"})


@pytest.mark.parametrize("header", [False, True])
def test_the_first_row_of_a_table_is_its_header(header: bool) -> None:
    found = office.convert(docx(table(("Port", "Height"), ("Brest", "7.1"), ("Kyiv", "0"), header=header)))
    assert blocks(found) == [("table", 0, "| Port | Height |\n| --- | --- |\n| Brest | 7.1 |\n| Kyiv | 0 |")]


def test_changes_are_accepted_and_notes_follow() -> None:
    changes = "<w:ins><w:r><w:t> inserted</w:t></w:r></w:ins><w:del><w:r><w:delText> deleted</w:delText></w:r></w:del>"
    marks = '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:commentReference w:id="0"/></w:r>'
    notes = f'<w:footnotes {W}><w:footnote w:id="2">{paragraph("By ship.")}</w:footnote></w:footnotes>'
    said = f'<w:comments {W}><w:comment w:id="0" w:author="Ben" w:initials="B">{paragraph("Check.")}</w:comment>'
    found = office.convert(
        docx(paragraph("Text", inside=changes + marks), footnotes=notes, comments=said + "</w:comments>")
    )
    assert found.text.startswith("Text inserted[1] [B1]\n\n")
    assert "By ship." in found.text
    assert "Check." in found.text
    assert "deleted" not in found.text
    assert "↑" not in found.text


def test_linked_and_embedded_images_are_not_read() -> None:
    picture = '<w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:imagedata r:link="x" xmlns:r="r"/>'
    picture += "</v:shape></w:pict></w:r>"
    assert office.convert(docx(paragraph("Text", inside=picture))).text.rstrip() == "Text"
