"""Mailboxes, archives and mails yield documents of many kinds; what is not read in them is a letter."""

import io
import tarfile
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from pychunk import segment
from pychunk.io import DeadLetter, containers, open_source
from pychunk.io.containers import kind_inside

SRT = b"1\n00:00:01,000 --> 00:00:02,000\nGood evening.\n"
SUBJECT = b"From: a@b.c\nSubject: Two\n\n"


def read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    letters: list[DeadLetter] = []
    rows = [row for batch in open_source(path, dead_letters=letters.append) for row in batch.table.to_pylist()]
    base = str(path.parent) + "/"
    for row in rows:
        assert row["file"] == str(path)
    found = {row["id"].removeprefix(base): row["text"] for row in rows}
    assert len(found) == len(rows)
    return found, {letter.source.removeprefix(base): letter.reason for letter in letters}


def zipped(members: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return held.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


def mail(**attached: bytes) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Cats"
    message.set_content("Yes.")
    for name, data in attached.items():
        message.add_attachment(data, maintype="application", subtype="x", filename=name.replace("__", "."))
    return message.as_bytes()


MEMBERS = {
    "one/a.md": b"# One\n\nText.",
    "b.txt": b"Plain.",
    "c.json": b'{"a": 1}',
    "d.srt": SRT,
    "e.eml": mail(n__md=b"# Note", t__csv=b"a,b\n1,2\n"),
    "t.csv": b"text\nx\n",
    "u.bin": b"\0\1" * 50,
    ".hidden/h.md": b"# No",
    "__MACOSX/x.md": b"# No",
}
FOUND = {
    "one/a.md": "# One\n\nText.",
    "b.txt": "Plain.",
    "c.json": "a: 1",
    "d.srt": "Good evening.",
    "e.eml": "Yes.",
    "e.eml/n.md": "# Note",
}
LEFT = {"t.csv": "not read: files of kind csv", "u.bin": "not read: not text", "e.eml/t.csv": "not read: files of kind"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tgz"])
def test_members_are_documents_of_their_kinds(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(zipped(MEMBERS) if name == "x.zip" else tarred(MEMBERS, "w:gz" if "g" in name else "w"))
    found, letters = read(path)
    assert found == {f"{name}/{member}": text for member, text in FOUND.items()}
    assert sorted(letters) == sorted(f"{name}/{member}" for member in LEFT)
    for member, reason in LEFT.items():
        assert letters[f"{name}/{member}"].startswith(reason)
    batch = next(open_source(path, dead_letters=print).batches())
    chunks = segment(batch.documents())
    texts = dict(zip(batch.table["id"].to_pylist(), batch.table["text"].to_pylist()))
    assert all(texts[row["document_id"]][row["start"] : row["end"]] == row["text"] for row in chunks.table.to_pylist())


@pytest.mark.slow
def test_mails_of_a_mailbox_are_apart_wherever_blocks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = b"From a@b.c Mon Jan  2 10:00:00 2023\n"
    bodies = [b"From here on.", b"x\n>From there.", b"y" * 50, b"last"]
    box = b"".join(line + SUBJECT + body + b"\n\n" for body in bodies)
    path = tmp_path / "m.mbox"
    path.write_bytes(box)
    wanted = {f"m.mbox#{i}": text for i, text in enumerate(("From here on.", "x\nFrom there.", "y" * 50, "last"), 1)}
    for size in (1 << 20, 7):
        monkeypatch.setattr("pychunk.io.decompression.streams._READ", size)
        monkeypatch.setattr("pychunk.io.decompression.streams._SMALL", 1)
        assert read(path) == (wanted, {})
    path.write_bytes(b"\xef\xbb\xbf" + box)
    assert read(path) == (wanted, {})
    path.write_bytes(b"Lost words.\n\n" + box)
    found, letters = read(path)
    assert (found, letters) == (wanted, {"m.mbox": "no mail: it is before the first one"})
    path.write_bytes(b"No mail.")
    assert list(read(path)[1].values()) == ["not a mailbox: no line begins with 'From ' and has a date"]


def test_archives_in_archives_end_at_a_depth(tmp_path: Path) -> None:
    data = zipped({"a.md": b"# Deep"})
    for _ in range(4):
        data = zipped({"i.zip": data, "b.md": b"# Up"})
    (tmp_path / "x.zip").write_bytes(data)
    found, letters = read(tmp_path / "x.zip")
    assert list(found) == ["x.zip/i.zip/i.zip/b.md", "x.zip/i.zip/b.md", "x.zip/b.md"]
    assert list(letters) == ["x.zip/i.zip/i.zip/i.zip"]
    assert "more than 3 files contain each other" in next(iter(letters.values()))


def test_bombs_and_damage_are_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_SMALL", 1000)
    members = {"a.md": b"# A", "b.md": bytes(100_000), "c.md": b"# C"}
    (tmp_path / "x.zip").write_bytes(zipped(members))
    found, letters = read(tmp_path / "x.zip")  # the members after it can be read without it
    assert (list(found), list(letters)) == (["x.zip/a.md", "x.zip/c.md"], ["x.zip/b.md"])
    assert letters["x.zip/b.md"].startswith("a bomb? With it, the archive has more than")
    (tmp_path / "x.tar.gz").write_bytes(tarred(members, "w:gz"))
    found, letters = read(tmp_path / "x.tar.gz")
    assert (list(found), "a bomb?" in letters["x.tar.gz/b.md"]) == (["x.tar.gz/a.md"], True)
    (tmp_path / "h.tar.gz").write_bytes(tarred({".b.md": bytes(100_000), "c.md": b"# C"}, "w:gz"))
    assert not read(tmp_path / "h.tar.gz")[0]  # a hidden member is decompressed, too
    monkeypatch.setattr(containers, "_SMALL", 1_000_000)
    monkeypatch.setattr(containers, "MAX_BYTES", 1000)
    assert read(tmp_path / "h.tar.gz") == ({"h.tar.gz/c.md": "# C"}, {})
    for name in ("x.zip", "x.tar.gz"):
        found, letters = read(tmp_path / name)
        assert list(found) == [f"{name}/a.md", f"{name}/c.md"]
        assert letters == {f"{name}/b.md": "longer than 1,000 bytes: unpack the archive"}
    monkeypatch.undo()
    monkeypatch.setattr(containers, "MAX_MEMBERS", 2)
    (tmp_path / "y.zip").write_bytes(zipped({f"{i}.md": b"# A" for i in range(9)}))
    found, letters = read(tmp_path / "y.zip")
    assert (len(found), letters["y.zip"][:19]) == (2, "more than 2 members")
    whole = zipped({"a.md": b"# A"})
    (tmp_path / "z.zip").write_bytes(whole[:-30])
    assert read(tmp_path / "z.zip")[1]["z.zip"].startswith("damaged or cut off")
    (tmp_path / "z.zip").write_bytes(whole[:32] + b"\xff" + whole[33:])
    assert not read(tmp_path / "z.zip")[0]
    (tmp_path / "w.tar").write_bytes(tarred({"a.md": b"# A" * 9000})[:9000])
    assert read(tmp_path / "w.tar")[1]["w.tar"].startswith("damaged or cut off")


def test_kinds_inside_other_files_are_known_by_their_names() -> None:
    assert kind_inside("a.MD", b"") == "markdown"
    assert kind_inside("a.json", b'{"a": 1}') == kind_inside("a.json", b"[1]") == "json"
    assert kind_inside("a.json", b'[{"a": 1}]') == "jsonl"
    assert kind_inside("a.json", b'{"schema_name": "DoclingDocument"}') == "docling"
    assert kind_inside("a.exe", b"MZ") is None


def test_names_that_repeat_get_a_number_and_those_in_undeclared_utf8_are_right(tmp_path: Path) -> None:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, data in (("./in/a.txt", b"One."), ("in/a.txt", b"Two.")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    (tmp_path / "x.tar").write_bytes(held.getvalue())
    assert read(tmp_path / "x.tar")[0] == {"x.tar/in/a.txt": "One.", "x.tar/in/a#2.txt": "Two."}
    # zipfile declares UTF-8 by a bit in two places, which some programs leave out.
    data = bytearray(zipped({"ü.txt": b"Text."}))
    for at in (data.find(b"PK\x03\x04") + 6, data.find(b"PK\x01\x02") + 8):
        data[at + 1] &= 0xF7
    (tmp_path / "y.zip").write_bytes(data)
    assert read(tmp_path / "y.zip")[0] == {"y.zip/ü.txt": "Text."}
    message = EmailMessage()
    message["Subject"] = "Cats"
    message.set_content("Yes.")
    for text in ("One.", "Two."):
        message.add_attachment(text, filename="a.txt")
    (tmp_path / "z.eml").write_bytes(message.as_bytes())
    found, _ = read(tmp_path / "z.eml")
    assert {name: text.strip() for name, text in found.items()} == {
        "z.eml": "Yes.",
        "z.eml/a.txt": "One.",
        "z.eml/a#2.txt": "Two.",
    }


def test_an_archive_without_members_has_no_documents(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(zipped({}))
    assert read(tmp_path / "x.zip") == ({}, {})
