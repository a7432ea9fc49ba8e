"""Files of Office are read as what they are; what cannot be read has a reason."""

import io
import zipfile
from pathlib import Path

import pytest
from office_files import docx, paragraph, row, xlsx, zipped

from pychunk import segment
from pychunk.io import DeadLetter, open_source
from pychunk.parsing.converters import office
from pychunk.parsing.converters.dispatch import ConversionError

pytest.importorskip("mammoth", reason="documents of Word are read by mammoth (extra office)")
pytest.importorskip("python_calamine", reason="workbooks are read by python-calamine (extra office)")
pytest.importorskip("selectolax", reason="documents of Word are read by selectolax (extra docs)")


@pytest.mark.slow
def test_a_folder_is_read_and_broken_files_are_letters(tmp_path: Path) -> None:
    word, book = docx(paragraph("Tides", "Heading1") + paragraph("They rise.")), xlsx(Ports=row(1, "Brest", 7))
    files = {"a.docx": word, "b.xlsx": word, "c.docx": book, "d.docx": word[:-40], "e.docx": b"", "f.xlsx": b"PK\3\4"}
    files["g.docx"] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    letters: list[DeadLetter] = []
    rows = {}
    for batch in open_source(tmp_path, dead_letters=letters.append):
        assert segment(batch.documents()).table["text"].to_pylist()
        rows |= {Path(each["id"]).name: each for each in batch.table.to_pylist()}
    assert {name: each["text"].rstrip() for name, each in rows.items()} == {
        "a.docx": "# Tides\n\nThey rise.",
        "b.xlsx": "# Tides\n\nThey rise.",
        "c.docx": "Ports\n\nBrest | 7",
    }
    assert (rows["a.docx"]["title"], rows["a.docx"]["author"]) == ("Report", "Anna")
    told = {Path(letter.source).name: letter.reason for letter in letters}
    assert sorted(told) == ["d.docx", "e.docx", "f.xlsx", "g.docx"]
    assert (told["e.docx"], told["g.docx"]) == ("the file is empty", "protected by a password: save it without one")


def test_limits_count_what_the_archive_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    word = docx(paragraph("Tides"))
    monkeypatch.setattr(office, "MAX_XML", 100)
    with pytest.raises(ConversionError, match="at most 100 are read: divide the document"):
        office.convert(word)
    monkeypatch.setattr(office, "MAX_MEMBERS", 2)
    with pytest.raises(ConversionError, match="at most 2 are read"):
        office.convert(word)


def test_other_archives_and_old_documents_are_refused() -> None:
    with pytest.raises(ConversionError, match="not a document of Office"):
        office.convert(zipped({"a.txt": "x"}))
    with pytest.raises(ConversionError, match="an old Office document"):
        office.convert(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))


def test_the_main_part_of_a_document_may_have_a_number() -> None:
    held = zipfile.ZipFile(io.BytesIO(docx(paragraph("Tides", "Heading1"))))
    parts = {name.replace("document.xml", "document2.xml"): held.read(name) for name in held.namelist()}
    parts["_rels/.rels"] = parts["_rels/.rels"].replace(b"document.xml", b"document2.xml")
    assert office.convert(zipped(parts)).text.strip() == "# Tides"
