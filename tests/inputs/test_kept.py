"""Columns to keep that only some files have: null in the others, in any order; if none has them, an error."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from command_line import invoke

from pychunk.ingest import ingest
from pychunk.io import open_source

#: The title of the document in each file.
TITLES = {
    "a.csv": "A",
    "b.txt": None,
    "c.jsonl": "C",
    "d.parquet": "D",
    "e.tsv": None,
    "f.jsonl": None,
    "g.parquet": None,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    (made / "a.csv").write_text("id,text,title\na.csv,Cats purr.,A\n")
    (made / "b.txt").write_text("Dogs bark.")
    (made / "c.jsonl").write_text('{"id": "c.jsonl", "text": "Owls hunt.", "title": "C"}\n')
    pq.write_table(pa.table({"id": ["d.parquet"], "text": ["Fish swim."], "title": ["D"]}), made / "d.parquet")
    (made / "e.tsv").write_text("id\ttext\ne.tsv\tBees hum.\n")
    (made / "f.jsonl").write_text('{"id": "f.jsonl", "text": "Mice hide."}\n')
    nothing = {"id": ["g.parquet"], "text": ["Ants work."], "title": pa.nulls(1)}
    pq.write_table(pa.table(nothing), made / "g.parquet")
    return made


def chunks(out: Path) -> tuple[dict[str, Any], pa.DataType]:
    table = pyarrow.dataset.dataset(out, format="parquet").to_table()
    names = [Path(name).name for name in table["document_id"].to_pylist()]
    return dict(zip(names, table["title"].to_pylist())), table.schema.field("title").type


@pytest.mark.filterwarnings("error")
def test_a_folder(folder: Path, tmp_path: Path) -> None:
    ingest(folder, tmp_path / "out", columns={"text": "text"}, metadata_columns=["title"])
    assert chunks(tmp_path / "out") == (TITLES, pa.large_string())
    tables = [batch.table for batch in open_source(folder, column="text", metadata_columns=["title"])]
    assert {Path(row["file"]).name: row["title"] for table in tables for row in table.to_pylist()} == TITLES
    assert {table.schema.field("title").type for table in tables} <= {pa.large_string(), pa.string()}
    done = invoke(
        ["segment", str(folder), "--column", "text", "--metadata-columns", "title", "-o", str(tmp_path / "out.parquet")]
    )
    assert done.exit_code == 0, done.output
    assert chunks(tmp_path / "out.parquet")[0] == TITLES


@pytest.mark.slow
@pytest.mark.parametrize("names", list(permutations(["a.csv", "b.txt", "e.tsv", "g.parquet"])), ids="-".join)
def test_files_in_any_order(folder: Path, tmp_path: Path, names: tuple[str, ...]) -> None:
    paths = [folder / name for name in names]
    ingest(paths, tmp_path / "out", columns={"text": "text"}, metadata_columns=["title"])
    wanted = {name: TITLES[name] for name in names}
    assert chunks(tmp_path / "out") == (wanted, pa.large_string())
    done = invoke(
        [
            "segment",
            *map(str, paths),
            "--column",
            "text",
            "--metadata-columns",
            "title",
            "-o",
            str(tmp_path / "out.parquet"),
        ]
    )
    assert done.exit_code == 0, done.output
    assert chunks(tmp_path / "out.parquet") == (wanted, pa.large_string())


@pytest.mark.parametrize("order", [["a.jsonl", "b.parquet"], ["b.parquet", "a.jsonl"]])
def test_the_type_is_that_of_the_first_file_that_has_it(tmp_path: Path, order: list[str]) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "a.jsonl", "text": "Cats purr."}\n')
    pq.write_table(pa.table({"id": ["b.parquet"], "text": ["Dogs bark."], "title": [7]}), tmp_path / "b.parquet")
    ingest([tmp_path / name for name in order], tmp_path / "out", columns={"text": "text"}, metadata_columns=["title"])
    assert chunks(tmp_path / "out") == ({"a.jsonl": None, "b.parquet": 7}, pa.int64())


def test_a_column_that_no_file_has_is_an_error_that_says_what_there_is(folder: Path, tmp_path: Path) -> None:
    said = "metadata_columns: 'titel' is not a column of the file .*b.txt; columns that can be kept: none"
    with pytest.raises(ValueError, match=said):
        ingest(folder / "b.txt", tmp_path / "out", metadata_columns=["titel"])
    with pytest.raises(ValueError, match=r"not a column of the file .*b.txt"):
        list(open_source(folder / "b.txt", metadata_columns=["titel"]))
    paths = [folder / "a.csv", folder / "b.txt"]
    said = r"'titel' is not a column of any file of .* \(did you mean 'title'\?\); columns that can be kept: title"
    with pytest.raises(ValueError, match=said):
        ingest(paths, tmp_path / "out", columns={"text": "text"}, metadata_columns=["titel"])
    assert not (tmp_path / "out").exists()
    done = invoke(["segment", *map(str, paths), "--column", "text", "--metadata-columns", "titel"])
    assert done.exit_code == 2
    said = (
        "--metadata-columns: none of the inputs has a column 'titel' (did you mean 'title'?); the columns are id, text"
    )
    assert f"{said}, title" in " ".join(done.stderr.split())
