"""pychunk.Index: additions, replacements, removals; the closing of an index; chunks from other sources."""

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("faiss")

from index_reference import PETS, answers, chunks_of, texts_in

import pychunk
from pychunk.index.chunk_tables import encode_chunks
from pychunk.index.index import Index

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


def test_a_document_of_the_same_id_replaces_and_the_same_text_without_ids(tmp_path: Path) -> None:
    with Index.create(tmp_path / "ids") as index:
        assert index.add(chunks_of(["Old cats. Very old.", "Dogs."], ids=["a", "b"])) == 3
        assert index.add(chunks_of(["New cats."], ids=["a"])) == 1
        assert texts_in(index) == {"New cats.", "Dogs."}
    assert len(Index.open(tmp_path / "ids")) == 2
    with Index.create(tmp_path / "none") as index:
        assert index.add(chunks_of(PETS)) == 5
        assert index.add(chunks_of(PETS[1:] * 2)) == 3
        assert len(index) == 5
        assert index.add(chunks_of([])) == 0


def test_remove_by_id_or_chunk_and_compaction_keep_the_answers(
    article_chunks: pa.Table, questions: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "x"
    index = Index.create(folder, vectors="both")
    index.add(article_chunks)
    index.save()
    full = index.info["bytes"]
    assert index.remove(["nobody"]) == 0
    single = article_chunks["chunk_id"][5].as_py()
    assert index.remove(chunk_ids=[single, "?"]) == 1
    assert index.remove(chunk_ids=[single]) == 0
    gone = [f"a{i}" for i in range(130)]
    assert index.remove(gone) == sum(each in set(gone) for each in article_chunks["document_id"].to_pylist()) - 1
    expected, left = answers(index, questions), len(index)
    index.save()
    assert index.info["removed"] == 0
    assert index.info["chunks"] == left == len(index)
    assert index.info["bytes"] < 0.6 * full
    assert answers(index, questions) == expected
    index.add(chunks_of(["Another text."], "both", ["new"]))
    index.remove(["new"])
    index.save()
    index.close()
    assert answers(Index.open(folder), questions) == expected
    with Index.open(folder) as index:
        index.remove([f"a{i}" for i in range(200)])
        assert index.search("anything") == [[]]
        index.save()
    assert len(Index.open(folder)) == 0
    assert Index.open(folder).search(["a", "b"]) == [[], []]


@pytest.mark.parametrize("vectors", ["sentence", "chunk"])
def test_two_documents_of_one_id_in_a_call_are_both_named(vectors: str, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x", vectors=vectors) as index:
        index.add(chunks_of(["Old."], vectors, ids=["c"]))
        texts = ["First.", "Between.", "Last. Twice."]
        message = (
            r"documents 0 and 2 \(rows 0 and 2 of the chunks\) have the same id 'c': give each .* a call of its own"
        )
        with pytest.raises(ValueError, match=message):
            index.add(chunks_of(texts, vectors, ids=["c", "d", "c"]))
        with pytest.raises(ValueError, match=r"documents 7 and 9 .* have the same id 5:"):
            index.add(pychunk.Segmenter("sentence", vectors=vectors)(texts, ids=[5, 6, 5], first_document=7))
        one, other = (chunks_of([text], vectors, ids=["e"]).table for text in texts[::2])
        with pytest.raises(ValueError, match=r"documents 0 and 0 \(rows 0 and 1 of the chunks\) have the same id 'e'"):
            index.add(pa.concat_tables([one, other]))
        assert texts_in(index) == {"Old."}
        assert index.add(chunks_of(texts, vectors, ids=["c", "d", "e"])) == 4
    assert texts_in(Index.open(tmp_path / "x")) == {"First.", "Between.", "Last.", "Twice."}


@pytest.mark.parametrize("given", [["12"], [12], np.array([12]), pa.array(["12"]), {12}, (12, "nobody")])
def test_a_number_and_its_text_are_one_id_for_search_and_remove(given: Any, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS, ids=[11, 12, 13]))
        index.add(chunks_of(["None."], ids=[14]))
        assert {hit.document_id for hit in index.search("dogs", k=9, ids=given)[0]} == {12}
        assert index.remove(given) == 2
        assert index.search("dogs", ids=given) == [[]]
    with Index.create(tmp_path / "none") as index:
        index.add(chunks_of(PETS))
        with pytest.raises(ValueError, match="documents of this index have no ids: build the index again from chunks"):
            index.search("dogs", ids=given)
        with pytest.raises(ValueError, match="no ids: remove their chunks by chunk_ids=, or build the index again"):
            index.remove(given)
        assert index.remove([]) == 0
        index.add(chunks_of(["Owls hunt."], ids=["owl"]))
        assert index.ids() == ["owl"]
        assert index.remove(given) == 0


def test_metadata_comes_as_columns_or_a_table(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"year": [1, 2, 3], "lang": ["en", "en", "rs"]}
    for number, metadata in enumerate((columns, pa.table(columns), pandas.DataFrame(columns, index=[7, 8, 9]))):
        with Index.create(tmp_path / str(number)) as index:
            index.add(chunks_of(PETS, ids=["a", "b", "c"]), metadata=metadata)
            assert index.search("rust", k=1)[0][0].metadata == {"year": 3, "lang": "rs"}
            for wrong, message in (
                (5, "metadata must be names of columns of the chunks, a mapping of names to columns, or a table"),
                ({"title": "abc"}, "metadata 'title' must be a list with one value for each document; got 'abc'"),
                ({"title": None}, "metadata 'title' must be a list with one value for each document; got None"),
            ):
                with pytest.raises(TypeError, match=message):
                    index.add(chunks_of(PETS, ids=["a", "b", "c"]), metadata=wrong)
            # columns that are not given again are kept
            index.add(chunks_of(PETS[2:], ids=["c"]), metadata={"lang": [None]})
            assert index.search("rust", k=1)[0][0].metadata == {"year": 3, "lang": None}
            index.add(chunks_of(PETS[:2], ids=["a", "d"]))
            assert {hit.document_id: hit.metadata["year"] for hit in index.search("x", k=9, mode="dense")[0]} == {
                **{"a": 1, "b": 2, "c": 3, "d": None}
            }


def test_columns_of_chunks_are_metadata_by_name(tmp_path: Path) -> None:
    chunks = chunks_of(
        pa.table({"text": PETS, "id": ["a", "b", "c"], "year": [1, 2, 3]}),
        columns={"text": "text"},
        ids="id",
        metadata_columns=["year"],
    )
    with Index.create(tmp_path / "i") as index:
        index.add(chunks, metadata=["year"])
        assert {hit.document_id for hit in index.search("x", k=9, mode="dense", where={"year": {"gte": 2}})[0]} == {
            "b",
            "c",
        }
        with pytest.raises(ValueError, match="metadata names the column 'lang'; the chunks have document_index, "):
            index.add(chunks, metadata=["year", "lang"])


@pytest.mark.parametrize(
    "values",
    [["x", "y"], [1, 2], pa.array([["a"], ["b"]]), pa.array([["a"], ["b"]], pa.large_list(pa.large_string()))],
)
def test_columns_that_older_indexes_have_of_the_user_stay_metadata(values: Any, tmp_path: Path) -> None:
    own = pa.array(values)
    table = chunks_of(["Cats purr.", "Dogs bark."], ids=["a", "b"]).table
    table = table.append_column("sections", own).append_column("holes", own)
    with pychunk.Index.create(tmp_path / "pets") as index:
        index.add(table)
        for hit in index.search("x", k=9, mode="dense")[0]:
            wanted = own["ab".index(str(hit.document_id))].as_py()
            assert hit.metadata == {"sections": wanted, "holes": wanted}
            assert (hit.sections, hit.holes) == (None, None)
            assert hit.render() == hit.text


def test_a_users_column_text_id_of_an_older_index_stays_metadata(tmp_path: Path) -> None:
    chunks = chunks_of(["Cats purr.", "Dogs bark."], ids=["a", "b"])
    former = chunks.table.drop_columns(["text_id"])
    with pychunk.Index.create(tmp_path / "pets") as index:
        index.add(former.append_column("text_id", pa.array([7, 8])))
        found = {hit.document_id: (hit.text_id, hit.metadata) for hit in index.search("x", k=9, mode="dense")[0]}
    assert found == {"a": (None, {"text_id": 7}), "b": (None, {"text_id": 8})}
    with pychunk.Index.create(tmp_path / "now") as index:
        index.add(former.slice(0, 1))
        index.add(chunks.table.slice(1))
        found = {hit.document_id: (hit.text_id, hit.metadata) for hit in index.search("x", k=9, mode="dense")[0]}
    assert found == {"a": (None, {}), "b": (chunks[1].text_id, {})}


def test_chunks_are_removed_by_text_id(tmp_path: Path) -> None:
    texts, names = ["Cats purr. Cats purr. They sleep.", "Cats purr."], ["a", "b"]
    chunks = chunks_of(texts, ids=names)
    first, second, third, other = chunks.table["text_id"].to_pylist()
    with Index.create(tmp_path / "i") as index:
        index.add(chunks)
        assert index.remove(text_ids=[second, "?"]) == 1
        assert index.remove(text_ids=[second]) == 0
        assert {hit.text_id for hit in index.search("cats", k=9)[0]} == {first, third, other}
        assert index.remove(text_ids=pa.array([first, other])) == 2
        assert texts_in(index) == {"They sleep."}
    assert texts_in(Index.open(tmp_path / "i")) == {"They sleep."}
    with Index.create(tmp_path / "none") as index:
        index.add(chunks_of(texts))
        with pytest.raises(ValueError, match="text_ids= names 1 chunk, but the documents of this index have no ids"):
            index.remove(text_ids=[first])


def test_a_users_column_of_text_that_is_called_text_id_is_refused_and_stays_metadata_if_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = chunks_of(["Cats purr.", "Dogs bark."], ids=["a", "b"])
    former, own = chunks.table.drop_columns(["text_id"]), ["mine", None]
    refused = "'text_id' must have the ids that pychunk gives to chunks, of 32 hexadecimal digits; got 'mine': give"
    with pychunk.Index.create(tmp_path / "pets") as index:
        with pytest.raises(ValueError, match=refused):
            index.add(former.append_column("text_id", pa.array(own)))
        with pytest.raises(ValueError, match=refused):
            index.add(former, metadata={"text_id": own})
        with pytest.raises(ValueError, match="already have a column of that name"):
            index.add(chunks, metadata={"text_id": own})
        assert len(index) == 0
        index.add(chunks)
    with monkeypatch.context() as older:  # Older versions had no such check.
        older.setattr("pychunk.index.chunk_tables.check_text_ids", lambda table: None)
        with pychunk.Index.create(tmp_path / "older") as index:
            index.add(former.append_column("text_id", pa.array(own)))
    with Index.open(tmp_path / "older") as index:
        index.add(chunks_of(["Cows moo."], ids=["c"]))
        found = {hit.document_id: (hit.text_id, hit.metadata) for hit in index.search("x", k=9, mode="dense")[0]}
    new = pychunk.segment("Cows moo.", ids="c")[0].text_id
    assert found == {"a": (None, {"text_id": "mine"}), "b": (None, {}), "c": (new, {})}


def test_metadata_is_kept_of_what_is_saved_waiting_and_removed(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i") as index:
        index.add(chunks_of(PETS[:1], ids=[1]), metadata={"year": [7], "tags": [["x", "y"]]})
        index.save()
        index.add(chunks_of(PETS[1:2], ids=[1]))
        index.add(chunks_of(PETS[2:], ids=[1]))  # whose earlier chunks are in no part yet
        assert index.search("rust", where={"tags": "y"})[0][0].metadata == {"year": 7, "tags": ["x", "y"]}
        assert index.count({"year": 7}) == index.count() == 1
        index.remove([1])
        index.add(chunks_of(PETS[2:], ids=[1]))
        assert index.search("rust")[0][0].metadata == {"year": None, "tags": None}


def test_a_with_block_saves_unless_an_exception_leaves_it(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Index.create(tmp_path / "x") as index:
            index.add(chunks_of(PETS[:1], ids=["a"]))
        assert len(Index.open(tmp_path / "x")) == 2
        with Index.open(tmp_path / "x") as index:  # nothing to save
            before = index.info
            assert index.remove(["nobody"]) == 0
        assert Index.open(tmp_path / "x").info == before
        with Index.open(tmp_path / "x") as index:
            index.remove(["a"])
            index.close(discard=True)
        assert len(Index.open(tmp_path / "x")) == 2

    def fail() -> None:
        with Index.open(tmp_path / "x") as index:
            index.remove(["a"])
            raise KeyError

    with pytest.warns(UserWarning, match="changes that were not saved: they are gone"), pytest.raises(KeyError):
        fail()
    assert len(Index.open(tmp_path / "x")) == 2


def test_closing_or_dropping_an_index_with_unsaved_work_warns(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "x")
    index.add(chunks_of(PETS[:1], ids=["a"]))
    index.save()
    index.add(chunks_of(PETS[1:2], ids=["b"]))
    with pytest.warns(UserWarning, match=r"closed with changes .* Call save\(\) before") as caught:
        index.close()
    assert caught[0].filename == __file__
    index = Index.open(tmp_path / "x")
    index.remove(["a"])
    with pytest.warns(UserWarning, match="closed with changes"):
        del index
    with Index.open(tmp_path / "x") as index:  # no lock is left, nor any dropped data
        index.add(chunks_of(PETS[2:], ids=["c"]))
    assert len(Index.open(tmp_path / "x")) == 3
    assert sorted(path.name for path in (tmp_path / "x").iterdir() if path.is_dir()) == ["part-000001", "part-000002"]


def test_a_closed_index_refuses_every_use(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "x")
    index.add(chunks_of(PETS))
    index.save()
    index.close()
    index.close()
    uses: list[Callable[[], Any]] = [
        lambda: len(index),
        lambda: index.info,
        lambda: index.table,
        lambda: index.add(chunks_of(PETS)),
        lambda: index.remove(["a"]),
        index.save,
        index.refresh,
        lambda: index.search("cats"),
        lambda: index.search([]),
        lambda: index.rank("cats"),
        index.__enter__,
    ]
    for use in uses:
        with pytest.raises(ValueError, match=r"is closed: pychunk\.Index\.open opens it again"):
            use()
    assert repr(index) == f"<Index {str(tmp_path / 'x')!r}: closed>"
    assert index.path == tmp_path / "x"


def test_what_was_not_saved_leaves_the_folder_with_the_index(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS))
    before = sorted(path.name for path in (tmp_path / "x").iterdir())
    index = Index.open(tmp_path / "x")
    index.add(chunks_of(["Okapi."], ids=["o"]))
    assert len(index.search("okapi")[0]) == 5  # which makes a part of it
    reader = Index.open(tmp_path / "x")
    index.close(discard=True)
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == before
    assert len(reader.search("cats")[0]) == 5

    index = Index.open(tmp_path / "x")
    index.add(chunks_of(["Okapi."], ids=["o"]))
    shutil.rmtree(tmp_path / "x")
    index.close(discard=True)


# Chunks from other sources


@pytest.mark.parametrize("vectors", ["sentence", "chunk", "both"])
def test_chunks_from_elsewhere_are_encoded_and_found(vectors: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    text = "  Cats purr. They sleep.\n\n \nDogs bark at night."
    spans = [(0, 24), (24, 28), (28, len(text))]
    frame = pandas.DataFrame(
        {
            "document_index": [7, 7, 7],
            "chunk_index": [0, 1, 2],
            "chunk_id": ["x", "y", "z"],
            "start": [a for a, _ in spans],
            "end": [b for _, b in spans],
            "text": [text[a:b] for a, b in spans],
        }
    )
    short = pa.schema(
        [("document_index", pa.int32()), ("chunk_index", pa.int8()), ("start", pa.uint16()), ("end", pa.int64())]
    )
    narrow = pa.Table.from_pandas(frame, preserve_index=False)
    narrow = pa.table(
        {
            name: narrow[name].cast(short.field(name).type) if name in short.names else narrow[name]
            for name in narrow.column_names
        }
    )
    with Index.create(tmp_path / "x", vectors=vectors) as index:
        own = chunks_of(["Something of our own."], vectors)
        index.add(own)
        for table in (frame, narrow):  # the second replaces the first
            assert index.add(encode_chunks(table, vectors=vectors)) == 3
        assert len(index) == 4
        hit = index.search("Do dogs bark?", k=1)[0][0]
        assert (hit.document_index, hit.chunk_id, hit.text) == (7, "z", "Dogs bark at night.")
        hit = index.search("They sleep.", k=1)[0][0]
        assert hit.text == text[:24]
        assert (hit.sentence is None) == (vectors == "chunk")
        assert hit.sentence is None or text[slice(*hit.sentence)] == "They sleep."
        index.save()
    assert len(Index.open(tmp_path / "x")) == 4


def test_encoding_again_changes_nothing_and_replaces_what_is_there(article_chunks: pa.Table) -> None:
    table = article_chunks.slice(0, 60)
    again = encode_chunks(table.drop_columns(["sentences", "vector"]), vectors="both")
    assert encode_chunks(again, vectors="both").equals(again)
    found = np.stack(again["vector"].to_numpy(zero_copy_only=False))
    np.testing.assert_allclose(found, np.stack(table["vector"].to_numpy(zero_copy_only=False)), atol=0.2)
    with pytest.raises(ValueError, match="vectors must be one of"):
        encode_chunks(table, vectors="word")


def test_a_chunk_with_headings_in_it_is_encoded_whole() -> None:
    text = "# Cats\n\nCats purr when they are content.\n\n# Stars\n\nStars burn hydrogen for billions of years."
    chunks = pychunk.segment(["One.", text], "precomputed", columns={"cuts": [[0], [0]]}).table
    found = encode_chunks(chunks, vectors="both")
    spans = [[(each["start"], each["end"]) for each in own] for own in found["sentences"].to_pylist()]
    assert [[text[a:b].strip() for a, b in own] for own in spans][1] == [
        "# Cats", "Cats purr when they are content.", "# Stars", "Stars burn hydrogen for billions of years."
    ]  # fmt: skip
    given = pychunk.segment(["One.", text], "precomputed", columns={"cuts": [[0], [0]]}, vectors="chunk").table
    assert found["vector"].equals(given["vector"])


def test_a_table_that_went_through_parquet_can_be_added(
    article_chunks: pa.Table, questions: list[str], tmp_path: Path
) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(article_chunks, tmp_path / "chunks.parquet", row_group_size=37)
    found = []
    for name, table in (("a", article_chunks), ("b", pq.read_table(tmp_path / "chunks.parquet"))):
        with Index.create(tmp_path / name, vectors="both") as index:
            assert index.add(table) == article_chunks.num_rows
            found.append(answers(index, questions))
    assert found[0] == found[1]


@pytest.mark.parametrize("vectors", ["sentence", "chunk", "both"])
def test_chunks_without_vectors_are_encoded(tmp_path: Path, vectors: Any) -> None:
    chunks = pychunk.segment(PETS, "sentence", ids=[str(row) for row in range(len(PETS))])
    made = (Index.create(tmp_path / name, vectors=vectors) for name in ("plain", "own"))
    with next(made) as plain, next(made) as own:
        plain.add(chunks)
        own.add(encode_chunks(chunks, vectors=vectors))
        for mode in ("dense", "hybrid"):
            found, expected = (index.search(PETS, 3, mode) for index in (plain, own))
            assert [[(hit.document_id, hit.score) for hit in hits] for hits in found] == [
                [(hit.document_id, hit.score) for hit in hits] for hits in expected
            ]
    with Index.create(tmp_path / "given", encoder=None, dim=4) as given:
        with pytest.raises(ValueError, match="the chunks have no sentence vectors"):
            given.add(chunks)
        given.close(discard=True)


def test_an_error_in_the_block_that_creates_an_index_removes_it(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="takes chunks"), Index.create(tmp_path / "x") as index:
        index.add(3)
    assert not (tmp_path / "x").exists()
    (tmp_path / "y").mkdir()
    with pytest.raises(TypeError), Index.create(tmp_path / "y") as index:
        [index.add(chunks_of(PETS)), index.save(), index.add(3)]
    with Index.open(tmp_path / "y") as index:
        assert len(index) == 5
    for _ in range(2):  # An index that existed before the block stays.
        with pytest.raises(ZeroDivisionError), Index.create(tmp_path / "y", exist_ok=True) as index:
            raise ZeroDivisionError
    assert (tmp_path / "y" / "manifest.json").exists()
