"""OpenDocument texts have headings, lists, tables and footnotes."""

import pytest
from block_parts import parts
from office_files import zipped

from pychunk.parsing.converters import odt
from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.odt import convert

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "drawing", "meta", "dc")
)
NAMES += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:math="http://www.w3.org/1998/Math/MathML"'
STYLES = '<style:style style:name="P1" style:parent-style-name="Title"/>'
NOTE = (
    "<text:note><text:note-citation>1</text:note-citation>"
    "<text:note-body><text:p>Below.</text:p></text:note-body></text:note>"
)
BODY = f"""<text:tracked-changes><text:p>Deleted.</text:p></text:tracked-changes>
<text:p text:style-name="P1">Re<text:span>port</text:span></text:p>
<text:h text:outline-level="2">One<text:s text:c="2"/>two</text:h>
<text:p>Text{NOTE}.<office:annotation><text:p>Comment.</text:p></office:annotation></text:p>
<text:list><text:list-item><text:p>A</text:p>
<text:list><text:list-item><text:p>B</text:p></text:list-item></text:list></text:list-item></text:list>
<table:table><table:table-header-rows><table:table-row>
<table:table-cell><text:p>Name</text:p></table:table-cell><table:table-cell table:number-columns-repeated="1"/>
<table:table-cell><text:p>Size</text:p></table:table-cell>
<table:table-cell table:number-columns-repeated="900000000"/></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell><text:p>Kyiv</text:p><text:p>city</text:p></table:table-cell></table:table-row>
</table:table>
<text:table-of-content><text:index-body><text:p>One 1</text:p></text:index-body></text:table-of-content>
<text:p>Last<drawing:frame><drawing:text-box><text:p>Boxed</text:p></drawing:text-box></drawing:frame></text:p>"""
META = "<dc:title>T</dc:title><dc:creator>Zoe</dc:creator><dc:date>2020-01-02</dc:date>"


def made(body: str = BODY, **more: str) -> bytes:
    content = (
        f"<office:document-content {NAMES}><office:automatic-styles>{STYLES}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    meta = f"<office:document-meta {NAMES}><office:meta>{META}</office:meta></office:document-meta>"
    kind = "application/vnd.oasis.opendocument.text"
    return zipped({"mimetype": kind, "content.xml": content, "meta.xml": meta, **more})


def test_blocks() -> None:
    found = convert(made())
    assert parts(found) == [
        ("heading", 1, "Report"),
        ("heading", 2, "One two"),
        ("paragraph", 0, "Text[1]."),
        ("item", 1, "A"),
        ("item", 2, "B"),
        ("table", 0, "Name |  | Size\nKyiv city"),
        ("paragraph", 0, "One 1"),
        ("paragraph", 0, "Last"),
        ("paragraph", 0, "Boxed"),
        ("paragraph", 0, "[1] Below."),
    ]
    assert (found.title, found.facts) == ("T", {"author": "Zoe", "date": "2020-01-02"})
    assert [(found.text[span.start : span.end], span.reason) for span in found.removed] == [("One 1", "contents")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (made(**{"META-INF/manifest.xml": "<encryption-data/>"}), "protected by a password: save it without one"),
        (zipped({"a": "b"}), "no content.xml"),
        (zipped({"content.xml": "<a/>"}), "another kind of OpenDocument"),
    ],
)
def test_other_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        convert(data)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odt, "MAX_XML", 100)
    with pytest.raises(ConversionError, match="at most 10,000 and 100 are read: divide the document"):
        convert(made())


def test_a_title_counts_its_notes_once_and_fields_are_text() -> None:
    body = (
        f'<text:p text:style-name="Title">Report{NOTE}</text:p>'
        "<text:p>By <text:title>My Title</text:title> in "
        "<text:bibliography-mark>[K84]</text:bibliography-mark>.</text:p>"
    )
    found = convert(made(body))
    assert [text for _, _, text in parts(found)] == ["Report[1]", "By My Title in [K84].", "[1] Below."]


LETTERS = "<math:mi>E</math:mi> <math:mo>=</math:mo> <math:mi>m</math:mi>"
STAR = '<math:annotation math:encoding="StarMath 5.0">E = m</math:annotation>'


def formula(inside: str) -> str:
    return f'<math:math xmlns:math="http://www.w3.org/1998/Math/MathML">{inside}</math:math>'


def frame(link: str, inside: str = "") -> str:
    return f'<drawing:frame><drawing:object xlink:href="{link}">{inside}</drawing:object></drawing:frame>'


@pytest.mark.parametrize(
    ("link", "inside", "text"),
    [
        ("./Object 1", "", "So E = m holds."),
        ("#./Object 1/", "", "So E = m holds."),
        ("Object 2", "", "So E=m holds."),
        ("", formula("<math:mi>x</math:mi><math:mo>=</math:mo><math:mn>1</math:mn>"), "So x=1 holds."),
        ("", f"<office:document><text:p>Sheet</text:p>{formula('y')}</office:document>", "So holds."),
        ("./Object 3", "", "So holds."),
        ("./Object 4", "", "So holds."),
        ("https://example.org/Object 1", "", "So holds."),
        ("../Object 1", "", "So holds."),
    ],
)
def test_a_formula_is_text_at_its_place_and_other_objects_are_left_out(link: str, inside: str, text: str) -> None:
    objects = {
        "Object 1/content.xml": formula(f"<math:semantics>{LETTERS}{STAR}</math:semantics>"),
        "Object 2/content.xml": formula(LETTERS.replace(" ", "")),
        "Object 3/content.xml": "<office><p>Sheet</p></office>",
        "Object 4/content.xml": "<math>",
    }
    found = convert(made(f"<text:p>So {frame(link, inside)} holds.</text:p>", **objects))
    assert found.text == text


def test_formulas_in_tables_and_at_pages_are_kept() -> None:
    body = (
        f"{frame('./Object 1')}<table:table><table:table-row><table:table-cell><text:p>{frame('./Object 1')}</text:p>"
        "</table:table-cell><table:table-cell><text:p>is so</text:p></table:table-cell></table:table-row></table:table>"
    )
    found = convert(made(body, **{"Object 1/content.xml": formula(LETTERS)}))
    assert parts(found) == [("paragraph", 0, "E = m"), ("table", 0, "E = m | is so")]


def test_reading_aids_of_rubies_are_left_out() -> None:
    ruby = "<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>kanji</text:ruby-text></text:ruby>"
    assert convert(made(f"<text:p>The {ruby} here</text:p>")).text == "The 漢字 here"


def test_the_xml_of_embedded_objects_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odt, "MAX_XML", 10_000)
    with pytest.raises(ConversionError, match="divide the document"):
        convert(made(**{"Object 1/content.xml": formula(10_000 * "x")}))
