"""Batches of a source, each with its letters, against the documents that they stand for."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.io import DeadLetter, columns, json_lines, open_source, rows, source, streams, tables
from pychunk.io.documents import grouped, table_of


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
    table = pa.table({"text": pa.array(texts, pa.string()), "extra": pa.array([None] * len(texts), pa.string())})
    if ids is not None:
        table = table.append_column("id", ids)
    schema = source.schema((("extra", pa.string()),))
    found: list[DeadLetter] = []
    expected: list[DeadLetter] = []
    options: dict[str, Any] = {"column": "text", "id_column": None, "metadata": ("extra",)}

    def parts() -> list[tables.Part]:
        spans = [range(at, min(at + cuts, len(texts))) for at in range(0, len(texts), cuts)]
        return [tables.Part(table.slice(s[0], len(s)), "row", range(s[0] + 1, s[-1] + 2), s[-1]) for s in spans]

    runs = columns.runs(parts(), "f", found.append, schema, **options)
    groups = [columns.joined(group) for group in columns.grouped(runs, max_bytes)]
    documents = rows.documents(parts(), "f", expected.append, **options)
    wanted = [table_of(group, schema) for group in grouped(documents, max_bytes)]
    assert [group.to_pylist() for group in groups] == [group.to_pylist() for group in wanted]
    assert [group.schema for group in groups] == [group.schema for group in wanted]
    assert found == expected


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
