"""The recipes of docs/corpora.md, run as written, keep a store equal to the chunks of an updated folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from doc_blocks import blocks

from pychunk.ingest import ingest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "corpora.md"
CATS, STARS = "Cats purr when they are content. They sleep by day.", "The sun is a star. Stars burn hydrogen."
BAKED, BROWN = "Bread is baked of flour.", "It's brown, and has a \\N crust."
#: The corpus after each change. The second one changes, adds and removes documents, and exchanges two sentences. The
#: third one has a sentence of a removed document in another one. Then chunks are only removed, then none changes.
CORPORA = [
    {"cats": CATS, "stars": STARS, "bread": f"{BAKED} {BROWN}"},
    {"cats": f"{CATS} Some snore.", "bread": f"A baker rises early. {BROWN} {BAKED}", "їжак": "Їжак їсть яблука."},
    {"cats": f"{CATS} Some snore. Їжак їсть яблука.", "bread": f"{BROWN} {BAKED}"},
    {"cats": CATS, "bread": BAKED},
    {"cats": CATS, "bread": BAKED},
]
ROW = {"text_id": pa.string(), "document_id": pa.string(), "start": pa.int64(), "text": pa.string()}
DIM = 256


def of_qdrant() -> Callable[[], dict[str, int]]:
    client_module = pytest.importorskip("qdrant_client")
    models = client_module.models
    client = client_module.QdrantClient(path="qdrant")
    client.create_collection("chunks", vectors_config=models.VectorParams(size=DIM, distance=models.Distance.COSINE))
    client.close()

    def stored() -> dict[str, int]:
        client = client_module.QdrantClient(path="qdrant")
        points = client.scroll("chunks", limit=1000, with_payload=True)[0]
        client.close()
        return {point.id.replace("-", ""): point.payload["start"] for point in points}

    return stored


def of_lance() -> Callable[[], dict[str, int]]:
    lancedb = pytest.importorskip("lancedb")
    schema = pa.schema({**ROW, "vector": pa.list_(pa.float32(), DIM)})
    lancedb.connect("lance").create_table("chunks", schema=schema)

    def stored() -> dict[str, int]:
        rows = lancedb.connect("lance").open_table("chunks").to_arrow()
        return dict(zip(rows["text_id"].to_pylist(), rows["start"].to_pylist()))

    return stored


def of_postgres() -> Callable[[], dict[str, int]]:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect() as database:
        database.execute("create extension if not exists vector")
        database.execute("drop table if exists chunks")
        columns = "text_id text primary key, document_id text, start bigint, text text"
        database.execute(f"create table chunks ({columns}, vector vector({DIM}))")

    def stored() -> dict[str, int]:
        with psycopg.connect() as database:
            return dict(database.execute("select text_id, start from chunks").fetchall())

    return stored


STORES = {"qdrant_client": of_qdrant, "lancedb": of_lance, "psycopg": of_postgres}


@pytest.mark.parametrize("need", STORES)
def test_a_store_that_is_fed_all_changes_has_the_chunks(
    need: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    pytest.importorskip(need)
    if need == "psycopg":
        for name, value in request.getfixturevalue("postgres").items():
            monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    stored = STORES[need]()
    seen = set()
    for number, corpus in enumerate(CORPORA):
        update(corpus)
        shards = pyarrow.dataset.dataset("nightly.chunks").to_table()
        expected = dict(zip(shards["text_id"].to_pylist(), shards["start"].to_pylist()))
        for _ in range(2):  # Feeding the changes twice does no harm.
            names: dict[str, Any] = {"new": shards.select([*ROW, "vector"]).to_pylist(), "gone": []}
            if number:
                seen |= set(pq.read_table("nightly.chunks/_changes.parquet")["change"].to_pylist())
                run("_changes.parquet", names)
            run(need, names)
            if "client" in names:
                names["client"].close()
            assert stored() == expected
    assert seen == {"added", "moved", "kept", "removed"}


def update(corpus: dict[str, str]) -> None:
    lines = (json.dumps({"id": name, "text": text}) for name, text in corpus.items())
    Path("nightly.jsonl").write_text("\n".join(lines), encoding="utf-8")
    options: dict[str, Any] = {"method": "sentence", "vectors": "chunk", "keep_together": False, "min_tokens": 0}
    ingest("nightly.jsonl", "nightly.chunks", columns={"text": "text"}, ids="id", update=True, **options)


def run(word: str, names: dict[str, Any]) -> None:
    """Run the block of the page that has a word."""
    (found,) = (block.text for block in blocks(PAGE) if block.language == "python" and word in block.text)
    exec(compile(found, str(PAGE), "exec"), names)
