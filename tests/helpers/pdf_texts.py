"""Paragraphs and pages for PDF files that tests make, and the result of reading them."""

import random

import numpy as np
import pytest
from pdfs import Page, width_of

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.pdf.paged_text import Paged
from pychunk.parsing.pdf.pdf_document import PdfError, read_pdf

WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "many",
    "other",
    "animals",
    "of",
    "this",
    "forest",
    "look",
    "on",
    "and",
    "wonder",
    "what",
    "all",
    "that",
    "noise",
    "is",
    "about",
    "since",
    "nobody",
    "told",
    "them",
    "anything",
    "before",
    "sunset",
]


def paragraph(drawn: random.Random, width: float, words: int = 60, size: float = 10) -> list[str]:
    """Return lines of a paragraph that fill a width."""
    chosen = [drawn.choice(WORDS) for _ in range(words)]
    chosen = [chosen[0].capitalize(), *chosen[1:-1], chosen[-1] + "."]
    lines = [""]
    for word in chosen:
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def rows(pdf: Paged) -> list[tuple[str, int, int, str]]:
    """Return (kind, level, page, text) of each block, and check what holds for all."""
    blocks = pdf.blocks
    assert blocks.documents == 1
    assert blocks.page is not None
    assert blocks.box is not None
    assert (blocks.start < blocks.end).all()
    assert (blocks.start[1:] >= blocks.end[:-1]).all()
    assert blocks.end.max(initial=0) <= len(pdf.text)
    between = np.ones(len(pdf.text), bool)
    for start, end in zip(blocks.start.tolist(), blocks.end.tolist()):
        between[start:end] = False
    assert not "".join(letter for letter, out in zip(pdf.text, between.tolist()) if out).strip()
    inside = [at for at in pdf.page_starts.tolist() if ((blocks.start < at) & (at < blocks.end)).any()]
    assert pdf.text.count("\f") == len(pdf.page_starts) - 1 - len(inside)
    assert pdf.page_starts[:1].tolist() == [0]
    assert (np.diff(pdf.page_starts) > 0).all()
    assert all(pdf.text[at - 1] == "\f" for at in pdf.page_starts[1:].tolist() if at not in inside)
    spans = set(zip(blocks.start.tolist(), blocks.end.tolist()))
    left_out = np.isin(blocks.start, [span.start for span in pdf.removed])
    assert (np.searchsorted(pdf.page_starts, blocks.start, side="right") == blocks.page)[~left_out].all()
    assert all((span.start, span.end) in spans for span in pdf.removed)
    return [
        (BLOCK_KINDS[kind], level, page, pdf.text[start:end])
        for kind, level, page, start, end in zip(
            blocks.kind.tolist(),
            blocks.level.tolist(),
            blocks.page.tolist(),
            blocks.start.tolist(),
            blocks.end.tolist(),
        )
    ]


def two_columns(drawn: random.Random, page: Page, y: float, offset: float = 0.0) -> list[str]:
    """Return two columns of three paragraphs, drawn line by line across both, and the paragraphs in reading order."""
    columns = [[paragraph(drawn, 230, words) for words in (60, 40, 70)] for _ in range(2)]
    placed = []
    for x, column in zip((50, 310), columns):
        at = y + (offset if x > 50 else 0)
        for lines in column:
            for line in lines:
                placed.append((at, x, line))
                at += 12
            at += 7
    for at, x, line in sorted(placed):
        page.put(x, at, line)
    return [" ".join(lines) for column in columns for lines in column]


def running_pages(count: int) -> list[Page]:
    drawn = random.Random(7)
    pages = []
    for number in range(count):
        page = Page().put(50, 40, "Journal of Foxes", 8).put(480, 40, "Volume 7", 8)
        page.lines(50, 80, paragraph(drawn, 480, 150))
        page.put(50, 800, "Forest Press", 8).put(290, 815, f"- {number + 11} -", 8)
        pages.append(page)
    return pages


def headed() -> Page:
    drawn = random.Random(9)
    page = Page().put(150, 60, "The Foxes", 20, bold=True)
    page.put(50, 100, "1 Origins", 14)
    y = page.lines(50, 125, paragraph(drawn, 480)) + 10
    page.put(50, y, "Early days", 10, bold=True)
    y = page.lines(50, y + 14, paragraph(drawn, 480)) + 14
    page.put(50, y, "2 Today", 14)
    page.lines(50, y + 25, paragraph(drawn, 480))
    return page


def broken(data: bytes) -> str:
    with pytest.raises(PdfError) as told:
        read_pdf(data)
    return str(told.value)


IMAGE = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\n"
    b"stream\n\x00\nendstream"
)
SCAN = "500 0 0 800 40 20 cm /X1 Do"
