"""Recognized text: pages drawn from known text, turned pages, mixed documents, images, places of words, bad files."""

import io
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdfs import Page, made
from typer.testing import CliRunner

from pychunk.cli.main import app
from pychunk.ingest import ingest
from pychunk.io import DeadLetter, open_source
from pychunk.parsing.pdf import pdf_document, text_recognition

pytest.importorskip("rapidocr", reason="text in images is recognized by rapidocr (extra ocr)")
pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
import pypdfium2
from pdf_texts import headed
from PIL import Image

WORDS = (
    "The pump moves cold water from the lake to the tower. A valve in the cellar keeps the pressure at four bars. "
    "In winter the keeper drains the pipes, because ice would break them. Each spring he checks every joint again."
)


def lines_of(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[at : at + 9]) for at in range(0, len(words), 9)]


@pytest.fixture(scope="module")
def document() -> bytes:
    """Return a PDF with text: a heading and a paragraph of several lines."""
    content = "BT /F2 20 Tf 72 740 Td (Water works) Tj ET\n"
    for number, line in enumerate(lines_of(WORDS)):
        content += f"BT /F1 11 Tf 72 {700 - 14 * number} Td ({line}) Tj ET\n"
    return made([Page(content=content)])


@pytest.fixture(scope="module")
def drawn(document: bytes) -> Image.Image:
    with pypdfium2.PdfDocument(document) as opened:
        return opened[0].render(scale=200 / 72).to_pil().convert("L")


def scanned(*images: Image.Image) -> bytes:
    """Return a PDF whose pages are only these images."""
    out = io.BytesIO()
    images[0].save(out, "PDF", save_all=True, append_images=images[1:], resolution=200)
    return out.getvalue()


def recall(found: str, wanted: str) -> float:
    a, b = Counter(wanted.split()), Counter(found.split())
    return (a & b).total() / a.total()


def test_scan_has_the_text_and_blocks_of_the_document(document: bytes, drawn: Image.Image) -> None:
    known = pdf_document.read_pdf(document)
    found = pdf_document.read_pdf(scanned(drawn), ocr=True)
    assert recall(found.text, known.text) > 0.95
    assert found.blocks.kind.tolist() == known.blocks.kind.tolist()
    assert found.blocks.box is not None
    assert known.blocks.box is not None
    assert np.abs(found.blocks.box - known.blocks.box).max() < 6  # points
    (page,) = found.facts["ocr"]
    assert page["page"] == 1
    assert 0.9 < page["confidence"] <= 1
    assert known.facts == {"ocr": []}
    again = pdf_document.read_pdf_by_ocr(scanned(drawn))
    assert (again.text, again.facts) == (found.text, found.facts)


def test_only_pages_without_text_are_recognized(document: bytes, drawn: Image.Image) -> None:
    with pypdfium2.PdfDocument.new() as mixed:
        for part in (document, scanned(drawn), made([Page()])):
            with pypdfium2.PdfDocument(part) as own:
                mixed.import_pages(own)
        out = io.BytesIO()
        mixed.save(out)
    plain = pdf_document.read_pdf(out.getvalue())
    assert plain.notes == [(2, "no text, only images: a scan")]
    found = pdf_document.read_pdf(out.getvalue(), ocr=True)
    first, second, third = np.append(found.page_starts, len(found.text)).tolist()[1:]
    assert found.text[:first] == plain.text[: plain.page_starts[1]]
    assert recall(found.text[first:second], WORDS) > 0.95
    assert not found.text[second:third].strip()
    assert [each["page"] for each in found.facts["ocr"]] == [2, 3]
    assert found.facts["ocr"][1]["confidence"] == 0
    assert found.notes == []


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_turned_pages_are_turned_back(drawn: Image.Image, turned: int) -> None:
    out = io.BytesIO()
    drawn.rotate(turned, expand=True).save(out, "PNG")
    found = pdf_document.read_image(out.getvalue())
    assert recall(found.text, WORDS) > 0.9
    assert found.text.startswith("Water works")


def test_upright_lines_have_an_angle() -> None:
    corners = np.array([[[5.0, 10], [60, 10], [60, 24], [5, 24]], [[80, 10], [94, 10], [94, 90], [80, 90]]])
    words = text_recognition.words_of(("One two", "down it"), corners, 100, 100)
    assert words.texts == ["One", "two", "down", "it"]
    assert words.angle.tolist() == [0, 0, 3, 3]
    assert (np.diff(words.box[2:, 1]) > 0).all()


@given(st.lists(st.text("ab \u3000é漢", min_size=1, max_size=12), max_size=4), st.integers(-30, 30))
def test_words_cover_their_lines(lines: list[str], slope: int) -> None:
    """The words of a line are its text without white space, from left to right, inside the line's box."""
    lines = [line for line in lines if line.strip()]
    if not lines:
        return
    corners = np.array(
        [[[10, y], [90, y + slope], [90, y + slope + 9], [10, y + 9]] for y in range(100, 100 + 50 * len(lines), 50)],
        float,
    )
    words = text_recognition.words_of(lines, corners, 200, 400)
    assert words.texts == [word for line in lines for word in line.split()]
    assert (words.box[:, 2] > words.box[:, 0]).all()
    assert (words.box[:, 3] > words.box[:, 1]).all()
    at = 0
    for line in lines:
        own = words.box[at : at + len(line.split())]
        at += len(own)
        assert (np.diff(own[:, 0]) > 0).all()
        assert own[0, 0] >= 10 - 1e-9
        assert own[-1, 2] <= 90 + 1e-9


def test_images_are_read_if_named_or_asked_for(tmp_path: Path, drawn: Image.Image) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    drawn.save(folder / "a.png")
    drawn.convert("1").save(folder / "b.tif", save_all=True, append_images=[drawn.convert("1")], compression="group4")
    (folder / "c.md").write_text("# Tea\n\nHot.")
    letters: list[DeadLetter] = []
    source = open_source(folder, dead_letters=letters.append)
    assert [row["id"] for batch in source for row in batch.table.to_pylist()] == [f"{folder}/c.md"]
    assert [letter.reason for letter in source.unread()] == ["not read: an image: pass ocr=True to read its text"] * 2
    rows = {
        row["id"]: row for batch in open_source(folder, ocr=True) for row in batch.table.to_pylist() if "ocr" in row
    }
    assert sorted(rows) == [f"{folder}/a.png", f"{folder}/b.tif"]
    assert recall(rows[f"{folder}/a.png"]["text"], WORDS) > 0.95
    assert [each["page"] for each in rows[f"{folder}/b.tif"]["ocr"]] == [1, 2]
    assert len(rows[f"{folder}/b.tif"]["page_starts"]) == 2
    (alone,) = [row for batch in open_source(folder / "a.png") for row in batch.table.to_pylist()]
    assert alone["text"] == rows[f"{folder}/a.png"]["text"]
    report = ingest(folder, tmp_path / "out", ocr=True, method="structure", metadata_columns=["ocr"])
    assert (report.documents, report.letters) == (3, 0)
    (tmp_path / "only").mkdir()
    drawn.save(tmp_path / "only" / "a.png")
    with pytest.raises(ValueError, match="no file of a known kind"):
        open_source(tmp_path / "only")


def test_command_line(tmp_path: Path, drawn: Image.Image) -> None:
    (tmp_path / "a.pdf").write_bytes(scanned(drawn))
    failed = CliRunner().invoke(app, ["segment", str(tmp_path / "a.pdf")])
    assert failed.exit_code == 2
    assert "pass --reader ocr=yes to read it" in " ".join(failed.output.split())
    done = CliRunner().invoke(app, ["segment", str(tmp_path / "a.pdf"), "--reader", "ocr=yes"])
    assert done.exit_code == 0, done.output
    assert "recognized the text of 1 page, " in done.output
    assert "Water works" in done.output


def test_bad_images(tmp_path: Path, drawn: Image.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    drawn.save(out, "PNG")
    for data, said in (
        (out.getvalue()[:600], "no readable image"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "no readable image"),
        (b"", "no readable image"),
    ):
        with pytest.raises(pdf_document.PdfError, match=said):
            pdf_document.read_image(data)
    Image.new("L", (300, 300), 255).save(tmp_path / "white.png")
    with pytest.raises(pdf_document.PdfError, match="no text was recognized on its one page: leave it out"):
        pdf_document.read_image((tmp_path / "white.png").read_bytes())
    monkeypatch.setattr(text_recognition, "MAX_PIXELS", 1000)
    with pytest.raises(pdf_document.PdfError, match="at most 1,000 are read: scale it down"):
        pdf_document.read_image(out.getvalue())


def test_missing_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(made([headed()]))
    monkeypatch.setattr("pychunk.io.formats.converted_files.lacks", lambda needs: next(iter(needs), ""))
    with pytest.raises(ImportError, match=r"ocr=True needs rapidocr: pip install .*\[ocr\]"):
        open_source(tmp_path / "a.pdf", ocr=True)
    missing: Any = None
    monkeypatch.setitem(sys.modules, "rapidocr", missing)
    text_recognition._engine.cache_clear()
    with pytest.raises(ImportError, match=r"needs rapidocr: pip install .*\[ocr\]"):
        text_recognition._engine()
