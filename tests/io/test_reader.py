"""pychunk.read: documents of files as one batch, and what segment says of a path."""

import warnings
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pychunk


def test_the_documents_of_files_of_several_kinds_are_one_batch(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\na,Cats purr.\n")
    (tmp_path / "b.txt").write_text("Dogs bark.")
    pq.write_table(pa.table({"id": ["c"], "text": ["Owls hoot."], "year": [7]}), tmp_path / "c.parquet")
    batch = pychunk.read(tmp_path, metadata_columns=["year"])
    assert len(batch) == 3
    chunks = pychunk.segment(batch, metadata_columns=["year"])
    by_text = {chunk.text: chunk for chunk in chunks}
    assert by_text.keys() == {"Cats purr.", "Dogs bark.", "Owls hoot."}
    assert sorted(chunks.table["year"].to_pylist(), key=str) == [7, None, None]
    assert chunks.metadata["method"] == "topic"
    assert by_text["Owls hoot."].document_id == "c"


def test_files_with_and_without_structure_are_not_one_batch(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Cats\n\nThey purr.")
    (tmp_path / "b.txt").write_text("Dogs bark.")
    with pytest.raises(ValueError, match=r"files with structure and files without.*pass kind="):
        pychunk.read(tmp_path)
    assert pychunk.segment(pychunk.read(tmp_path, kind="markdown")).metadata["method"] == "structure"


def test_a_file_is_read_as_its_reader_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "cats.md"
    path.write_text("# Cats\n\nThey purr.\n\n## Food\n\nThey eat mice.")
    (own,) = pychunk.io.open_source(path).batches()
    assert pychunk.segment(pychunk.read(path)).table.equals(pychunk.segment(own.documents()).table)


def test_nothing_to_read_makes_no_documents(tmp_path: Path) -> None:
    (tmp_path / "no.csv").write_text("id,text\n")
    assert len(pychunk.segment(pychunk.read(tmp_path / "no.csv"))) == 0


def test_a_path_in_place_of_a_text_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "cats.md"
    path.write_text("They purr.")
    with pytest.raises(TypeError, match=r"documents are a path; pass pychunk\.read\("):
        pychunk.segment(path)
    with pytest.warns(UserWarning, match=r"is the path of a file, and its name is the text; pass pychunk\.read\("):
        assert pychunk.segment(str(path)).texts == [str(path)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pychunk.segment("cats.md")
        pychunk.segment([str(path)])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pychunk.segment("One.", "recursiv"), "did you mean 'recursive'"),
        (lambda: pychunk.segment("One.", encoder="statik"), "did you mean 'static'"),
        (lambda: pychunk.segment({"text": ["One."]}, columns={"title": "t"}), "did you mean 'titles'"),
    ],
)
def test_what_is_nearly_right_is_suggested(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_chunks_repeat_the_columns_that_read_was_asked_for(tmp_path: Path) -> None:
    rows = {"text": ["One. Two.", "Three."], "author": ["Ann", "Bo"], "year": [1, 2]}
    pq.write_table(pa.table(rows), tmp_path / "x.parquet")
    batch = pychunk.read(tmp_path / "x.parquet", column="text", metadata_columns=["author"])
    chunks = pychunk.segment(batch, "sentence", max_tokens=2)
    assert [chunk.metadata for chunk in chunks] == [{"author": "Ann"}] * 2 + [{"author": "Bo"}]
    both = pychunk.read(tmp_path / "x.parquet", column="text", metadata_columns=["author", "year"])
    chunks = pychunk.segment(both, "sentence", metadata_columns=["year"])
    assert [chunk.metadata for chunk in chunks] == [{"year": 1}] * 2 + [{"year": 2}]
