"""Indexes, chunk tables and hierarchies that an older version of pychunk wrote, with former names of columns."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("faiss")

import pychunk
from pychunk._engine.data.columns import FORMER
from pychunk.index.store.index_folder import SCHEMA
from pychunk.levels.hierarchy import Hierarchy

FORMER_FILES = Path(__file__).parents[1] / "data" / "schema_6"
TEXTS = ["Cats purr when they are content. They sleep by day.", "The sun is a star. Stars burn hydrogen."]
#: The columns of the caller; ``relevance`` is one of pychunk's names now.
KEPT = {"relevance_": ["pets", "sky"], "year": [2001, 2002]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(FORMER_FILES, tmp_path / "former")
    return tmp_path / "former"


def chunks_of_now() -> pychunk.ChunkBatch:
    batch = {"text": TEXTS, **KEPT}
    return pychunk.segment(
        batch,
        "sentence",
        columns={"text": "text"},
        ids=["a", "b"],
        metadata_columns=list(KEPT),
        vectors="sentence",
        keep_together=False,
    )


def without_text_ids(table: pa.Table) -> pa.Table:
    """Return a table as the older version made it, which had no text ids."""
    return table.drop_columns(["text_id"])


def without_metadata(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata(None)


def test_the_files_have_former_names(folder: Path) -> None:
    names = pq.read_schema(folder / "chunks.parquet").names
    assert set(FORMER) <= set(names)
    assert json.loads((folder / "index" / "manifest.json").read_text())["schema"] < SCHEMA


@pytest.mark.parametrize("verify", [True, "headers"])
def test_an_index_opens_and_finds_the_same(folder: Path, tmp_path: Path, verify: bool) -> None:
    with pychunk.Index.create(tmp_path / "new.idx") as new:
        new.add(chunks_of_now())
    with pychunk.Index.open(folder / "index", verify=verify) as old, pychunk.Index.open(tmp_path / "new.idx") as new:
        assert without_metadata(old.table) == without_text_ids(without_metadata(new.table))
        for mode in ("dense", "sparse", "hybrid"):
            found = [replace(hit, text_id=None) for hit in new.search("Why do cats purr?", 3, mode)[0]]
            assert list(old.search("Why do cats purr?", 3, mode)[0]) == found
        (hits,) = old.search("Why do cats purr?", 1, where={"relevance_": "pets"}, ids=["a"])
        assert (hits[0].document_id, hits[0].chunk_index, hits[0].metadata["relevance_"]) == ("a", 0, "pets")


def test_an_index_of_before_is_changed_and_saved(folder: Path) -> None:
    with pychunk.Index.open(folder / "index") as index:
        index.add(pychunk.segment(["Bread needs flour."], "sentence", ids=["c"], vectors="sentence"))
        assert index.remove(["b"]) == 2
    with pychunk.Index.open(folder / "index") as index:
        assert list(index.ids()) == ["a", "c"]
        hits = {hit.document_id: hit.text_id for hit in index.search("flour of cats", 3)[0]}
        assert hits == {"a": None, "c": pychunk.segment("Bread needs flour.", ids="c")[0].text_id}
        assert index.get("a")["year"].to_pylist() == [2001, 2001]
    assert json.loads((folder / "index" / "manifest.json").read_text())["schema"] == SCHEMA


def test_a_file_of_chunks_is_added_and_augmented(folder: Path, tmp_path: Path) -> None:
    table = pq.read_table(folder / "chunks.parquet")
    now = chunks_of_now()
    with pychunk.Index.create(tmp_path / "x") as index:
        index.add(table)
        assert index.table.to_pylist() == without_text_ids(now.table).drop_columns(["sentences"]).to_pylist()
    assert pychunk.augment(table, "head")["context"] == pychunk.augment(now, "head").table["context"]


def test_a_file_of_chunks_is_compared(folder: Path) -> None:
    now = chunks_of_now().table
    facts = json.loads(now.schema.metadata[b"pychunk"]) | {"pychunk": "9.9"}
    now = now.replace_schema_metadata({b"pychunk": json.dumps(facts)})
    found = pychunk.diff(pq.read_table(folder / "chunks.parquet"), now)
    assert found.counts == {"kept": 4, "moved": 0, "added": 0, "removed": 0}
    assert "pychunk: 0.1.0 in the old chunks, 9.9 in the new" in found.notes


def test_a_hierarchy_is_read(folder: Path) -> None:
    found = Hierarchy.from_arrow(pq.read_table(folder / "levels.parquet"))
    now = pychunk.segment_levels(TEXTS, ["sentence", "document"], ids=["a", "b"])
    assert without_metadata(found.to_arrow()) == without_metadata(now.to_arrow())
