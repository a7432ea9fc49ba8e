"""Nodes as chunks: an index of levels is searched by level."""

import numpy as np
import pyarrow as pa
import pytest
from hierarchies import (
    LEVELS,
    TEXT_OF_LEVELS,
    TEXTS,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Hierarchy
from pychunk.index import Ranking


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, levels=LEVELS, vectors=st.sampled_from([None, "chunk"]))
def test_nodes_as_chunks(texts: list[str], levels: list, vectors: str | None) -> None:
    found = pychunk.segment_levels(texts, levels, vectors=vectors)
    chunks = found.chunks()
    assert len(chunks) == len(found)
    assert chunks.documents == len(texts)
    assert len(set(chunks.table["chunk_id"].to_pylist())) == len(chunks) or len(set(texts)) < len(texts)
    for document in chunks.by_document():
        assert [chunk.chunk_index for chunk in document] == list(range(len(document)))
        assert all(texts[chunk.document_index][chunk.start : chunk.end] == chunk.text for chunk in document)
    for level in found.levels:
        own = [str(level) in at for at in chunks.table["levels"].to_pylist()]
        rows = chunks.table.filter(pa.array(own, pa.bool_())).sort_by(
            [("document_index", "ascending"), ("start", "ascending")]
        )
        assert rows["text"].to_pylist() == found.texts_of(level)
        if vectors:
            held = np.asarray(rows["vector"].combine_chunks().flatten()).reshape(-1, 256)
            np.testing.assert_array_equal(held, found.vectors(level))
            assert rows["tokens"].to_pylist() == found.token_counts(level).tolist()


def test_an_index_of_levels_is_searched_by_level(tmp_path) -> None:
    pytest.importorskip("faiss")
    texts = [
        "Cats\n\nCats purr. They sleep by day.\n\nFood\n\nMice taste good. Fish, too.",
        "Stars burn hydrogen. The sun is a star.",
    ]
    found = pychunk.segment_levels(texts, ["paragraph", "section", "document"], vectors="chunk", ids=["cats", "stars"])
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk", kind="flat", dtype="float32") as index:
        index.add(found.chunks())
        for levels in (["sentence"], ["paragraph", "section"], ["document"], ["sentence", "document"]):
            hits = index.search("What do stars burn?", k=20, mode="dense", where={"levels": levels})[0]
            nodes = sorted({node for level in levels for node in found.nodes(level).tolist()})
            assert len(hits) == len(nodes)
            assert all(set(hit.metadata["levels"]) & set(levels) for hit in hits)
            query = pychunk.embed(["What do stars burn?"])[0]
            vectors = np.concatenate([found.stored_vectors[place] for place in range(len(found.levels))])
            np.testing.assert_allclose([hit.score for hit in hits], -np.sort(-(vectors[nodes] @ query)), atol=1e-6)
        assert index.search("Stars burn", k=1, where={"levels": ["document"]})[0][0].text == texts[1]
        again = pychunk.segment_levels(["Dogs bark."], ["document"], vectors="chunk", ids=["cats"])
        index.add(again.chunks())
        assert [hit.text for hit in index.search("cats", k=9, ids=["cats"])[0]] == ["Dogs bark."]
        index.save()


def index_of(folder, texts: list[str], levels: list) -> tuple[pychunk.Index, Hierarchy]:
    found = pychunk.segment_levels(texts, levels, vectors="chunk", ids=[f"d{i}" for i in range(len(texts))])
    index = pychunk.Index.create(folder, vectors="chunk", kind="flat", dtype="float32")
    index.add(found.chunks())
    index.save()
    return index, found


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["dense", "hybrid", "sparse"])
def test_search_within_levels_equals_brute_force(articles: list[str], tmp_path, mode: str) -> None:
    pytest.importorskip("faiss")
    index, found = index_of(tmp_path / "l.idx", articles[:30], ["paragraph", "section", "document"])
    with index:
        more = pychunk.segment_levels(articles[30:35], ["paragraph", "document"], vectors="chunk", ids=list("abcde"))
        index.add(more.chunks())  # another part, without sections
        index.save()
        table = index.table
        queries = ["Who wrote about anarchism?", "a river and its mouth", "autism in children"]
        everything, _ = index.rank(queries, k=len(index), mode=mode)
        for low, high in (("paragraph", "paragraph"), ("paragraph", "section"), ("sentence", "document")):
            order = ["sentence", "paragraph", "section", "document"]
            wanted = set(order[order.index(low) : order.index(high) + 1])
            got, _ = index.rank(queries, k=8, mode=mode, ranking=Ranking(levels=(low, high)))
            for query in range(len(queries)):
                kept: list[int] = []
                for row in everything[query].tolist():
                    if row < 0 or len(kept) == 8:
                        break
                    own = table.slice(row, 1).to_pylist()[0]
                    if not wanted & set(own["levels"]):
                        continue
                    others = [table.slice(each, 1).to_pylist()[0] for each in kept]
                    if low == high or all(
                        own["document_id"] != each["document_id"]
                        or own["end"] <= each["start"]
                        or each["end"] <= own["start"]
                        for each in others
                    ):
                        kept.append(row)
                assert got[query].tolist()[: len(kept)] == kept
                hits = index.search(queries[query], k=8, mode=mode, ranking=Ranking(levels=(low, high)))[0]
                assert [hit.row for hit in hits] == kept
    assert found.count("section") > 30


def test_hits_of_several_levels_hold_no_character_twice(tmp_path) -> None:
    pytest.importorskip("faiss")
    index, _ = index_of(tmp_path / "l.idx", [TEXT_OF_LEVELS, "Mice. Fish."], ["paragraph", "document"])
    with index:
        hits = index.search("mice and fish", k=20, ranking=Ranking(levels=("sentence", "document")))[0]
        assert {hit.document_id for hit in hits} == {"d0", "d1"}
        for hit in hits:
            others = [each for each in hits if each.document_id == hit.document_id and each is not hit]
            assert all(each.end <= hit.start or hit.end <= each.start for each in others)
        assert len(index.search("mice", k=20, ranking=Ranking(levels="sentence"))[0]) == 13
        assert index.search_documents("mice", k=1, ranking=Ranking(levels=("sentence", "document")))[0][
            0
        ].document_id in (
            "d0",
            "d1",
        )


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        ("section", "no level 'section' in this index; name one of sentence, 16, document"),
        (("document", "sentence"), "finer first, in the order sentence, 16, document; got document, sentence"),
        (("sentence",), "one level, or a pair of the finest and the coarsest"),
        (True, "one level, or a pair of the finest and the coarsest"),
    ],
)
def test_levels_that_a_search_refuses(levels: object, says: str, tmp_path) -> None:
    pytest.importorskip("faiss")
    index, _ = index_of(tmp_path / "l.idx", [TEXT_OF_LEVELS], [16, "document"])
    with index, pytest.raises(ValueError, match=says):
        index.search("mice", ranking=Ranking(levels=levels))


def test_an_index_without_levels_says_so(tmp_path) -> None:
    pytest.importorskip("faiss")
    with pychunk.Index.create(tmp_path / "p.idx") as index:
        assert index.search("cats", ranking=Ranking(levels="section")) == [[]]
        index.add(pychunk.segment("Cats purr.", vectors="sentence"))
        index.save()
        with pytest.raises(ValueError, match=r"add the result of pychunk\.Hierarchy\.chunks\(\)"):
            index.search("cats", ranking=Ranking(levels="section"))


def test_chunks_of_no_level_are_told_in_an_index_of_levels(tmp_path) -> None:
    with pychunk.Index.create(tmp_path / "it.idx", vectors="chunk") as index:
        index.add(pychunk.segment_levels("Cats purr.", ["sentence", "document"], vectors="chunk", ids=["a"]).chunks())
        with pytest.warns(
            UserWarning, match="these chunks have no level, so searches by levels or with a planner never find them"
        ):
            index.add(pychunk.segment("Dogs bark.", "sentence", vectors="chunk", ids=["b"]))
        assert [hit.document_id for hit in index.search("dogs bark", ranking=Ranking(levels="sentence"))[0]] == ["a"]
        assert index.search("dogs bark")[0][0].document_id == "b"
