"""open_source: every kind of file, its faults, remote paths, and the recognition of kinds."""

import ast
import bz2
import gzip
import io
import json
import lzma
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import invoke
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.io.decompression.bzip2 import Block
from pychunk.io.document_batches import DeadLetter
from pychunk.io.kinds import KINDS
from pychunk.io.recognition import kind_of
from pychunk.io.source import open_source

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(pychunk.__file__).resolve().parents[1]),
    "PYTHONIOENCODING": "utf-8",
}
TEXTS = ["Cats purr.", "", "Zażółć 🎉", "Second\nline"]
DOCS = b"""<doc id="12" url="https://en.wikipedia.org/wiki?curid=12" title="A &quot;B&quot; &amp; C">
A "B" & C

First line.
Second < line.

</doc>
<doc id="13" url="u" title="D">
Only text.
</doc>
"""


def read(path: str | Path, **options: object) -> tuple[list[dict], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    source = open_source(path, dead_letters=letters.append, **options)
    return [row for batch in source for row in batch.table.to_pylist()], letters


def texts(found: list[dict]) -> list[str]:
    return [row["text"] for row in found]


def write(path: Path, table: pa.Table) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=2)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as sink:
            sink.write_table(table)
    return path


@pytest.mark.parametrize("name", ["in.parquet", "in.jsonl", "in.arrow"])
def test_tables_by_column(tmp_path: Path, name: str) -> None:
    table = pa.table({"key": [1, 2, 3, 4], "title": ["a", "b", None, "d"], "body": TEXTS})
    path = write(tmp_path / name, table)
    found, letters = read(path, column="body", ids="key", metadata_columns=("title",))
    assert letters == []
    assert [(row["id"], row["title"], row["text"]) for row in found] == list(zip("1234", ["a", "b", None, "d"], TEXTS))
    unnamed, _ = read(path, column="body")
    assert [row["id"] for row in unnamed] == [f"{path}#{i}" for i in range(1, 5)]
    (batch,) = open_source(path, column="body", metadata_columns=("title", "key"))
    assert [(field.name, str(field.type).replace("large_", "")) for field in batch.table.schema] == [
        ("id", "string"), ("text", "string"), ("file", "string"), ("title", "string"), ("key", "int64")
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["in.parquet", "in.jsonl", "in.arrow"])
def test_a_null_is_a_letter(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, pa.table({"id": ["a", "b", "c"], "text": ["x", None, "z"]}))
    found, letters = read(path, column="text")
    assert [row["id"] for row in found] == ["a", "c"]
    unit = "line" if name.endswith("jsonl") else "row"
    assert [(letter.position, letter.reason) for letter in letters] == [(f"{unit} 2", "column 'text' is null")]
    with pytest.raises(
        ValueError, match=f"{unit} 2: column 'text' is null; correct the file, or in Python pass a function"
    ):
        list(open_source(path, column="text"))


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.dictionary(pa.int8(), pa.string())])
def test_other_types_of_text(tmp_path: Path, kind: pa.DataType) -> None:
    given_ = pa.array([text.encode() if "binary" in str(kind) else text for text in TEXTS])
    path = write(tmp_path / "in.parquet", pa.table({"text": given_.cast(kind)}))
    assert texts(read(path, column="text")[0]) == TEXTS


def test_bytes_that_are_not_text_are_letters(tmp_path: Path) -> None:
    path = write(tmp_path / "in.parquet", pa.table({"text": pa.array([b"ok", b"no\xff"], pa.binary()), "n": [1, 2]}))
    found, letters = read(path, column="text")
    assert texts(found) == ["ok"]
    assert letters[0][1:4] == ("row 2", "invalid UTF-8 at byte 2", b"no\xff")
    assert read(path, column="n")[1][0].reason == "column 'n' must be text, got int"


LINES = [
    b'{"text": "a"}',
    b"{broken",
    b"",
    b'["text"]',
    b'{"text": 5}',
    b'{"text": "b", "x": {"y": 1}}',
    b'{"text": null}',
    b'{"other": "c"}',
    b'{"text": "d"}{"text": "e"}',
    b'{"text": "f", "x": 3}',
    b'{"text": "\xff"}',
    b'{"text": "g"}',
]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_broken_line_ends_nothing(tmp_path: Path, pack: object, end: bytes) -> None:
    path = tmp_path / "in.jsonl.x"
    path.write_bytes(pack(end.join(LINES)))
    found, letters = read(path, column="text", kind="jsonl")
    assert [(row["id"].rpartition("#")[2], row["text"]) for row in found] == [
        ("1", "a"), ("6", "b"), ("10", "f"), ("12", "g")
    ]  # fmt: skip
    assert [letter.position for letter in letters] == [f"line {i}" for i in (2, 4, 5, 7, 8, 9, 11)]


def test_streams_of_xz_follow_each_other_and_a_cut_one_is_told(tmp_path: Path) -> None:
    lines = [json.dumps({"text": "word " * 300_000}).encode() + b"\n", b'{"text": "b"}\n']
    packed = lzma.compress(lines[0]) + bytes(8) + lzma.compress(lines[1])
    path = tmp_path / "in.jsonl.xz"
    path.write_bytes(packed)
    found, letters = read(path)
    assert ([len(text) for text in texts(found)], letters) == ([1_500_000, 1], [])
    path.write_bytes(packed[:-50])
    found, letters = read(path)
    assert len(found) == 1
    assert [letter.reason for letter in letters] == [
        "cannot be read further: the file ends inside an xz stream: it is cut off; get it again"
    ]
    path.write_bytes(packed[:60] + b"\xff" + packed[61:])
    assert read(path)[1][0].reason.startswith("cannot be read further: ")


@pytest.mark.parametrize("name", ["id", "_id", "doc_id", "url", "URL"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_ids_are_no_texts(tmp_path: Path, name: str, ending: str) -> None:
    file = tmp_path / f"in.{ending}"
    table = pa.table({name: ["a", "b"]} | ({} if ending == "csv" else {"n": [1, 2]}))
    if ending == "parquet":
        pq.write_table(table, file)
    elif ending == "csv":
        file.write_text(f"{name}\na\nb\n")
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    said = f"the only string column is '{name}', whose name suggests ids or URLs, not text: pass "
    argument = "columns={'text': ...} (column= of read, open_source, parse, embed and split_sentences)"
    with pytest.raises(ValueError, match=re.escape(f"in.{ending}: {said}{argument} with its name if it does")):
        list(open_source(file))
    done = invoke(["segment", str(file)])
    assert done.exit_code == 2
    assert f"{said}--column with its name if it does" in done.output
    [batch] = open_source(file, column=name)
    assert batch.table["text"].to_pylist() == ["a", "b"]
    with pytest.raises(ValueError, match=re.escape(f"{said}{argument} with its name if it does")):
        pychunk.segment(table)
    assert pychunk.segment(table, columns={"text": name}).texts == ["a", "b"]
    assert pychunk.segment(pa.table({name: [1], "text": ["Cats."]})).texts == ["Cats."]


def test_missing_columns_are_errors(tmp_path: Path) -> None:
    path = write(tmp_path / "in.parquet", pa.table({"a": ["x"], "b": ["y"]}))
    with pytest.raises(ValueError, match="the string columns are: a, b"):
        read(path)
    with pytest.raises(ValueError, match="column 'c' is not there; the columns are a, b"):
        read(path, column="c")
    with pytest.raises(ValueError, match="column 'c' is not there"):
        read(path, column="a", ids="c")


@pytest.mark.parametrize("name", ["b.parquet", "b.arrow"])
def test_a_broken_file_among_others_is_a_letter(tmp_path: Path, name: str) -> None:
    for each in "ac":
        write(tmp_path / name.replace("b", each), pa.table({"text": [each]}))
    (tmp_path / name).write_bytes(b"nothing that can be read")
    found, letters = read(tmp_path)
    assert texts(found) == ["a", "c"]
    assert [(Path(letter.source).name, letter.position) for letter in letters] == [(name, "whole file")]


def test_a_damaged_row_group_leaves_the_others(tmp_path: Path) -> None:
    table = pa.table({"text": [f"{i} " + "x" * 50 for i in range(6)]})
    path = tmp_path / "in.parquet"
    pq.write_table(table, path, row_group_size=2, compression="gzip", use_dictionary=False)
    data = bytearray(path.read_bytes())
    begin = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    data[begin : begin + 40] = bytes(40)
    path.write_bytes(data)
    found, letters = read(path)
    assert [text[0] for text in texts(found)] == ["0", "1", "4", "5"]
    assert [letter.position for letter in letters] == ["row 3, in row group 1"]


def test_wikiextractor_output(tmp_path: Path) -> None:
    for name, data in {"AA/wiki_00": DOCS, "AA/wiki_01.bz2": bz2.compress(DOCS), "AB/wiki_00": DOCS}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    found, letters = read(tmp_path)
    assert letters == []
    assert [Path(row["file"]).name for row in found] == ["wiki_00"] * 2 + ["wiki_01.bz2"] * 2 + ["wiki_00"] * 2
    first = {"id": "12", "text": "First line.\nSecond < line.", "title": 'A "B" & C'}
    assert {key: found[0][key] for key in first} == first
    assert (found[1]["title"], found[1]["url"], found[1]["text"]) == ("D", "u", "Only text.")


def test_wikiextractor_output_with_breaks(tmp_path: Path) -> None:
    cut = DOCS[: DOCS.index(b"</doc>")]
    path = tmp_path / "wiki_00"
    path.write_bytes(cut + DOCS + b"stray\n" + DOCS.replace(b"Only", b"\xff") + cut)
    found, letters = read(path)
    assert [row["id"] for row in found] == ["12", "13", "12"]
    reasons = [letter.reason for letter in letters]
    assert [reason[:13] for reason in reasons] == ["the document ", "text outside ", "invalid UTF-8", "the document "]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "documents", "letters"),
    [
        (b'<doc id="1">\n' * 80_000 + DOCS, 2, 80_000),
        (b'<doc id="1">\n' * 80_000, 0, 1),
        (b"x</doc>\n" * 400_000, 0, 1),
        (b"</doc>\n" * 400_000, 0, 3),
        (b"junk\n" + DOCS.replace(b"</doc>", b"</doc>\njunk") * 20_000, 40_000, 40_001),
        (b"<doc " + b'a="x"b' * 200_000 + b">\n</doc>\n", 1, 0),
        (b"<doc " + b'a="x" ' * 200_000 + b">\n</doc>\n", 1, 0),
        (b'<doc a="' + b" " * 3_000_000 + b">\n</doc>\n", 1, 0),
    ],
    ids=["unclosed", "no-end", "ends-in-text", "ends", "between", "attributes", "more-attributes", "spaces"],
)
def test_hostile_wikiextractor_output_takes_time_in_proportion(
    tmp_path: Path, data: bytes, documents: int, letters: int
) -> None:
    (tmp_path / "wiki_00").write_bytes(data)
    begun = time.process_time()
    found, told = read(tmp_path / "wiki_00")
    assert (len(found), len(told)) == (documents, letters)
    assert time.process_time() - begun < 5


def test_attributes_of_wikiextractor_output(tmp_path: Path) -> None:
    head = '<doc id="1" revid="" url="https://a/?b=1&c" title="A "quoted" one = 1 &lt;"   >\n\nText.\n</doc>\n'
    (tmp_path / "wiki_00").write_text(head)
    found, letters = read(tmp_path / "wiki_00")
    assert letters == []
    assert (found[0]["id"], found[0]["url"], found[0]["title"]) == ("1", "https://a/?b=1&c", 'A "quoted" one = 1 <')


def test_wikiextractor_json_is_json_lines(tmp_path: Path) -> None:
    lines = [json.dumps({"id": str(i), "url": "u", "title": f"T{i}", "text": f"text {i}"}) for i in range(3)]
    (tmp_path / "wiki_00").write_text("\n".join(lines))
    found, _ = read(tmp_path / "wiki_00", kind="jsonl", metadata_columns=("title",))
    assert [(row["id"], row["title"], row["text"]) for row in found] == [
        (str(i), f"T{i}", f"text {i}") for i in range(3)
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="<\r", exclude_categories=["Cs"])), max_size=5),
    st.integers(1, 99),
)
def test_borders_of_blocks_do_not_matter_to_wikiextractor_output(bodies: list[str], size: int) -> None:
    from pychunk.io.document_batches import refuse
    from pychunk.io.wiki import wikiextractor

    data = "".join(f'<doc id="{i}" url="" title="t">\nt\n\n{body}\n</doc>\n' for i, body in enumerate(bodies)).encode()
    blocks = (Block(data[i : i + size], i) for i in range(0, len(data), size))
    found = list(wikiextractor.documents(blocks, "f", refuse))
    assert [(each.id, each.text) for each in found] == [(str(i), body.strip()) for i, body in enumerate(bodies)]


def test_folders_of_text(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name, data in {
        "b/z.md": b"# Z\n", "b/a.txt": "\ufeffÄ".encode(), "c.txt": b"bad \xff", "d.txt.gz": gzip.compress(b"packed"),
        "e.png": b"\x89PNG", ".git/x.txt": b"hidden",
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(data)
    found, letters = read(tmp_path)
    assert [(row["id"], row["text"]) for row in found] == [
        (str(tmp_path / "b/z.md"), "# Z\n"), (str(tmp_path / "b/a.txt"), "Ä"), (str(tmp_path / "d.txt.gz"), "packed")
    ]  # fmt: skip
    assert [(letter.source, letter.reason) for letter in letters] == [
        (str(tmp_path / "c.txt"), "invalid UTF-8 at byte 4")
    ]
    assert open_source(tmp_path).ignored == [str(tmp_path / "e.png")]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, pack: object) -> None:
    def given_(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pack(data))))

    given_(b'{"text": "a"}\n')
    assert texts(read("-")[0]) == ['{"text": "a"}\n']
    given_(b'{"text": "a"}\n{"text": "b"}')
    assert texts(read("-", kind="jsonl")[0]) == ["a", "b"]
    assert open_source("-").total_bytes == 0


def test_a_file_that_goes_away_is_a_letter(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(name)
    letters: list[DeadLetter] = []
    source = open_source(tmp_path, dead_letters=letters.append)
    (tmp_path / "b.txt").unlink()
    assert [row for batch in source for row in batch.table["text"].to_pylist()] == ["a", "c"]
    assert letters[0].source == str(tmp_path / "b.txt")


@pytest.mark.slow
def test_parquet_from_standard_input(tmp_path: Path) -> None:
    path = write(tmp_path / "in.parquet", pa.table({"text": TEXTS}))
    code = "from pychunk.io import open_source; "
    code += "print([t for b in open_source('-', kind='parquet', column='text') for t in b.table['text'].to_pylist()])"
    with open(path, "rb") as file:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=file, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=True
        )
    assert ast.literal_eval(done.stdout.decode()) == TEXTS


@pytest.mark.slow
@pytest.mark.parametrize("name", ["in.parquet", "in.jsonl", "in.arrow"])
def test_batches_are_bounded_and_the_same_each_time(tmp_path: Path, name: str) -> None:
    made = [f"{i} " * (i % 700) for i in range(2000)] + ["long " * 50_000, "end"]
    source = open_source(write(tmp_path / name, pa.table({"text": made})), batch_bytes=100_000)
    found = list(source)
    assert [text for batch in found for text in batch.table["text"].to_pylist()] == made
    sizes = [[len(text) for text in batch.table["text"].to_pylist()] for batch in found]
    assert all(sum(size) <= 100_000 or len(size) == 1 for size in sizes)
    assert all(sum(size) + after[0] > 100_000 for size, after in zip(sizes, sizes[1:]))
    assert list(source) == found
    assert list(source.batches(3)) == found[3:]
    positions = [batch.bytes_read for batch in found]
    assert positions == sorted(positions)
    assert 0 < positions[-1] <= source.total_bytes


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("enwiki-20240601-pages-articles-multistream.xml.bz2", "mediawiki"),
        ("https://x.org/dump.xml-p1p41242.bz2?x=1", "mediawiki"),
        ("enwiki-20240601-pages-articles-multistream-index.txt.bz2", None),
        ("AA/wiki_07", "wikiextractor"),
        ("a.JSONL.zst", "jsonl"),
        ("a.pq", "parquet"),
        ("a.feather", "arrow"),
        ("notes.markdown", "markdown"),
        ("a.PDF.gz", "pdf"),
        ("a.doc", None),
    ],
)
def test_kinds_by_name(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind


def test_kinds_by_content(tmp_path: Path) -> None:
    table = pa.table({"text": ["a"]})
    for kind, ending in (("parquet", "parquet"), ("arrow", "arrow"), ("jsonl", "jsonl")):
        write(tmp_path / f"in.{ending}", table).rename(tmp_path / kind)
    (tmp_path / "wikiextractor").write_bytes(DOCS)
    (tmp_path / "mediawiki").write_bytes(gzip.compress(b"<mediawiki></mediawiki>"))
    for kind in ("parquet", "arrow", "jsonl", "wikiextractor", "mediawiki"):
        assert open_source(tmp_path / kind).kind == kind
        assert open_source(tmp_path / kind).files[0].modified is not None


def test_errors_name_the_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    for path, options in ((tmp_path / "a.bin", {}), (tmp_path, {}), (tmp_path, {"kind": "odd"})):
        with pytest.raises(ValueError, match=".*".join(list(KINDS)[:3])):
            open_source(path, **options)
    (tmp_path / "a.txt").touch()
    (tmp_path / "a.jsonl").touch()
    assert [Path(file.path).name for file in open_source(tmp_path, kind="text").files] == ["a.txt"]
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_source(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="workers must be at least 1; got 0"):
        open_source(tmp_path / "a.txt", workers=0)


def test_remote_paths(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    parquet = write(tmp_path / "in.parquet", pa.table({"id": ["a"], "text": ["kept"]})).read_bytes()
    lines = gzip.compress(b'{"text": "x"}\n{"text": "y"}\n')
    for name, data in {"/corpus/b.jsonl.gz": lines, "/corpus/sub/c.jsonl.gz": lines, "/in.parquet": parquet}.items():
        memory.pipe_file(name, data)
    try:
        source = open_source("memory://corpus")
        assert [file.path for file in source.files] == [
            "memory:///corpus/b.jsonl.gz",
            "memory:///corpus/sub/c.jsonl.gz",
        ]
        assert [file.size for file in source.files] == [len(lines)] * 2
        assert all(file.modified is not None for file in source.files)
        assert [text for batch in source for text in batch.table["text"].to_pylist()] == ["x", "y", "x", "y"]
        assert texts(read("memory://in.parquet", column="text")[0]) == ["kept"]
        with pytest.raises(FileNotFoundError, match=r"memory://corpus/none\.jsonl: no such file"):
            open_source("memory://corpus/none.jsonl")
        memory.pipe_file("/corpus/note.xml", b"<?xml version='1.0'?><note>no dump</note>")
        with pytest.warns(UserWarning, match=r"not read.*note\.xml"):
            source = open_source("memory://corpus")
        assert [text for batch in source for text in batch.table["text"].to_pylist()] == ["x", "y", "x", "y"]
    finally:
        memory.rm("/corpus", recursive=True)
        memory.rm("/in.parquet")
    local = f"file://{tmp_path / 'in.parquet'}"
    assert texts(read(local, column="text")[0]) == ["kept"]


def test_pyarrow_filesystems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pychunk.io import files

    monkeypatch.setattr(files, "_ARROW_SCHEMES", ("file",))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("deep")
    write(tmp_path / "in.parquet", pa.table({"text": ["kept"]}))
    assert texts(read(f"file://{tmp_path}/sub")[0]) == ["deep"]
    assert texts(read(f"file://{tmp_path}/in.parquet")[0]) == ["kept"]
    with pytest.raises(FileNotFoundError):
        open_source(f"file://{tmp_path}/none")


def test_remote_paths_without_fsspec_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(ImportError, match=r'pip install "pychunk-native\[io\]"'):
        open_source("memory://x.txt")
