"""Ray gives the chunks of segment(), from two actors, also if one of them dies."""

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Ray listens only on loopback if it is told that there is no cluster; it reads this at its import.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

import pyarrow as pa
import pytest

pytest.importorskip("ray.data")
import ray

import pychunk
from pychunk.integrations import ray as adapter

pytestmark = pytest.mark.slow  # a minute: Ray starts, and its actors for each job

TEXTS = [
    "One sentence here. Another one there. A third. " * 20,
    "",
    "Dogs bark. Cats purr!",
    " \n ",
    "Naïve café. 東京。",
]


def articles(copies: int = 6) -> pa.Table:
    texts = [f"{copy}. {text}" if text.strip() else text for copy in range(copies) for text in TEXTS]
    rows = range(len(texts))
    return pa.table({"text": texts, "key": [f"d{row}" for row in rows], "n": rows, "unused": [None for _ in rows]})


@pytest.fixture(scope="module", autouse=True)
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        _temp_dir=str(tmp_path_factory.mktemp("r")),
        logging_level=logging.ERROR,
        log_to_driver=False,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    yield
    ray.shutdown()


def dataset(table: pa.Table, cuts: list[int]) -> Any:
    """Return blocks between the cuts; two equal cuts make an empty one."""
    ends = [*cuts, table.num_rows]
    return ray.data.from_arrow([table.slice(begin, end - begin) for begin, end in zip([0, *cuts], ends)])


def rows(result: Any, *keys: str) -> list[dict[str, Any]]:
    table = pa.concat_tables(block for block in ray.get(result.to_arrow_refs()) if block.num_rows)
    return table.sort_by([(key, "ascending") for key in (*keys, "chunk_index")]).to_pylist()


def expected(
    table: pa.Table, method: str | None = None, metadata_columns: tuple[str, ...] = (), **options: Any
) -> list[dict[str, Any]]:
    found = pychunk.segment(table, method, columns={"text": "text"}, ids="key", **options).table.to_pylist()
    kept = table.select(metadata_columns).to_pylist()
    wanted = [{**row, **kept[row["document_index"]]} for row in found]
    return without_documents(sorted(wanted, key=lambda row: (row["document_id"], row["chunk_index"])))


def without_documents(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "document_index"} for row in found]


def test_rows_are_those_of_segment() -> None:
    table = articles()
    out = adapter.segment(
        dataset(table, [7, 7, 20]),
        columns={"text": "text"},
        ids="key",
        metadata_columns=["n"],
        vectors="chunk",
        concurrency=2,
        batch_bytes=900,
    )
    found = rows(out, "document_id")
    assert without_documents(found) == expected(table, metadata_columns=("n",), vectors="chunk")
    assert len({row["document_index"] for row in found}) == len({row["document_id"] for row in found}) == 18
    block = next(block for block in ray.get(out.to_arrow_refs()) if block.num_rows)
    alone = pychunk.segment(table, columns={"text": "text"}, ids="key", vectors="chunk").table
    assert block.schema.field("vector").type == alone.schema.field("vector").type
    assert block.schema.metadata[b"pychunk"] == alone.schema.metadata[b"pychunk"]  # an index asks for the encoder


def test_without_ids_the_document_is_the_key() -> None:
    table = articles()
    once = rows(adapter.segment(dataset(table, [3]), "sentence", columns={"text": "text"}), "document_index")
    again = rows(adapter.segment(dataset(table, [8, 19]), "sentence", columns={"text": "text"}), "document_index")
    assert once == again
    alone = pychunk.segment(table, "sentence", columns={"text": "text"}).table.to_pylist()
    in_order = sorted(without_documents(alone), key=lambda row: (row["chunk_id"], row["chunk_index"]))
    assert sorted(without_documents(once), key=lambda row: (row["chunk_id"], row["chunk_index"])) == in_order


def test_pandas_blocks_and_the_only_string_column() -> None:
    pd = pytest.importorskip("pandas")
    table = articles(1).select(["text", "n"])
    out = rows(
        adapter.segment(ray.data.from_pandas(pd.DataFrame(table.to_pandas())), "sentence", ids="n"), "document_id"
    )
    alone = pychunk.segment(table, "sentence", ids="n").table.to_pylist()
    assert without_documents(out) == without_documents(alone)


def test_rows_that_are_not_text() -> None:
    table = pa.table({"text": ["One. Two.", None, "Three."], "key": ["a", "b", "c"]})
    good = expected(table, "sentence", on_error="skip")

    def run(on_error: str) -> list[dict[str, Any]]:
        return rows(
            adapter.segment(dataset(table, [1]), "sentence", columns={"text": "text"}, ids="key", on_error=on_error),
            "document_id",
        )

    assert without_documents(run("skip")) == good
    found = run("row")
    assert [row["document_id"] for row in found] == ["a", "a", "b", "c"]
    assert [row["error"] for row in found] == [None, None, "the text is null", None]
    with pytest.raises(Exception, match="id 'b': the text is null; fix it or pass on_error='skip' or 'row'"):
        run("raise")


def test_what_cannot_work_is_said_before_anything_runs(tmp_path: Path) -> None:
    def never(block: pa.Table) -> pa.Table:
        (tmp_path / "ran").touch()
        return block

    lazy = dataset(articles(1), []).map_batches(never, batch_format="pyarrow")
    with pytest.raises(ValueError, match="unknown method 'semantics'; choose one of pic"):
        adapter.segment(lazy, "semantics", columns={"text": "text"})
    with pytest.raises(ValueError, match="max_tokens"):
        adapter.segment(lazy, columns={"text": "text"}, max_tokens=0)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(
        ValueError, match="metadata_columns='title' is not a column; the columns are text, key, n, unused"
    ):
        adapter.segment(dataset(articles(1), []), columns={"text": "text"}, metadata_columns=["title"])


def test_a_worker_that_dies_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Dying(adapter._Actor):
        """A segmenter that kills its own process once, after it passed on part of a block's chunks."""

        def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
            for part, table in enumerate(super().__call__(block)):
                if part == 1 and not (tmp_path / "died").exists():
                    (tmp_path / "died").write_text(str(os.getpid()))
                    os.kill(os.getpid(), signal.SIGKILL)
                yield table

    monkeypatch.setattr(adapter, "_Actor", Dying)
    table = articles()
    out = adapter.segment(dataset(table, [10, 20]), columns={"text": "text"}, ids="key", concurrency=2, batch_bytes=900)
    found = without_documents(rows(out, "document_id"))
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "died").read_text()), 0)
    assert found == expected(table)


class Recorded:
    """A stand-in for a dataset that records the arguments for Ray."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}

    def schema(self, fetch_if_missing: bool) -> None:
        assert not fetch_if_missing

    def select_columns(self, names: list[str]) -> "Recorded":
        self.asked["names"] = names
        return self

    def map_batches(self, actor: Any, **arguments: Any) -> dict[str, Any]:
        return {**self.asked, **arguments}


def test_resources_are_asked_for() -> None:
    asked: Any = adapter.segment(
        Recorded(), columns={"text": "text"}, ids="key", metadata_columns=["n"], num_gpus=0.5, concurrency=(1, 3)
    )
    assert (asked["num_gpus"], asked["num_cpus"], asked["batch_size"]) == (0.5, 1, adapter.GPU_ROWS)
    assert (asked["compute"].min_size, asked["compute"].max_size) == (1, 3)
    assert asked["names"] == ["text", "key", "n"]
    asked = adapter.segment(Recorded(), num_cpus=4, batch_size=10)
    assert (asked["num_gpus"], asked["num_cpus"], asked["batch_size"]) == (None, 4, 10)
    assert asked["fn_constructor_args"][0].options["placement"].threads == 4
    assert "names" not in asked
