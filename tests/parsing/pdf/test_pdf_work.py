"""Work that PDFs cause: counts, not seconds, show hostile files, and good ones are far below the limits."""

import base64
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdfs import Page, made

pypdfium2 = pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")

from pychunk._util.worker_process import OutOfMemoryError, WorkerProcess
from pychunk.io import DeadLetter, open_source
from pychunk.parsing.pdf.pdf_document import PdfError, read_pdf
from pychunk.parsing.pdf.pdf_filters import decompressed
from pychunk.parsing.pdf.pdf_work import LIMITS, check_work, nesting

#: The number of the first additional object of ``made``.
FIRST = 6
LOW = LIMITS._replace(content=1_000_000, stream=100_000_000)


def form(content: bytes, resources: str = "", keys: str = "/Subtype /Form") -> bytes:
    said = f"/Resources << {resources} >>" if resources else ""
    head = f"<< /Type /XObject {keys} /BBox [0 0 600 800] {said} /Filter /FlateDecode"
    data = zlib.compress(content)
    return b"%s /Length %d >>\nstream\n%s\nendstream" % (head.encode(), len(data), data)


def nested(levels: int, times: int, content: bytes = b"0 0 m ") -> bytes:
    """Return forms that each draw the next one this often; ``content`` is the last one's."""
    extra = [form(b"/X Do " * times, f"/XObject << /X {FIRST + level + 1} 0 R >>") for level in range(levels - 1)]
    return made([Page(content="/X1 Do").put(50, 50, "Words")], extra=[*extra, form(content)])


def shared(pages: int, content: str) -> bytes:
    """Return pages with one stream of content, which is in the file once."""
    data = made([Page(content=content), *[Page()] * (pages - 1)], packed=True)
    first = data.index(b"/Contents") + len(b"/Contents ")
    number = data[first:].split(b" ", 1)[0]
    parts = data.split(b"/Contents ")
    return b"/Contents ".join([parts[0], *(number + b" " + part.split(b" ", 1)[1] for part in parts[1:])])


def count(data: bytes, **lower: int) -> str:
    """Return the message about a file with lower limits, or "" if they allow it."""
    with pypdfium2.PdfDocument(data) as document:
        try:
            check_work(document, LOW._replace(**lower))
        except ValueError as error:
            return str(error)
    return ""


@pytest.mark.parametrize(
    ("make", "below", "above"),
    [
        (lambda size: made([Page(content="q Q " * size)], packed=True), 200_000, 300_000),
        (lambda size: made([Page(content="(" + "a" * 4 * size + ") Tj")], packed=True), 200_000, 300_000),
        (lambda size: shared(100, "q Q " * size), 2_000, 3_000),
        (lambda size: shared(size, "1 w " * 1_000), 200, 300),
        (lambda size: nested(3, size, b"0 0 l " * 10), 50, 200),
        (lambda size: nested(size, 2), 8, 20),
        (lambda size: made([Page(content="/a BMC " * size)], packed=True), 1_500, 4_000),
        (lambda size: made([Page(content="0 0 m 1 1 l W n " * size)], packed=True), 1_500, 4_000),
        (lambda size: made([Page(content="/X1 Do " * size)], extra=[form(b"")]), 5_000, 12_000),
    ],
    ids=["operators", "text", "shared", "pages", "forms", "levels", "marks", "clips", "draws"],
)
def test_work_over_the_limit_is_told_with_its_number(make: Callable[[int], bytes], below: int, above: int) -> None:
    assert count(make(below)) == ""
    said = count(make(above))
    assert said.startswith("asks for too much work: page ")
    remedy = "print it into a new PDF" if "page 1 of 1 draws" in said else "split the file"
    assert said.endswith(f"bytes of content or more; at most 1,000,000 are read: {remedy}")
    assert (" of 1 " in said) == ("new PDF" in said)
    received = int(said.split(" draws " if " draws " in said else " draw ")[1].split()[0].replace(",", ""))
    assert received > 1_000_000


def test_a_tree_of_pages_that_multiplies_is_left() -> None:
    """The nodes have no pages, and each is twice in the one above, 40 deep."""
    below = [f"{FIRST + i} 0 R {FIRST + i} 0 R" for i in range(1, 40)]
    extra = [f"<< /Type /Pages /Parent 2 0 R /Kids [{kids}] /Count 0 >>".encode() for kids in [*below, ""]]
    data = made([Page().put(50, 50, "One")], extra=extra)
    data = data.replace(b"/Type /Pages /Kids [", b"/Type /Pages /Kids [%d 0 R " % FIRST, 1)
    assert count(data).endswith("nodes or more in its tree of 1 pages; at most 1,004 are read: print it into a new PDF")


def test_names_that_hide_do_not_hide_work() -> None:
    heavy = form(b"1 w " * 100_000)
    for draws in ("/X1 Do", "/X#31 Do", "/X1%x\nDo", "/X1/X1 Do", "/X1\nDo", "/#58#31  Do"):
        assert count(made([Page(content=f"{draws} " * 4)], extra=[heavy])), draws
    assert count(made([Page(content="(Do not run)Tj " * 4)], extra=[form(b"1 w ")])) == ""


def test_a_form_without_resources_draws_by_those_of_what_draws_it() -> None:
    heavy, bare = form(b"1 w " * 1_000), form(b"/Y Do " * 1_000)
    above = form(b"/X Do", f"/XObject << /X {FIRST + 1} 0 R /Y {FIRST + 2} 0 R >>")
    assert count(made([Page(content="/X1 Do")], extra=[above, bare, heavy]))


def test_letters_that_are_drawings_count_once_a_page() -> None:
    letter = b"500 0 d0 " + b"1 w " * 50_000
    font = (
        f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 65 "
        f"/LastChar 65 /Widths [500] /Encoding << /Differences [65 /a] >> /CharProcs << /a {FIRST + 1} 0 R >> >>"
    ).encode()
    pages = [Page(content="BT /F4 10 Tf (AAAA) Tj ET " * 10)] * 4
    assert count(made(pages, extra=[font, form(letter)])) == ""
    assert "page 5 of 6" in count(made([*pages, *pages[:2]], extra=[font, form(letter)]))


def test_pages_and_streams_have_limits() -> None:
    data = made([Page().put(50, 50, "One")] * 5)
    assert count(data, pages=4) == "asks for too much work: 5 pages; at most 4 are read: split the file"
    assert count(data, pages=5) == ""
    packed = made([Page(content="1 w " * 10_000)], packed=True)
    said = count(packed, stream=39_000)
    assert said == (
        "asks for too much work: a stream has 39,001 bytes or more after decompression; at most 39,000 are read: print "
        "it into a new PDF"
    )
    with pytest.raises(PdfError, match=r"15 characters up to page 5 of 5; at most 12 are read"):
        read_pdf(data, limits=LIMITS._replace(characters=12))


def test_seconds_are_the_last_resort() -> None:
    with pytest.raises(
        PdfError,
        match=r"^takes longer than the limit of -1 seconds: stopped at page 1 of 2; split the file, or",
    ):
        read_pdf(made([Page().put(50, 50, "One")] * 2), seconds=-1)


def test_forms_that_draw_themselves_are_counted_as_deep_as_they_are_drawn() -> None:
    own = form(b"/X Do " * 2 + b"BT /F1 9 Tf (a) Tj ET", f"/Font << /F1 3 0 R >> /XObject << /X {FIRST} 0 R >>")
    assert "at most 2,000,000,000" in broken(made([Page(content="/X1 Do")], extra=[own]))
    once = form(b"/X Do BT /F1 9 Tf 50 700 Td (deep) Tj ET", f"/Font << /F1 3 0 R >> /XObject << /X {FIRST} 0 R >>")
    assert "deep" in read_pdf(made([Page(content="/X1 Do").put(50, 50, "Words")], extra=[once])).text


def broken(data: bytes) -> str:
    with pytest.raises(PdfError) as told:
        read_pdf(data)
    return str(told.value)


@pytest.mark.slow
def test_a_hostile_file_is_a_letter_beside_a_good_one(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(nested(12, 10))
    (tmp_path / "b.pdf").write_bytes(made([Page().put(50, 50, "Good words.")]))
    letters: list[DeadLetter] = []
    tables = [batch.table for batch in open_source(tmp_path, kind="pdf", dead_letters=letters.append)]
    assert [text for table in tables for text in table["text"].to_pylist()] == ["Good words."]
    assert [letter.reason.split(":")[0] for letter in letters] == ["asks for too much work"]
    assert "at most 2,000,000,000 are read" in letters[0].reason


@pytest.mark.slow
def test_a_parser_that_takes_its_memory_says_how_much() -> None:
    data = made([Page(content="BT /F1 1 Tf " + "(a)Tj " * 3_500_000)], packed=True)
    isolated = WorkerProcess("pychunk.parsing.pdf.pdf_document:read_pdf", seconds=9_000, memory=1 << 30)
    try:
        with pytest.raises(OutOfMemoryError, match=r"^takes more than 1,024 MB of memory$"):
            isolated(data)
        assert isolated(made([Page().put(50, 50, "Good words.")])).text == "Good words."
    finally:
        isolated.close()


def test_clips_and_marks_count_by_their_depth() -> None:
    assert nesting(b"q 0 0 9 9 re W n Q " * 1000) == 1000
    assert nesting(b"/a BMC EMC " * 1000) == 1000
    assert nesting(b"W n " * 1000) == 1000 * 1001 // 2
    hidden = b"W n (Q) %Q\nBI /W 1 ID Q EI /Q gs " * 1000
    assert nesting(hidden) == 1000 * 1001 // 2
    assert nesting(b"BT (Wide W) Tj ET " * 10) < 10 * 18 * 4


def runs(data: bytes) -> bytes:
    return b"".join(bytes([len(data[i : i + 128]) - 1]) + data[i : i + 128] for i in range(0, len(data), 128)) + b"\x80"


def lzw(data: bytes) -> bytes:
    """Return as few codes as bytes: the table is cleared before its codes are longer than 9 bits."""
    codes = [code for i in range(0, len(data), 200) for code in (256, *data[i : i + 200])] + [257]
    bits = "".join(f"{code:09b}" for code in codes)
    return int(bits + "0" * (-len(bits) % 8), 2).to_bytes((len(bits) + 7) // 8, "big")


WAYS: dict[str, Callable[[bytes], bytes]] = {
    "FlateDecode": zlib.compress,
    "ASCII85Decode": lambda data: base64.a85encode(data) + b"~>",
    "ASCIIHexDecode": lambda data: data.hex().encode() + b">",
    "RunLengthDecode": runs,
    "LZWDecode": lzw,
}


@given(st.binary(max_size=600), st.lists(st.sampled_from(sorted(WAYS)), max_size=3))
@settings(max_examples=100, deadline=None)
def test_filters_undo_what_was_done(data: bytes, names: list[str]) -> None:
    made_by = [data]
    for name in reversed(names):
        made_by.append(WAYS[name](made_by[-1]))
    packed = made_by.pop()
    filters: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in names]
    assert decompressed(packed, filters, 10_000) == (data, True)
    assert len(decompressed(packed, filters, len(data))[0]) == len(data) + any(
        len(each) > len(data) for each in made_by
    )


def test_lzw_with_codes_of_a_table() -> None:
    packed = bytes.fromhex("800b6050220c0c8501")  # the example of the PDF standard
    assert decompressed(packed, [("LZWDecode", {})], 100)[0] == bytes([45, 45, 45, 45, 45, 65, 45, 45, 45, 66])


def test_what_comes_before_damage_is_counted() -> None:
    data = zlib.compress(b"1 w " * 100_000)
    found, _ = decompressed(data[:-40] + b"\xff" * 40, [("FlateDecode", {})], 10**6)
    assert len(found) > 300_000
    assert found == (b"1 w " * 100_000)[: len(found)]


def test_real_files_are_far_below(data: Path) -> None:
    files = sorted(data.rglob("*.pdf"))
    assert files
    for file in files:
        with pypdfium2.PdfDocument(file) as document:
            check_work(document, LIMITS._replace(content=100_000 * len(document)))
