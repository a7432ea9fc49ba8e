"""An index names each argument that it refuses, with the expected and the received value."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pychunk.index import Bm25, Ranking, Rerank

pytest.importorskip("faiss")

from index_reference import PETS, chunks_of

import pychunk
from pychunk.index.index import Index

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


def test_vectors_of_another_encoder_and_missing_ones_are_refused(saved_index: Path, tiny_encoder: Path) -> None:
    with Index.open(saved_index) as index:
        with pytest.raises(ValueError, match=r"vectors come from encoder.*segment with the index's encoder"):
            index.add(pychunk.segment(PETS, "sentence", vectors="sentence", encoder=tiny_encoder))
        with pytest.raises(ValueError, match=r"no sentence vectors.*segment with the index's encoder.*encode_chunks"):
            index.add(pychunk.segment(PETS, "sentence", vectors="chunk"))
        with pytest.raises(ValueError, match="vectors come from encoder"):
            index.add(
                pychunk.segment("A.", "sentence", vectors="sentence", columns={"sentence_vectors": np.ones((1, 256))})
            )
        with pytest.raises(ValueError, match="missing: chunk_id"):
            index.add(chunks_of(PETS).table.drop_columns(["chunk_id"]))
        with pytest.raises(TypeError, match="takes chunks as segment"):
            index.add(["A text."])
        table = chunks_of(PETS, ids=["a", "b", "c"]).table
        for name in ("text", "document_id"):
            nulls = pa.array([None, *table[name].to_pylist()[1:]])
            with pytest.raises(ValueError, match=f"'{name}' of a chunk table must have no nulls; got 1 null"):
                index.add(table.set_column(table.column_names.index(name), name, nulls))
        with pytest.raises(ValueError, match=r"is of type .* in the index: cast it to"):
            index.add(chunks_of(PETS, ids=[1, 2, 3]))
        with pytest.raises(ValueError, match="metadata 'text': the chunks already have a column of that name"):
            index.add(table, metadata={"text": ["a", "b", "c"]})
        with pytest.raises(
            ValueError, match="metadata 'n' must have one value for each document, of which there are at least 3; got 1"
        ):
            index.add(table, metadata={"n": [1]})
        assert len(index) == 4
        index.add(table)
        assert len(index) == 5
    with pytest.raises(ValueError, match=r"holds vectors of encoder 'static'.*open with the encoder that made them"):
        Index.open(saved_index, encoder=tiny_encoder)


def test_an_encoder_that_is_gone_is_told_with_the_index(tmp_path: Path, tiny_encoder: Path) -> None:
    moved = tmp_path / "encoder"
    shutil.copytree(tiny_encoder, moved)
    with Index.create(tmp_path / "x", encoder=moved) as index:
        index.add(pychunk.segment("A cat.", "sentence", vectors="sentence", encoder=moved))
    shutil.rmtree(moved)
    with pytest.raises(
        ValueError, match=r"/x has vectors of the encoder '.*/encoder', which cannot be loaded .no folder"
    ):
        Index.open(tmp_path / "x")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "fuzzy"}, "mode must be 'dense', 'sparse' or 'hybrid'"),
        ({"ranking": Ranking(fusion="sum")}, "fusion must be 'score', 'rrf' or 'levels'"),
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"k": True}, "k must be a whole number"),
        (
            {"where": {"colour": "red"}},
            "where names the column 'colour', which the index lacks: name one of document_index, document_id",
        ),
        (
            {"where": pc.field("colour") == 1},
            r"where cannot be applied.*colour.*the index has the columns document_index, document_id",
        ),
        ({"where": {"chunk_index": "first"}}, "where: the column 'chunk_index' is of type int64; got 'first'"),
        (
            {"where": {"chunk_index": 2**70}},
            "where: the column 'chunk_index' is of type int64; got 1180591620717411303424",
        ),
        (
            {"where": {"chunk_index": {"$gte": 1}}},
            r"'chunk_index' is compared by one of eq, ne, .*, lte, in; got '\$gte'",
        ),
        ({"where": {"chunk_index": {"in": "12"}}}, "'chunk_index' 'in' takes a list of values; got '12'"),
        (
            {"where": {"chunk_index": {"gte": None}}},
            "'chunk_index' is compared with None, which never matches: ask for .*, or \"chunk_index is null\"",
        ),
        ({"where": "chunk_index > "}, "where: expected a value at the end of 'chunk_index > '; text goes in quotes"),
        (
            {"where": "chunk_index = 1 2"},
            "expected 'and', 'or' or the end at character 16, before '2' of 'chunk_index = 1 2'",
        ),
        (
            {"where": "colour = red"},
            "where names the column 'colour', which the index lacks: name one of document_index, document_id",
        ),
        ({"where": "chunk_index = first"}, "where: the column 'chunk_index' is of type int64; got 'first'"),
        ({"where": "(" * 99 + "chunk_index = 1"}, "more than 50 nested brackets and negations"),
        ({"where": "chunk_index = 1 or " * 10_000}, "a condition has at most 100,000 characters; this one has 190,000"),
        ({"ranking": Ranking(min_score=float("nan"))}, "min_score must be a finite number; got nan"),
        ({"queries": ("cats", [1.0, 2.0])}, r"vectors of queries must be float\[1, 256\]"),
        (
            {"queries": ("cats", np.ones((1, 1, 256)))},
            r"vectors of queries must be float\[1, 256\]; got \(1, 1, 256\)",
        ),
        (
            {"queries": ("cats", [[1.0, "a"]])},
            r"vectors of queries must be numbers, float\[q, dim\]: could not convert",
        ),
        ({"queries": ("cats", [[1.0], [1.0, 2.0]])}, r"vectors of queries must be numbers, float\[q, dim\]: "),
        (
            {"queries": ("cats", np.ones((1, 256), complex))},
            "vectors of queries must be .*: complex128 is no type of real",
        ),
        ({"queries": ("cats", np.full((1, 256), np.nan))}, "vectors of queries must be finite; row 0 has NaN"),
        (
            {"queries": ("cats", np.full((1, 256), np.inf))},
            "vectors of queries must be finite; row 0 has NaN or infinity",
        ),
        ({"k": 2**64}, "k must be a whole number"),
        (
            {"ranking": Ranking(bm25_weight=float("nan"))},
            "bm25_weight must be a finite number of at least 0; got nan",
        ),
        ({"ranking": Ranking(bm25_weight=-1)}, "bm25_weight must be a finite number of at least 0; got -1"),
        (
            {"ranking": Ranking(chunk_vector_weight=2)},
            "chunk_vector_weight must be a finite number from 0 to 1; got 2",
        ),
        ({"stages": Rerank("features", depth=-5)}, "depth must be a whole number of at least 1; got -5"),
        ({"expansion": -1}, "expansion must be a whole number of at least 0; got -1"),
    ],
)
def test_options_of_a_search_out_of_range_are_named(options: dict[str, Any], message: str, saved_index: Path) -> None:
    with pytest.raises(ValueError, match=message):
        Index.open(saved_index).search(**{"queries": "cats", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "tree"}, "kind must be one of 'auto', 'flat', 'pq', 'hnsw'; got 'tree'"),
        ({"vectors": "word"}, "vectors must be one of 'sentence', 'chunk', 'both'"),
        ({"dtype": "int4"}, "dtype must be one of 'float16', 'float32', 'int8'"),
        ({"bm25": "letters"}, "bm25 must be one of"),
        ({"bm25": Bm25(terms="letters")}, "terms must be one of"),
        ({"bm25": Bm25(stemmer="klingon")}, "stemmer must be one of .*english"),
        ({"encoder": None}, "encoder=None needs the width of the vectors: pass dim="),
        ({"encoder": None, "dim": 0}, "dim must be a whole number of at least 1; got 0"),
        (
            {"dim": 7},
            "dim= is only for encoder=None; got 7 with 'static', whose vectors have 256 numbers: leave out dim=",
        ),
        ({"bm25": Bm25(k1=float("nan"))}, "k1 must be a finite number of at least 0; got nan"),
        ({"bm25": Bm25(k1="a")}, "k1 must be a finite number of at least 0; got 'a'"),
        ({"bm25": Bm25(b=1.5)}, "b must be a finite number from 0 to 1; got 1.5"),
        ({"accuracy": 0}, "accuracy must be a whole number of at least 1; got 0"),
    ],
)
def test_options_of_an_index_out_of_range_are_named(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        Index.create(tmp_path / "x", **options)
    assert not (tmp_path / "x").exists()
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("where", [5, ["chunk_index"], pc.equal, b"chunk_index = 1"])
def test_what_is_no_condition_is_told_all_forms(where: Any, saved_index: Path) -> None:
    message = r"where must be a dict \(.*\), a text \(.*\) or an expression of pyarrow\.compute; got "
    with pytest.raises(TypeError, match=message):
        Index.open(saved_index).search("cats", where=where)


def test_remove_takes_a_list_of_one_kind(saved_index: Path) -> None:
    with Index.open(saved_index) as index:
        uses: list[Callable[..., Any]] = [index.remove, lambda ids: index.search("cats", ids=ids)]
        for use in uses:
            with pytest.raises(TypeError, match="ids must be a list of ids; got no list, but 'a'"):
                use("a")
            with pytest.raises(TypeError, match="ids must be a list of ids; got no list, but 25"):
                use(25)
            for missing in (None, float("nan")):
                with pytest.raises(TypeError, match="ids must not be null; row 1 is"):
                    use(["a", missing])
        with pytest.raises(ValueError, match="takes one of ids, chunk_ids and text_ids; got none of them"):
            index.remove()
        with pytest.raises(ValueError, match="takes one of ids, chunk_ids and text_ids; got ids, text_ids"):
            index.remove(["a"], text_ids=["b"])
        with pytest.raises(TypeError, match="chunk_ids must not be null; row 0 is None"):
            index.remove(chunk_ids=[None])
        assert len(index) == 4


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (5, "queries must be a list of texts, or one text; got no list, but 5"),
        (b"cats", "queries must be a list of texts, or one text; got no list, but b'cats'"),
        ([None], "queries must be texts; row 0 is None"),
        (["cats", 1.5], "queries must be texts; row 1 is 1.5"),
    ],
)
def test_queries_that_are_no_texts_are_named(queries: Any, message: str, saved_index: Path) -> None:
    with pytest.raises(TypeError, match=message):
        Index.open(saved_index).search(queries)
    with pytest.raises(TypeError, match=message):
        Index.open(saved_index).rank(queries)


def test_metadata_has_one_value_a_document_and_one_document_is_asked_for(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        chunks = chunks_of(PETS, ids=["a", "b", "c"])
        with pytest.raises(ValueError, match="one value for each document of the chunks; got 5 values for 3 documents"):
            index.add(chunks, metadata={"year": [1, 2, 3, 4, 5]})
        with pytest.raises(
            ValueError, match=r"metadata 'title' must be text that UTF-8 can encode; got .*: remove the lone"
        ):
            index.add(chunks, metadata={"title": ["a", "\ud800", "b"]})
        index.add(chunks, metadata={"year": [1, 2, 3]})
        for call in (index.get, lambda wrong: index.remove(ids=["a", wrong])):
            with pytest.raises(
                ValueError, match=r"ids must be text that UTF-8 can encode; row [01] has a lone surrogate"
            ):
                call("\ud800")
        assert index.get("b")["year"].to_pylist() == [2, 2]
        with pytest.raises(TypeError, match="the id of one document"):
            index.get(["a", "b"])
    with pytest.raises(ValueError, match="is a file: name a folder"):
        Index.create(next(tmp_path.glob("x/manifest.json")))


def test_stop_words_and_accuracy_are_checked_where_they_come_in(tmp_path: Path, saved_index: Path) -> None:
    with pytest.raises(TypeError, match="stop_words must be a list of words; got the text 'the'"):
        Index.create(tmp_path / "x", bm25=Bm25(stop_words="the"))
    with pytest.raises(ValueError, match="accuracy must be a whole number of at least 1; got 0"):
        Index.open(saved_index, accuracy=0)
    with pytest.raises(ValueError, match=r"threads must be .*; got 0"):
        Index.open(saved_index, placement=pychunk.Placement(threads=0))


def test_tables_and_metadata_that_cannot_be_added_are_told_by_what_they_lack(tmp_path: Path) -> None:
    chunks = chunks_of(["Cats purr.", "Dogs bark."], ids=["a", "b"])
    with Index.create(tmp_path / "x") as index:
        with pytest.raises(ValueError, match="do not say which encoder made their vectors, because pandas"):
            index.add(chunks.table.replace_schema_metadata(None))
        with pytest.raises(
            TypeError, match=r"metadata must be a mapping of names to columns.*got a list with {'y': 1}"
        ):
            index.add(chunks, metadata=[{"y": 1}, {"y": 2}])
        with pytest.raises(ValueError, match="metadata 'y' must be values of one type that Arrow knows"):
            index.add(chunks, metadata={"y": [object(), 1]})
        assert index.add(chunks, metadata={"y": [1, 2]}) == 2
