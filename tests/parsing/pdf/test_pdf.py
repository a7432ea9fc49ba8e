"""PDF files that are broken, hostile or only images, and words of real leaflets."""

import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from pdfs import Page, made

from pychunk.parsing.pdf.pdf_document import PdfError, read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import IMAGE, SCAN, broken, headed, rows, running_pages

ENCRYPTED = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O <{}> /U <{}> >> /ID [<00> <00>]".format(
    "41" * 32, "42" * 32
)


def test_files_that_are_no_document_say_why() -> None:
    whole = made(running_pages(3))
    assert broken(b"") == "an empty file: save or download it again"
    said = broken(b"just text")
    assert said == "not a PDF: it must begin with %PDF-, but begins with b'just tex'; read it as the kind that it is"
    assert broken(whole[:40]).startswith("damaged or cut off")
    assert broken(made([headed()], trailer=ENCRYPTED)).startswith("encrypted")
    assert broken(made([Page()])) == "no text on its one page: pass ocr=True to read it"
    said = broken(made([Page(content=SCAN)] * 2, extra=[IMAGE]))
    assert said == "no text on all of its 2 pages (no text, only images: a scan): pass ocr=True to read it"


def test_a_file_cut_off_in_its_table_of_objects_is_read() -> None:
    whole = made([headed()])
    assert read_pdf(whole[: whole.rindex(b"xref")]).text == read_pdf(whole).text


def test_pages_of_images_are_noted_and_the_others_read() -> None:
    pdf = read_pdf(made([headed(), Page(content=SCAN), Page()], extra=[IMAGE]))
    assert pdf.notes == [(2, "no text, only images: a scan")]
    assert len(pdf.page_starts) == 3


@pytest.mark.slow
def test_mutations_never_crash_nor_hang() -> None:
    drawn = random.Random(12)
    samples = [
        made(running_pages(3), bookmarks=[(1, "Journal", 0), (2, "of Foxes", 1)]),
        made([headed(), Page(content=SCAN)], extra=[IMAGE], packed=True),
    ]
    begun = time.process_time()
    read = 0
    for _ in range(200):
        data = bytearray(drawn.choice(samples))
        for _ in range(drawn.choice((1, 3, 30))):
            at = drawn.randrange(len(data))
            what = drawn.random()
            if what < 0.5:
                data[at] = drawn.randrange(256)
            elif what < 0.7:
                del data[at : at + drawn.randrange(40)]
            elif what < 0.9:
                data[at:at] = data[drawn.randrange(len(data)) :][: drawn.randrange(60)]
            else:
                data[at:at] = drawn.choice((b"-1", b"99999999999", b"1e30", b"<<", b"[", b"(", b"0 0 R", b"/Kids"))
        try:
            rows(read_pdf(bytes(data), seconds=5))
            read += 1
        except PdfError:
            pass
    assert read > 40
    assert time.process_time() - begun < 30


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


@pytest.mark.slow
def test_words_of_leaflets_agree_with_their_text_files(data: Path) -> None:
    found, pages = 0.0, 0
    for file in sorted((data / "unlp2026").rglob("*.pdf")):
        pdf = read_pdf(file)
        rows(pdf)
        gold = re.split(r"===== Page \d+ =====\n?", file.parents[1].joinpath("txt", f"{file.stem}.txt").read_text())[
            :-1
        ]
        assert len(gold) == len(pdf.page_starts)
        edges = [*pdf.page_starts.tolist(), len(pdf.text)]
        for start, end, other in zip(edges, edges[1:], gold):
            mine, theirs = words(pdf.text[start:end]), words(other)
            found += 2 * (mine & theirs).total() / max(1, mine.total() + theirs.total())
            pages += 1
    assert pages >= 30
    assert found / pages >= 0.98
