"""Documents of Word become Markdown with their headings, lists, tables, notes and comments."""

import io
import zipfile

import pytest
from office_files import W, docx, paragraph, table, zipped

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.converters import dispatch, office
from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.pdf.paged_text import Paged

pytest.importorskip("mammoth", reason="documents of Word are read by mammoth (extra office)")
pytest.importorskip("selectolax", reason="documents of Word are read by selectolax (extra docs)")


def blocks(found: Paged) -> list[tuple[str, int, str]]:
    rows = zip(found.blocks.kind, found.blocks.level, found.blocks.start, found.blocks.end)
    return [(BLOCK_KINDS[kind], int(level), found.text[start:end]) for kind, level, start, end in rows]


def test_headings_are_known_by_style_and_by_outline_level() -> None:
    page = "<w:r><w:br w:type='page'/></w:r>"  # which Word writes at the end of a page
    body = (
        paragraph("Tides", "Heading1", inside=page)
        + paragraph("", inside=page)
        + paragraph("Moon", "Kapitel")
        + paragraph("Sun", "Teil")
    )
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


MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
SHAPE = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
CHECK = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def equation(*texts: str) -> str:
    return f"<m:oMath {MATH}>{''.join(f'<m:r><m:t>{text}</m:t></m:r>' for text in texts)}</m:oMath>"


def old_drawing(shape: str, inside: str) -> str:
    box = f"<v:textbox><w:txbxContent>{inside}</w:txbxContent></v:textbox>"
    return f'<w:pict><v:{shape} xmlns:v="urn:schemas-microsoft-com:vml">{box}</v:{shape}></w:pict>'


def drawing(*texts: str) -> str:
    """Return a group of text boxes in a drawing."""
    boxes = (f"<wps:wsp><wps:txbx><w:txbxContent>{paragraph(x)}</w:txbxContent></wps:txbx></wps:wsp>" for x in texts)
    return f"<w:drawing {SHAPE}><a:graphic xmlns:a='a'>{''.join(boxes)}</a:graphic></w:drawing>"


SUM = """<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i</m:t></m:r></m:sub><m:sup/><m:e>
<m:sSup><m:e><m:d><m:e><m:r><m:t>a+i</m:t></m:r></m:e></m:d></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>
</m:e></m:nary><m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e><m:r><m:t>x</m:t></m:r></m:e></m:d>"""


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (f'<w:fldSimple w:instr="SEQ Figure">{run("7")}</w:fldSimple>{run(": The growth")}', "Figure 7: The growth"),
        (f"<w:bdo w:val='rtl'>{run('שלום')}</w:bdo><w:dir w:val='rtl'>{run(' עולם')}</w:dir>", "Figure שלום עולם"),
        ("<w:r><w:t>a</w:t><w:cr/><w:t>b</w:t><w:ptab/><w:t>c</w:t></w:r>", "Figure a\nb c"),
        (
            "<w:r><w:t>a</w:t><w:br w:type='page'/><w:t>b</w:t><w:br w:type='column'/><w:t>c</w:t></w:r>",
            "Figure a\nb\nc",
        ),
        (
            f"<w:r><w:ruby><w:rt>{run('kan')}</w:rt><w:rubyBase>{run('漢字')}</w:rubyBase></w:ruby></w:r>{run(' is')}",
            "Figure 漢字 is",
        ),
        ('<w:r><w:sym w:font="MS Gothic" w:char="2610"/></w:r>', "Figure ☐"),
        (equation("E=m", "c", "2") + run(" holds"), "Figure E=mc2 holds"),
        (f"<m:oMathPara {MATH}>{equation('a=1')}{equation('b=2')}</m:oMathPara>", "Figure a=1 b=2"),
        (
            f"<m:oMath {MATH}><m:f><m:num><m:r><m:t>a+1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
            "<m:rad><m:e><m:sSub><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sub><m:r><m:t>i</m:t></m:r></m:sub></m:sSub></m:e>"
            "</m:rad></m:oMath>",
            "Figure (a+1)/2√x_i",
        ),
        (f"<m:oMath {MATH}>{SUM}</m:oMath>", "Figure ∑_i(a+i)^2[x]"),
        (f"<m:oMath {MATH}><w:del><m:r><m:t>old</m:t></m:r></w:del><m:r><m:t>new</m:t></m:r></m:oMath>", "Figure new"),
        (
            f"<w:sdt {CHECK}><w:sdtPr><w14:checkbox/></w:sdtPr><w:sdtContent>{run('☒')}</w:sdtContent></w:sdt>",
            "Figure ☒",
        ),
        (f"<w:del><w:r><w:delText>x</w:delText></w:r></w:del>{equation('y')}", "Figure y"),
    ],
    ids=[
        "field",
        "direction",
        "break",
        "page",
        "ruby",
        "sign",
        "equation",
        "equations",
        "fraction",
        "sum",
        "deleted",
        "checkbox",
        "change",
    ],
)
def test_no_element_inside_a_sentence_loses_its_text(inside: str, text: str) -> None:
    assert office.convert(docx(paragraph("Figure ", inside=inside))).text.rstrip() == text


@pytest.mark.parametrize(
    "inside",
    [
        drawing("Boxed", "Twice"),
        f"<mc:AlternateContent {MC}><mc:Choice>{drawing('Boxed', 'Twice')}</mc:Choice></mc:AlternateContent>",
        f"<mc:AlternateContent {MC}><mc:Choice>{drawing('Boxed', 'Twice')}</mc:Choice><mc:Fallback><w:pict/>"
        "</mc:Fallback></mc:AlternateContent>",
        f"<mc:AlternateContent {MC}><mc:Choice>{drawing('Boxed', 'Twice')}</mc:Choice><mc:Fallback>"
        f"{old_drawing('rect', paragraph('Boxed') + paragraph('Twice'))}"
        "</mc:Fallback></mc:AlternateContent>",
        old_drawing("oval", paragraph("Boxed") + paragraph("Twice")),
        drawing("Boxed") + drawing("Twice"),
    ],
    ids=["drawing", "choice", "empty fallback", "choice and fallback", "oval", "two"],
)
def test_a_text_box_is_kept_once_after_its_paragraph(inside: str) -> None:
    found = office.convert(docx(paragraph("Before.", inside=f"<w:r>{inside}</w:r>") + paragraph("After.")))
    assert found.text.split() == ["Before.", "Boxed", "Twice", "After."]


def test_a_box_with_an_equation_in_a_group_is_kept_once() -> None:
    """The choice of a group has boxes, and a box has an equation and a choice of its own."""
    inner = f"<mc:AlternateContent {MC}><mc:Choice>{drawing('Inner')}</mc:Choice></mc:AlternateContent>"
    box = f"<w:p><w:r>{inner}</w:r>{equation('x+y')}</w:p>"
    made = drawing("Outer").replace(paragraph("Outer"), paragraph("Outer") + box)
    outer = f"<mc:AlternateContent {MC}><mc:Choice>{made}</mc:Choice></mc:AlternateContent>"
    found = office.convert(docx(paragraph("Before.", inside=f"<w:r>{outer}</w:r>")))
    assert sorted(found.text.split()) == ["Before.", "Inner", "Outer", "x+y"]


def test_notes_comments_and_strict_documents_keep_such_text_too() -> None:
    field = f'<w:fldSimple w:instr="DATE">{run("May")}</w:fldSimple>'
    marks = '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:commentReference w:id="0"/></w:r>'
    notes = f'<w:footnotes {W}><w:footnote w:id="2">{paragraph("Note of ", inside=field)}</w:footnote></w:footnotes>'
    said = f'<w:comments {W}><w:comment w:id="0" w:initials="B">{paragraph("Said in ", inside=field)}</w:comment>'
    made = docx(paragraph("Text in ", inside=field + marks), footnotes=notes, comments=said + "</w:comments>")
    strict = {}
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        for name in archive.namelist():
            strict[name] = archive.read(name).replace(
                b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
                b"http://purl.oclc.org/ooxml/wordprocessingml/main",
            )
    for data in (made, zipped(strict)):
        text = office.convert(data).text
        assert [part in text for part in ("Text in May", "Note of May", "Said in May")] == [True] * 3


C = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
D = 'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def graphic(element: str) -> str:
    return f"<w:drawing><a:graphic {A} {C} {D} {R}><a:graphicData>{element}</a:graphicData></a:graphic></w:drawing>"


def points(name: str, *values: str) -> str:
    rows = "".join(f"<c:pt idx='{at}'><c:v>{value}</c:v></c:pt>" for at, value in enumerate(values))
    return f"<c:{name}><c:strRef><c:strCache>{rows}</c:strCache></c:strRef></c:{name}>"


CHART = (
    f"<c:chartSpace {C} {A}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Rain &lt; sun</a:t></a:r></a:p></c:rich>"
    "</c:tx></c:title><c:plotArea><c:barChart><c:ser>"
    f"{points('tx', 'mm')}{points('cat', 'May', 'June')}{points('val', '3', '0.30000000000000004')}"
    "</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
)
NODES = "".join(
    f"<d:pt modelId='{at}' type='{kind}'><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>"
    for at, (kind, text) in enumerate([("doc", ""), ("node", "Plan"), ("node", "Act &amp; check"), ("node", "Ask")])
)
LINKS = "".join(f"<d:cxn srcId='{a}' destId='{b}' srcOrd='{b}'/>" for a, b in ((0, 1), (0, 2), (1, 3)))
NET = f"<d:dataModel {D} {A}><d:ptLst>{NODES}</d:ptLst><d:cxnLst>{LINKS}</d:cxnLst></d:dataModel>"


def test_charts_and_smartart_follow_their_paragraph() -> None:
    """A chart that is shown three times, also as the fallback of an alternative, is read once."""
    chart = graphic("<c:chart r:id='chart1'/>")
    ways = f"<mc:Choice>{chart}</mc:Choice><mc:Fallback>{chart}</mc:Fallback>"
    smartart = graphic("<d:relIds r:dm='data1'/>")
    inside = f"<w:r>{smartart}<mc:AlternateContent {MC}>{ways}</mc:AlternateContent></w:r>"
    cell = paragraph("", inside=f"<w:r>{chart}</w:r>")
    body = f"{paragraph('One', inside=inside)}<w:tbl><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>{paragraph('Two')}"
    assert blocks(office.convert(docx(body, chart1=CHART, data1=NET))) == [
        ("paragraph", 0, "One"),
        ("item", 1, "- Plan"),
        ("item", 2, "  - Ask"),
        ("item", 1, "- Act & check"),
        ("paragraph", 0, "Rain < sun"),
        ("table", 0, "|  | mm |\n| --- | --- |\n| May | 3 |\n| June | 0.3 |"),
        ("paragraph", 0, "Two"),
    ]


@pytest.mark.parametrize("data", ["<c", CHART.replace("<c:pt idx='0'>", "<c:pt idx='x'>"), "<x/>"])
def test_a_damaged_graphic_loses_no_other_text(data: str) -> None:
    for element in ("<c:chart r:id='chart1'/>", "<d:relIds r:dm='chart1'/>", "<c:chart r:id='none'/>", "<c:chart/>"):
        made = docx(paragraph("One", inside=f"<w:r>{graphic(element)}</w:r>") + paragraph("Two"), chart1=data)
        lines = office.convert(made).text.split()
        assert (lines[0], lines[-1]) == ("One", "Two")


def test_alternatives_nested_very_deeply_are_refused_at_once() -> None:
    deep = f"<mc:AlternateContent {MC}><mc:Choice>" * 20_000 + "</mc:Choice></mc:AlternateContent>" * 20_000
    with pytest.raises(ConversionError, match="nested too deeply"):
        dispatch.convert(
            dispatch.request("pychunk.parsing.converters.office:convert", docx(paragraph("", inside=deep)))
        )
