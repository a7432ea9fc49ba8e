"""PDF files from folders and by the command line, with columns, pages and dead letters for broken ones."""

import gzip
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import invoke
from corpora import contents
from pdfs import Page, made

from pychunk import segment
from pychunk._util.memory import LACK
from pychunk._util.worker_process import OutOfMemoryError
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.io import DeadLetter, open_source
from pychunk.io.conversion import Conversion
from pychunk.io.document_batches import Document
from pychunk.io.formats.converted_files import PDF, RawFile
from pychunk.parsing.block_columns import BLOCKS_TYPE, REMOVED_TYPE, blocks_from_arrow
from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import IMAGE, SCAN, headed, running_pages


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(made(running_pages(3), title="Foxes"))
    (folder / "b.pdf").write_bytes(b"%PDF-1.7 and no more")
    (folder / "c.pdf").write_bytes(made([headed(), Page(content=SCAN), Page(content=SCAN)], extra=[IMAGE]))
    (folder / "d.pdf.gz").write_bytes(gzip.compress(made([headed()])))
    (folder / "e.pdf").write_bytes(made([Page(content=SCAN)], extra=[IMAGE]))
    (folder / "f.txt").write_text("Plain text.")
    (folder / "g.pdf").write_bytes(b"")
    return folder


@pytest.mark.slow
def test_a_folder_is_read_with_its_columns_and_broken_files_are_letters(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    letters: list[DeadLetter] = []
    batches = list(open_source(folder, dead_letters=letters.append))
    assert [batch.table["id"].to_pylist() for batch in batches] == [
        [str(folder / name) for name in ("a.pdf", "c.pdf", "d.pdf.gz")],
        [str(folder / "f.txt")],
    ]
    table = batches[0].table
    assert table.schema.field("blocks").type == BLOCKS_TYPE
    assert table.schema.field("removed").type == REMOVED_TYPE
    wanted = read_pdf(folder / "a.pdf")
    assert table["text"][0].as_py() == wanted.text
    assert table["title"].to_pylist() == ["Foxes", "The Foxes", "The Foxes"]
    assert table["page_starts"][0].as_py() == wanted.page_starts.tolist()
    found = blocks_from_arrow(table["blocks"])
    assert found.documents == 3
    assert found.end[: found.offsets[1]].tolist() == wanted.blocks.end.tolist()
    assert [tuple(span.values()) for span in table["removed"][0].as_py()] == [tuple(span) for span in wanted.removed]
    assert [(Path(letter.source).name, letter.position, letter.partial) for letter in letters] == [
        ("b.pdf", "whole file", False),
        ("c.pdf", "pages 2 to 3", True),
        ("e.pdf", "whole file", False),
        ("g.pdf", "whole file", False),
    ]
    assert letters[0].reason.startswith("damaged or cut off")
    assert letters[1].reason == "no text, only images: a scan"
    with pytest.raises(ValueError, match=r"b\.pdf, whole file: damaged"):
        list(open_source(folder / "b.pdf"))
    with pytest.warns(UserWarning, match=r"c\.pdf, pages 2 to 3: no text, only images: a scan"):
        assert len(next(open_source(folder / "c.pdf").batches())) == 1


@pytest.mark.slow
def test_a_pdf_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "report").write_bytes(made([headed()]))
    assert open_source(tmp_path / "report").kind == "pdf"
    table = next(open_source(tmp_path / "report").batches()).table
    chunks = segment(table, "page", columns={"text": "text", "page_starts": "page_starts"}, ids="id")
    assert chunks.table["page"].to_pylist() == [1]


def test_chunks_know_their_pages(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(made([Page().put(50, 80, "One. Two."), Page(), Page().put(50, 80, "Three.")]))
    table = next(open_source(tmp_path / "a.pdf").batches()).table
    said: DocumentColumns
    for said in ({"text": "text", "page_starts": "page_starts"}, {"text": "text"}):
        chunks = segment(table, "page", columns=said, ids="id").table
        assert chunks["text"].to_pylist() == ["One. Two.", "Three."]
        assert chunks["page"].to_pylist() == [1, 3]


@pytest.mark.slow
def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = invoke(["segment", str(folder / "a.pdf"), "--method", "page", "-o", "a.jsonl"])
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 3
    done = invoke(["segment", str(folder / "c.pdf"), "-o", "c.jsonl"])
    assert done.exit_code == 0, done.output
    assert "c.pdf, pages 2 to 3: no text, only images: a scan" in " ".join(done.output.split())
    done = invoke(["segment", str(folder / "a.pdf"), str(folder / "b.pdf"), "-o", "b.jsonl"])
    assert done.exit_code != 0
    assert "b.pdf, whole file: damaged or cut off" in " ".join(done.output.split())
    paths = [str(folder / name) for name in ("a.pdf", "c.pdf")]
    done = invoke(["index", *paths, "--method", "page", "-o", "docs.idx"])
    assert done.exit_code == 0, done.output
    done = invoke(["search", "docs.idx", "early days of foxes"])
    assert done.exit_code == 0, done.output
    assert "c.pdf" in done.output


# A script that ingests a folder of PDFs, in batches of one or two files.
COMMAND = """
import functools, sys
from pychunk.ingest import ingest, run
run.open_source = functools.partial(run.open_source, batch_bytes=1 << 14)
ingest(sys.argv[1], sys.argv[2], shard_bytes=1 << 12, resume=True)
"""


@pytest.mark.slow
def test_a_run_over_pdfs_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    for number in range(12):
        (folder / f"h{number:02}.pdf").write_bytes(made(running_pages(3 + number % 4)))
    script = tmp_path / "command.py"
    script.write_text(COMMAND)

    def start(out: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, script, folder, tmp_path / out], cwd=tmp_path, stderr=subprocess.PIPE)

    whole = start("whole")
    assert whole.communicate()[1] == b""
    wanted = contents(tmp_path / "whole")
    assert wanted["_dead_letters.jsonl"].count(b"\n") == 4
    assert len(wanted) > 6
    assert any("_removed" in name for name in wanted)
    begun = time.monotonic()
    child = start("out")
    while not list((tmp_path / "out").glob("part-*")):
        assert child.poll() is None
        assert time.monotonic() < begun + 60
        time.sleep(0.005)
    child.kill()
    child.communicate()
    left = contents(tmp_path / "out")
    assert all(left[name] == wanted[name] for name in left if name.startswith("part"))
    assert start("out").wait() == 0
    assert contents(tmp_path / "out") == wanted


def test_lack_of_memory_is_no_letter(tmp_path: Path) -> None:
    item = RawFile(made([headed()]), "a.pdf", "a.pdf", "pdf", 1, 1)

    class Pool:
        def __init__(self, found: object) -> None:
            self.found = found

        def map(self, items: list[bytes]) -> list[object]:
            return [self.found for _ in items]

    def parsed(found: object) -> tuple[list[Document], list[DeadLetter]]:
        conversion = Conversion(1)
        conversion._pools[PDF] = Pool(found)
        return conversion.documents([item], "pdf")

    for error in (MemoryError(LACK), MemoryError(), RuntimeError("can't start new thread"), OSError(12, "no memory")):
        with pytest.raises(MemoryError, match="memory ran out"):
            parsed(error)
    documents, letters = parsed(OutOfMemoryError("takes more than 4,096 MB of memory"))
    assert not documents
    assert [letter.reason for letter in letters] == ["takes more than 4,096 MB of memory"]


def test_without_pypdfium2_the_command_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").write_bytes(made([headed()]))
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(ImportError, match=r'pip install "pychunk-native\[docs\]"'):
        read_pdf(tmp_path / "a.pdf")
    with pytest.raises(ImportError, match=r'pip install "pychunk-native\[docs\]"'):
        list(open_source(tmp_path / "a.pdf"))
