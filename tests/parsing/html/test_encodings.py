"""Character encodings other than UTF-8: named by the caller, declared by pages, or found by their bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pychunk.io import DeadLetter, open_source
from pychunk.io.decompression import streams
from pychunk.io.decompression.bzip2 import Block
from pychunk.parsing.html.encodings import declared_in, decode, without_mark

FILES = {
    "in.txt": "Zażółć gęślą jaźń.",
    "in.csv": "id,text\n1,Zażółć gęślą jaźń.\n",
    "in.jsonl": '{"id": 1, "text": "Zażółć gęślą jaźń."}\n',
    "wiki_00": '<doc id="1" url="u" title="t">\nZażółć gęślą jaźń.\n</doc>\n',
    "in.xml": '<mediawiki><page><title>T</title><ns>0</ns><id>1</id><revision><id>2</id><model>wikitext</model>'
    '<text>Zażółć gęślą jaźń.</text></revision></page></mediawiki>',
}  # fmt: skip


def read(path: Path, **options: object) -> tuple[list[str], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    source = open_source(path, dead_letters=letters.append, **options)
    return [text for batch in source for text in batch.table["text"].to_pylist()], letters


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("encoding", ["iso-8859-2", "cp1250", "utf-16", "utf-16-be", "utf-32", "utf-8", "utf-8-sig"])
def test_every_kind_of_text(tmp_path: Path, name: str, encoding: str) -> None:
    (tmp_path / name).write_bytes(FILES[name].encode(encoding))
    assert read(tmp_path / name, encoding=encoding) == (["Zażółć gęślą jaźń."], [])


def test_what_is_not_of_the_encoding_is_one_letter(tmp_path: Path) -> None:
    lines = [b'{"text": "a"}', b'{"text": "\x81"}', b'{"text": "\x83\x5c"}']
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    found, letters = read(tmp_path / "in.jsonl", encoding="cp1252")
    assert found == ["a"] or len(letters) == 2
    assert (letters[0].position, letters[0].reason) == (
        "line 2",
        "invalid cp1252 (after conversion to UTF-8) at byte 10 of the line",
    )
    found, letters = read(tmp_path / "in.jsonl", encoding="utf-8")
    assert [letter.position for letter in letters] == ["line 2", "line 3"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_borders_of_blocks_do_not_matter(size: int) -> None:
    text = "aé漢🎉" * 5
    for encoding in ("utf-16", "gb18030", "shift_jis", "utf-7"):
        data = text.encode(encoding, "ignore")
        blocks = (Block(data[i : i + size], i) for i in range(0, len(data), size))
        found = b"".join(block.data for block in streams.as_utf8(blocks, encoding))
        assert found.decode() == data.decode(encoding)


@pytest.mark.parametrize("name", ["utf8x", "", "hex", "undefined", "a\0b", 5])
def test_a_name_that_is_no_encoding_is_one_error(tmp_path: Path, name: object) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(ValueError, match=r"unknown encoding .*: pass one that Python knows, such as utf-8, latin-1"):
        open_source(tmp_path / "a.txt", encoding=name)


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        ("<!-- <meta charset=koi8-r> --><meta charset=windows-1251>", "cp1251"),
        ('<meta name="x" content="charset=koi8-r"><meta charset=windows-1251>', "cp1251"),
        ('<meta name="description" content="text/html; charset=koi8-r">', ""),
        ('<p title="<meta charset=koi8-r>"><meta charset=windows-1251>', "cp1251"),
        ("<a href='x'data-x='charset=koi8-r'><META\tCharSet = 'Windows-1251' >", "cp1251"),
        ("<!--><meta charset=koi8-r><!-- never closed <meta charset=windows-1251>", "koi8-r"),
        ("<!-- never closed <meta charset=windows-1251>", ""),
        ("<meta content='text/html; CHARSET = \"866\"' http-equiv='Content-Type'>", "cp866"),
        ("<meta http-equiv=refresh content='0; charset=koi8-r'><meta charset=windows-1251>", "cp1251"),
        ("<meta charset=nonsense><meta charset=windows-1251>", "cp1251"),
        ("<meta charset=koi8-r charset=windows-1251>", "koi8-r"),
        ("<metadata charset=koi8-r><meta/charset=windows-1251>", "cp1251"),
        ("<? <meta charset=koi8-r><meta charset=windows-1251>", "cp1251"),
        ("</p charset=koi8-r><!doctype x><meta charset='windows-1251'>", "cp1251"),
        ("<meta charset=utf-16>", "utf-8"),
        ("<meta charset=x-user-defined>", "cp1252"),
        ("<meta charset='koi8-r><meta charset=windows-1251>", ""),
        ('<?xml version="1.0" encoding="windows-1251"?><html>', "cp1251"),
        ('<?xml version="1.0" encoding="koi8-r"?><meta charset=windows-1251>', "cp1251"),
        ("<meta charset=unicode_escape>", ""),
        ("<meta charset=hz-gb-2312>", ""),
        ("x" * 4096 + "<meta charset=koi8-r>", ""),
    ],
)
def test_pages_declare_as_the_standard_has_it(page: str, encoding: str) -> None:
    assert declared_in(page.encode()) == encoding
    if encoding not in ("", "utf-8", "cp1252"):
        page += "<p>Ящик."  # too few letters for a guess
        assert decode(page.encode(encoding)) == (page, encoding)


@pytest.mark.parametrize(
    "piece", ["<", "<meta ", "<a ", "<!--", "</", "<a a='", "<meta charset", "=", "<meta a ", "<?xml "]
)
def test_the_prescan_ends_on_any_bytes(piece: str) -> None:
    for data in (piece.encode() * 4000, (piece * 300 + ">").encode(), piece.encode()):
        assert declared_in(data) == ""


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "page",
    [
        "<!-- Привіт --><html><p>Світе, як справи?",
        "Привіт <b>світе</b>",
        "<!-- 世界 --><p>你好，世界。这是一个测试。",
        "<p>Ā　Ѐ и 🎉</p>" * 40,
        "<html><p>plain</p>",
    ],
)
def test_utf_16_and_utf_32_without_a_mark(page: str, encoding: str) -> None:
    assert decode(page.encode(encoding)) == (page, encoding)


@pytest.mark.parametrize("data", [b"", b"plain text", b"a\0b plain text, and more of it", bytes(100), b"\0\1\2\3" * 20])
def test_other_zeros_are_no_utf_16(data: bytes) -> None:
    assert without_mark(data) == ""


def test_what_is_declared_as_latin_1_is_windows_1252(tmp_path: Path) -> None:
    for label in ("iso-8859-1", "latin1", "us-ascii", "ISO_8859-1:1987", "l1"):
        page = f"<meta charset={label}><p>It’s 5 € for a “crêpe”"
        assert decode(page.encode("cp1252")) == (page, "cp1252")
