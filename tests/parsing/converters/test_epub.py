"""Books become their chapters in the order of the spine, with headings from the table of contents."""

import io
import zipfile

import pytest

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.converters import epub
from pychunk.parsing.converters.dispatch import ConversionError

pytest.importorskip("selectolax", reason="books are read by selectolax (extra docs)")

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/a.opf"/></rootfiles></container>'
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>
<dc:title>Cats  and dogs</dc:title><dc:creator>Anna</dc:creator><dc:creator>Ben</dc:creator>
<dc:date>2020-01-02</dc:date>
</metadata><manifest>
<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/>
<item id="two" href="t%20wo.xhtml" media-type="application/xhtml+xml"/>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="css" href="a.css" media-type="text/css"/>
</manifest><spine><itemref idref="nav"/><itemref idref="two"/><itemref idref="one"/><itemref idref="two"/>
<itemref idref="css"/><itemref idref="none"/></spine></package>"""
FILES = {
    "META-INF/container.xml": CONTAINER,
    "OPS/a.opf": PACKAGE,
    "OPS/one.xhtml": "<html><body><h1>One</h1><p>First.</p><ul><li>a</li></ul></body></html>",
    "OPS/t wo.xhtml": "<html><body><p>Second.</p></body></html>",
    "OPS/nav.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><a href="t%20wo.xhtml#x">The  second</a>'
    '<a href="one.xhtml">Not used</a></nav></body></html>',
    "OPS/a.css": "p {}",
}


def book(**changes: str | None) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in {**FILES, **{name.replace("__", "/"): text for name, text in changes.items()}}.items():
            if text is not None:
                archive.writestr(name, text)
    return held.getvalue()


def test_chapters_are_in_the_order_of_the_spine_each_once() -> None:
    found = epub.convert(book())
    assert found.text == "# The second\n\nSecond.\n\n# One\n\nFirst.\n\n- a"
    blocks = zip(found.blocks.kind.tolist(), found.blocks.start.tolist(), found.blocks.end.tolist())
    assert [(BLOCK_KINDS[kind], found.text[start:end]) for kind, start, end in blocks] == [
        ("heading", "# The second"),
        ("paragraph", "Second."),
        ("heading", "# One"),
        ("paragraph", "First."),
        ("item", "- a"),
    ]
    assert (found.title, found.facts) == ("Cats and dogs", {"author": "Anna, Ben", "date": "2020-01-02"})


def test_elements_that_close_themselves_hide_nothing() -> None:
    page = '<html><head><title/><script src="a.js"/></head><body><a id="x"/><p>All.</p><iframe src="b"/><p>Rest.</p>'
    found = epub.convert(book(**{"OPS__one.xhtml": page}))
    assert found.text == "# The second\n\nSecond.\n\n# Not used\n\nAll.\n\nRest."


def test_a_chapter_that_is_missing_is_noted() -> None:
    found = epub.convert(book(**{"OPS__one.xhtml": None}))
    assert found.text == "# The second\n\nSecond."
    assert found.notes == [(0, "the chapter OPS/one.xhtml is missing in the archive")]


def test_books_that_cannot_be_read_are_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = '<e><CipherData><CipherReference URI="OPS/one.xhtml"/></CipherData></e>'
    for changes, reason in (
        ({"META-INF__container.xml": None}, "not an EPUB"),
        ({"OPS__a.opf": None}, "the package file 'OPS/a.opf' is missing"),
        ({"META-INF__encryption.xml": locked}, "encrypted"),
    ):
        with pytest.raises(ConversionError, match=reason):
            epub.convert(book(**changes))
    monkeypatch.setattr(epub, "MAX_BYTES", 100)
    with pytest.raises(ConversionError, match="at most 100 are read: divide the book"):
        epub.convert(book())
