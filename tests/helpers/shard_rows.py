"""The rows of a run's folder, and the check that two folders hold the same ones."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pychunk.ingest.run_manifest import Manifest
from pychunk.ingest.verification import damage


def rows_of(out: Path, name: str = "") -> list[dict[str, Any]]:
    """Return the rows of a data set without the numbers of their documents, which must rise from shard to shard."""
    rows = [row for path in sorted((out / name).glob("part-*")) for row in pq.read_table(path).to_pylist()]
    numbers = [row.pop("document_index") for row in rows]
    assert numbers == sorted(numbers)
    return sorted(rows, key=lambda row: (row["document_id"], row.get("start", 0)))


def facts_of(out: Path) -> dict[str, Any]:
    """Return the totals of a manifest that an update and a new run must agree in."""
    shards = json.loads((out / "_manifest.json").read_text())["shards"]
    names = ("documents", "chunks", "text_bytes", "letters", "blank", "dropped")
    return {name: sum(shard[name] for shard in shards) for name in names}


def check_same_rows(out: Path, new: Path) -> None:
    """Check that two folders hold the same rows and complete shards, apart from the order of documents."""
    names = [path.name for path in new.iterdir() if path.is_dir()]
    for name in ["", *names]:
        assert rows_of(out, name) == rows_of(new, name)
    assert facts_of(out) == facts_of(new)
    manifest = Manifest.load(out)
    assert manifest is not None
    assert not damage(out, manifest.shards, hashes=True)
    for name in ["", *names]:
        assert sorted(path.name for path in (out / name).glob("part-*")) == [shard.name for shard in manifest.shards]
    assert sorted((out / "_dead_letters.jsonl").read_text().splitlines()) == sorted(
        (new / "_dead_letters.jsonl").read_text().splitlines()
    )
