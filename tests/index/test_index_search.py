"""Searches of an index: exact compared with brute force, independent of how it was filled, and facts of hits."""

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.index import Bm25, Ranking

pytest.importorskip("faiss")

from index_reference import PETS, Reference, answers, assert_equal_to, chunks_of, encoded

import pychunk
from pychunk._engine.data.columns import COLUMNS
from pychunk.index import writer as index_module
from pychunk.index.dense import scan as scan_module
from pychunk.index.index import Index
from pychunk.index.lexical.analyzer import Analyzer

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


PIECES = st.sampled_from(
    ["Cats purr. ", "Dogs bark! ", "References. ", "cats and dogs ", "\n\n", "1984 ", "ß ", "北京大学。"]
)
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=40), st.lists(PIECES, max_size=8).map("".join), st.sampled_from(["Cats purr.", "", " "])
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=20, deadline=None)
@given(
    TEXTS,
    TEXTS,
    st.sampled_from(["sentence", "chunk", "both"]),
    st.sampled_from(["sentence", "paragraph", "document"]),
    st.booleans(),
    st.lists(st.one_of(st.text(max_size=20), st.just("Do cats purr?")), min_size=1, max_size=3),
    st.sampled_from([1, 2, 5, 1000]),
    st.sampled_from(["float16", "float32", "int8"]),
)
def test_flat_search_of_any_text_is_brute_force(
    first: list[str], second: list[str], vectors: str, method: str, named: bool, queries: list[str], k: int, dtype: str
) -> None:
    method, more = ("fixed", {"size": 1 << 30}) if method == "document" else (method, {})
    reference = Reference(dtype)
    with tempfile.TemporaryDirectory() as folder:
        index = Index.create(Path(folder) / "x", vectors=vectors, dtype=dtype)
        for texts in (first, second):  # with ids documents recur in the next batch, without in the same one, too
            ids = [f"d{i}" for i in range(len(texts))] if named else None
            chunks = chunks_of(texts, vectors, ids, method, **more)
            index.add(chunks)
            reference.add(chunks)
            assert_equal_to(reference, index, queries, k)
            assert len(index) == len(reference.rows)
        index.save()
        assert_equal_to(reference, Index.open(Path(folder) / "x"), queries, k)


@pytest.mark.slow
@pytest.mark.parametrize(
    "vectors", ["both", *(pytest.param(each, marks=pytest.mark.long) for each in ("sentence", "chunk"))]
)
def test_flat_search_of_real_text_is_brute_force(
    vectors: str, article_chunks: pa.Table, questions: list[str], tmp_path: Path
) -> None:
    table = article_chunks.drop_columns({"sentence": ["vector"], "chunk": ["sentences"], "both": []}[vectors])
    reference = Reference()
    reference.add(table)
    with Index.create(tmp_path / "x", vectors=vectors) as index:
        index.add(table)
        assert_equal_to(reference, index, questions, 10)
        questions = questions[:4]
        few = {"where": {"number": [3, 4], "parity": "odd"}}
        assert_equal_to(reference, index, questions, 10, **few, keep=lambda row: row["number"] == 3)
        expression = (pc.field("number") > 6) & pc.starts_with(pc.field("document_id"), "a1")
        assert_equal_to(
            reference,
            index,
            questions,
            10,
            where=expression,
            keep=lambda row: row["number"] > 6 and row["document_id"].startswith("a1"),
        )
        assert_equal_to(
            reference,
            index,
            questions,
            50,
            ids=["a7", "a9", "?"],
            keep=lambda row: row["document_id"] in ("a7", "a9"),
        )
        assert_equal_to(reference, index, questions, 5, ids=[], keep=lambda row: False)
        gone = {f"a{i}" for i in range(0, 200, 3)}
        index.remove(sorted(gone))
        reference.rows = [row for row in reference.rows if row["document_id"] not in gone]
        assert_equal_to(reference, index, questions, 10)
        assert_equal_to(reference, index, questions, 10, where={"number": 3}, keep=lambda row: row["number"] == 3)


@pytest.mark.slow
def test_bm25_is_that_of_bm25s(article_chunks: pa.Table, questions: list[str], tmp_path: Path) -> None:
    bm25s = pytest.importorskip("bm25s")
    texts = article_chunks["text"].to_pylist()
    terms = [Analyzer().terms(text) for text in texts]
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index(terms, show_progress=False)
    with Index.create(tmp_path / "x", bm25=Bm25(terms="words", k1=1.2, b=0.75)) as index:
        index.add(article_chunks)
        for query in questions:
            own = Analyzer().terms(query)
            frequency = {term: sum(term in each for each in terms) for term in set(own)}
            known = [term for term in own if frequency[term]]
            bound = sum(np.log1p((len(texts) - frequency[t] + 0.5) / (frequency[t] + 0.5)) for t in known)
            scores = peer.get_scores(known)
            hits = index.search(query, k=len(texts), mode="sparse")[0]
            assert len(hits) == (scores > 0).sum()
            np.testing.assert_allclose(
                [hit.score * bound for hit in hits], scores[[hit.row for hit in hits]], rtol=1e-4
            )
            assert all(0 < hit.score <= 1 for hit in hits)


def test_chunks_of_many_sentences_are_found_by_one_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(f"Sentence {i} of text {number}." for i in range(100)) for number in range(12)]
    reference = Reference()
    with Index.create(tmp_path / "x") as index:
        chunks = chunks_of(texts, method="fixed", size=1 << 30)
        index.add(chunks)
        reference.add(chunks)
        assert_equal_to(reference, index, ["Sentence 7 of text 3", "text"], 5)
        searches = []
        plain = scan_module.VectorScan.top
        monkeypatch.setattr(
            scan_module.VectorScan, "top", lambda *each, **more: searches.append(each) or plain(*each, **more)
        )
        index.search(["Sentence 7 of text 3", "text"] * 20, k=10, mode="dense")
        assert len(searches) == 1


# Independence of how it was filled and queried


@pytest.mark.parametrize("dtype", ["float32", "int8", pytest.param("float16", marks=pytest.mark.slow)])
def test_answers_do_not_depend_on_parts_or_batches(
    dtype: str, article_chunks: pa.Table, questions: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = article_chunks.filter(pc.field("number") < 4)
    document = table["document_index"].to_numpy()
    pieces = [table.filter(pa.array(document % 100 == i)) for i in sorted(set(document % 100))]
    pieces = [piece for piece in pieces if piece.num_rows]
    whole = pa.concat_tables(pieces)
    with Index.create(tmp_path / "one", vectors="both", dtype=dtype) as index:
        index.add(whole)
        expected = answers(index, questions)
        for mode in ("dense", "sparse", "hybrid"):  # one query alone is as in a batch
            together = index.search(questions * 5, mode=mode)
            assert together == [index.search(query, mode=mode)[0] for query in questions] * 5
        vectors = encoded(questions)
        by_vector = index.search(3 * vectors, mode="dense", k=7)
        for hits, same in zip(by_vector, expected[0]):  # scaled to unit length once more
            assert [hit.score for hit in hits] == pytest.approx([each[-1] for each in same], abs=1e-6)
    full = index_module.PART_CHUNKS
    monkeypatch.setattr(index_module, "PART_CHUNKS", 50)
    with Index.create(tmp_path / "many", vectors="both", dtype=dtype) as index:
        for number, piece in enumerate(pieces):
            index.add(piece)
            if number % 2:
                index.save()
        assert len(list((tmp_path / "many").glob("part-*"))) > 3
        assert answers(index, questions) == expected
        index.save()
    assert answers(Index.open(tmp_path / "many"), questions) == expected
    monkeypatch.setattr(index_module, "PART_CHUNKS", full)
    with Index.open(tmp_path / "many") as index:  # all parts count as small now, and become one
        index.add(chunks_of(["Gone."], "both", ["gone"]))
        index.remove(["gone"])
        index.save()
        assert len(list((tmp_path / "many").glob("part-*"))) == 2  # the last one has fewer columns
        assert answers(index, questions) == expected
    assert answers(Index.open(tmp_path / "many"), questions) == expected


def test_queries_come_as_arrow_numpy_or_none_at_all(saved_index: Path) -> None:
    index = Index.open(saved_index)
    expected = index.search(["cats", "dogs"])
    assert index.search(pa.array(["cats", "dogs"])) == index.search(np.array(["cats", "dogs"])) == expected
    assert index.search(np.empty((0, 256)), mode="dense") == []
    vector = pychunk.embed("cats", task="query")
    near, *others = (index.search(scale * vector, mode="dense") for scale in (1.0, 1e30, 1e-30))
    for far in others:  # the squares of their numbers exceed 32 bits
        assert [hit.row for hit in far[0]] == [hit.row for hit in near[0]]
        assert [hit.score for hit in far[0]] == pytest.approx([hit.score for hit in near[0]], abs=1e-6)
    assert len(index.search("cats", k=2**40, stages=[])[0]) == 4


def test_given_vectors_need_vectors_of_queries(tmp_path: Path) -> None:
    chunks = pychunk.segment(
        "Cats purr. Dogs bark.",
        "sentence",
        vectors="sentence",
        columns={"sentence_vectors": np.array([[1.0, 0, 0], [0, 2, 0]])},
    )
    with Index.create(tmp_path / "x", encoder=None, dim=3) as index:
        index.add(chunks)
        index.save()
    index = Index.open(tmp_path / "x")
    hits = index.search([[0, 5, 0], [1, 0, 0]], mode="dense", k=1)
    assert [(own[0].text, own[0].score) for own in hits] == [("Dogs bark.", 1.0), ("Cats purr.", 1.0)]
    assert index.search(("bark", [0, 1, 0]), k=1)[0][0].scores["sparse"] > 0
    assert index.search("bark", mode="sparse")[0][0].text == "Dogs bark."
    with pytest.raises(
        ValueError, match=r"without an encoder \(encoder=None\); got 1 text .*: pass vectors as queries, or the pair"
    ):
        index.search("Do dogs bark?")
    with pytest.raises(ValueError, match="vectors without texts work only with mode='dense'"):
        index.search([0, 1, 0])


def test_an_index_without_terms_searches_by_vectors_alone(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x", bm25=None) as index:
        index.add(chunks_of(PETS))
        assert index.search("cats", mode="dense", k=1)[0][0].text == "Cats purr when content."
        with pytest.raises(ValueError, match=r"bm25=None.*use mode='dense'"):
            index.search("cats")


# Facts of hits


def test_rows_and_scores_are_those_of_the_hits(article_chunks: pa.Table, questions: list[str], tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(article_chunks)
        rows, scores = index.rank(questions, k=4)
        hits = index.search(questions, k=4)
        assert rows.tolist() == [[hit.row for hit in own] for own in hits]
        assert scores.tolist() == [[hit.score for hit in own] for own in hits]
        assert [index.table["text"][row].as_py() for row in rows[0]] == [hit.text for hit in hits[0]]
        assert (index.rank(["zxqv"], k=4, mode="sparse")[0] == -1).all()


def test_a_hit_says_where_it_is_and_which_sentence_was_meant(tmp_path: Path) -> None:
    chunks = chunks_of(PETS, ids=["cats", "dogs", "rust"], method="fixed", size=100)
    with Index.create(tmp_path / "x") as index:
        index.add(chunks, metadata={"lang": ["en", "en", "rs"], "year": pa.array([1, 2, None])})
        hit = index.search("What do dogs fetch?", k=1)[0][0]
        assert (hit.document_id, hit.document_index, hit.chunk_index, str(hit)) == ("dogs", 1, 0, PETS[1])
        assert PETS[1][hit.start : hit.end] == hit.text
        assert hit.sentence is not None
        assert PETS[1][slice(*hit.sentence)] == "Dogs fetch sticks."
        assert hit.metadata == {"lang": "en", "year": 2}
        assert hit.score == pytest.approx(hit.scores["dense"] + 1.5 * hit.scores["sparse"])
        assert [hit.document_id for hit in index.search("Dogs?", where={"lang": "rs"})[0]] == ["rust"]
        assert {hit.document_id for hit in index.search("Dogs?", where={"lang": ("rs", "en"), "year": [1, 2]})[0]} == {
            "cats",
            "dogs",
        }
        assert [hit.document_id for hit in index.search("Dogs?", where=pc.field("year").is_null())[0]] == ["rust"]
        assert [hit.document_id for hit in index.search("Dogs?", where="year >= 2 and lang = 'en'")[0]] == ["dogs"]
        assert [hit.document_id for hit in index.search("Dogs?", where={"year": {"gt": 1, "lt": 9}})[0]] == ["dogs"]
        scores = [hit.score for hit in index.search("Dogs?", k=9)[0]]
        assert [hit.score for hit in index.search("Dogs?", k=9, ranking=Ranking(min_score=scores[1]))[0]] == scores[:2]
        assert index.search("Dogs?", ranking=Ranking(min_score=99)) == [[]]
        assert index.count() == len(index) == 3
        assert (index.count({"lang": "en"}), index.count("lang = en", ids=["cats", "rust"]), index.count(ids=[])) == (
            2,
            1,
            0,
        )
        assert index.ids() == ["cats", "dogs", "rust"]
        assert ("cats" in index, "cows" in index) == (True, False)
        assert index.get("dogs")["text"].to_pylist() == [PETS[1]]
        assert index.get("cows").num_rows == 0
        index.remove(["dogs"])
        assert ("dogs" in index, index.ids(), index.get("dogs").num_rows) == (False, ["cats", "rust"], 0)
        index.add(chunks.table.filter(pc.field("document_id") == "dogs"), metadata={"lang": ["", "en"], "year": [0, 2]})
        assert index.search("x", where={"text": PETS[2]}, mode="dense")[0][0].document_id == "rust"
        assert index.search("bark", mode="sparse", k=9)[0][0].sentence is None
        assert index.search([]) == []


def test_expand_gives_the_chunks_around_a_hit_of_its_document_alone(tmp_path: Path) -> None:
    texts = ["One cat. Two dogs. Three birds. Four fish.", "Five cows. Six hens."]
    for ids in (None, ["a", "b"]):
        with Index.create(tmp_path / f"x{ids is None}") as index:
            index.add(chunks_of(texts, ids=ids))
            hit = index.search("Three birds.", k=1, expansion=1)[0][0]
            assert [part.text for part in hit.around] == ["Two dogs.", "Three birds.", "Four fish."]
            assert all(texts[0][part.start : part.end] == part.text for part in hit.around)
            hit = index.search("Four fish.", k=1, expansion=9)[0][0]
            assert [part.chunk_index for part in hit.around] == [0, 1, 2, 3]
            hit = index.search("Five cows.", k=1, expansion=1)[0][0]
            assert [part.text for part in hit.around] == ["Five cows.", "Six hens."]
            index.remove(chunk_ids=[index.search("Two dogs.", k=1)[0][0].chunk_id])
            hit = index.search("Three birds.", k=1, expansion=1)[0][0]
            assert [part.text for part in hit.around] == ["Three birds.", "Four fish."]


@pytest.mark.parametrize("ids", [None, ["a", "b"]])
def test_hits_by_document_are_the_best_of_each_document(ids: Any, tmp_path: Path) -> None:
    texts = ["Cats purr. Cats sleep. Cats eat. Cats run.", "Dogs and cats fight. Cats win."]
    chunks = chunks_of(texts, ids=ids)
    with Index.create(tmp_path / "x") as index:
        index.add(chunks)
        for removed in ([], [0, 2]):  # the second time with gaps that compaction closes
            if removed:
                index.remove(chunk_ids=chunks.table["chunk_id"].take(pa.array(removed)).to_pylist())
                index.add(
                    chunks_of([f"Other {i}." for i in range(9)], ids=[f"o{i}" for i in range(9)] if ids else None)
                )
                others = index.search("Other", k=9, mode="sparse")[0]
                index.remove(chunk_ids=[hit.chunk_id for hit in others])
                index.save()
                assert index.info["removed"] == 0
            plain = index.search("Do cats purr or win?", k=9)[0]
            first = {hit.document_index: hit for hit in reversed(plain)}
            best = sorted(first.values(), key=lambda hit: -hit.score)
            for k in (1, 2, 9):
                found = index.search_documents("Do cats purr or win?", k=k)[0]
                assert [each.hits for each in found] == [(hit,) for hit in best[:k]]
                assert [(each.document_id, each.score) for each in found] == [
                    (hit.document_id, hit.score) for hit in best[:k]
                ]


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
@pytest.mark.parametrize("ids", [False, True])
def test_as_many_documents_as_asked_for_however_many_chunks_one_has(mode: str, ids: bool, tmp_path: Path) -> None:
    long = " ".join(f"Cats purr at {hour} o'clock." for hour in range(200))
    texts = [long, "Cats purr, says the vet in her book on animals.", "A dog may hear cats.", "Dogs bark, fish do not."]
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(texts, ids=[f"d{i}" for i in range(4)] if ids else None))
        queries = ["Cats purr at noon", "Dogs bark", "Do fish hear dogs?"]
        plain = index.search(queries, k=1000, mode=mode)
        for k in (1, 2, 3, 4, 9):
            found = index.search_documents(queries, k=k, mode=mode)
            for all_, own in zip(plain, found, strict=True):
                best: dict[int, Any] = {}
                for hit in all_:
                    best.setdefault(hit.document_index, hit)
                assert [each.hits[0] for each in own] == list(best.values())[:k]


def test_every_column_of_hits_is_a_field_of_a_hit(tmp_path: Path) -> None:
    text = "First page.\fSecond page. It says what stars burn."
    with pychunk.Index.create(tmp_path / "x.idx") as index:
        index.add(pychunk.segment(text, "page", vectors="sentence"))
        (hit,) = index.search(["What do stars burn?"], k=1)[0]
    assert {column.name for column in COLUMNS if column.in_hits} <= {field.name for field in dataclasses.fields(hit)}
    assert (hit.page, hit.page_end, hit.line, hit.metadata) == (2, 2, 1, {})
