"""Scores across levels, and results that hold no character twice, compared with slow twins."""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.index import Expansion, Ranking

pytest.importorskip("faiss")

import pychunk
from pychunk.index.chunk_tables import encode_chunks
from pychunk.index.levels import level_ranking, score_calibration
from pychunk.index.levels.node_spans import Nodes
from pychunk.index.writer import IndexWriter

LEVELS = ["sentence", "paragraph", "section", "document"]
WORDS = ["cats", "purr", "mice", "hide", "stars", "burn", "rivers", "run", "towns", "grow", "kings", "rule", "bread"]


def texts_of(seed: int, documents: int) -> list[str]:
    """Return documents with headings, paragraphs and short sentences, some of a single sentence."""
    drawn = np.random.default_rng(seed)
    found = []
    for _ in range(documents):
        sections = []
        for number in range(drawn.integers(0, 4)):
            paragraphs = [
                " ".join(" ".join(drawn.choice(WORDS, drawn.integers(2, 7))).capitalize() + "." for _ in range(each))
                for each in drawn.integers(1, 4, drawn.integers(1, 4))
            ]
            sections.append(f"# Part {number}\n\n" + "\n\n".join(paragraphs))
        found.append("\n\n".join(sections) or "Cats purr and mice hide.")
    return found


def index_of(folder: Path, texts: list[str], **options: object) -> pychunk.Index:
    found = pychunk.segment_levels(texts, LEVELS, vectors="chunk", ids=[f"d{i}" for i in range(len(texts))])
    index = pychunk.Index.create(folder, vectors="chunk", **{"kind": "flat", **options})
    index.add(found.chunks())
    index.save()
    return index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pychunk.Index:
    return index_of(tmp_path_factory.mktemp("levels") / "l.idx", texts_of(1, 40))


def slow_merged(nodes: list[tuple[int, int, int, float, int]], count: int, budget: float) -> list[int]:
    """Return nodes by repeatedly taking the best one that fits and shares no character."""
    taken: set[tuple[int, int]] = set()
    chosen: list[int] = []
    while len(chosen) < count:
        free = [
            (-score, place)
            for place, (document, start, end, score, words) in enumerate(nodes)
            if place not in chosen
            and words <= budget
            and not taken & {(document, character) for character in range(start, end)}
        ]
        if not free:
            break
        place = min(free)[1]
        document, start, end, _, words = nodes[place]
        taken |= {(document, character) for character in range(start, end)}
        chosen.append(place)
        budget -= words
    return chosen


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[int, int, int, float, int]]:
    """Return nodes of some documents, any two of which are nested or disjoint."""
    found = []
    for document in range(draw(st.integers(1, 3))):
        borders = [0, 40]
        for _ in range(draw(st.integers(1, 3))):
            borders = sorted({*borders, *draw(st.lists(st.integers(1, 39), max_size=4))})
            found += [(document, start, end) for start, end in pairwise(borders)]
    scores = draw(st.lists(st.integers(-3, 3), min_size=len(found), max_size=len(found)))  # many are equal
    return [(*node, float(score), (node[2] - node[1] + 4) // 5) for node, score in zip(found, scores, strict=True)]


@settings(max_examples=150, deadline=None)
@given(nodes=trees(), count=st.integers(1, 9), budget=st.none() | st.integers(1, 20))
def test_merging_equals_its_slow_twin(
    nodes: list[tuple[int, int, int, float, int]], count: int, budget: int | None
) -> None:
    document, start, end, score, words = (list(each) for each in zip(*nodes, strict=True))
    chosen = level_ranking.merged(document, start, end, score, count, words, budget).tolist()
    assert chosen == slow_merged(nodes, count, math.inf if budget is None else budget)
    assert chosen == level_ranking.merged(document, start, end, score, count, words, budget).tolist()
    characters = [(document[i], at) for i in chosen for at in range(start[i], end[i])]
    assert len(characters) == len(set(characters))
    assert budget is None or sum(words[i] for i in chosen) <= budget
    assert len(chosen) <= count
    assert [score[i] for i in chosen] == sorted((score[i] for i in chosen), reverse=True)
    if budget is None and len(chosen) < count:  # a skipped node is inside, or holds, one that is at least as good
        for i in set(range(len(nodes))) - set(chosen):
            assert any(
                document[i] == document[j] and start[i] < end[j] and start[j] < end[i] and score[j] >= score[i]
                for j in chosen
            )


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(st.integers(-20, 20), min_size=0, max_size=400),
    asked=st.lists(st.floats(-30, 200), min_size=1, max_size=9),
)
def test_bits_are_halvings_of_what_lies_above(values: list[int], asked: list[float]) -> None:
    scale = score_calibration.halvings(values)
    assert (len(values) >= score_calibration.LEAST) == bool(scale)
    for place, value in enumerate(scale):
        above = len(values) >> (place + 1)
        assert sorted(values, reverse=True)[above] == value
        assert sum(each > value for each in values) <= above
    found = score_calibration.bits(scale, asked).tolist()
    assert found == [slow_bits(scale, each) for each in asked]
    assert [each for _, each in sorted(zip(asked, found, strict=True))] == sorted(found)  # it never falls


def slow_bits(scale: list[float], score: float) -> float:
    if len(scale) < 4:
        return score_calibration.UNKNOWN * max(0.0, score)
    below = [place for place, value in enumerate(scale) if value < score]
    if not below:
        return 0.0
    place = below[-1]
    if place < len(scale) - 1:
        return place + (score - scale[place]) / (scale[place + 1] - scale[place])
    step = max((scale[-1] - scale[-4]) / 3, 1e-3)
    return place + (math.sqrt(1 + 2 * ((score - scale[-1]) / step)) - 1)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999), dead=st.integers(0, 3))
def test_nodes_know_their_sentences(seed: int, dead: int) -> None:
    found = pychunk.segment_levels(texts_of(seed, 4), LEVELS)
    rows = found.chunks().table.to_pylist()
    alive = np.array([row["document_index"] != dead for row in rows])
    at = [np.array([level in row["levels"] for row in rows]) for level in LEVELS]
    columns = [np.array([row[name] for row in rows], np.int64) for name in ("document_index", "start", "end")]
    nodes = Nodes(LEVELS, at, alive, *columns)
    sentences = [i for i, row in enumerate(rows) if alive[i] and row["levels"][0] == "sentence"]
    assert nodes.sentences.tolist() == sentences
    for i, row in enumerate(rows):
        if not alive[i]:
            assert nodes.finest[i] == -1
            continue
        assert LEVELS[nodes.finest[i]] == row["levels"][0]
        inside = [
            each
            for each in sentences
            if rows[each]["document_index"] == row["document_index"]
            and row["start"] <= rows[each]["start"]
            and rows[each]["end"] <= row["end"]
        ]
        assert nodes.sentences[nodes.first[i] : nodes.last[i]].tolist() == inside
        holding = nodes.holding(int(nodes.finest[i]), np.array(inside, np.int64))
        assert (holding == i).all()
    for place, level in enumerate(LEVELS):
        held = nodes.holding(place, nodes.sentences)
        assert all(node < 0 or rows[node]["levels"][0] == level for node in held.tolist())
    found = nodes.groups(LEVELS[:2], at[0] | at[1], kept=True)
    assert sum(mask.sum() for mask in found.masks) == ((at[0] | at[1]) & alive).sum()
    assert all((found.of[mask] == number).all() for number, mask in enumerate(found.masks))
    assert nodes.groups(LEVELS[:2], None, kept=True) is found


def slow_ranked(index: pychunk.Index, query: str, low: str, high: str, mode: str) -> list[tuple[int, float]]:
    """Return every node at the levels, scored one by one from the index's own data."""
    searcher, rows = index._contents.searcher(), index.table.to_pylist()
    scales = json.loads((index.path / "manifest.json").read_text())["levels"]
    vector = pychunk.embed([query])[0]
    names = LEVELS[LEVELS.index(low) : LEVELS.index(high) + 1]
    cosines = searcher.pooled.scan.score_rows(vector, np.arange(len(rows)))
    terms = searcher.bm25.scores([searcher.layout.analyzer.terms(query)])[0]
    nodes = []
    for i, row in enumerate(rows):
        if not set(names) & set(row["levels"]) or (mode == "sparse" and terms[i] == 0):
            continue
        inside = [
            cosines[j]
            for j, other in enumerate(rows)
            if other["document_id"] == row["document_id"]
            and "sentence" in other["levels"]
            and row["start"] <= other["start"]
            and other["end"] <= row["end"]
        ]
        level = row["levels"][0]
        stages = {"dense": (cosines[i], 0.5), "sentence": (max(inside), 0.5), "sparse": (terms[i], 1.5)}
        used = {"dense": ("dense", "sentence"), "sparse": ("sparse",), "hybrid": tuple(stages)}[mode]
        bits = sum(stages[name][1] * slow_bits(scales["scales"][level][name], float(stages[name][0])) for name in used)
        score = bits / sum(stages[name][1] for name in used)
        size, length = scales["sizes"][level], max(32, row["end"] - row["start"])
        score -= level_ranking.doublings(size) + level_ranking.LENGTH * level_ranking.doublings(length)
        nodes.append((int(row["document_id"][1:]), row["start"], row["end"], float(score), 0, i))
    chosen = slow_merged([node[:5] for node in nodes], len(nodes), math.inf)
    return [(nodes[place][5], nodes[place][3]) for place in chosen]


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
def test_a_search_across_levels_equals_its_slow_twin(tmp_path: Path, mode: str) -> None:
    with index_of(tmp_path / "l.idx", texts_of(2, 6)) as index:
        assert max(index.count({"levels": [level]}) for level in LEVELS) <= level_ranking.LEAST
        for low, high in (("sentence", "document"), ("paragraph", "section"), ("section", "section")):
            wanted = slow_ranked(index, "which kings rule the stars", low, high, mode)[:6]
            rows, scores = index.rank(
                "which kings rule the stars", k=6, mode=mode, ranking=Ranking(fusion="levels", levels=(low, high))
            )
            assert rows[0][: len(wanted)].tolist() == [row for row, _ in wanted]
            np.testing.assert_allclose(scores[0][: len(wanted)], [score for _, score in wanted], atol=1e-4)
            hits = index.search(
                "which kings rule the stars", 6, mode, ranking=Ranking(fusion="levels", levels=(low, high))
            )[0]
            assert [hit.row for hit in hits] == [row for row in rows[0].tolist() if row >= 0]
            stages = {"dense": {"dense", "sentence"}, "sparse": {"sparse"}, "hybrid": set(score_calibration.STAGES)}[
                mode
            ]
            assert all(set(hit.scores) == stages for hit in hits)


@pytest.mark.parametrize("words", [5, 12, 60, 1000])
def test_words_are_never_counted_twice_nor_exceeded(index: pychunk.Index, words: int) -> None:
    for query in ("cats purr", "how do towns grow beside rivers", "bread"):
        hits = index.search(query, 20, ranking=Ranking(fusion="levels"), expansion=Expansion(max_words=words))[0]
        assert sum(len(hit.text.split()) for hit in hits) <= words
        for hit in hits:
            others = [each for each in hits if each.document_id == hit.document_id and each is not hit]
            assert all(each.end <= hit.start or hit.end <= each.start for each in others)
        assert hits
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_one_query_or_many_and_threads_say_the_same(index: pychunk.Index) -> None:
    queries = ["cats purr", "kings rule towns", "", "bread rises", "stars"] * 3
    two, one = (pychunk.Index.open(index.path, placement=pychunk.Placement(threads=threads)) for threads in (2, 1))
    rows, scores = two.rank(queries, 7, ranking=Ranking(fusion="levels"))
    for place, query in enumerate(queries):
        own, theirs = one.rank(query, 7, ranking=Ranking(fusion="levels"))
        np.testing.assert_array_equal(own[0], rows[place])
        np.testing.assert_array_equal(theirs[0], scores[place])


def test_an_approximate_index_scans_levels_of_few_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pychunk.index.dense.quantized_index.LEAST", 50)
    texts = texts_of(5, 40)
    flat, codes = index_of(tmp_path / "flat", texts), index_of(tmp_path / "codes", texts, kind="pq")
    for index in (flat, codes):  # removed rows have no level
        index.remove(ids=["d3", "d7"])
        index.save()
    pooled = codes._contents.searcher().pooled
    assert pooled is not None
    assert not pooled.exact
    query = ["Kings rule towns.", "Bread"]
    for low, high in (("paragraph", "paragraph"), ("section", "document"), ("document", "document")):
        for mode, fusion in (("hybrid", "levels"), ("dense", "score"), ("hybrid", "rrf")):
            ranking = Ranking(fusion=fusion, levels=(low, high))
            found = [index.rank(query, 9, mode, ranking=ranking) for index in (flat, codes)]
            assert found[0][0].tolist() == found[1][0].tolist()
            assert np.array_equal(found[0][1], found[1][1], equal_nan=True)
    hits = codes.search("Kings rule towns.", 9, ranking=Ranking(levels=("sentence", "document"), fusion="levels"))[0]
    assert len(hits) == 9
    flat.close()
    codes.close()


def test_a_document_added_again_replaces_all_its_levels(tmp_path: Path) -> None:
    with index_of(tmp_path / "l.idx", texts_of(3, 12)) as index:
        again = pychunk.segment_levels(["Dogs bark. They dig.\n\nDogs sleep."], LEVELS, vectors="chunk", ids=["d3"])
        before = index.count(ids=["d3"])
        index.add(again.chunks())
        for saved in (False, True):
            if saved:
                index.save()
            hits = index.search("dogs cats stars", 50, ranking=Ranking(fusion="levels"), ids=["d3"])[0]
            assert hits
            assert all(hit.text in "Dogs bark. They dig.\n\nDogs sleep." for hit in hits)
            assert index.count(ids=["d3"]) == len(again) != before
        index.remove(ids=["d3"])
        assert index.search("dogs", 50, ranking=Ranking(fusion="levels"), ids=["d3"])[0] == []


def test_scales_are_saved_and_made_again_where_much_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as old:
        old.setattr(IndexWriter, "_calibrate", lambda self: None)  # as earlier versions did
        index_of(tmp_path / "old.idx", texts_of(4, 30)).close()
    index_of(tmp_path / "new.idx", texts_of(4, 30)).close()
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("old.idx", "new.idx")]
    assert "levels" not in manifests[0]
    assert set(manifests[1]["levels"]["scales"]) == set(LEVELS)
    assert manifests[0]["schema"] == manifests[1]["schema"]
    queries = ["cats purr", "kings rule towns"]
    with pychunk.Index.open(tmp_path / "old.idx") as old_one, pychunk.Index.open(tmp_path / "new.idx") as new_one:
        for mine, theirs in zip(
            *(each.rank(queries, 9, ranking=Ranking(fusion="levels")) for each in (old_one, new_one)), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)
        few = pychunk.segment_levels(["Dogs bark."], LEVELS, vectors="chunk", ids=["more"])
        new_one.add(few.chunks())
        new_one.save()
        assert new_one._contents.calibration == manifests[1]["levels"]
        many = pychunk.segment_levels(texts_of(5, 20), LEVELS, vectors="chunk", ids=[f"m{i}" for i in range(20)])
        new_one.add(many.chunks())
        new_one.save()
        assert new_one._contents.calibration["rows"] == len(new_one)
        assert new_one._contents.calibration["scales"] != manifests[1]["levels"]["scales"]
    with pychunk.Index.create(tmp_path / "plain.idx", vectors="chunk") as plain:
        plain.add(pychunk.segment("Cats purr.", vectors="chunk"))
        plain.save()
        assert "levels" not in json.loads((tmp_path / "plain.idx" / "manifest.json").read_text())


def test_rare_words_of_a_sentence_are_asked_for(index: pychunk.Index) -> None:
    searcher = index._contents.searcher()
    asked = score_calibration._queries(searcher, searcher.nodes)
    assert 0 < len(asked) <= score_calibration.QUERIES
    assert all(1 <= len(probe.terms) <= score_calibration.WORDS for _, probe, _ in asked)
    assert all(sparse.shape == (searcher.rows,) for *_, sparse in asked)


def test_what_a_search_across_levels_refuses(index: pychunk.Index, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fusion must be 'score', 'rrf' or 'levels'; got 'level'"):
        index.search("cats", ranking=Ranking(fusion="level"))
    with pytest.raises(ValueError, match="cannot be combined with document_weight, because documents are a level; got"):
        index.search("cats", ranking=Ranking(fusion="levels", document_weight=1))
    with pytest.raises(ValueError, match="cannot be combined with fusion='levels': pass ranking="):
        index.search_documents("cats", ranking=Ranking(fusion="levels"))
    with pychunk.Index.create(tmp_path / "p.idx") as plain:
        assert plain.search("cats", ranking=Ranking(fusion="levels")) == [[]]
        plain.add(pychunk.segment("Cats purr.", vectors="sentence"))
        with pytest.raises(ValueError, match="needs an index of levels"):
            plain.search("cats", ranking=Ranking(fusion="levels"))
        plain.save()
    with pychunk.Index.create(tmp_path / "s.idx") as sentences:
        found = pychunk.segment_levels("Cats purr. Mice hide.", ["document"], vectors="chunk")
        sentences.add(encode_chunks(found.chunks(), vectors="sentence"))
        with pytest.raises(ValueError, match="needs an index of chunk vectors"):
            sentences.search("cats", ranking=Ranking(fusion="levels"))
        sentences.save()


def test_neighbours_are_of_the_hits_own_level(index: pychunk.Index) -> None:
    rows = index.table.to_pylist()
    for level in LEVELS:
        for hit in index.search("kings rule the towns", 9, ranking=Ranking(levels=level), expansion=1)[0]:
            same = [row for row in rows if row["document_id"] == hit.document_id and level in row["levels"]]
            same.sort(key=lambda row: row["start"])
            at = next(i for i, row in enumerate(same) if row["start"] == hit.start and row["end"] == hit.end)
            wanted = [row["text"] for row in same[max(0, at - 1) : at + 2]]
            assert {each.text for each in hit.around} <= set(wanted)
            assert hit.text in [each.text for each in hit.around]
    searcher = index._contents.searcher()
    for i, row in enumerate(rows[:60]):
        same = [
            each for each in rows if each["document_id"] == row["document_id"] and row["levels"][-1] in each["levels"]
        ]
        same.sort(key=lambda each: each["start"])
        at = same.index(row)
        assert [each.text for each in searcher.around(i, 2)] == [each["text"] for each in same[max(0, at - 2) : at + 3]]


@pytest.mark.parametrize("words", [None, 8, 40])
def test_neighbours_are_handed_over_once(index: pychunk.Index, words: int | None) -> None:
    for query in ("cats purr", "how do towns grow beside rivers"):
        hits = index.search(query, 20, ranking=Ranking(fusion="levels"), expansion=Expansion(1, max_words=words))[0]
        passages = [(hit.document_id, each.start, each.end, each.text) for hit in hits for each in hit.around]
        for place, (name, start, end, _) in enumerate(passages):
            assert all(name != other or end <= a or b <= start for other, a, b, _ in passages[place + 1 :])
        assert hits
        assert words is None or sum(len(text.split()) for *_, text in passages) <= words
