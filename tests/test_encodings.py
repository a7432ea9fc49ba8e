"""Files in other encodings than UTF-8, where the caller says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from pychunk.io import DeadLetter, open_source, streams
from pychunk.io.bzip2 import Block

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
        "invalid cp1252, made UTF-8, at byte 10 of the line",
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
