"""Conversion by processes: the order of documents, their columns, and what ends a run or only one file."""

import json
from email.message import EmailMessage
from pathlib import Path

import pyarrow as pa
import pytest

from pychunk.io import DeadLetter, open_source
from pychunk.io.conversion import Conversion
from pychunk.io.document_batches import Document
from pychunk.io.formats.converted_files import RawFile


def notebook(text: str) -> bytes:
    return json.dumps({"cells": [{"cell_type": "markdown", "source": text}]}).encode()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 5])
def test_batches_are_the_same_for_any_number_of_processes_and_size(tmp_path: Path, workers: int) -> None:
    for i in range(12):
        (tmp_path / f"{i:02}.ipynb").write_bytes(notebook(f"# Title {i}\n\nText {i}." * (1 + i % 3)))
    (tmp_path / "05.ipynb").write_bytes(b"{}")
    letters: list[DeadLetter] = []
    source = open_source(tmp_path, workers=workers, batch_bytes=200, dead_letters=letters.append)
    table = pa.concat_tables([batch.table for batch in source])
    assert [Path(name).name[:2] for name in table["id"].to_pylist()] == [f"{i:02}" for i in range(12) if i != 5]
    assert [title.split()[1] for title in table["title"].to_pylist()] == [str(i) for i in range(12) if i != 5]
    assert [(Path(letter.source).name, letter.reason[:14]) for letter in letters] == [("05.ipynb", "not a notebook")]
    assert len(table.schema.names) == 7


@pytest.mark.slow
def test_attachments_follow_their_mail_and_other_documents_stay_in_place() -> None:
    message = EmailMessage()
    message["Subject"] = "Cats"
    message.set_content("Yes.")
    message.add_attachment(b"# Note", maintype="text", subtype="markdown", filename="n.md")
    message.add_attachment(notebook("Cell."), maintype="application", subtype="json", filename="n.ipynb")
    conversion = Conversion(1)
    whole = Document("between", "Text.", "f", (None,) * 9, 1, 1)
    raw = RawFile(message.as_bytes(), "f/a.eml", "f", "mail", 1, 7)
    documents, letters = conversion.documents([raw, whole, raw], "zip")
    conversion.close()
    one = ["f/a.eml", "f/a.eml/n.md", "f/a.eml/n.ipynb"]
    assert [document.id for document in documents] == [*one, "between", *one]
    assert [document.text for document in documents[:3]] == ["Yes.", "# Note", "Cell."]
    assert {document.file for document in documents} == {"f"}
    assert not letters


@pytest.mark.slow
def test_subtitles_in_another_encoding_are_read_if_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_bytes("1\n00:00:01,000 --> 00:00:02,000\nÇa coûte “5 €” – dit Zoé à l’été.\n".encode("cp1252"))
    with pytest.raises(ValueError, match=r"a\.srt, whole file: invalid UTF-8 at byte 32"):
        list(open_source(path))
    (batch,) = open_source(path, encoding="cp1252")
    assert batch.table["text"].to_pylist() == ["Ça coûte “5 €” – dit Zoé à l’été."]


@pytest.mark.slow
def test_code_is_parsed_by_the_ending_of_its_name_and_is_text_on_request(tmp_path: Path) -> None:
    pytest.importorskip("tree_sitter", reason="code is parsed by tree-sitter (extra code)")
    (tmp_path / "a.py").write_text("def one():\n    return 1\n")
    (tmp_path / "b.GO").write_text("package b\n\nfunc Two() {\n}\n")
    (batch,) = open_source(tmp_path)
    first = [[block["kind"] for block in blocks] for blocks in batch.table["blocks"].to_pylist()]
    assert first == [["heading", "code"], ["code", "heading", "code"]]
    (batch,) = open_source(tmp_path, kind="text")
    assert batch.table["text"].to_pylist() == ["def one():\n    return 1\n", "package b\n\nfunc Two() {\n}\n"]
