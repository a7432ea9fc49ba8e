"""Propositions as units of an index: each has a vector of its own, which leads to its chunk, and no span."""

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

from index_reference import chunks_of, seen

import pychunk
from pychunk.encoders.static_encoder import load
from pychunk.index import Ranking, Rerank, Rewrite, writer
from pychunk.index.dense import int8_vectors
from pychunk.index.index import Index
from pychunk.index.proposition_vectors import with_propositions
from pychunk.index.store import proposition_column
from pychunk.index.store.index_folder import SCHEMA
from pychunk.index.store.part import Rows

pytestmark = pytest.mark.usefixtures("one_faiss_thread")

OLDER = Path(__file__).parent / "data" / "schema_7" / "index"
TEXTS = ["He purrs. He sleeps by day.", "It is dry there. Nobody lives there.", "Bread needs salt. Salt is white."]
SAID = [
    ["Felix the cat purrs.", "Felix the cat sleeps by day."],
    ["The Atacama desert is dry.", "Felix the cat sleeps by day.", "No people live in the Atacama desert."],
    [],
]


def with_said(chunks: Any, said: list[Any], column: str = "propositions") -> pa.Table:
    """Return chunks with a list of propositions each, which is null for None."""
    table = chunks if isinstance(chunks, pa.Table) else chunks.table
    return table.append_column(column, pa.array(said, pa.list_(pa.string())))


def stored(index: Index) -> dict[str, tuple[Any, Any]]:
    """Return the spans and the stored bytes of the vectors of each chunk, by its text."""
    index._contents.searcher()
    found = {}
    alive = iter((~index._contents.removed).tolist())
    for part in index._contents._parts:
        for row, text in enumerate(part.table["text"].to_pylist()):
            own = slice(part.offsets[row], part.offsets[row + 1])
            if next(alive):
                found[text] = np.asarray(part.spans[own], np.int64), np.array(part.sentences[own])
    return found


def equal(ours: dict[str, tuple[Any, Any]], others: dict[str, tuple[Any, Any]]) -> bool:
    pairs = [(ours[name], others[name]) for name in ours if name in others]
    return ours.keys() == others.keys() and all(np.array_equal(a, b) for own in pairs for a, b in zip(*own))


def index_of(path: Path, *tables: Any, **options: Any) -> Index:
    index = Index.create(path, **options)
    for table in tables:
        index.add(table)
    return index


def units_of(path: Path, *tables: Any, **options: Any) -> dict[str, tuple[Any, Any]]:
    with index_of(path, *tables, **options) as index:
        return stored(index)


def whole(method: str = "paragraph", **more: Any) -> Any:
    return chunks_of(TEXTS, method=method, ids=["cat", "desert", "bread"], **more)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("vectors", ["sentence", "both"])
def test_each_proposition_has_a_vector_after_the_sentences_of_its_chunk(
    tmp_path: Path, dtype: str, vectors: str
) -> None:
    chunks = whole(vectors=vectors)
    plain = units_of(tmp_path / "plain", chunks, dtype=dtype, vectors=vectors)
    with index_of(tmp_path / "x", with_said(chunks, SAID), dtype=dtype, vectors=vectors) as index:
        found = stored(index)
        for text, said in zip(TEXTS, SAID, strict=True):
            (spans, own), (before, sentences) = found[text], plain[text]
            assert np.array_equal(spans[: len(before)], before)
            assert np.array_equal(own[: len(sentences)], sentences)
            assert spans[len(before) :].tolist() == [[-1, place] for place in range(len(said))]
            wanted = [int8_vectors.stored(pychunk.embed(each)[None], dtype)[0] for each in said]
            assert len(own) == len(sentences) + len(said)
            assert all(np.array_equal(a, b) for a, b in zip(own[len(sentences) :], wanted))
    with Index.open(tmp_path / "x") as again:
        assert equal(stored(again), found)
        assert again.info["sentences"] == sum(map(len, SAID)) + sum(len(own) for own, _ in plain.values())


def test_the_best_of_sentences_and_propositions_finds_the_chunk(tmp_path: Path) -> None:
    with index_of(tmp_path / "x", with_said(whole(), SAID), dtype="float32") as index:
        queries = ["Who is Felix the cat that purrs?", "No people live in the Atacama desert.", "Salt is white."]
        units = [
            [text[start:end] for start, end in stored(index)[text][0].tolist() if start >= 0] + said
            for text, said in zip(TEXTS, SAID)
        ]
        for query, expected in zip(queries, [(0, 0), (1, 2), (2, None)], strict=True):
            hits = {hit.text: hit for hit in index.search(query, k=3, mode="dense")[0]}
            for text, own in zip(TEXTS, units):
                cosines = [float(pychunk.embed(unit) @ pychunk.embed(query)) for unit in own]
                assert hits[text].scores["dense"] == pytest.approx(max(cosines), abs=1e-5)
                best = own[int(np.argmax(cosines))]
                hit = hits[text]
                assert hit.proposition == (best if best in SAID[TEXTS.index(text)] else None)
                assert (hit.sentence is None) == (hit.proposition is not None)
                if hit.sentence is not None:
                    assert TEXTS[TEXTS.index(text)][slice(*hit.sentence)].strip() == best.strip()
                assert "propositions" not in hit.metadata
                assert hit.context is None
            chunk, place = expected
            best_hit = index.search(query, k=1, mode="dense")[0][0]
            assert best_hit.text == TEXTS[chunk]
            assert best_hit.proposition == (None if place is None else SAID[chunk][place])
        assert index.search("Felix", k=1, mode="sparse")[0] == [], "without a context BM25 counts no proposition"
        assert index.count("propositions = 'Felix the cat purrs.'") == 1
        assert index.table["propositions"].to_pylist() == SAID
        hit = index.search("Felix purrs", 1, "dense", stages=Rewrite("feedback"))[0][0]
        assert hit.document_id == "cat"
        for options in (
            {"ranking": Ranking(document_weight=1.0)},
            {"ranking": Ranking(fusion="rrf")},
            {"stages": Rerank("features", 3)},
        ):
            hits = index.search("Felix the cat purrs.", k=3, **options)[0]
            assert hits[0].document_id == "cat"
            assert hits[0].proposition == "Felix the cat purrs."


def test_no_span_points_outside_its_chunk_on_several_pages(tmp_path: Path) -> None:
    text = "He purrs. He sleeps by day.\fIt rains at night there, says the almanac."
    chunks = pychunk.segment(
        {"text": [text], "page_starts": [[0, 28]]},
        "fixed",
        max_tokens=100,
        columns={"text": "text", "page_starts": "page_starts"},
        vectors="sentence",
    )
    said = ["Felix the cat purrs.", "In the Atacama desert it rains at night."]
    with index_of(tmp_path / "x", with_said(chunks, [said])) as index:
        (hit,) = index.search("Felix the cat purrs", k=1)[0]
        assert (hit.sentence, hit.proposition) == (None, said[0])
        assert (hit.page, hit.page_end) == (1, 1), "the page with most of the query's terms"
        (hit,) = index.search("rains at night, says the almanac", k=1)[0]
        assert hit.sentence is not None
        assert "almanac" in text[slice(*hit.sentence)]
        assert (hit.page, hit.page_end) == (2, 2)


LISTS = st.lists(
    st.none()
    | st.lists(
        st.sampled_from(["Felix purrs.", "Salt is white.", "", " ", "猫が眠る。", "Bread needs salt. It is good."])
        | st.none(),
        max_size=4,
    ),
    min_size=3,
    max_size=3,
)


@settings(max_examples=40, deadline=None)
@given(LISTS, st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_rows_are_those_of_a_slow_loop(said: list[Any], sizes: list[int]) -> None:
    generator = np.random.default_rng(0)
    offsets = np.array([0, *itertools.accumulate(sizes)], np.int64)
    spans = np.arange(2 * offsets[-1]).reshape(-1, 2)
    sentences = generator.normal(size=(offsets[-1], 256)).astype(np.float32)
    table = proposition_column.marked(with_said(pa.table({"text": TEXTS}), said))
    found = with_propositions(Rows(table, offsets, spans, sentences), "static", load())
    own_spans: list[Any] = []
    own_vectors: list[Any] = []
    ends = [0]
    for row in range(3):
        own_spans += spans[offsets[row] : offsets[row + 1]].tolist()
        own_vectors += list(sentences[offsets[row] : offsets[row + 1]])
        for place, text in enumerate(said[row] or ()):
            if text and text.strip() and text != "猫が眠る。":  # The static encoder does not know Japanese.
                own_spans.append([-1, place])
                own_vectors.append(pychunk.embed(text))
        ends.append(len(own_spans))
    assert found.offsets is not None
    assert found.spans is not None
    assert found.sentences is not None
    assert found.offsets.tolist() == ends
    assert found.spans.tolist() == own_spans
    assert found.sentences.shape == (len(own_vectors), 256)
    assert all(np.array_equal(a, b) for a, b in zip(found.sentences, own_vectors))


@pytest.mark.parametrize("kind", ["flat", "pq", "hnsw"])
@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_parts_compaction_kinds_and_threads_keep_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, dtype: str
) -> None:
    monkeypatch.setattr(writer, "PART_CHUNKS", 5)
    queries = ["Felix the cat purrs.", "the Atacama desert", "salt"]
    with Index.create(tmp_path / "x", kind=kind, dtype=dtype) as index:
        for number in range(6):
            ids = [f"{name}{number}" for name in "abc"]
            table = chunks_of([f"{text} It is number {number}." for text in TEXTS], method="paragraph", ids=ids).table
            index.add(with_said(table, SAID) if number % 2 else table)
        before = stored(index)
        index.save()
        assert equal(stored(index), before)
        wide = [seen(hits) for hits in index.search(queries, k=9)]
        index.remove([f"{name}{number}" for name in "abc" for number in range(4)])
    with Index.open(tmp_path / "x", verify="headers") as again:
        assert again.info["removed"] == 0
        after = stored(again)
        assert equal(after, {text: own for text, own in before.items() if text in after})
        hit = again.search(queries[0], 1, "dense")[0][0]
        assert (hit.document_id, hit.proposition, hit.sentence) == ("a5", SAID[0][0], None)
    if kind == "flat":
        for threads in (1, 4):
            placement = pychunk.Placement(threads=threads)
            with Index.create(tmp_path / f"y{threads}", dtype=dtype, placement=placement) as index:
                for number in range(6):
                    ids = [f"{name}{number}" for name in "abc"]
                    texts = [f"{text} It is number {number}." for text in TEXTS]
                    table = chunks_of(texts, method="paragraph", ids=ids).table
                    index.add(with_said(table, SAID) if number % 2 else table)
                assert equal(stored(index), before)
                assert [seen(hits) for hits in index.search(queries, k=9)] == wide


def test_rows_of_one_document_that_are_joined_keep_their_propositions(tmp_path: Path) -> None:
    parts = chunks_of(TEXTS, method="paragraph", ids=["a", "a", "a"])
    with Index.create(tmp_path / "x") as index:
        index.add(with_said(parts, SAID), on_duplicate="merge")
        for text, said in zip(TEXTS, SAID):
            assert stored(index)[text][0].tolist()[-len(said) :] == [[-1, at] for at in range(len(said))] or not said
        hit = index.search("No people live in the Atacama desert.", 1)[0][0]
        assert (hit.document_id, hit.chunk_index, hit.proposition) == ("a", 1, SAID[1][2])
        hit = index.search("Salt is white.", 1)[0][0]
        assert hit.sentence is not None
        assert "\n\n".join(TEXTS)[slice(*hit.sentence)] == "Salt is white."


@pytest.mark.parametrize("how", ["parquet", "no vectors", "another index"])
def test_chunks_come_from_anywhere(tmp_path: Path, how: str) -> None:
    table = with_said(whole(), SAID)
    with index_of(tmp_path / "x", table) as index:
        wanted = stored(index)
        if how == "parquet":
            pq.write_table(table, tmp_path / "t.parquet")
            other = pq.read_table(tmp_path / "t.parquet")
        else:
            other = table.drop_columns(["sentences"]) if how == "no vectors" else index.table
        found = units_of(tmp_path / "y", other)
        assert found.keys() == wanted.keys()
        for text, said in zip(TEXTS, SAID):
            assert np.array_equal(found[text][0], wanted[text][0])
            assert np.array_equal(found[text][1][len(found[text][1]) - len(said) :],
                                  wanted[text][1][len(wanted[text][1]) - len(said) :])  # fmt: skip


def test_an_index_of_chunk_vectors_or_without_an_encoder_keeps_them_as_texts(tmp_path: Path) -> None:
    chunks = whole(vectors="chunk")
    with index_of(tmp_path / "x", with_said(chunks, SAID), vectors="chunk") as index:
        assert index.table["propositions"].to_pylist() == SAID
        hit = index.search("Felix", 1, "dense")[0][0]
        assert (hit.proposition, hit.metadata) == (None, {})
    own = {"text": ["Food."], "sentence_vectors": [[[1.0] + [0.0] * 7]]}
    columns: Any = {"text": "text", "sentence_vectors": "sentence_vectors"}
    given = pychunk.segment(own, "sentence", columns=columns, vectors="sentence", ids=["a"])
    with index_of(tmp_path / "y", with_said(given, [["Cats eat."]]), encoder=None, dim=8) as index:
        assert [each.tolist() for each, _ in stored(index).values()] == [[[0, 5]]]


def test_a_column_of_another_type_is_metadata(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(whole().table.append_column("propositions", pa.array([1, 2, 3])))
        hit = index.search("Bread", 1)[0][0]
        assert (hit.metadata, hit.proposition) == ({"propositions": 3}, None)


def test_a_document_that_is_added_again_does_not_keep_its_old_propositions(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(with_said(whole(), SAID), metadata={"year": [1, 2, 3]})
        index.add(whole())
        found = [index.get(name) for name in ("cat", "desert", "bread")]
        assert [each["propositions"].to_pylist() for each in found] == [[None]] * 3
        assert [each["year"].to_pylist() for each in found] == [[1], [2], [3]]
        assert index.search("Felix", 1, "dense")[0][0].proposition is None


def test_an_index_of_before_takes_propositions(tmp_path: Path) -> None:
    shutil.copytree(OLDER, tmp_path / "old")
    with Index.open(tmp_path / "old") as index:
        before = stored(index)
        index.add(with_said(chunks_of(TEXTS, method="paragraph", ids=["a2", "b2", "c2"]), SAID))
    assert json.loads((tmp_path / "old" / "manifest.json").read_text())["schema"] == SCHEMA
    with Index.open(tmp_path / "old") as again:
        found = stored(again)
        assert equal({text: own for text, own in found.items() if text in before}, before)
        hit = again.search("Felix the cat purrs.", 1)[0][0]
        assert (hit.document_id, hit.proposition) == ("a2", SAID[0][0])


def test_chunks_with_propositions_from_a_model(tmp_path: Path) -> None:
    pytest.importorskip("httpx2")
    from llm_server import Server

    from pychunk.augmentation import LLMPropositionSource
    from pychunk.llm import LLM

    def answer(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str:
        found = [(said, [number]) for number, text in units for own, all_of in zip(TEXTS, SAID) if own == text
                 for said in all_of]  # fmt: skip
        return json.dumps({"propositions": [{"text": text, "units": numbers} for text, numbers in found]})

    with Server(answer=answer) as server, LLM(server.url, "test", cache=False) as llm:
        source = LLMPropositionSource(llm)
        options: Any = {"ids": ["cat", "desert", "bread"], "vectors": "sentence"}
        chunks = pychunk.segment(TEXTS, "paragraph", augment=["head:characters=5", source], **options)
        named = pychunk.segment(TEXTS, "proposition", llm=llm, **options)
        twice = pychunk.augment(named.table.drop_columns(["context"]), source)
        with pytest.raises(ValueError, match="already have a column 'propositions' of type int64, which is no list"):
            pychunk.augment(whole().table.append_column("propositions", pa.array([1, 2, 3])), source)
        assert server.counts["calls"] == 3 * len(TEXTS), "nothing is asked before this error"
    assert chunks.table["propositions"].to_pylist() == named.table["propositions"].to_pylist() == SAID
    assert twice["propositions"].to_pylist() == SAID, "a proposition that a chunk has is not added again"
    assert chunks.table.column_names[-2:] == ["propositions", "context"]
    assert all(
        context.endswith("\n".join(said))
        for context, said in zip(chunks.table["context"].to_pylist(), SAID, strict=True)
    )
    with index_of(tmp_path / "x", chunks) as index:
        for mode in ("dense", "hybrid"):
            hit = index.search("No people live in the Atacama desert.", 1, mode)[0][0]
            assert (hit.document_id, hit.proposition) == ("desert", SAID[1][2])
            assert SAID[1][2] in hit.context
        assert index.search("Felix", 1, mode="sparse")[0][0].proposition is None
