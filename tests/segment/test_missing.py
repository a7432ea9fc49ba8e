"""Documents without a title or a summary: an error that names the row, or omission, in any container."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from command_line import invoke

import pychunk
from pychunk.ingest import ingest
from pychunk.inputs.document_columns import DocumentColumns

TEXTS = ["Cats purr. The sun burns.", "Dogs bark. It rains.", "One. Two.", "Three. Four."]
TITLES: list[str | None] = ["cats", None, "numbers", None]
FRAME = {"text": TEXTS, "headline": TITLES}


def frames() -> list[tuple[Any, DocumentColumns]]:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    return [
        (TEXTS, {"titles": TITLES}),
        (pa.table(FRAME), {"titles": "headline", "text": "text"}),
        (pandas.DataFrame(FRAME), {"titles": "headline", "text": "text"}),
        (polars.DataFrame(FRAME), {"titles": "headline", "text": "text"}),
    ]


@pytest.mark.parametrize("case", range(4))
def test_a_missing_title_is_an_error_or_leaves_its_document_out(case: int) -> None:
    batch, columns = frames()[case]
    name = "titles" if case == 0 else "titles='headline'"
    with pytest.raises(
        ValueError, match=f"{name} must not be null; got null for document 1: give a text, or pass on_error='skip'"
    ):
        pychunk.segment(batch, "pic", summary="title", columns=columns)
    found = pychunk.segment(batch, "pic", summary="title", on_error="skip", summaries_out=True, columns=columns)
    assert found.errors == [(1, f"{name} is null"), (3, f"{name} is null")]
    whole = pychunk.segment([TEXTS[0], TEXTS[2]], "pic", summary="title", columns={"titles": ["cats", "numbers"]})
    assert found.texts == whole.texts
    assert found.table["document_index"].to_pylist() == [2 * row for row in whole.table["document_index"].to_pylist()]
    assert found.documents == 4


def test_a_row_that_lacks_both_is_told_once_and_floats_may_be_missing() -> None:
    found = pychunk.segment(["a.", None], "pic", summary="title", columns={"titles": ["x", None]}, on_error="skip")
    assert found.errors == [(1, "the text is null")]
    found = pychunk.segment(
        ["a.", "b."], "pic", summary="given", columns={"summaries": [1.5, float("nan")]}, on_error="skip"
    )
    assert found.errors == [(1, "summaries is null")]
    with pytest.raises(TypeError, match=r"titles=.t. must be strings.*got list"):
        pychunk.segment(
            pa.table({"text": ["a."], "t": [["x"]]}), "pic", summary="title", columns={"text": "text", "titles": "t"}
        )


def written(folder: Path, kind: str) -> Path:
    path = folder / f"in.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(FRAME), path)
    else:
        rows = [{"text": text, "headline": title} for text, title in zip(TEXTS, TITLES)]
        del rows[3]["headline"]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_in_a_file_it_is_a_dead_letter_that_names_column_and_row(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, kind)
    report = ingest(
        path, tmp_path / "out", columns={"text": "text", "titles": "headline"}, method="pic", summary="title"
    )
    assert (report.documents, report.letters) == (2, 2)
    letters = [json.loads(line) for line in (tmp_path / "out" / "_dead_letters.jsonl").read_text().splitlines()]
    assert [letter["reason"] for letter in letters] == ["column 'headline' is null"] * 2
    unit = "row" if kind == "parquet" else "line"
    assert [letter["position"] for letter in letters] == [f"{unit} 2", f"{unit} 4"]
    cut = ds.dataset(tmp_path / "out").to_table()
    whole = pychunk.segment([TEXTS[0], TEXTS[2]], "pic", summary="title", columns={"titles": ["cats", "numbers"]})
    assert cut["text"].to_pylist() == whole.texts


def test_on_the_command_line(tmp_path: Path) -> None:
    path = str(written(tmp_path, "parquet"))
    (tmp_path / "a.txt").write_text("No title here.")
    flags = ["--column", "text", "--column", "titles=headline", "-o", str(tmp_path / "o.parquet")]
    done = invoke(["segment", path, *flags])
    assert done.exit_code == 2
    assert f"{path}, row 2: column 'headline' is null; fix it, or pass --on-error skip" in done.output
    done = invoke(["segment", path, str(tmp_path / "a.txt"), *flags, "--on-error", "skip"])
    assert done.exit_code == 0, done.output
    assert "a.txt: text has no column 'headline', which every document needs" in done.output
    assert set(pq.read_table(tmp_path / "o.parquet")["document_index"].to_pylist()) == {0, 1}
