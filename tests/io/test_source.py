"""Batches of a source, each with its dead letters, compared with the documents that they represent."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.io import DeadLetter, column_batches, open_source
from pychunk.io.decompression import streams
from pychunk.io.document_batches import Document, grouped, schema, table_of
from pychunk.io.formats import json_lines, table_parts


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=30)), max_size=40),
    named=st.sampled_from(["no", "integers", "strings", "some", "floats"]),
    cuts=st.integers(1, 9),
    max_bytes=st.integers(1, 60),
)
def test_columns_are_grouped_like_documents(texts: list[str | None], named: str, cuts: int, max_bytes: int) -> None:
    names = range(len(texts))
    ids = {
        "no": None,
        "integers": pa.array(names, pa.int64()),
        "strings": pa.array([f"n{i}" for i in names], pa.string()),
        "some": pa.array([None if i % 3 else f"n{i}" for i in names], pa.string()),
        "floats": pa.array([i / 2 for i in names], pa.float64()),
    }[named]
    table = pa.table({"text": pa.array(texts, pa.string()), "extra": pa.array(names, pa.int16())})
    if ids is not None:
        table = table.append_column("id", ids)
    schema_ = schema((("extra", pa.int16()),))
    found: list[DeadLetter] = []
    spans = [range(at, min(at + cuts, len(texts))) for at in range(0, len(texts), cuts)]
    parts = [table_parts.Part(table.slice(s[0], len(s)), "row", range(s[0] + 1, s[-1] + 2), s[-1]) for s in spans]
    runs = column_batches.runs(parts, "f", found.append, column="text", metadata_columns=("extra",))
    groups = [column_batches.joined(group) for group in column_batches.grouped(runs, max_bytes)]

    named_ids = [None] * len(texts) if ids is None else ids.to_pylist()
    documents = [
        Document(f"f#{i + 1}" if id_ is None else str(id_), text, "f", (i,), len(text.encode()), 0)
        for i, (text, id_) in enumerate(zip(texts, named_ids))
        if text is not None
    ]
    wanted = [table_of(group, schema_) for group in grouped(documents, max_bytes)]
    assert [group.to_pylist() for group in groups] == [group.to_pylist() for group in wanted]
    assert [group.schema for group in groups] == [group.schema for group in wanted]
    assert [letter[:3] for letter in found] == [
        ("f", f"row {i + 1}", "column 'text' is null") for i, text in enumerate(texts) if text is None
    ]


@pytest.mark.parametrize("skip", [0, 1, 3])
def test_letters_are_told_with_their_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, skip: int) -> None:
    monkeypatch.setattr(json_lines, "TABLE_BYTES", 300)
    monkeypatch.setattr(streams, "_READ", 100)
    path = tmp_path / "in.jsonl"
    lines = ["broken" if i % 7 == 3 else json.dumps({"id": str(i), "text": "x" * 40}) for i in range(60)]
    path.write_text("\n".join(lines) + "\nbroken")
    told: list[tuple[int, str]] = []
    now = [-1]
    opened = open_source(path, batch_bytes=400, dead_letters=lambda letter: told.append((now[0], letter.position)))
    for batch in opened.batches():
        now[0] = batch.number
    expected = [each for each in told if each[0] >= skip - 1]
    told.clear()
    now[0] = skip - 1
    for batch in opened.batches(skip=skip):
        now[0] = batch.number
    assert told == expected
    assert told[-1][1] == "line 61"


def test_files_of_several_kinds_are_read_each_by_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Text.")
    (tmp_path / "b.jsonl").write_text('{"id": 1, "text": "Line.", "title": "L"}\nbroken\n')
    (tmp_path / "c.tsv").write_text("id\ttext\ttitle\n02\tRow.\tR\n")
    (tmp_path / "wiki_00").write_text('<doc id="3" url="u" title="W">\nWiki.\n</doc>\n')
    pq.write_table(pa.table({"text": ["Cell."], "title": ["P"]}), tmp_path / "d.parquet")
    (tmp_path / "e.bin").write_bytes(b"\0")
    letters: list[DeadLetter] = []
    opened = open_source(tmp_path, column="text", metadata_columns=["title"], dead_letters=letters.append)
    assert opened.kind == "wikiextractor, jsonl, tsv, parquet, markdown"
    assert opened.ignored == [str(tmp_path / "e.bin")]
    batches = list(opened)
    assert [(row["id"], row["text"], row["title"]) for batch in batches for row in batch.table.to_pylist()] == [
        ("3", "Wiki.", "W"), ("1", "Line.", "L"), ("02", "Row.", "R"), (f"{tmp_path / 'd.parquet'}#1", "Cell.", "P"),
        (str(tmp_path / "a.md"), "Text.", None),
    ]  # fmt: skip
    assert [letter.position for letter in letters] == ["line 2"]
    assert [batch.number for batch in batches] == [0, 1, 2, 3, 4]
    assert batches[-1].bytes_read == opened.total_bytes
    for skip in range(6):
        assert list(opened.batches(skip)) == batches[skip:]
    with pytest.raises(ValueError, match="every batch has a column 'file' of its own"):
        open_source(tmp_path, metadata_columns=["file"])
    with pytest.raises(ValueError, match="wikiextractor has no column 'day'; its columns are title, url"):
        open_source(tmp_path / "wiki_00", metadata_columns=["day"])


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        (["1", "-2", "null"], pa.int64()),
        (["1", "2.5"], pa.float64()),
        (["true", "null"], pa.bool_()),
        (["[0, 5]", "[]", "null"], pa.list_(pa.int64())),
        (["[[0.5, 1], [2, 3]]"], pa.list_(pa.list_(pa.float64()))),
        (["null", "null"], pa.null()),
        (['"1"', '"2020-01-01"'], pa.large_string()),
        (["18446744073709551616", "1"], pa.large_string()),
        (["1e400"], pa.large_string()),
        (["1", '"x"'], pa.large_string()),
        (['{"a": 1}'], pa.large_string()),
        (['[1, "x"]'], pa.large_string()),
    ],
)
def test_a_column_of_json_lines_has_the_type_of_all_its_values(
    tmp_path: Path, written: list[str], kind: pa.DataType
) -> None:
    lines = [f'{{"text": "x", "m": {each}}}' for each in written]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    (batch,) = open_source(tmp_path / "in.jsonl", column="text", metadata_columns=["m"])
    assert batch.table.schema.field("m").type == kind
    values = batch.table["m"].to_pylist()
    if kind != pa.large_string():
        assert values == [json.loads(each) for each in written]


def test_a_column_that_is_kept_has_the_type_of_its_file(tmp_path: Path) -> None:
    first = pa.table(
        {"text": ["a"], "n": pa.array([1], pa.int16()), "v": [[[0.5]]], "k": pa.array(["x"]).dictionary_encode()}
    )
    second = pa.table({"text": ["b"], "n": ["one"], "v": [None], "k": [None]})
    pq.write_table(first, tmp_path / "a.parquet")
    (batch,) = open_source(tmp_path, column="text", metadata_columns=["n", "v", "k"])
    assert [str(batch.table.schema.field(name).type) for name in "nvk"] == [
        "int16", "list<element: list<element: double>>", "string"
    ]  # fmt: skip
    pq.write_table(second, tmp_path / "b.parquet")
    (batch,) = open_source(tmp_path, column="text", metadata_columns=["n", "v", "k"])
    assert batch.table.select(["n", "v", "k"]).to_pylist() == [
        {"n": "1", "v": [[0.5]], "k": "x"}, {"n": "one", "v": None, "k": None}
    ]  # fmt: skip


def test_columns_of_parquet_are_those_of_its_first_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"id": ["a", "b"], "text": ["Cats purr.", "Dogs bark."], "year": [1, 2]})
    pq.write_table(table, path, compression="none")
    assert open_source(path).column_names() == [*next(open_source(path).tables()).column_names] == table.column_names
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Cats purr.", b"\xff" * 10))  # unreadable rows give no information about the columns
    assert open_source(path).column_names() == table.column_names
    path.write_bytes(data[:-9] + bytes(9))
    assert open_source(path).column_names() == []
    pq.write_table(table[:0], path)
    assert open_source(path).column_names() == []
    pq.write_table(pa.Table.from_arrays([table["text"]] * 2, ["text", "text"]), path)
    assert open_source(path).column_names() == []


def test_batches_in_pieces_hold_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pychunk.io.formats.parquet_files.TOGETHER_BYTES", 1)
    table = pa.table({"id": [str(n) for n in range(400)], "text": [f"Text {n}." * 50 for n in range(400)]})
    pq.write_table(table, tmp_path / "a.parquet", data_page_size=1000, row_group_size=90)
    whole = [batch.table for batch in open_source(tmp_path / "a.parquet").batches()]
    pieces = [batch.table for batch in open_source(tmp_path / "a.parquet").batches(in_pieces=True)]
    assert pieces[0]["text"].num_chunks > 1
    assert {name: pieces[0][name].num_chunks for name in pieces[0].column_names if name != "text"} == {
        "id": 1,
        "file": 1,
    }
    assert len(pieces) == len(whole)
    assert all(one.equals(other) for one, other in zip(pieces, whole, strict=True))
