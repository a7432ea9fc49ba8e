"""Drop caps, the large letters that begin a text."""

import random
import time

import pytest
from pdfs import Page, made, width_of

from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import paragraph, rows


@pytest.mark.parametrize(("size", "base"), [(34.0, 24.0), (22.0, 12.0), (46.0, 36.0), (30.0, 0.0)])
@pytest.mark.parametrize(("letter", "rest", "read"), [("T", "he", "The"), ("I", "wish", "I wish"), ("A", "nd", "And")])
def test_a_drop_cap_is_a_letter_of_its_word(size: float, base: float, letter: str, rest: str, read: str) -> None:
    page = Page().put(50, 60, "Gears and pumps", size=16, bold=True).put(50, 100 + base, letter, size=size)
    left, count = 50 + width_of(letter, size) + 3, round(base / 12) + 1
    words, lines = [rest, *paragraph(random.Random(3), 9999)[0].lower().split()], [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, 10) > (450 - left if len(lines) <= count else 400):
            lines.append(word)
        else:
            lines[-1] = longer
    page.lines(50, page.lines(left, 100, lines[:count]), lines[count:])
    expected = " ".join([read, *words[1:]])
    assert [row[3] for row in rows(read_pdf(made([page])))] == ["Gears and pumps", expected]


def test_a_page_of_large_letters_takes_linear_time() -> None:
    page = Page()
    for at in range(4000):
        page.put(20 + 10 * (at % 50), 20 + 10 * (at // 50), "W", size=5 if at % 4 else 9)
    begun = time.process_time()
    read_pdf(made([page]))
    assert time.process_time() - begun < 5  # some 0.3 s here


def test_a_large_letter_that_begins_no_text_stays() -> None:
    page = Page().put(50, 100, "A", size=30).put(50, 130, "abbot, head of an abbey.").put(50, 142, "acorn, of an oak.")
    assert rows(read_pdf(made([page])))[0][3] == "A"
