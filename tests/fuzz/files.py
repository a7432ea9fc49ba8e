"""Damaged files of every kind that is read: a small valid one is made, broken in format-specific ways, and read.

These properties hold. The only error is a ValueError for a file without the requested column. Documents have valid
text, and small batches give the same documents and dead letters. Each line of JSON Lines is a document or a dead
letter, as Python's json reads it. If rows are missing, a dead letter says so. One wrong byte in a dump or in
WikiExtractor's output costs no more than its document and the next one.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pychunk.io.document_batches import DeadLetter
from pychunk.io.source import open_source

WORDS = [
    "cats",
    "purr",
    "Zażółć",
    "🎉",
    "the sun",
    "is a star.",
    "日本語。",
    "\n",
    "{",
    "<b>",
    "[[a|b]]",
    "{{c}}",
    '"',
    "\\",
]

#: Byte sequences of a format that have a meaning for its reader.
TOKENS: dict[str, list[bytes]] = {
    "jsonl": [b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u", b"\\ud800", b"\\u0000", b":", b",", b"\n", b"\r", b"\r\n",
              b"null", b"true", b"NaN", b"-", b"1e9", b"0", b'"text"', b'"id"', b"\xef\xbb\xbf", b"\xff"],
    "parquet": [b"PAR1", b"\x15\x00", b"\x15\x02", b"\x16", b"\x19", b"\x1c", b"\x00" * 4, b"\xff" * 4, b"\x80" * 9],
    "arrow": [b"ARROW1", b"\xff\xff\xff\xff", b"\x00" * 8, b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\xff" * 8],
    "text": [b"\xef\xbb\xbf", b"\xff", b"\0", b"%PDF-", b"\xff\xfe", b"\xed\xa0\x80", b"\r"],
    "mediawiki": [b"<page>", b"</page>", b"<text", b"</text>", b"<revision>", b"<title>", b"</title>", b"<ns>", b"<id>",
                  b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<!DOCTYPE", b"<!ENTITY", b"&", b"&#0;", b"&lt;", b"<", b">",
                  b"<namespace", b"<siteinfo>", b'<redirect title="', b"</mediawiki>", b"--5", b"\xff", b"\0", b"<?"],
    "wikiextractor": [b"<doc ", b"<doc", b"</doc>", b"</doc>\n", b'id="', b'title="', b"&amp;", b"&#", b">", b"\xff"],
}  # fmt: skip
COMPRESSIONS = ["", "", "gz", "bz2", "zst"]
KINDS = ["jsonl", "jsonl", "parquet", "arrow file", "arrow stream", "text", "mediawiki", "wikiextractor"]
ENDINGS = {"arrow file": "arrow", "arrow stream": "arrows", "text": "txt", "mediawiki": "xml"}


class Case(NamedTuple):
    """A file: its kind with the variant, its compression, its bytes, and the number of ``rows`` that it had."""

    kind: str
    compression: str
    data: bytes
    rows: int
    plain: bytes | None  # JSON Lines: the compressed text, if that is whole
    sound: bytes | None = None  # for a file of documents with one wrong byte: the file without it


def text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randrange(40)))


def table(rng: random.Random, rows: int, form: str) -> pa.Table:
    texts = pa.array([text(rng) for _ in range(rows)])
    kinds = [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())]
    if form == "arrow":
        kinds.append(pa.string_view())
    ids = pa.array(range(rows)) if rng.random() < 0.5 else pa.array([f"d{i}" for i in range(rows)])
    days = pa.array(range(rows), pa.timestamp("us"))
    tags = pa.array([["a", text(rng)] for _ in range(rows)])
    return pa.table({"id": ids, "text": texts.cast(rng.choice(kinds)), "day": days, "tags": tags})


def jsonl(rng: random.Random, rows: int) -> bytes:
    ascii_only = rng.random() < 0.5
    lines = []
    for i in range(rows):
        row: dict[str, Any] = {"id": rng.choice([i, f"d{i}", i + 0.5, 2**64 + i, None]), "text": text(rng)}
        if rng.random() < 0.3:
            row["more"] = rng.choice([[1, {"a": None}], {}, "x", True, 1e300])
        lines.append(json.dumps(row, ensure_ascii=ascii_only).encode())
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    return end.join(lines) + rng.choice([b"", end])


def arrow(rng: random.Random, rows: int, form: str) -> bytes:
    made, sink = table(rng, rows, "arrow"), io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, None, "lz4", "zstd"]))
    with (pa.ipc.new_file if form == "arrow file" else pa.ipc.new_stream)(sink, made.schema, options=options) as writer:
        writer.write_table(made, max(1, rows // rng.randint(1, 3)))
    return sink.getvalue()


def parquet(rng: random.Random, rows: int) -> bytes:
    sink = io.BytesIO()
    pq.write_table(
        table(rng, rows, "parquet"),
        sink,
        row_group_size=max(1, rows // rng.randint(1, 3)),
        compression=rng.choice(["none", "snappy", "zstd", "gzip"]),
        use_dictionary=rng.random() < 0.5,
        data_page_version=rng.choice(["1.0", "2.0"]),
        write_page_checksum=rng.random() < 0.3,
    )
    return sink.getvalue()


def mediawiki(rng: random.Random, rows: int) -> bytes:
    head = '<mediawiki xml:lang="en"><siteinfo><namespaces><namespace key="0" /><namespace key="1">Talk</namespace>'
    head += "</namespaces></siteinfo>\n"
    pages = []
    for i in range(rows):
        body = text(rng).replace("&", "&amp;").replace("<", "&lt;")
        pages.append(
            f"<page>\n<title>T{i}</title><ns>{rng.choice('0001')}</ns><id>{i}</id><revision><id>9</id>"
            f'<text xml:space="preserve">{body}</text></revision>\n</page>\n'
        )
    return (head + "".join(pages) + "</mediawiki>\n").encode()


def wikiextractor(rng: random.Random, rows: int) -> bytes:
    made = [f'<doc id="{i}" url="u" title="T{i}">\nT{i}\n\n{text(rng)}\n</doc>\n' for i in range(rows)]
    return "".join(made).encode()


def whole(rng: random.Random, kind: str, rows: int) -> bytes:
    if kind.startswith("arrow"):
        return arrow(rng, rows, kind)
    if kind == "text":
        return text(rng).encode()
    return {"jsonl": jsonl, "parquet": parquet, "mediawiki": mediawiki, "wikiextractor": wikiextractor}[kind](rng, rows)


def packed(data: bytes, compression: str) -> bytes:
    if compression == "gz":
        return gzip.compress(data, 1, mtime=0)
    if compression == "bz2":
        return bz2.compress(data, 1)
    return bytes(pa.compress(data, "zstd", asbytes=True)) if compression == "zst" else data


def damaged(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    """Return the file with one to four injuries; most table files are refused after one."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        size = len(out)
        if not size:
            break
        at, other = rng.randrange(size), rng.randrange(size)
        length = min(size - at, rng.choice([1, 1, 2, 4, 8, rng.randrange(1, 200)]))
        if rng.random() < 0.3 and size > 200:  # footers and heads hold numbers that readers believe
            at = rng.choice([rng.randrange(100), size - 1 - rng.randrange(100)])
            length = min(length, size - at)
        how = rng.randrange(11)
        if how == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            out[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, 0x0A, rng.randrange(256)])
        elif how == 2:
            out[at], out[other] = out[other], out[at]
        elif how == 3:
            del out[max(1, at) :]  # the kind of an empty file is unknown
        elif how == 4:
            del out[at : at + length]
        elif how == 5:
            out[at:at] = out[at : at + length] * rng.choice([1, 1, 5, 50])
        elif how == 6:
            a, b = sorted((at, other))
            out[a : a + length], out[b : b + length] = out[b : b + length], out[a : a + length]
        elif how == 7:
            out[at : at + rng.choice([0, 1, length])] = rng.choice(tokens) * rng.choice([1, 1, 1, 2, 300])
        elif how == 8:  # a length that is enlarged, or made negative
            width = rng.choice([1, 2, 4, 8])
            value = int.from_bytes(out[at : at + width], "little") * rng.choice([2, 256, 65536]) + rng.choice(
                [0, 1, 255]
            )
            out[at : at + width] = (value % 256**width).to_bytes(width, "little")
        elif how == 9:
            out[at : at + 4] = rng.choice([b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\0\0\0\0"])
        else:
            out[at : at + length] = rng.randbytes(length)
    return bytes(out)


def one_wrong_byte(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.choice([0, 0x0A, 0x20, 0x3C, 0xFF, rng.randrange(256)])]) + data[at + 1 :]


def spared(case: Case, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the valid file's documents that neither hold the wrong byte nor follow the one with it."""
    assert case.sound is not None
    at = next((i for i, (a, b) in enumerate(zip(case.data, case.sound, strict=True)) if a != b), len(case.data))
    begins = [found.start() for found in re.finditer(rb"<page>|<doc ", case.sound)]
    hurt = sum(begin <= at for begin in begins) - 1
    if hurt < 0 and case.kind == "mediawiki":
        return []  # the head, with the list of namespaces
    return [row for row in rows if int(row["id"]) not in (hurt, hurt + 1)]


def python_rows(data: bytes) -> tuple[Counter[str], int]:
    """Return the texts of JSON Lines by Python's json, and the number of invalid lines."""
    found: Counter[str] = Counter()
    broken = 0
    for line in re.split(rb"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf")):
        if not line.strip():
            continue
        try:
            made = json.loads(line.decode(), parse_constant=_refuse, object_pairs_hook=list, parse_int=str)
            if line.strip(b" \t")[:1] != b"{" or _depth(line.decode()) > 512:
                raise ValueError
            texts = [value for key, value in made if key == "text"]
            ids = [value for key, value in made if key == "id"]
            if len(texts) != 1 or len(ids) > 1 or not isinstance(texts[0], str):
                raise ValueError
            (texts[0] + str(ids)).encode()
            "".join(value for value in ids if isinstance(value, str)).encode()
        except (ValueError, RecursionError):
            broken += 1
        else:
            found[texts[0]] += 1
    return found, broken


def _is_array(data: bytes) -> bool:
    """Return whether the reader takes a file for one JSON array, whose elements are its rows."""
    bare = data.removeprefix(b"\xef\xbb\xbf")
    lines = re.match(rb"[^\r\n]*\][ \t]*[\r\n]+[ \t]*[{\[]", bare)
    return re.match(rb"\s*\[\s*[{\]]", bare) is not None and lines is None


def _depth(line: str) -> int:
    level = deepest = 0
    for mark in re.findall(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', line):
        level += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, level)
    return deepest


def _refuse(value: str) -> None:
    raise ValueError(value)


def _read(path: Path, kind: str, batch_bytes: int) -> tuple[list[dict[str, Any]], list[DeadLetter]] | None:
    """Return (rows, dead letters), or None if the source as a whole is refused."""
    letters: list[DeadLetter] = []
    is_table = kind in ("jsonl", "parquet") or kind.startswith("arrow")
    options: dict[str, Any] = {"column": "text"} if is_table else {}
    if kind == "parquet" or kind.startswith("arrow"):
        options["metadata_columns"] = ("day", "tags")
    source = open_source(
        path, kind=kind.split()[0], batch_bytes=batch_bytes, threads=1, dead_letters=letters.append, **options
    )
    rows: list[dict[str, Any]] = []
    try:
        for batch in source:
            table = batch.table  # a damaged date may be one that Python cannot represent
            rows += (table.drop_columns("day") if "day" in table.column_names else table).to_pylist()
    except ValueError as error:
        if "is not there; the columns are" not in str(error):  # a name was damaged
            raise
        return None
    return rows, letters


class Files:
    name = "files"
    timeout = 20.0

    def make(self, rng: random.Random) -> Case:
        kind = rng.choice(KINDS)
        rows = rng.randint(1, 30)
        compression = "" if kind == "parquet" or kind.startswith("arrow") else rng.choice(COMPRESSIONS)
        data = whole(rng, kind, rows)
        tokens = TOKENS[kind.split()[0]]
        plain = None
        if kind in ("mediawiki", "wikiextractor") and rng.random() < 0.4:
            return Case(kind, "", one_wrong_byte(rng, data), rows, None, data)
        if not compression or rng.random() < 0.5:
            data = damaged(rng, data, tokens)
            plain = data if kind == "jsonl" else None
            data = packed(data, compression)
        else:
            data = damaged(rng, packed(data, compression), tokens)
        return Case(kind, compression, data, rows, plain)

    def check(self, case: Case) -> None:
        with tempfile.TemporaryDirectory(prefix="pychunk-fuzz-") as folder:
            ending = ENDINGS.get(case.kind, case.kind) + (f".{case.compression}" if case.compression else "")
            path = Path(folder) / f"in.{ending}"
            path.write_bytes(case.data)
            read = _read(path, case.kind, 1 << 20)
            again = _read(path, case.kind, 300)
            if case.sound is not None:
                path.write_bytes(case.sound)
                sound = _read(path, case.kind, 1 << 20)
        assert (read is None) == (again is None), "small batches hold other columns"
        if read is None or again is None:
            return
        rows, letters = read
        assert again[0] == rows, "small batches hold other documents"
        assert sorted(again[1]) == sorted(letters), "small batches have other letters"
        for row in rows:
            assert isinstance(row["id"], str), row
            row["text"].encode()
        for letter in letters:
            assert letter.source == str(path), letter
            assert letter.position, letter
            assert letter.reason, letter
            assert len(letter.excerpt) <= 200, letter
        if case.sound is not None:
            assert sound is not None
            assert not sound[1], sound[1]
            found = {(row["id"], row["text"]) for row in rows}  # the wrong byte may be in an id
            for row in spared(case, sound[0]):
                assert (row["id"], row["text"]) in found, f"document {row['id']} is lost to another's wrong byte"
        if case.plain is not None and not self._unpacked(case):
            return
        if case.plain is not None and _is_array(case.plain):
            assert rows or letters or not json.loads(case.plain), "neither a document nor a letter"
        elif case.plain is not None:
            expected, broken = python_rows(case.plain)
            assert Counter(row["text"] for row in rows) == expected, "other documents than Python's json finds"
            assert len(letters) == broken, f"{len(letters)} letters for {broken} lines"
        elif case.kind in ("jsonl", "parquet", "arrow file", "arrow stream") and case.data.strip():
            assert len(rows) >= case.rows or letters, f"{case.rows - len(rows)} of {case.rows} rows are lost in silence"
        elif case.kind == "text":
            assert len(rows) + len(letters) == 1 or letters, "neither a document nor a letter"

    @staticmethod
    def _unpacked(case: Case) -> bool:
        """Return whether the reader sees the packed bytes: an injured text may begin like a compressed one."""
        return bool(case.compression) or not case.data.startswith(
            (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf")
        )

    def simpler(self, case: Case) -> Iterator[Case]:
        if case.sound is not None:  # its documents are counted
            return
        data = case.data if case.plain is None else case.plain
        size = len(data)
        step = size // 2
        while step:
            for at in range(0, size, step):
                less = data[:at] + data[at + step :]
                if case.plain is None:
                    yield case._replace(data=less)
                else:
                    yield case._replace(data=packed(less, case.compression), plain=less)
            step //= 2 if size // max(1, step) < 256 else size
        if case.compression and case.plain is not None:
            yield case._replace(compression="", data=case.plain)

    def test(self, case: Case) -> str:
        name = case.kind.replace(" ", "_")
        return (
            f"def test_damaged_{name}() -> None:\n"
            "    from tests.fuzz.files import Case, target\n\n"
            f"    target.check({case!r})\n"
        )


target = Files()
