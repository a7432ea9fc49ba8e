"""An update links the shards without changed documents, rewrites the others, and joins many small ones."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shard_rows import check_same_rows

from pychunk.ingest import ingest, kept_shards

pytestmark = pytest.mark.usefixtures("small_batches")


def write(path: Path, texts: dict[str, str]) -> None:
    import json

    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()))


def updated(path: Path, out: Path, size: int = 9000) -> Any:
    return ingest(path, out, update=True, method="sentence", columns={"text": "text"}, ids="id", shard_bytes=size)


def inodes(out: Path) -> dict[str, int]:
    return {str(path.relative_to(out)): path.stat().st_ino for path in sorted(out.rglob("part-*"))}


@pytest.fixture
def texts() -> dict[str, str]:
    return {f"d{i}": " ".join(f"Document {i} has sentence {j}." for j in range(20)) for i in range(90)}


@pytest.mark.parametrize("links", [True, False])
def test_only_shards_that_lose_documents_are_written_again(
    tmp_path: Path, texts: dict[str, str], monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    write(path, texts)
    updated(path, out)
    before = inodes(out)
    assert len(before) >= 8
    if not links:

        def refused(*_: Any) -> None:
            raise OSError

        monkeypatch.setattr(os, "link", refused)
    texts["d0"] += " It has one more."
    del texts["d1"]
    write(path, texts)
    assert updated(path, out).kept == 88
    after = inodes(out)
    changed = {name for name in before if before[name] != after.get(name)}
    assert changed == ({"part-000000.parquet", "_digests/part-000000.parquet"} if links else set(before))
    assert len(after) == len(before) + 2
    updated(path, tmp_path / "new")
    check_same_rows(out, tmp_path / "new")


def test_a_shard_goes_with_its_last_document(tmp_path: Path, texts: dict[str, str]) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    write(path, texts)
    updated(path, out)
    before = inodes(out)
    rest = dict(list(texts.items())[60:])
    write(path, rest)
    assert updated(path, out).kept == 30
    assert 0 < len(inodes(out)) < len(before)
    updated(path, tmp_path / "new")
    check_same_rows(out, tmp_path / "new")


def test_the_shards_of_many_small_updates_are_joined(tmp_path: Path, texts: dict[str, str]) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    write(path, texts)
    updated(path, out, 20000)
    first = len(list(out.glob("part-*")))
    for step in range(30):
        texts[f"n{step}"] = f"Document {step} is new. It is short."
        write(path, texts)
        updated(path, out, 20000)
        assert len(list(out.glob("part-*"))) <= first + 2 * kept_shards.MANY
    updated(path, tmp_path / "new", 20000)
    check_same_rows(out, tmp_path / "new")


def test_a_column_keeps_its_type_and_gets_one_with_its_first_value(tmp_path: Path) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out"

    def ingested(years: pa.Array) -> Any:
        texts = [f"Document {number}." for number in range(len(years))]
        pq.write_table(pa.table({"id": list(map(str, range(len(years)))), "text": texts, "year": years}), path)
        options: dict[str, Any] = {"method": "sentence", "columns": {"text": "text"}, "metadata_columns": ["year"]}
        return ingest(path, out, update=True, ids="id", **options)

    ingested(pa.nulls(3))
    ingested(pa.array([None, None, None, 7]))
    assert {pq.read_schema(each).field("year").type for each in out.glob("part-*")} == {pa.int64()}
    assert ingested(pa.array([None, None, None, 7, 8])).kept == 4
    with pytest.raises(ValueError, match=r"column 'year' was of type int64 in the last run, and is of type string"):
        ingested(pa.array([None, None, None, "7", "8"]))


def test_a_damaged_shard_is_not_taken_over(tmp_path: Path, texts: dict[str, str]) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    write(path, texts)
    updated(path, out)
    shard = out / "part-000000.parquet"
    shard.write_bytes(shard.read_bytes().replace(b"Document 0", b"Dokument 0"))
    texts["d0"] += " It has one more."
    write(path, texts)
    with pytest.raises(ValueError, match=r"part-000000.*is damaged: its SHA-256 differs.*Restore it"):
        updated(path, out)
    texts["d0"] = texts["d0"].removesuffix(" It has one more.")
    texts["d89"] += " It has one more."
    write(path, texts)
    updated(path, out)  # The damaged shard is linked, so its SHA-256 still shows the damage.
    with pytest.raises(ValueError, match=r"part-000000.*is damaged.*cannot be written again.*Restore it"):
        updated(path, out)
