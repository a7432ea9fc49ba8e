"""CSV and TSV: every field as written, every row a document or a dead letter, in bounded memory."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest
from command_line import invoke
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.ingest import ingest
from pychunk.io import DeadLetter, open_source
from pychunk.io.decompression.bzip2 import Block
from pychunk.io.formats import csv_files


def read(path: Path, **options: object) -> tuple[list[dict], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    source = open_source(path, dead_letters=letters.append, **options)
    return [row for batch in source for row in batch.table.to_pylist()], letters


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_fields_are_what_is_written(tmp_path: Path) -> None:
    path = write(
        tmp_path / "in.csv",
        '\ufeffid,text,n\r\n007,"Cats, ""and"" dogs.",1.50\r\n\r\n'
        '1,"Two\r\nlines.",\r\n2020-01-01,true,""\r\n,null,NaN',
    )
    found, letters = read(path, column="text", metadata_columns=("n",))
    assert letters == []
    assert [(row["id"], row["text"], row["n"]) for row in found] == [
        ("007", 'Cats, "and" dogs.', "1.50"), ("1", "Two\r\nlines.", None), ("2020-01-01", "true", ""),
        (f"{path}#7", "null", "NaN"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "separator"), [("in.tsv", "\t"), ("in.csv", ";"), ("in.csv", "\t"), ("in.csv.gz", ",")]
)
def test_what_stands_between_fields(tmp_path: Path, name: str, separator: str) -> None:
    data = f'key{separator}text\n1{separator}"A{separator}, b; c."\n'.encode()
    path = write(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    found, letters = read(path, column="text", ids="key")
    assert ([(row["id"], row["text"]) for row in found], letters) == ([("1", f"A{separator}, b; c.")], [])


def test_a_broken_row_is_a_letter_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", b'id,text\n1,"a\n\na"\nalone\n2,b\n3,c,d\n\n4,\xff\n5,e\n6,"open\n7,f\n')
    found, letters = read(path)
    assert [(row["id"], row["text"]) for row in found] == [("1", "a\n\na"), ("2", "b"), ("5", "e"), ("7", "f")]
    assert [(letter.position, letter.reason) for letter in letters] == [
        ("line 5", "the row has 1 fields, the first row 2"),
        ("line 7", "the row has 3 fields, the first row 2"),
        (
            "line 11",
            "a field begins with a quote that is not closed; if quotes are ordinary characters, pass quotes=False",
        ),
        ("line 9", "invalid UTF-8 at byte 0"),
    ]


def test_a_row_that_is_broken_twice_takes_no_other_along(tmp_path: Path) -> None:
    data = 'id,text\n1,a\n2,caf\xe9, \xe9t\xe9\n3,"b, c"\n4\n5,d\xe9\n'.encode("latin-1")
    found, letters = read(write(tmp_path / "in.csv", data))
    assert [(row["id"], row["text"]) for row in found] == [("1", "a"), ("3", "b, c")]
    assert [(letter.position, letter.reason) for letter in letters] == [
        ("line 3", "the row has 3 fields, the first row 2"),
        ("line 5", "the row has 1 fields, the first row 2"),
        ("line 6", "invalid UTF-8 at byte 1"),
    ]


def test_columns_that_are_not_there_or_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "id,text,text,n,n\n1,a,b,2,3\n")
    with pytest.raises(ValueError, match="column 'body' is not there; the columns are id, text, n"):
        read(path, column="body")
    assert "column 'text' occurs 2 times: rename all but one" in read(path, column="text")[1][0].reason
    path = write(tmp_path / "in.csv", "id,text,n,n\n1,a,2,3\n")
    assert [row["text"] for row in read(path, column="text")[0]] == ["a"]
    path = write(tmp_path / "in.csv", "id,text\n1,\n2,b\n")
    assert [row["text"] for row in read(path)[0]] == ["", "b"]
    for empty in ("", "\n", "id,text", "id,text\n\n"):
        assert read(write(tmp_path / "in.csv", empty), column="text") == ([], [])


#: Rows of an id and a text, 4,000 of them.
MANY = [f"{i}\tSentence number {i} is here." for i in range(4000)]


def broken(name: str, **lines: str) -> bytes:
    """Return rows with replaced lines ``row<number>``."""
    rows = [lines.get(f"row{i}", row) for i, row in enumerate(MANY)]
    joined = "\n".join(["id\ttext", *rows, ""])
    return (joined if name.endswith("tsv") else joined.replace("\t", ",")).encode()


@pytest.mark.parametrize("name", ["in.tsv", "in.csv"])
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ({"row5": "5\t\"Never again"}, {7: "is not closed"}),
        ({"row5": "5\t\"Never again", "row36": '36\tThe last word was "never"'}, {7: "in line 38 is followed by"}),
        ({"row5": "5\t\"Never again", "row36": '36\t"Never" is'}, {7: "in line 38 is", 38: "close it is followed"}),
        ({"row5": "5\t\"Never again", "row3000": '3000\t"Never"'}, {7: "in line 3,002 is followed by"}),
        ({"row5": '5\t"a" b', "row7": '7\t"c"d', "row9": '9\t3.5" disks', "r": ""}, {7: "it is", 9: "it is"}),
        ({"row2000": '2000\t"Open'}, {2002: "is not closed"}),
        ({"row3999": '3999\t"Open'}, {4001: "a quote is not closed: the row and the rest of the file (1 line)"}),
    ],
)  # fmt: skip
def test_a_stray_quote_costs_its_row_alone(
    tmp_path: Path, name: str, lines: dict[str, str], told: dict[int, str]
) -> None:
    path = write(tmp_path / name, broken(name, **lines))
    found, letters = read(path)
    lost = {str(line - 2) for line in told}
    assert [row["id"] for row in found] == [str(i) for i in range(4000) if str(i) not in lost]
    assert [letter.position for letter in letters] == [f"line {line}" for line in told]
    for letter, part in zip(letters, told.values(), strict=True):
        assert part in letter.reason
        assert letter.reason.endswith("if quotes are ordinary characters, pass quotes=False")
    with pytest.raises(ValueError, match=f"{name}, line {next(iter(told))}: a .* quote"):
        list(open_source(path))


def test_two_quotes_that_pair_up_are_told(tmp_path: Path) -> None:
    lines = {"row5": '5\t"Never again', "row36": '36\tThe disk has 3.5"'}
    for name in ("in.tsv", "in.csv"):
        found, (letter,) = read(write(tmp_path / name, broken(name, **lines)))
        assert (len(found), letter.position, letter.partial) == (3969, "line 7", True)
        assert "goes on for 32 lines, each of which has the 2 fields of a row" in letter.reason
    # Together they have more fields than a row, so that each line is a row.
    data = "id,size,text\n" + "".join(f"{i},3,Disk {i}.\n" for i in range(40))
    data = data.replace("\n5,3,Disk", '\n5,3,"Disk').replace("\n36,3,", '\n36,3.5",')
    found, (letter,) = read(write(tmp_path / "in.csv", data), column="text", metadata_columns=("size",))
    assert [row["id"] for row in found] == [str(i) for i in range(40) if i != 5]
    assert (letter.position, found[35]["size"]) == ("line 7", '3.5"')


@pytest.mark.parametrize(
    "text",
    [
        '1,"A list\nof two, lines"\n2,b\n',
        '1,"A\nB\nC"\n2,"x, y\nz"\n',
        '1,"a table:\n""a"",1\n""b"",2\n""c"",3\n"\n2,b\n',
        '1,"one, two\nthree, four\nfive six, seven, eight\nnine, ten"\n',
    ],
)
def test_fields_of_several_lines_are_not_told(tmp_path: Path, text: str) -> None:
    found, letters = read(write(tmp_path / "in.csv", "id,text\n" + text))
    assert letters == []
    assert [[row["id"], row["text"]] for row in found] == list(csv.reader(io.StringIO(text)))


def test_a_field_that_is_cut_off_is_no_row_for_each_line(tmp_path: Path) -> None:
    found, letters = read(write(tmp_path / "in.csv", 'id,text\n1,a\n2,"A long text,\nwhich goes on\n\nand on, and on'))
    assert [row["id"] for row in found] == ["1"]
    assert [(letter.position, letter.reason[:71]) for letter in letters] == [
        ("line 3", "a quote is not closed: the row and the rest of the file (3 lines) are n")
    ]


def test_quotes_may_mean_nothing(tmp_path: Path) -> None:
    lines = {"row5": '5\t"Never again', "row36": '36\tThe last word was "never"', "row40": '40\t"a" and ""b""'}
    for name in ("in.tsv", "in.csv"):
        path = write(tmp_path / name, broken(name, **lines))
        found, letters = read(path, quotes=False)
        assert (len(found), letters) == (4000, [])
        assert [found[i]["text"] for i in (5, 36, 40)] == ['"Never again', 'The last word was "never"', '"a" and ""b""']
        result = invoke(["segment", str(path), "--reader", "quotes=no", "-m", "fixed:size=100", "-o", "-"])
        assert result.exit_code == 0
        assert result.stdout.count("\n") == 4000
    result = invoke(["segment", str(path), "-o", "-"])
    assert result.exit_code == 2
    assert "pass --reader quotes=no; fix it" in " ".join(result.stderr.split())
    plain = write(tmp_path / "in.txt", "A text.")
    found = " ".join(invoke(["segment", str(plain), "--reader", "quotes=no"]).stderr.split())
    assert "--reader quotes changes nothing for text" in found
    with pytest.raises(ValueError, match="do not pass quotes=, which changes nothing for text"):
        ingest(plain, tmp_path / "out", quotes=False)


def test_a_quote_at_fault_in_the_first_row_is_told(tmp_path: Path) -> None:
    found, (letter,) = read(write(tmp_path / "in.csv", '\nid,"te"xt\n1,a\n'))
    assert (found, letter.position) == ([], "line 2")
    assert letter.reason.startswith("the first row, which names the columns, cannot be read: a field begins with a")


def test_a_quote_that_is_never_closed_costs_its_row_in_files_larger_than_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(csv_files, "MAX_ROW_BYTES", 3000)
    monkeypatch.setattr(csv_files, "TABLE_BYTES", 1000)
    data = broken("in.csv", row2000='2000\t"Open')
    for size in (100, 999, 5000):
        letters: list[DeadLetter] = []
        parts = csv_files.parts(blocks_of(data, size), "f", letters.append)
        found = [each for part in parts for each in zip(part.table["id"].to_pylist(), part.numbers)]
        assert found == [(str(i), i + 2) for i in range(4000) if i != 2000]
        assert [letter.position for letter in letters] == ["line 2002"]


def blocks_of(data: bytes, size: int) -> list[Block]:
    return [Block(data[i : i + size], i) for i in range(0, len(data), size)]


FIELDS = st.lists(st.sampled_from(["a", "é", '"', ",", "\n", "\r", " ", "x" * 40]), max_size=6).map("".join)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(FIELDS, FIELDS), max_size=12), st.integers(1, 60), st.integers(1, 200), st.booleans())
def test_what_python_writes_is_read_wherever_blocks_end(
    written: list[tuple[str, str]], block: int, part: int, quoted: bool
) -> None:
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(out, quoting=quoting).writerows([("id", "text"), *written])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "TABLE_BYTES", part)
        letters: list[DeadLetter] = []
        parts = list(csv_files.parts(blocks_of(out.getvalue().encode(), block), "f", letters.append))
    found = [(row["id"] or "", row["text"] or "") for each in parts for row in each.table.to_pylist()]
    assert (found, letters) == (written, [])
    lines = [number for each in parts for number in each.numbers]
    assert lines == sorted(set(lines))


def test_a_row_that_is_too_long_takes_no_other_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "MAX_ROW_BYTES", 3000)
    monkeypatch.setattr(csv_files, "TABLE_BYTES", 1000)
    good = [f"g{i},Some text." for i in range(60)]
    data = "\n".join(["id,text", *good[:30], "huge," + "word " * 1000, *good[30:]]).encode()
    letters: list[DeadLetter] = []
    found = [
        row["id"]
        for part in csv_files.parts(blocks_of(data, 100), "f", letters.append)
        for row in part.table.to_pylist()
    ]
    assert found == [f"g{i}" for i in range(60)]
    assert [letter[:3] for letter in letters] == [
        ("f", "line 32", "the row is longer than 3,000 bytes, or a quote is not closed")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("end", ['"\n', '" \n', '""more"\n', ""])
def test_a_quoted_field_that_is_too_long_is_left_out_to_its_end(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr(csv_files, "MAX_ROW_BYTES", 300)
    monkeypatch.setattr(csv_files, "TABLE_BYTES", 100)
    rest = "".join(f"g{i},Some text.\n" for i in range(5)) if end else ""
    data = ('id,text\n0,a\n1,"' + 'One line, "" and\n' * 100 + end + rest).encode()
    for size in range(1, 60):
        letters: list[DeadLetter] = []
        found = [
            each
            for part in csv_files.parts(blocks_of(data, size), "f", letters.append)
            for each in zip(part.table["id"].to_pylist(), part.numbers)
        ]
        assert found == [("0", 2)] + ([(f"g{i}", 104 + i) for i in range(5)] if end else [])
        assert [letter.position for letter in letters] == ["line 3"]


def test_what_is_lost_between_two_blocks_is_told() -> None:
    blocks = [Block(b"id,text\n1,a\n2,b", 1), Block(b"", 2, gap=True), Block(b"c\n3,d\n", 3)]
    letters: list[DeadLetter] = []
    (first, second) = csv_files.parts(blocks, "f", letters.append)
    assert first.table["id"].to_pylist() + second.table["id"].to_pylist() == ["1", "3"]
    assert [(letter.position, letter.reason[:18]) for letter in letters] == [("line 3", "the row is cut off")]


def test_every_command_reads_csv_and_segment_writes_it(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "id,text\n007,Cats purr. Dogs bark.\n")
    for arguments in (
        ["segment", str(path), "-o", str(tmp_path / "out.csv")],
        ["ingest", str(path), "-o", str(tmp_path / "out")],
    ):
        done = invoke([*arguments, "--column", "text", "-m", "sentence"])
        assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [(row["document_id"], row["text"]) for row in rows] == [("007", "Cats purr."), ("007", "Dogs bark.")]
    chunks = pychunk.segment("Cats purr.", vectors="chunk")
    with pytest.raises(ValueError, match=r"cannot hold the column 'vector' of type fixed_size_list<.*>\[256\]: write"):
        chunks.write(tmp_path / "vectors.csv")
    assert not (tmp_path / "vectors.csv").exists()
    chunks.write(tmp_path / "vectors.feather")
    with pa.memory_map(str(tmp_path / "vectors.feather")) as source:
        assert pa.ipc.open_file(source).read_all().equals(chunks.table)


def test_chunks_in_csv_go_into_an_index(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    path = write(tmp_path / "in.csv", "id,text\n007,Cats purr. Dogs bark.\n")
    assert (
        invoke(["segment", str(path), "--column", "text", "-m", "sentence", "-o", str(tmp_path / "c.csv")]).exit_code
        == 0
    )
    done = invoke(["index", str(tmp_path / "c.csv"), "-o", str(tmp_path / "it.idx")])
    assert done.exit_code == 0, done.output
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert {(hit.document_id, hit.text) for hit in index.search("cats", k=5)[0]} == {
            ("007", "Cats purr."),
            ("007", "Dogs bark."),
        }


PIECES = ['"', '""', ",", "\n", "\r\n", "\r", "a", " ", "b\nc,", ',"', '",', '"\n', "1,x\n", "é"]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.integers(1, 20), st.integers(1, 60))
def test_stray_quotes_are_the_same_wherever_blocks_end(body: str, block: int, part: int) -> None:
    data = b"id,text\n" + body.encode()
    found = []
    for size, table in ((len(data), 1 << 24), (block, part)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_files, "TABLE_BYTES", table)
            letters: list[DeadLetter] = []
            parts = list(csv_files.parts(blocks_of(data, size), "f", letters.append, separator=b","))
        rows = [(*row.values(), line) for each in parts for row, line in zip(each.table.to_pylist(), each.numbers)]
        assert not [letter for letter in letters if "cannot be read as" in letter.reason]
        found.append((rows, sorted(letters)))
    assert found[0] == found[1]


def test_an_open_quote_is_found_behind_doubled_ones(tmp_path: Path) -> None:
    data = 'id,text\n1,"open\n2,b\n3,c\n4,""\n5,d\n6,e\n'
    found, letters = read(write(tmp_path / "in.csv", data))
    assert [(row["id"], row["text"]) for row in found] == [("2", "b"), ("3", "c"), ("4", ""), ("5", "d"), ("6", "e")]
    assert [letter.position for letter in letters] == ["line 2"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_utf_16_says_so_and_what_to_pass(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes("id,text\n1,The pump moves water.\n2,Насос качает воду.\n".encode(encoding))
    with pytest.raises(ValueError, match=f"text in {encoding[:6].upper()}.*pass encoding='{encoding}'"):
        list(open_source(file))
    found = [text for batch in open_source(file, encoding=encoding) for text in batch.table["text"].to_pylist()]
    assert found == ["The pump moves water.", "Насос качает воду."]
