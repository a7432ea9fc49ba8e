"""A former run finds unchanged documents by their digests, and returns their rows under new numbers."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from pychunk.ingest import ingest
from pychunk.ingest.former_run import FormerRun, digest_table, digests_of, merged
from pychunk.ingest.run_manifest import Manifest


def test_digests_depend_on_every_column_and_on_the_reader() -> None:
    table = pa.table({"id": ["a", "b"], "text": ["One.", "Two."], "year": [1, 2]})
    first = digests_of(table).values
    assert (digests_of(table.slice(1)).values == first[:, 1:]).all()
    others = [
        table.set_column(1, "text", pa.array(["One!", "Two."])),
        table.set_column(2, "year", pa.array([3, 2])),
        table.replace_schema_metadata({"reader": "other"}),
    ]
    assert [(digests_of(other).values[1:, 0] != first[1:, 0]).any() for other in others] == [True] * 3


def test_a_document_that_failed_has_no_digest_and_is_never_found(tmp_path: Path) -> None:
    found = digests_of(pa.table({"id": ["a", "b"], "text": ["One.", "Two."]}))
    table = digest_table(found, 5, [1])
    assert table["document_index"].to_pylist() == [5, 6]
    assert [digest is None for digest in table["digest"].to_pylist()] == [False, True]


def test_rows_come_under_new_numbers_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": f"d{i}", "text": f"One {i}. Two {i}."}) + "\n" for i in range(9)))
    ingest(path, tmp_path / "out", columns={"text": "text"}, ids="id", method="sentence", update=True)
    manifest = Manifest.load(tmp_path / "out")
    assert manifest is not None
    former = FormerRun(tmp_path / "out", manifest)
    assert former.ids.to_pylist() == [f"d{i}" for i in range(9)]
    unknown = digests_of(pa.table({"id": ["d1"], "text": ["Other."]}))
    assert former.find(unknown).tolist() == [-1]
    pieces = [
        former.tables([""], np.array([7, 2]), np.array([0, 4])),
        former.tables([""], np.array([3]), np.array([1])),
    ]
    rows = merged(pieces)[""].select(["document_index", "document_id", "text"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (0, "d7", "One 7."), (0, "d7", "Two 7."), (1, "d3", "One 3."),
        (1, "d3", "Two 3."), (4, "d2", "One 2."), (4, "d2", "Two 2."),
    ]  # fmt: skip
