"""Workbooks have a page for each sheet, and tables between empty rows."""

import datetime
import io
import os
import zipfile

import pytest
from office_files import row, xlsx, zipped

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.converters import sheets
from pychunk.parsing.converters.dispatch import ConversionError

pytest.importorskip("python_calamine", reason="workbooks are read by python-calamine (extra office)")


def test_sheets_are_pages_and_empty_rows_separate_tables() -> None:
    ports = row(1, "Name", "Height", None, "Open") + row(2, "Brest", 7, None, True) + row(3, "Kyiv", 0.25)
    found = sheets.read(xlsx(Ports=ports + row(6, "x") + row(7, "y"), Empty="", Two=row(9, None, " a\nb ")), "T", {})
    assert found.text == "Ports\n\nName | Height | Open\nBrest | 7 | TRUE\nKyiv | 0.25 |\n\nx\ny\f\fTwo\n\na b"
    assert [BLOCK_KINDS[kind] for kind in found.blocks.kind] == ["heading", "table", "table", "heading", "table"]
    assert found.blocks.page is not None
    assert found.blocks.page.tolist() == [1, 1, 1, 3, 3]
    assert found.page_starts.tolist() == [0, 64, 65]
    assert [found.text[start : start + 3] for start in found.page_starts] == ["Por", "\fTw", "Two"]
    rows = [(found.text[each["start"] :].split(" | ")[0], each["row"]) for each in found.facts["rows"]]
    assert rows == [("Name", 1), ("x\ny\f\fTwo\n\na b", 6), ("a b", 9)]


def test_white_space_between_the_cells_of_open_document_is_nothing() -> None:
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    space = 'xmlns:{0}="urn:oasis:names:tc:opendocument:xmlns:{0}:1.0"'
    spaces = " ".join(space.format(name) for name in ("office", "table", "text", "manifest"))
    cell = '<table:table-cell office:value-type="string">\n<text:p>{}</text:p>\n</table:table-cell>'
    cells = "\n  ".join([cell.format("a <text:span>b</text:span> c"), cell.format("d")])
    sheet = f'<table:table table:name="A">\n <table:table-row>\n  {cells}\n </table:table-row>\n</table:table>'
    content = f"<office:document-content {spaces}><office:body><office:spreadsheet>\n{sheet}\n</office:spreadsheet>"
    content += "</office:body></office:document-content>"
    entry = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
    manifest = f"<manifest:manifest {spaces}>{entry}</manifest:manifest>"
    for text in (content, content.replace("\n", "")):
        data = zipped({"mimetype": kind, "content.xml": text, "META-INF/manifest.xml": manifest})
        assert sheets.read(data, "", {}).text == "A\n\na b c | d"


def test_formulas_are_values_and_their_sheets_are_not_computed() -> None:
    cell = '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="str"><f>WEBSERVICE("http://x")</f><v>kept</v></c></row>'
    assert sheets.read(xlsx(A=cell), "", {}).text == "A\n\n2 | kept"


def test_a_value_far_away_and_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    far = '<row r="1000000"><c r="C1000000"><v>5</v></c></row>'
    assert sheets.read(xlsx(A=far), "", {}).text == "A\n\n5"
    monkeypatch.setattr(sheets, "MAX_CELLS", 3)
    with pytest.raises(ConversionError, match="more than 3 cells"):
        sheets.read(xlsx(A=row(1, 1, 2, 3, 4)), "", {})
    monkeypatch.setattr(sheets, "MAX_SHEETS", 1)
    with pytest.raises(ConversionError, match="2 sheets; at most 1"):
        sheets.read(xlsx(A="", B=""), "", {})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7.0, "7"),
        (1e300, "1e+300"),
        (True, "TRUE"),
        (datetime.datetime(2020, 1, 2), "2020-01-02"),
        (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00"),
        (datetime.time(3, 4), "03:04:00"),
        (datetime.timedelta(hours=30), "30:00:00"),
        (datetime.timedelta(minutes=-90, seconds=-2.5), "-1:30:02.5"),
        ("a\n b", "a b"),
    ],
)
def test_values_are_written_as_a_person_reads_them(value: object, text: str) -> None:
    assert sheets._text(value) == text


@pytest.mark.parametrize("mark", ['"', "'"])
def test_a_sheet_whose_cells_are_too_far_apart_is_left_out_with_a_note(mark: str) -> None:
    far = '<row r="1048576"><c s="1" r="XFD1048576"><v>5</v></c></row>'.replace('"', mark)
    found = sheets.read(xlsx(A=row(1, 1, 2) + far, B=row(1, "kept")), "", {})
    assert found.text == "\fB\n\nkept"
    assert found.notes == [
        (
            1,
            "the sheet 'A' is left out: its range A1:XFD1048576 has 17,179,869,184 cells, and at most 50,000,000 are "
            "read: delete the cells that are far from the others, and save it again",
        )
    ]


def test_cells_far_away_that_only_have_a_style_do_not_count() -> None:
    styled = '<row r="1048575"><c r="XFC1048575" s="1"/></row><row r="1048576"><c r="XFD1048576" s="1"></c></row>'
    found = sheets.read(xlsx(A=row(1, 1, 2) + styled), "", {})
    assert (found.text, found.notes) == ("A\n\n1 | 2", [])


def test_formulas_without_values_are_counted() -> None:
    bare = '<c r="A1"><f>1+1</f><v/></c><c r="B1" s="1"><f>1+1</f><v></v></c><c r="C1"><f t="shared" si="0"/></c>'
    full = '<c r="D1" t="str"><f>""</f><v></v></c><c r="E1"><f>1+1</f><v>2</v></c><c r="F1"><v>3</v></c>'
    found = sheets.read(xlsx(A=f'<row r="1">{bare}{full}</row>', B=f'<row r="1">{full}</row>'), "", {})
    told = "has formulas without values (3), which are left out: save it in a program that computes them"
    assert found.notes == [(1, f"the sheet 'A' {told}")]


def test_a_chart_has_a_note_and_other_sheets_are_read() -> None:
    data = xlsx(A=row(1, 1), Chart="")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/chartsheets/sheet2.xml"] = members.pop("xl/worksheets/sheet2.xml")
    links = "xl/_rels/workbook.xml.rels"
    members[links] = members[links].replace(
        b'worksheet" Target="worksheets/sheet2', b'chartsheet" Target="chartsheets/sheet2'
    )
    found = sheets.read(zipped(members), "", {})
    assert found.text.rstrip("\f") == "A\n\n1"
    assert found.notes == [(2, "the sheet 'Chart' is left out: it is a ChartSheet, which has no cells")]


def test_faults_of_rust_are_errors_and_print_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    class PanicException(BaseException):
        """The error that a fault of Rust raises, which is no Exception."""

    def fail() -> None:
        os.write(2, b"thread panicked")
        raise PanicException("out of range")

    with pytest.raises(ConversionError, match="calamine fails with out of range; save it again"), sheets._quiet():
        fail()
    os.write(2, b"later")
    assert capfd.readouterr().err == "later"
