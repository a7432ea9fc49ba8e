"""Workbooks have a page for each sheet, and tables between empty rows."""

import datetime

import pytest
from office_files import row, xlsx

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
        ("a\n b", "a b"),
    ],
)
def test_values_are_written_as_a_person_reads_them(value: object, text: str) -> None:
    assert sheets._text(value) == text
