"""pychunk.Index: exact against brute force, the same however it was filled, kept on disk, clear where it refuses."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

import pychunk
from pychunk.encoders import registry
from pychunk.retrieval import contents as index_module
from pychunk.retrieval import rerank
from pychunk.retrieval import store as store_module
from pychunk.retrieval import terms as terms_module
from pychunk.retrieval import vectors as vectors_module
from pychunk.retrieval.index import Index
from pychunk.retrieval.ingest import encode_chunks
from pychunk.retrieval.store import Store
from pychunk.retrieval.terms import Analyzer

F32 = np.float32
PETS = ["Cats purr when content. They sleep all day.", "Dogs bark at night. Dogs fetch sticks.", "Rust is memory safe."]


def chunks_of(
    texts: list[str], vectors: str = "sentence", ids: Any = None, method: str = "sentence", **more: Any
) -> Any:
    """What segment() returns; of both vectors, a table."""
    if vectors != "both":
        return pychunk.segment(texts, method, vectors=vectors, ids=ids, **more)
    table = pychunk.segment(texts, method, vectors="sentence", ids=ids, **more).table
    pooled = pychunk.segment(texts, method, vectors="chunk", ids=ids, **more).table
    return table.append_column("vector", pooled["vector"])


def encoded(texts: list[str]) -> Any:
    return registry.vector_encoder("static", "onnxruntime").encode(texts)


def seen(hits: list[Any]) -> list[tuple[Any, ...]]:
    """What a user sees of hits, with every bit of the scores."""
    return [(hit.id, hit.document, hit.chunk, hit.text, hit.score) for hit in hits]


def answers(index: Index, queries: list[str], k: int = 7) -> list[Any]:
    """Hits of all modes."""
    return [
        [seen(hits) for hits in index.search(queries, k=k, mode=mode, fusion=fusion)]
        for mode, fusion in (("dense", "score"), ("sparse", "score"), ("hybrid", "score"), ("hybrid", "rrf"))
    ]


@dataclass
class Reference:
    """The slow and obvious index: a list of chunks, each of which is scored."""

    dtype: str = "float16"
    k1: float = 0.9
    b: float = 0.4
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, chunks: Any) -> None:
        table = chunks if isinstance(chunks, pa.Table) else chunks.table
        new: list[dict[str, Any]] = []
        plain = table.drop_columns([name for name in ("sentences", "vector") if name in table.column_names])
        for place, row in enumerate(plain.to_pylist()):
            key = row.get("id", row["chunk_id"])
            row["rows"] = row["pooled"] = np.empty(0, F32)
            if "sentences" in table.column_names:
                row["rows"] = self.stored(table["sentences"][place].values.field("vector"))
            if "vector" in table.column_names:
                row["pooled"] = self.stored(table["vector"].slice(place, 1).combine_chunks())
            row["terms"] = Counter(Analyzer().terms(row["text"]))
            # a document of the same id, or without ids the same chunk, takes the place of one before it
            new = [old for old in new if old["key"] != key or ("id" in row and old["document"] == row["document"])]
            new.append({"key": key, **row})
        keys = {row["key"] for row in new}
        self.rows = [row for row in self.rows if row["key"] not in keys] + new

    def stored(self, vectors: Any) -> Any:
        return np.asarray(vectors.flatten()).reshape(len(vectors), -1).astype(self.dtype).astype(F32)

    def bm25(self, query: str) -> list[np.float32]:
        lengths = [sum(row["terms"].values()) for row in self.rows]
        mean = sum(lengths) / max(1, len(lengths))
        base = [F32(self.k1 * (1 - self.b + self.b * length / max(mean, 1e-9))) for length in lengths]
        out, bound = [F32(0) for _ in self.rows], 0.0
        for term, times in Counter(Analyzer().terms(query)).items():
            frequency = sum(term in row["terms"] for row in self.rows)
            if not frequency:
                continue
            weight = times * float(np.log1p((len(self.rows) - frequency + 0.5) / (frequency + 0.5)))
            bound += weight
            for i, row in enumerate(self.rows):
                count = F32(row["terms"][term])
                if count:
                    out[i] += F32(weight) * count / (count + base[i])
        return [score / F32(bound) if bound else score for score in out]

    def search(
        self, query: str, vector: Any, k: int, mode: str, keep: Callable[[dict[str, Any]], bool] = lambda row: True
    ) -> list[tuple[Any, ...]]:
        sparse = self.bm25(query)
        found = []
        for place, row in enumerate(self.rows):
            dense = [(rows * vector).sum(axis=1).max() for rows in (row["rows"], row["pooled"]) if rows.size]
            parts = [F32(1 / len(dense)) * score for score in dense] if mode != "sparse" else []
            if mode != "dense":
                parts.append(F32(1.5 if mode == "hybrid" else 1.0) * sparse[place])
            if keep(row) and (mode != "sparse" or sparse[place] > 0):
                found.append((-float(sum(parts[1:], parts[0])), place, row))
        found.sort(key=lambda each: each[:2])
        return [(row.get("id"), row["document"], row["chunk"], row["text"], -score) for score, _, row in found[:k]]


def assert_equal_to(reference: Reference, index: Index, queries: list[str], k: int, **filters: Any) -> None:
    keep = filters.pop("keep", lambda row: True)
    vectors = encoded(queries)
    for mode in ("dense", "sparse", "hybrid"):
        found = index.search(queries, k=k, mode=mode, **filters)
        for query, vector, hits in zip(queries, vectors, found):
            assert seen(hits) == reference.search(query, vector, k, mode, keep), (mode, query)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """So small tasks take longer on several threads of a busy machine."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(before)


# Flat search is brute force

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
    st.sampled_from(["float16", "float32"]),
)
def test_flat_search_of_any_text_is_brute_force(
    first: list[str], second: list[str], vectors: str, method: str, named: bool, queries: list[str], k: int, dtype: str
) -> None:
    method, more = ("fixed", {"size": 1 << 30}) if method == "document" else (method, {})
    reference = Reference(dtype)
    with tempfile.TemporaryDirectory() as folder:
        index = Index.create(Path(folder) / "x", vectors=vectors, dtype=dtype)
        for texts in (first, second):  # with ids documents come again in the next batch, without in the same, too
            ids = [f"d{i}" for i in range(len(texts))] if named else None
            chunks = chunks_of(texts, vectors, ids, method, **more)
            index.add(chunks)
            reference.add(chunks)
            assert_equal_to(reference, index, queries, k)
            assert len(index) == len(reference.rows)
        index.save()
        assert_equal_to(reference, Index.open(Path(folder) / "x"), queries, k)


@pytest.fixture(scope="module")
def real(articles: list[str]) -> Any:
    """Chunks of 200 articles, with two columns of metadata."""
    texts = [text[:2000] for text in articles[:200]]
    table = chunks_of(texts, "both", [f"a{i}" for i in range(200)], "fixed", size=60, unit="words")
    document = table["document"].to_numpy()
    table = table.append_column("number", pa.array(document % 10))
    return table.append_column("parity", pa.array(np.array(["even", "odd"])[document % 2]))


@pytest.fixture(scope="module")
def questions(articles: list[str]) -> list[str]:
    """Sentences of articles, in the index and not."""
    return [text[a:b].strip() for text in articles[150:250:12] for a, b in pychunk.sentences(text)[0][3:4]] + ["the of"]


@pytest.mark.parametrize("vectors", ["sentence", "chunk", "both"])
def test_flat_search_of_real_text_is_brute_force(
    vectors: str, real: pa.Table, questions: list[str], tmp_path: Path
) -> None:
    table = real.drop_columns({"sentence": ["vector"], "chunk": ["sentences"], "both": []}[vectors])
    reference = Reference()
    reference.add(table)
    with Index.create(tmp_path / "x", vectors=vectors) as index:
        index.add(table)
        assert_equal_to(reference, index, questions, 10)
        questions = questions[:4]
        few = {"where": {"number": [3, 4], "parity": "odd"}}
        assert_equal_to(reference, index, questions, 10, **few, keep=lambda row: row["number"] == 3)
        expression = (pc.field("number") > 6) & pc.starts_with(pc.field("id"), "a1")
        assert_equal_to(
            reference,
            index,
            questions,
            10,
            where=expression,
            keep=lambda row: row["number"] > 6 and row["id"].startswith("a1"),
        )
        assert_equal_to(
            reference, index, questions, 50, ids=["a7", "a9", "?"], keep=lambda row: row["id"] in ("a7", "a9")
        )
        assert_equal_to(reference, index, questions, 5, ids=[], keep=lambda row: False)
        gone = {f"a{i}" for i in range(0, 200, 3)}
        index.remove(sorted(gone))
        reference.rows = [row for row in reference.rows if row["id"] not in gone]
        assert_equal_to(reference, index, questions, 10)
        assert_equal_to(reference, index, questions, 10, where={"number": 3}, keep=lambda row: row["number"] == 3)


def test_bm25_is_that_of_bm25s(real: pa.Table, questions: list[str], tmp_path: Path) -> None:
    bm25s = pytest.importorskip("bm25s")
    texts = real["text"].to_pylist()
    terms = [Analyzer().terms(text) for text in texts]
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index(terms, show_progress=False)
    with Index.create(tmp_path / "x", k1=1.2, b=0.75) as index:
        index.add(real)
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


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("İstanbul'da", "istanbul"),
        ("ISTANBUL", "İstanbul"),
        ("Україна", "Украї\u0301на"),
        ("Мо\u0301сква", "москва"),
        ("Cafe\u0301 re\u0301sume\u0301", "résumé"),
        ("Café", "cafe\u0301"),
        ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"),
        ("हिन्दी भाषा", "हिन्दी"),
        ("שָׁלוֹם", "שלום"),
        ("كِتَابٌ", "كتاب"),
        ("دیتا\u200cبیس", "دیتابیس"),
        ("Donau\u00addampf", "Donaudampf"),
        ("\ufb01nal", "FINAL"),
        ("ＡＢＣ１２", "abc12"),
        ("ﾃｽﾄ", "テスト"),
        ("Gro\u1e9e", "gross"),
        ("brand™", "BRANDtm"),
        ("naïve", "NAI\u0308VE"),
        ("\u01f0a", "J\u030cA"),
    ],
)
def test_words_are_found_however_they_are_spelt(text: str, query: str, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of([text, "Something else."]))
        assert [hit.text for hit in index.search(query, mode="sparse")[0]] == [text]


def test_letters_that_differ_stay_apart_and_words_are_whole() -> None:
    for one, other in (
        ("é", "e"),
        ("ї", "і"),
        ("й", "и"),
        ("ñ", "n"),
        ("ä", "a"),
        ("が", "か"),
        ("दी", "द"),
        ("กำ", "ก"),
    ):
        assert Analyzer().terms(one) != Analyzer().terms(other)
    assert Analyzer().terms("हिन्दी विश्व की भाषा है।") == ["हिन्दी", "विश्व", "की", "भाषा", "है"]
    assert Analyzer().terms("Россия, 1\ufe0f\u20e3 — 𑀓𑁆𑀢 x_y\u200b3") == ["россия", "1", "𑀓𑁆𑀢", "x_y", "3"]
    assert Analyzer().terms("\u0301\u0900 \u00ad") == []
    assert Analyzer(stop_words=["É"]).terms("e\u0301 x") == ["x"]
    assert Analyzer("ngrams", ngram=2).terms("E\u0301a") == ["_é", "éa", "a_"]


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_analysis_is_that_of_any_normal_form_and_the_fast_path(text: str) -> None:
    ignored, _, words = terms_module._patterns()
    expected = Analyzer().terms(text)
    plain = unicodedata.normalize("NFC", text.casefold())
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", plain).casefold())
    assert expected == words.findall(ignored.sub("", plain))
    assert Analyzer().terms(unicodedata.normalize("NFC", text)) == expected
    assert Analyzer().terms(unicodedata.normalize("NFD", text)) == expected


def test_an_index_of_the_first_analysis_keeps_it(tmp_path: Path) -> None:
    texts = ["İstanbul Cafe\u0301 हिन्दी Украї\u0301на.", "Größe \ufb01nal."]
    with Index.create(tmp_path / "x") as index:
        assert index.info["terms"]["version"] == 2
    store = Store(tmp_path / "x")
    manifest = store.read()
    del manifest["terms"]["version"]  # as it was written before there were two
    store.commit({**manifest, "schema": 1})
    with Index.open(tmp_path / "x") as index:
        index.add(chunks_of(texts))
        words = [re.findall(r"\w+", text.casefold()) for text in texts]
        assert index._contents.searcher().bm25.parts[0].terms.to_pylist() == sorted(
            {each for own in words for each in own}
        )
    with Index.open(tmp_path / "x") as index:
        assert index.search("istanbul", mode="sparse") == [[]]
        assert [hit.text for hit in index.search("GRÖSSE", mode="sparse")[0]] == texts[1:]
        assert index._store.manifest["schema"] == 1
        assert "version" not in index.info["terms"]
    with pytest.raises(ValueError, match="version must be 1 or 2; got 3"):
        Analyzer(version=3)


def test_a_long_query_takes_time_in_proportion(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(40_000)]
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of([" ".join(words[i : i + 500]) + "." for i in range(0, len(words), 500)]))

        def seconds(count: int) -> float:
            begun = time.process_time()
            index.search(" ".join(words[:count]), mode="sparse")
            return time.process_time() - begun

        seconds(100)
        short, long = (min(seconds(count) for _ in range(3)) for count in (5_000, 40_000))
        assert long < 3 * 8 * short  # 64 times, where each word was counted in all the others


def test_chunks_of_many_sentences_are_found_by_one_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(f"Sentence {i} of text {number}." for i in range(100)) for number in range(12)]
    reference = Reference()
    with Index.create(tmp_path / "x") as index:
        chunks = chunks_of(texts, method="fixed", size=1 << 30)
        index.add(chunks)
        reference.add(chunks)
        assert_equal_to(reference, index, ["Sentence 7 of text 3", "text"], 5)
        searches = []
        plain = vectors_module.VectorIndex.search
        monkeypatch.setattr(vectors_module.VectorIndex, "search", lambda *each: searches.append(each) or plain(*each))
        index.search("Sentence 7 of text 3", k=10, mode="dense")
        assert len(searches) == 1


# However it was filled, and asked


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_answers_do_not_depend_on_parts_or_batches(
    dtype: str, real: pa.Table, questions: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = real.filter(pc.field("number") < 4)
    document = table["document"].to_numpy()
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
        by_vector = index.search(query_vectors=3 * vectors, mode="dense", k=7)
        for hits, same in zip(by_vector, expected[0]):  # scaled to unit length once more
            assert [hit.score for hit in hits] == pytest.approx([each[-1] for each in same], abs=1e-6)
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
    monkeypatch.setattr(index_module, "PART_CHUNKS", 65_536)
    with Index.open(tmp_path / "many") as index:  # all parts count as small now, and become one
        index.add(chunks_of(["Gone."], "both", ["gone"]))
        index.remove(["gone"])
        index.save()
        assert len(list((tmp_path / "many").glob("part-*"))) == 2  # the last one has fewer columns
        assert answers(index, questions) == expected
    assert answers(Index.open(tmp_path / "many"), questions) == expected


def test_rows_and_scores_are_those_of_the_hits(real: pa.Table, questions: list[str], tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(real)
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
        assert (hit.id, hit.document, hit.chunk, str(hit)) == ("dogs", 1, 0, PETS[1])
        assert PETS[1][hit.start : hit.end] == hit.text
        assert hit.sentence is not None
        assert PETS[1][slice(*hit.sentence)] == "Dogs fetch sticks."
        assert hit.metadata == {"lang": "en", "year": 2}
        assert hit.score == pytest.approx(hit.scores["dense"] + 1.5 * hit.scores["sparse"])
        assert [hit.id for hit in index.search("Dogs?", where={"lang": "rs"})[0]] == ["rust"]
        assert {hit.id for hit in index.search("Dogs?", where={"lang": ("rs", "en"), "year": [1, 2]})[0]} == {
            "cats",
            "dogs",
        }
        assert [hit.id for hit in index.search("Dogs?", where=pc.field("year").is_null())[0]] == ["rust"]
        assert index.search("x", where={"text": PETS[2]}, mode="dense")[0][0].id == "rust"
        assert index.search("bark", mode="sparse", k=9)[0][0].sentence is None
        assert index.search([]) == []


# Adding and removing


def texts_in(index: Index) -> set[str]:
    return {hit.text for hit in index.search("x", k=1000, mode="dense")[0]}


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
    real: pa.Table, questions: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "x"
    index = Index.create(folder, vectors="both")
    index.add(real)
    index.save()
    full = index.info["bytes"]
    assert index.remove(["nobody"]) == 0
    single = real["chunk_id"][5].as_py()
    assert index.remove(chunk_ids=[single, "?"]) == 1
    assert index.remove(chunk_ids=[single]) == 0
    gone = [f"a{i}" for i in range(130)]
    assert index.remove(gone) == sum(each in set(gone) for each in real["id"].to_pylist()) - 1
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
    with Index.open(tmp_path / "x") as index:  # no lock is left, nor anything of what was dropped
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


# Neighbours, documents, reranking


def test_expand_gives_the_chunks_around_a_hit_of_its_document_alone(tmp_path: Path) -> None:
    texts = ["One cat. Two dogs. Three birds. Four fish.", "Five cows. Six hens."]
    for ids in (None, ["a", "b"]):
        with Index.create(tmp_path / f"x{ids is None}") as index:
            index.add(chunks_of(texts, ids=ids))
            hit = index.search("Three birds.", k=1, expand=1)[0][0]
            assert [part.text for part in hit.around] == ["Two dogs.", "Three birds.", "Four fish."]
            assert all(texts[0][part.start : part.end] == part.text for part in hit.around)
            hit = index.search("Four fish.", k=1, expand=9)[0][0]
            assert [part.chunk for part in hit.around] == [0, 1, 2, 3]
            hit = index.search("Five cows.", k=1, expand=1)[0][0]
            assert [part.text for part in hit.around] == ["Five cows.", "Six hens."]
            index.remove(chunk_ids=[index.search("Two dogs.", k=1)[0][0].chunk_id])
            hit = index.search("Three birds.", k=1, expand=1)[0][0]
            assert [part.text for part in hit.around] == ["Three birds.", "Four fish."]


@pytest.mark.parametrize("ids", [None, ["a", "b"]])
def test_hits_by_document_are_the_same_hits_grouped(ids: Any, tmp_path: Path) -> None:
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
            groups = index.search("Do cats purr or win?", k=9, by_document=True)[0]
            assert [group.document for group in groups] == list(dict.fromkeys(hit.document for hit in plain))
            for group in groups:
                assert list(group.hits) == [hit for hit in plain if hit.document == group.document]
                assert (group.score, group.id) == (group.hits[0].score, group.hits[0].id)


def test_rerank_orders_by_an_exported_cross_encoder(
    tiny_reranker: Path, real: pa.Table, questions: list[str], tmp_path: Path
) -> None:
    from pychunk.encoders.pairs import PairScorer

    model = PairScorer(tiny_reranker, task="relevance")

    def relevance(query: str, text: str) -> float:
        data, size = (query + text).encode(), len(query.encode())
        bounds = np.array([0, size, len(data)])
        return float(model.logits(np.frombuffer(data, np.uint8), bounds, np.array([0]), np.array([1]))[0, 0])

    with Index.create(tmp_path / "x") as index:
        index.add(real)
        plain = index.search(questions[:3], k=12)
        found = index.search(questions[:3], k=5, rerank=tiny_reranker, depth=12)
        for query, before, hits in zip(questions, plain, found):
            own = {hit.chunk_id: relevance(query, hit.text) for hit in before}
            expected = sorted(own.values(), reverse=True)[:5]
            assert [own[hit.chunk_id] for hit in hits] == pytest.approx(expected, abs=1e-5)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            scores = {hit.chunk_id: hit.scores for hit in before}
            assert all(hit.scores == {**scores[hit.chunk_id], "rerank": hit.score} for hit in hits)


def test_rerank_refuses_a_model_for_something_else(
    tiny_pairs: Path, tiny_encoder: Path, tiny_reranker: Path, tmp_path: Path
) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS))
        for model in ("static", tiny_pairs, tiny_encoder, "nowhere"):
            with pytest.raises(
                ValueError, match=r"rerank takes an exported cross-encoder for relevance \(pychunk export"
            ):
                index.search("x", rerank=model)
    with pytest.raises(ValueError, match="holds a model for relevance; one for pairs is needed here"):
        pychunk.segment(PETS, "nsp", encoder=tiny_reranker)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_relevance_is_the_logit_or_the_second_class_over_the_first(classes: int) -> None:
    class Model:
        path = "here"

        def logits(self, *_: Any, **__: Any) -> Any:
            return np.arange(2 * classes, dtype=F32).reshape(2, classes) ** 2

    if classes == 3:
        with pytest.raises(ValueError, match="here sorts pairs into 3 classes"):
            rerank.scores(Model(), ["q"], [["a", "b"]])
    else:
        found = rerank.scores(Model(), ["q"], [["a", "b"]])
        assert [each.tolist() for each in found] == [[0, 1] if classes == 1 else [1, 5]]


# Refusals that say what to do


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    with Index.create(tmp_path / "saved", kind="hnsw") as index:
        index.add(chunks_of(PETS, ids=["a", "b", "c"]))
        index.remove(["c"])
        index.save()
    return tmp_path / "saved"


def test_vectors_of_another_encoder_and_missing_ones_are_refused(saved: Path, tiny_encoder: Path) -> None:
    with Index.open(saved) as index:
        with pytest.raises(ValueError, match=r"vectors are of encoder.*segment with the index's encoder"):
            index.add(pychunk.segment(PETS, "sentence", vectors="sentence", encoder=tiny_encoder))
        with pytest.raises(ValueError, match=r"no sentence vectors.*segment with vectors='sentence'.*encode_chunks"):
            index.add(pychunk.segment(PETS, "sentence", vectors="chunk"))
        with pytest.raises(ValueError, match="vectors are of encoder"):
            index.add(pychunk.segment("A.", "sentence", vectors="sentence", sentence_vectors=np.ones((1, 256))))
        with pytest.raises(ValueError, match="missing: chunk_id"):
            index.add(chunks_of(PETS).table.drop_columns(["chunk_id"]))
        with pytest.raises(TypeError, match="takes chunks as segment"):
            index.add(["A text."])
        table = chunks_of(PETS, ids=["a", "b", "c"]).table
        for name in ("text", "id"):
            nulls = pa.array([None, *table[name].to_pylist()[1:]])
            with pytest.raises(ValueError, match=f"'{name}' of a chunk table must not be null; 1"):
                index.add(table.set_column(table.column_names.index(name), name, nulls))
        with pytest.raises(ValueError, match=r"do not go with those in the index.*cast"):
            index.add(chunks_of(PETS, ids=[1, 2, 3]))
        with pytest.raises(ValueError, match="metadata 'text': the chunks have a column of that name"):
            index.add(table, metadata={"text": ["a", "b", "c"]})
        with pytest.raises(ValueError, match="metadata 'n' has 1 values, and there are at least 3 documents"):
            index.add(table, metadata={"n": [1]})
        assert len(index) == 4
        index.add(table)
        assert len(index) == 5
    with pytest.raises(ValueError, match=r"holds vectors of encoder 'static'.*open with the encoder that made them"):
        Index.open(saved, encoder=tiny_encoder)


def test_a_newer_version_a_missing_index_and_a_second_create_are_refused(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds an index already: Index\.open"):
        Index.create(saved)
    with pytest.raises(ValueError, match=r"holds no index.*Index\.create"):
        Index.open(tmp_path / "nowhere")
    manifest = json.loads((saved / "manifest.json").read_text())
    (saved / "manifest.json").write_text(json.dumps({**manifest, "schema": 99, "pychunk": "9.9"}))
    with pytest.raises(ValueError, match=r"written by pychunk 9\.9.*index version 99.*pip install -U pychunk"):
        Index.open(saved)


def test_any_file_that_is_missing_short_or_changed_is_named(saved: Path) -> None:
    files = [path for path in sorted(saved.rglob("*")) if path.is_file() and path.name not in ("lock", "manifest.json")]
    assert {path.suffix for path in files} == {".arrow", ".bin", ".npy", ".faiss"}
    assert len(files) == len(Store.files(json.loads((saved / "manifest.json").read_text()))) > 9
    for path in files:
        whole = path.read_bytes()
        place = len(whole) // 2
        for damaged, word in (
            (whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :], "damaged"),
            (whole[:-1], "damaged"),
            (None, "missing"),
        ):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            with pytest.raises(ValueError, match=f"{path} is {word}: restore it from a copy, or build the index again"):
                Index.open(saved)
        path.write_bytes(whole)
    assert len(Index.open(saved)) == 4


def test_any_changed_byte_of_the_manifest_is_noticed(saved: Path) -> None:
    path = saved / "manifest.json"
    whole = path.read_bytes()
    for place in range(0, len(whole) - 1, 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ValueError, match=r"manifest\.json is damaged: restore it|upgrade with pip"):
            Store(saved).read(verify=False)
    for damaged in (b"", b"{}", b"[]", whole[:100]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"manifest\.json is damaged"):
            Index.open(saved)


def test_a_second_writer_waits_and_readers_do_not(saved: Path) -> None:
    with Index.open(saved) as first, Index.open(saved) as second:
        first.remove(["a"])
        with pytest.raises(ValueError, match=r"another process writes to .*wait for it, or open for reading"):
            second.add(chunks_of(["x"], ids=["x"]))
        assert len(second) == 4
        first.save()
        first.close()
        second.add(chunks_of(["x"], ids=["x"]))  # takes up what the first saved
        assert len(second) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "fuzzy"}, "mode must be 'dense', 'sparse' or 'hybrid'"),
        ({"fusion": "sum"}, "fusion must be 'score' or 'rrf'"),
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"k": True}, "k must be a whole number"),
        ({"where": {"colour": "red"}}, "where names the column 'colour'; the index has document, id"),
        (
            {"where": pc.field("colour") == 1},
            r"where cannot be applied.*colour.*the index has the columns document, id",
        ),
        ({"where": {"chunk": "first"}}, "where: the column 'chunk' is int64, and got 'first'"),
        ({"where": {"chunk": 2**70}}, "where: the column 'chunk' is int64, and got 1180591620717411303424"),
        ({"where": {"chunk": {"$gte": 1}}}, r"'chunk' must be .* where=pyarrow\.compute\.field\('chunk'\) >= 2015"),
        ({"query_vectors": [1.0, 2.0]}, r"query_vectors must be float\[1, 256\]"),
        ({"query_vectors": np.ones((1, 1, 256))}, r"query_vectors must be float\[1, 256\]; got \(1, 1, 256\)"),
        ({"query_vectors": np.full((1, 256), np.nan)}, "query_vectors must be finite; row 0 has NaN"),
        ({"query_vectors": np.full((1, 256), np.inf)}, "query_vectors must be finite; row 0 has NaN or infinity"),
        ({"k": 2**64}, "k must be a whole number"),
        ({"weight": float("nan")}, "weight must be a finite number of at least 0; got nan"),
        ({"weight": -1}, "weight must be a finite number of at least 0; got -1"),
        ({"blend": 2}, "blend must be a finite number from 0 to 1; got 2"),
        ({"depth": -5}, "depth must be a whole number of at least 1; got -5"),
        ({"expand": -1}, "expand must be a whole number of at least 0; got -1"),
        ({"threads": 0}, "threads must be a whole number of at least 1; got 0"),
    ],
)
def test_options_of_a_search_out_of_range_are_named(options: dict[str, Any], message: str, saved: Path) -> None:
    with pytest.raises(ValueError, match=message):
        Index.open(saved).search("cats", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "tree"}, "kind must be one of 'auto', 'flat', 'hnsw', 'ivfpq'; got 'tree'"),
        ({"vectors": "word"}, "vectors must be one of 'sentence', 'chunk', 'both'"),
        ({"dtype": "int8"}, "dtype must be one of"),
        ({"terms": "letters"}, "terms must be one of"),
        ({"stemmer": "klingon"}, "stemmer must be one of .*english"),
        ({"encoder": None}, "with encoder=None the width of the vectors must be given: dim="),
    ],
)
def test_options_of_an_index_out_of_range_are_named(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        Index.create(tmp_path / "x", **options)
    assert not (tmp_path / "x").exists()


def test_remove_takes_a_list_of_one_kind(saved: Path) -> None:
    with Index.open(saved) as index:
        uses: list[Callable[..., Any]] = [index.remove, lambda ids: index.search("cats", ids=ids)]
        for use in uses:
            with pytest.raises(TypeError, match="ids must be a list of ids; got the single 'a'"):
                use("a")
            with pytest.raises(TypeError, match="ids must be a list of ids; got the single 25"):
                use(25)
            for missing in (None, float("nan")):
                with pytest.raises(TypeError, match="ids must not be null; row 1 is"):
                    use(["a", missing])
        with pytest.raises(ValueError, match="ids or chunk_ids"):
            index.remove()
        with pytest.raises(TypeError, match="chunk_ids must not be null; row 0 is None"):
            index.remove(chunk_ids=[None])
        assert len(index) == 4


@pytest.mark.parametrize("given", [["12"], [12], np.array([12]), pa.array(["12"]), {12}, (12, "nobody")])
def test_a_number_and_its_text_are_one_id_for_search_and_remove(given: Any, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(PETS, ids=[11, 12, 13]))
        index.add(chunks_of(["None."], ids=[14]))
        assert {hit.id for hit in index.search("dogs", k=9, ids=given)[0]} == {12}
        assert index.remove(given) == 2
        assert index.search("dogs", ids=given) == [[]]
    with Index.create(tmp_path / "none") as index:
        index.add(chunks_of(PETS))
        with pytest.raises(ValueError, match="those of this index have none: segment with ids="):
            index.search("dogs", ids=given)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (5, "queries must be a list of texts, or one text; got the single 5"),
        (b"cats", "queries must be a list of texts, or one text; got the single b'cats'"),
        ([None], "queries must be texts; row 0 is None"),
        (["cats", 1.5], "queries must be texts; row 1 is 1.5"),
    ],
)
def test_queries_that_are_no_texts_are_named(queries: Any, message: str, saved: Path) -> None:
    with pytest.raises(TypeError, match=message):
        Index.open(saved).search(queries)
    with pytest.raises(TypeError, match=message):
        Index.open(saved).rank(queries)


def test_queries_come_as_arrow_numpy_or_none_at_all(saved: Path) -> None:
    index = Index.open(saved)
    expected = index.search(["cats", "dogs"])
    assert index.search(pa.array(["cats", "dogs"])) == index.search(np.array(["cats", "dogs"])) == expected
    assert index.search(query_vectors=np.empty((0, 256)), mode="dense") == []
    assert len(index.search("cats", k=2**40, rerank=None)[0]) == 4


def test_metadata_comes_as_columns_or_a_table(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"year": [1, 2, 3], "lang": ["en", "en", "rs"]}
    for number, metadata in enumerate((columns, pa.table(columns), pandas.DataFrame(columns, index=[7, 8, 9]))):
        with Index.create(tmp_path / str(number)) as index:
            index.add(chunks_of(PETS, ids=["a", "b", "c"]), metadata=metadata)
            assert index.search("rust", k=1)[0][0].metadata == {"year": 3, "lang": "rs"}
            for wrong, message in (
                (["title"], "metadata must be a mapping of names to columns, or a table; got list"),
                ({"title": "abc"}, "metadata 'title' must be a list of one value a document; got 'abc'"),
                ({"title": None}, "metadata 'title' must be a list of one value a document; got None"),
            ):
                with pytest.raises(TypeError, match=message):
                    index.add(chunks_of(PETS, ids=["a", "b", "c"]), metadata=wrong)
            index.add(chunks_of(PETS[2:], ids=["c"]))  # what is not given again is null
            assert index.search("rust", k=1)[0][0].metadata == {"year": None, "lang": None}


@pytest.mark.parametrize("place", ["parts", "stored", "files"])
def test_a_manifest_that_names_anything_outside_the_folder_is_refused(place: str, saved: Path) -> None:
    store = Store(saved)
    manifest = store.read()
    shutil.copytree(saved, saved.parent / "other")
    outside = "../other/part-000001"
    if place == "parts":
        manifest["parts"][0].update(name=outside, files={})
    elif place == "stored":
        manifest["stored"]["sentences"]["file"] = outside + "/../sentences-000001.faiss"
    else:
        manifest["files"][outside + "/chunks.arrow"] = [1, 1]
    manifest["checksum"] = store_module._digest(manifest)
    (saved / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"manifest\.json is damaged: it names '\.\./other/"):
        Index.open(saved)


def test_a_manifest_of_nested_brackets_is_damaged(saved: Path) -> None:
    (saved / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"manifest\.json is damaged: restore it"):
        Index.open(saved)


def test_given_vectors_need_query_vectors(tmp_path: Path) -> None:
    chunks = pychunk.segment(
        "Cats purr. Dogs bark.", "sentence", vectors="sentence", sentence_vectors=np.array([[1.0, 0, 0], [0, 2, 0]])
    )
    with Index.create(tmp_path / "x", encoder=None, dim=3) as index:
        index.add(chunks)
        index.save()
    index = Index.open(tmp_path / "x")
    hits = index.search(query_vectors=[[0, 5, 0], [1, 0, 0]], mode="dense", k=1)
    assert [(own[0].text, own[0].score) for own in hits] == [("Dogs bark.", 1.0), ("Cats purr.", 1.0)]
    assert index.search("bark", query_vectors=[0, 1, 0], k=1)[0][0].scores["sparse"] > 0
    assert index.search("bark", mode="sparse")[0][0].text == "Dogs bark."
    with pytest.raises(ValueError, match=r"without an encoder \(encoder=None\): pass query_vectors="):
        index.search("Do dogs bark?")
    with pytest.raises(ValueError, match="query_vectors without texts serve mode='dense' alone"):
        index.search(query_vectors=[0, 1, 0])


def test_an_index_without_terms_searches_by_vectors_alone(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x", terms=None) as index:
        index.add(chunks_of(PETS))
        assert index.search("cats", mode="dense", k=1)[0][0].text == "Cats purr when content."
        with pytest.raises(ValueError, match=r"terms=None.*use mode='dense'"):
            index.search("cats")


# Readers beside a writer

READER = """
import sys
from pychunk.retrieval.index import Index
index = Index.open(sys.argv[1])
print("open", flush=True)
for line in sys.stdin:
    if line.strip() == "refresh":
        print(index.refresh(), index.refresh(), flush=True)
    else:
        print([hit.text for hit in index.search("Which animals are there?", k=9)[0]], flush=True)
"""


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_a_reader_answers_as_when_it_opened_until_it_refreshes(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    writer = Index.create(folder, kind=kind)
    writer.add(chunks_of(["Cats.", "Dogs."], ids=["a", "b"]))
    writer.save()
    before = str([hit.text for hit in writer.search("Which animals are there?", k=9)[0]])
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", READER, str(folder)], cwd=tmp_path, **pipes) as reader:

        def ask(line: str) -> str:
            print(line, file=reader.stdin, flush=True)
            return str(reader.stdout.readline()).strip()

        assert reader.stdout.readline() == "open\n"  # and has read nothing but the manifest and names
        writer.remove(["a", "b"])
        writer.add(chunks_of(["Birds.", "Fish."], ids=["c", "d"]))
        writer.save()  # removes what the reader has open
        writer.remove(["c"])
        writer.save()
        assert not (folder / "part-000001").exists()
        assert ask("search") == before
        assert ask("refresh") == "True False"
        assert ask("search") == "['Fish.']"
        reader.stdin.close()
        assert reader.wait(20) == 0


WRITER = """
import sys
import pychunk
from pychunk.retrieval.index import Index
with Index.open(sys.argv[1]) as index:
    for number in range(1, 31):
        text = " ".join(f"State {number} sentence {i}." for i in range(3))
        index.add(pychunk.segment([text], "sentence", vectors="sentence", ids=[str(number)]))
        index.remove([str(number - 3)])
        index.save()
"""


def test_whoever_opens_while_another_saves_sees_a_whole_state(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    Index.create(folder, kind="hnsw").close()
    seen_states = set()
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], cwd=tmp_path) as writer:
        running = True
        follower = Index.open(folder)
        while running:
            running = writer.poll() is None
            opened = Index.open(folder)
            follower.refresh()
            for index in (opened, follower):
                found = Counter(hit.id for hit in index.search("state", k=99, mode="dense")[0])
                last = max(map(int, found), default=0)
                assert found == {str(number): 3 for number in range(max(1, last - 2), last + 1)}
                assert len(index) == sum(found.values())
                seen_states.add(last)
        assert writer.returncode == 0
    assert max(seen_states) == 30
    assert len(seen_states) > 2


# Chunks from elsewhere


@pytest.mark.parametrize("vectors", ["sentence", "chunk", "both"])
def test_chunks_from_elsewhere_are_encoded_and_found(vectors: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    text = "  Cats purr. They sleep.\n\n \nDogs bark at night."
    spans = [(0, 24), (24, 28), (28, len(text))]
    frame = pandas.DataFrame(
        {
            "document": [7, 7, 7],
            "chunk": [0, 1, 2],
            "chunk_id": ["x", "y", "z"],
            "start": [a for a, _ in spans],
            "end": [b for _, b in spans],
            "text": [text[a:b] for a, b in spans],
        }
    )
    short = pa.schema([("document", pa.int32()), ("chunk", pa.int8()), ("start", pa.uint16()), ("end", pa.int64())])
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
        assert (hit.document, hit.chunk_id, hit.text) == (7, "z", "Dogs bark at night.")
        hit = index.search("They sleep.", k=1)[0][0]
        assert hit.text == text[:24]
        assert (hit.sentence is None) == (vectors == "chunk")
        assert hit.sentence is None or text[slice(*hit.sentence)] == "They sleep."
        index.save()
    assert len(Index.open(tmp_path / "x")) == 4


def test_encoding_again_changes_nothing_and_replaces_what_is_there(real: pa.Table) -> None:
    table = real.slice(0, 60)
    again = encode_chunks(table.drop_columns(["sentences", "vector"]), vectors="both")
    assert encode_chunks(again, vectors="both").equals(again)
    found = np.stack(again["vector"].to_numpy(zero_copy_only=False))
    np.testing.assert_allclose(found, np.stack(table["vector"].to_numpy(zero_copy_only=False)), atol=0.2)
    with pytest.raises(ValueError, match="vectors must be one of"):
        encode_chunks(table, vectors="word")


def test_a_table_that_went_through_parquet_can_be_added(real: pa.Table, questions: list[str], tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(real, tmp_path / "chunks.parquet", row_group_size=37)
    found = []
    for name, table in (("a", real), ("b", pq.read_table(tmp_path / "chunks.parquet"))):
        with Index.create(tmp_path / name, vectors="both") as index:
            assert index.add(table) == real.num_rows
            found.append(answers(index, questions))
    assert found[0] == found[1]


# Approximate kinds


@pytest.fixture(scope="module")
def many(articles: list[str]) -> Iterator[tuple[Path, pa.Table, list[str]]]:
    """A flat index of a few thousand sentences of real articles, its chunks, and held-out queries."""
    table = chunks_of([text[:4000] for text in articles[:100]], ids=[f"a{i}" for i in range(100)]).table
    queries = [text[a:b].strip() for text in articles[200:300] for a, b in pychunk.sentences(text)[0][2:3]]
    folder = Path(tempfile.mkdtemp())
    with Index.create(folder / "flat", terms=None, kind="flat") as index:
        index.add(table)
        index.save()
    yield folder / "flat", table, queries
    shutil.rmtree(folder)


def recall(index: Index, flat: Index, queries: list[str], **options: Any) -> float:
    shares = []
    for own, exact in zip(*(each.search(queries, k=10, mode="dense", **options) for each in (index, flat))):
        assert len(own) == len(exact)
        shares.append(len({hit.chunk_id for hit in own} & {hit.chunk_id for hit in exact}) / len(exact))
    return float(np.mean(shares))


def test_hnsw_finds_nearly_all_and_honours_filters_and_removal(many: Any, tmp_path: Path) -> None:
    flat_folder, table, queries = many
    assert table.num_rows > 3000
    shutil.copytree(flat_folder, tmp_path / "flat")
    with Index.open(tmp_path / "flat") as flat, Index.create(tmp_path / "x", kind="hnsw", terms=None) as index:
        for begin in range(0, table.num_rows, 1500):  # grows by what each save finds new
            index.add(table.slice(begin, 1500).drop_columns(["id"]))
            index.save()
        assert recall(index, flat, queries) > 0.9
    with Index.open(tmp_path / "flat") as flat, Index.create(tmp_path / "y", kind="hnsw", terms=None) as index:
        index.add(table)
        index.save()
        gone = [f"a{i}" for i in range(0, 100, 2)]
        for each in (flat, index):
            each.remove(gone)
        assert recall(index, flat, queries) > 0.9
        assert not {hit.id for own in index.search(queries, k=10, mode="dense") for hit in own} & set(gone)
        chosen = [f"a{i}" for i in range(40)]
        assert recall(index, flat, queries, ids=chosen) == 1  # so few are scored one by one
        index.save()
        again = Index.open(tmp_path / "y")
        assert recall(again, flat, queries) > 0.9
        assert [seen(hits) for hits in again.search(queries, mode="dense")] == [
            seen(hits) for hits in index.search(queries, mode="dense")
        ]


def test_hnsw_goes_on_until_k_chunks_are_found(tmp_path: Path) -> None:
    long = " ".join(f"Cats purr {i} times a day." for i in range(300))
    texts = [long, *(f"The cat number {i} purrs." for i in range(30))]
    found = []
    for kind in ("flat", "hnsw"):
        with Index.create(tmp_path / kind, kind=kind) as index:
            index.add(chunks_of(texts, method="fixed", size=1 << 20))
            found.append(
                [len(index.search("Cats purr 7 times a day.", k=10, mode=mode)[0]) for mode in ("dense", "hybrid")]
            )
    assert found == [[10, 10], [10, 10]]


def test_merging_parts_keeps_the_graph_and_compaction_builds_another(many: Any, tmp_path: Path) -> None:
    _, table, queries = many
    with Index.create(tmp_path / "x", kind="hnsw", terms=None) as index:
        for begin in range(0, 1600, 200):
            index.add(table.slice(begin, 200))
            index.search("x", mode="dense")  # ends the part
        index.save()
        assert len(list((tmp_path / "x").glob("part-*"))) == 1
        expected = [seen(hits) for hits in index.search(queries, mode="dense")]
        assert [seen(hits) for hits in Index.open(tmp_path / "x").search(queries, mode="dense")] == expected
        name = next((tmp_path / "x").glob("*.faiss")).name
        held = list(dict.fromkeys(index.table["id"].to_pylist()))
        index.remove(held[:1])
        index.save()
        assert next((tmp_path / "x").glob("*.faiss")).name == name  # no new rows: the same file
        while len(index) >= 800:
            index.remove([held.pop()])
        index.save()
        assert 5 < index.info["chunks"] == len(index) < 800
        assert [path.name for path in (tmp_path / "x").glob("*.faiss")] != [name]
        assert len(index.search("x", mode="dense", k=5)[0]) == 5


def test_ivfpq_is_small_and_flat_where_there_is_too_little_to_learn_from(many: Any, tmp_path: Path) -> None:
    table, queries = many[1].slice(0, 2000), many[2]
    with Index.create(tmp_path / "x", kind="ivfpq", terms=None) as index:
        assert index.search("x", mode="dense") == [[]]
        index.add(table.slice(0, 3))
        index.save()
        assert len(index.search("x", mode="dense")[0]) == 3
        assert not list((tmp_path / "x").glob("*.faiss"))
        index.add(table)
        index.save()
        assert next((tmp_path / "x").glob("*.faiss")).stat().st_size < 0.5 * 512 * table.num_rows
        flat = Index.create(tmp_path / "flat", kind="flat", terms=None)
        flat.add(table)
        texts = [[hit.text for hit in own] for own in index.search(queries, k=10, mode="dense")]
        exact = [[hit.text for hit in own] for own in flat.search(queries, k=10, mode="dense")]
        flat.close(discard=True)
        assert np.mean([len({*a} & {*b}) / len({*b}) for a, b in zip(texts, exact)]) > 0.6
        again = Index.open(tmp_path / "x").search(queries, k=10, mode="dense")
        assert [[hit.text for hit in own] for own in again] == texts
        index.remove([f"a{i}" for i in range(20)])
        gone = {f"a{i}" for i in range(20)}
        assert not {hit.id for own in index.search(queries, k=10, mode="dense") for hit in own} & gone


def test_auto_takes_the_kind_by_the_number_of_vectors(
    monkeypatch: pytest.MonkeyPatch, many: Any, tmp_path: Path
) -> None:
    assert [vectors_module.choose("auto", n) for n in (0, 199_999, 200_000, 5_000_000)] == [
        "flat",
        "flat",
        "hnsw",
        "ivfpq",
    ]
    monkeypatch.setattr(vectors_module, "HNSW_FROM", 100)
    _, table, _ = many
    with Index.create(tmp_path / "x", terms=None) as index:
        index.add(table.slice(0, 60))
        index.save()
        assert not list((tmp_path / "x").glob("*.faiss"))
        index.add(table.slice(60, 200))
        index.save()
        assert list((tmp_path / "x").glob("*.faiss"))
        assert len(index.search("x", mode="dense", k=9)[0]) == 9


# Terms


def test_ngrams_find_inflected_and_unspaced_words(tmp_path: Path) -> None:
    texts = ["Die Katze schläft.", "Der Hund bellt.", "我在北京大学学习。", "今天天气很好。"]
    with Index.create(tmp_path / "words") as words, Index.create(tmp_path / "n", terms="ngrams", ngram=2) as ngrams:
        for index in (words, ngrams):
            index.add(chunks_of(texts))
        assert words.search("Katzen", mode="sparse") == [[]]
        assert words.search("大学", mode="sparse") == [[]]
        assert ngrams.search("Katzen", mode="sparse")[0][0].text == texts[0]
        assert ngrams.search("大学", mode="sparse")[0][0].text == texts[2]
        ngrams.save()
    assert Index.open(tmp_path / "n").search("天气", mode="sparse")[0][0].text == texts[3]


def test_stemming_and_stop_words_are_kept_with_the_index(tmp_path: Path) -> None:
    pytest.importorskip("Stemmer")
    with Index.create(tmp_path / "x", stemmer="english", stop_words=["The"]) as index:
        index.add(chunks_of(["The runner runs.", "The walls fall."]))
        index.save()
    index = Index.open(tmp_path / "x")
    assert [hit.text for hit in index.search("running", mode="sparse")[0]] == ["The runner runs."]
    assert index.search("the", mode="sparse") == [[]]
