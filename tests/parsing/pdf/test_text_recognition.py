"""Recognized text: pages drawn from known text, turned pages, mixed documents, images, places of words, bad files."""

import io
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdfs import Page, made
from typer.testing import CliRunner

from pychunk.cli import file_cache
from pychunk.cli.main import app
from pychunk.ingest import ingest
from pychunk.io import DeadLetter, open_source
from pychunk.parsing.pdf import pdf_document, text_recognition
from pychunk.parsing.pdf.pdf_words import PageWords

pytest.importorskip("rapidocr", reason="text in images is recognized by rapidocr (extra ocr)")
pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
import pypdfium2
from pdf_texts import headed
from PIL import Image, ImageDraw, ImageFont

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
    assert found.notes == []  # the third page is empty


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_turned_pages_are_read_with_boxes_where_the_words_are(drawn: Image.Image, turned: int) -> None:
    page = drawn.rotate(turned, expand=True)
    found = pdf_document.read_image(png(page))
    assert recall(found.text, WORDS) > 0.9
    assert found.text.startswith("Water works")
    assert found.blocks.box is not None
    dark = np.asarray(page) < 128
    for left, top, right, bottom in found.blocks.box.round().astype(int).tolist():
        assert 0 <= left < right <= page.width
        assert 0 <= top < bottom <= page.height
        assert dark[top:bottom, left:right].sum() > 100
        dark[max(0, top - 12) : bottom + 12, max(0, left - 12) : right + 12] = False
    assert not dark.any()


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def written(size: tuple[int, int], *lines: tuple[int, int, str], letters: int = 31) -> Image.Image:
    """Return an image with lines of text at these places."""
    image = Image.new("L", size, 255)
    for left, top, line in lines:
        ImageDraw.Draw(image).text((left, top), line, 0, ImageFont.load_default(letters))
    return image


@pytest.mark.parametrize(
    ("image", "text"),
    [
        (written((1240, 1754), (200, 300, "Chapter One")), "Chapter One"),
        (written((1240, 1754), (80, 60, "A line above"), (900, 1700, "page two")), "A line above page two"),
        (written((3000, 20), (3, 1, "one thin line"), letters=15), "one thin line"),
        (written((3000, 90), (3, 30, "one thin line"), letters=15), "one thin line"),
        (written((9000, 40), (3, 8, "far left"), (8700, 8, "far right"), letters=18), "far left far right"),
    ],
)
def test_lines_that_stand_alone_are_found(image: Image.Image, text: str) -> None:
    assert pdf_document.read_image(png(image)).text.split() == text.split()


def test_pale_words_and_lines_on_grained_paper_are_found() -> None:
    page = written((900, 400), (50, 60, "Dark words above"), letters=28)
    ImageDraw.Draw(page).text((50, 300), "Pale words below", 230, ImageFont.load_default(28))
    assert pdf_document.read_image(png(page)).text.split() == ["Dark", "words", "above", "Pale", "words", "below"]
    grain = np.random.default_rng(0).normal(0, 3, (1754, 1240))
    lone = np.asarray(written((1240, 1754), (200, 300, "Chapter One")), float) - 15 + grain
    found = pdf_document.read_image(png(Image.fromarray(np.uint8(np.clip(lone, 0, 255)))))
    assert found.text.split() == ["Chapter", "One"]


def test_long_screenshots_are_read_in_parts() -> None:
    lines = [f"Message {number} of the chat" for number in range(40)]
    image = written((600, 8000), *((10, 10 + 200 * number, line) for number, line in enumerate(lines)), letters=18)
    found = pdf_document.read_image(png(image))
    assert [line for line in found.text.split("\n") if line] == lines
    assert found.facts["ocr"][0]["confidence"] > 0.9


def test_no_shape_of_an_image_loses_other_pages() -> None:
    good = written((400, 80), (20, 20, "Good page"))
    out = io.BytesIO()
    thin = [Image.new("L", size, 0) for size in ((3000, 1), (1, 3000), (1, 1), (2, 2))]
    good.save(out, "TIFF", save_all=True, append_images=[*thin, good])
    found = pdf_document.read_image(out.getvalue())
    assert found.text.split() == ["Good", "page", "Good", "page"]
    assert len(found.page_starts) == 6


def test_pages_without_words_and_doubtful_ones_are_reported(drawn: Image.Image) -> None:
    grey = np.linspace(0, 255, 400).astype(np.uint8)[None].repeat(300, 0)
    out = io.BytesIO()
    drawn.convert("L").save(out, "TIFF", save_all=True, append_images=[Image.fromarray(grey), drawn.resize((160, 220))])
    found = pdf_document.read_image(out.getvalue())
    assert found.notes[0] == (2, "no text was recognized in its image")
    for page, note in found.notes[1:]:
        assert page == 3
        assert note.startswith(("no text was recognized", "its text was recognized with a confidence of 0."))


def test_fewer_recognized_letters_never_replace_a_page(monkeypatch: pytest.MonkeyPatch, document: bytes) -> None:
    """A page of which a font maps not all letters keeps its own words if fewer are recognized."""
    known = pdf_document.read_pdf(document)
    page = pdf_document.WordReader.page
    monkeypatch.setattr(pdf_document.WordReader, "page", lambda self, number: replace(page(self, number), unmapped=80))
    none = text_recognition.Reading(PageWords.empty(612, 792), 0.0, 0.0)
    monkeypatch.setattr(text_recognition, "read_page", lambda page: none)
    assert pdf_document.read_pdf(document, ocr=True).text == known.text


@pytest.mark.parametrize("mode", ["light", "F"])
def test_light_words_and_numbers_without_a_range_are_seen(mode: str) -> None:
    dark = written((500, 90), (20, 25, "Seen words"))
    if mode == "light":
        image = Image.new("RGBA", dark.size, (255, 255, 255, 0))
        image.putalpha(Image.eval(dark, lambda value: 255 - value))
        data = png(image)
    else:
        out = io.BytesIO()
        Image.fromarray(np.asarray(dark, np.float32) / 255).save(out, "TIFF")
        data = out.getvalue()
    assert pdf_document.read_image(data).text == "Seen words"


@given(
    st.lists(st.tuples(st.integers(0, 900), st.integers(1, 300), st.integers(0, 90), st.integers(1, 40)), max_size=6),
    st.sampled_from([(60, 250, 20), (5, 100, 10), (1, 30, 0)]),
)
def test_parts_have_all_ink_once(boxes: list[tuple[int, int, int, int]], limits: tuple[int, int, int]) -> None:
    gap, most, shared = limits
    ink = np.zeros(1000, np.bool_)
    for top, high, _, _ in boxes:
        ink[top : top + high] = True
    found = text_recognition._divided(ink, gap, most, shared)
    owners = np.zeros(1000, np.int64)
    for begin, end, first, last in found:
        assert 0 <= begin < end <= 1000
        assert end - begin <= most
        places = np.arange(begin, end)
        owners[begin:end] += (places >= first) & (places < last)
    assert owners[ink].tolist() == [1] * int(ink.sum())


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
    with pytest.raises(ValueError, match=r"no file of a known kind; .*; or pass ocr=True to read its 1 image"):
        open_source(tmp_path / "only")
    assert open_source(tmp_path / "only", ocr=True).kinds == ["image"]


def test_images_in_archives_are_read_if_asked_for(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/b.png", png(written((400, 80), (20, 20, "Good page"))))
    for options, texts in (({}, []), ({"ocr": True}, ["Good page"]), ({"endings": {".png": "image"}}, ["Good page"])):
        letters: list[DeadLetter] = []
        source = open_source(tmp_path / "a.zip", dead_letters=letters.append, **options)
        assert [row["text"] for batch in source for row in batch.table.to_pylist()] == texts
        assert [letter.reason for letter in letters] == (
            [] if texts else ["not read: an image: pass ocr=True to read its text"]
        )


def test_an_index_reads_images_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_cache, "_TICK", 0)
    folder = tmp_path / "images"
    folder.mkdir()
    written((400, 80), (20, 20, "Good page")).save(folder / "a.png")
    command = ["index", str(folder), "-o", str(tmp_path / "i"), "--reader", "ocr=yes"]
    first, again = (CliRunner().invoke(app, command) for _ in range(2))
    assert "1 document added" in first.output
    assert "recognized the text of 1 page" in first.output
    assert "0 documents added, 1 kept" in again.output
    assert "recognized" not in again.output


def test_equal_runs_write_equal_letters(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (tmp_path / "in" / "b.png").write_bytes(b"")
    found = []
    for name in ("one", "two"):
        ingest(tmp_path / "in", tmp_path / name, ocr=True, method="sentence")
        found.append((tmp_path / name / "_dead_letters.jsonl").read_bytes())
    assert found[0] == found[1] != b""


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
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "no readable image: it is damaged, or of an unknown format; save it again"),
        (b"", "an empty file: save or download it again"),
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
