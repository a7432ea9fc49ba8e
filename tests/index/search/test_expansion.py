"""Hits with their subtree or section, compared with the trees of the chunks, and budgets of words."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import invoke
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk.index import Expansion
from pychunk.index.search.expansion import SPREAD, needed, ranked, up_to, within
from pychunk.index.search.hits import Passage

pytest.importorskip("faiss")

GUIDE = """# Cats

Cats are small predators.

## Food

They eat fish and mice.

### Fish

Salmon is what most of them like best. Bones are dangerous, above all the small ones.

### Mice

Mice are hunted at dusk.

## Sleep

They sleep for most of the day.

# Stars

Stars burn hydrogen.
"""
PLAIN = "Goats climb. They eat grass.\n\nBread is baked in ovens."


def chunks_of(texts: list[str], size: int = 12) -> pychunk.ChunkBatch:
    from pychunk.parsing import markdown

    ids = [f"d{i}" for i in range(len(texts))]
    return pychunk.segment(
        texts,
        "structure",
        size=size,
        unit="words",
        ids=ids,
        columns={"blocks": markdown.blocks_of(texts)},
        vectors="sentence",
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pychunk.Index:
    made = pychunk.Index.create(tmp_path_factory.mktemp("context") / "it.idx")
    made.add(chunks_of([PLAIN, GUIDE]))
    made.save()
    return made


def texts_of(hit: pychunk.Hit) -> list[str]:
    return [passage.text for passage in hit.around]


def test_a_hit_brings_its_subtree(index: pychunk.Index) -> None:
    hit = index.search("They eat fish and mice", k=1, mode="sparse", expansion="subtree")[0][0]
    assert hit.path == ["Cats", "Food"]
    assert [text.split("\n")[0] for text in texts_of(hit)] == [
        "## Food",
        "### Fish",
        "Bones are dangerous, above all the small ones.",
        "### Mice",
    ]
    leaf = index.search("hunted at dusk", k=1, mode="sparse", expansion="subtree")[0][0]
    assert texts_of(leaf) == [leaf.text]


def test_parents_are_above_it_on_request(index: pychunk.Index) -> None:
    hit = index.search("hunted at dusk", k=1, mode="sparse", expansion=Expansion("subtree", parents=True))[0][0]
    assert [text.split("\n")[0] for text in texts_of(hit)] == ["# Cats", "## Food", "### Mice"]


def test_chunks_above_two_hits_come_once(index: pychunk.Index) -> None:
    query = "What do they eat, and why do they sleep? Salmon, bones, mice at dusk"
    for words in (None, 20, 30, 60):
        section = Expansion("section", parents=True, max_words=words)
        found = index.search(query, k=5, mode="sparse", expansion=section)[0]
        shown = [(hit.document_index, passage.chunk_index) for hit in found for passage in hit.around]
        assert len(shown) == len(set(shown))
        plain = index.search(query, k=5, mode="sparse", expansion=Expansion("section", max_words=words))[0]
        assert {(hit.document_index, hit.chunk_index) for hit in plain} <= set(shown) or words is not None
    (leaves,) = index.search("dangerous bones, dusk", k=2, mode="sparse", expansion=Expansion("subtree", parents=True))
    assert [[passage.text.split("\n")[0] for passage in hit.around] for hit in leaves] == [
        ["# Cats", "## Food", "### Fish", "Bones are dangerous, above all the small ones."],
        ["### Mice"],
    ]


def test_of_subtrees_inside_one_another_the_outermost_stays_with_the_best_score(index: pychunk.Index) -> None:
    plain = index.search("cats eat fish and mice, salmon", k=9, mode="sparse")[0]
    found = index.search("cats eat fish and mice, salmon", k=9, mode="sparse", expansion="subtree")[0]
    shown = [(hit.document_index, passage.chunk_index) for hit in found for passage in hit.around]
    assert len(shown) == len(set(shown))
    assert max(hit.score for hit in found) == plain[0].score
    assert {(hit.document_index, hit.chunk_index) for hit in plain} <= set(shown)
    for hit in found:
        chunks = [passage.chunk_index for passage in hit.around]
        assert hit.score == max(
            each.score for each in plain if each.document_index == hit.document_index and each.chunk_index in chunks
        )


def hits_with(scores: list[float]) -> list[pychunk.Hit]:
    return [
        pychunk.Hit(
            document_id=None,
            document_index=0,
            chunk_index=i,
            chunk_id="",
            row=i,
            start=0,
            end=0,
            text="",
            score=score,
            scores={},
        )
        for i, score in enumerate(scores)
    ]


def outermost_by_search(regions: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return for each region the outermost one that contains it, in the obvious way."""
    return [min((a, -b) for a, b in regions if a <= first and last <= b) for first, last in regions]


@pytest.mark.parametrize("seed", range(50))
def test_what_several_hits_point_to_is_ranked_by_all_of_them(seed: int) -> None:
    drawn = random.Random(seed)
    scores = sorted((drawn.choice([0.1, 0.2, 0.5, 0.9]) for _ in range(drawn.randint(1, 12))), reverse=True)
    # The regions of a tree: halves of halves.
    regions = []
    for _ in scores:
        first, last = 0, 64
        for _ in range(drawn.randint(0, 6)):
            first, last = ((first + last) // 2, last) if drawn.random() < 0.5 else (first, (first + last) // 2)
        regions.append((first, last))
    hits = hits_with(scores)
    found = ranked(hits, regions)
    around = outermost_by_search(regions)
    assert sorted((each.rows[0], -each.rows[1]) for each in found) == sorted(set(around))
    unit = SPREAD * (scores[0] - scores[-1])
    for each in found:
        own = [i for i, rows in enumerate(around) if rows == (each.rows[0], -each.rows[1])]
        assert each.hit is hits[own[0]]
        expected = sum(math.exp((scores[i] - scores[0]) / unit) if unit else 1.0 for i in own)
        assert each.evidence == pytest.approx(expected)
    order = [(-each.evidence, each.hit.row) for each in found]
    assert order == sorted(order)


def test_three_good_hits_are_before_the_best_alone() -> None:
    hits = hits_with([1.0, 0.95, 0.95, 0.95, 0.2])
    found = ranked(hits, [(0, 1), (4, 8), (5, 6), (7, 8), (9, 10)])
    assert [each.rows for each in found] == [(4, 8), (0, 1), (9, 10)]
    assert found[0].hit.score == 0.95


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_chunks_that_are_removed_leave_trees_and_neighbours_as_they_were(seed: int, tmp_path: Path) -> None:
    names = [f"filler{n}" for n in range(30)]
    chunks = chunks_of([PLAIN, GUIDE, GUIDE.replace("Cats", "Dogs")])
    own = {chunk.text: chunk.document_id for chunk in chunks if chunk.document_id != "d2"}
    ways = [Expansion(way, parents=parents) for way in ("subtree", "section") for parents in (False, True)]
    with pychunk.Index.create(tmp_path / "it.idx") as made:
        made.add(pychunk.segment(names, "sentence", vectors="sentence", ids=names))
        made.add(chunks)
        made.remove(chunk_ids=random.Random(seed).sample(chunks.table["chunk_id"].to_pylist(), 4))

        def found() -> list[list[tuple[str, float, list[str]]]]:
            lists = [
                hits
                for way in (*ways, Expansion(1), Expansion(3))
                for hits in made.search(
                    [chunk.text for chunk in chunks], k=2, mode="dense", ids=["d0", "d1"], expansion=way
                )
            ]
            assert all(own[text] == hit.document_id for hits in lists for hit in hits for text in texts_of(hit))
            return [[(hit.chunk_id, hit.score, texts_of(hit)) for hit in hits] for hits in lists]

        before = found()
        made.remove(names)
        made.save()  # more than half of the rows are removed ones, so that it writes all others again
        assert made.table.num_rows == len(made) == len(chunks) - 4
        assert found() == before


def test_words_go_to_what_promises_most_for_its_length_and_past_what_does_not_fit() -> None:
    hits = hits_with([1.0, 0.9, 0.1])
    hits = [replace(hit, around=(Passage(hit.chunk_index, 0, 0, "word " * n),)) for hit, n in zip(hits, (50, 20, 30))]
    assert [hit.chunk_index for hit in up_to(hits, 60)] == [0]
    assert [hit.chunk_index for hit in up_to(hits, 80)] == [0, 1]
    assert [hit.chunk_index for hit in up_to(hits, 80, [1, 0, 2])] == [
        0,
        1,
    ]  # chunk 0 gets room second, but comes first
    assert [hit.chunk_index for hit in up_to(hits, 60, [1, 0, 2])] == [1, 2]


def test_a_section_is_all_of_it() -> None:
    text = "# Long\n\n" + " ".join(f"Sentence {n} is about topic{n}." for n in range(12)) + "\n\n# Other\n\nWords."
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder, pychunk.Index.create(Path(folder) / "it.idx") as made:
        made.add(chunks_of([text]))
        hit = made.search("topic7", k=1, mode="sparse", expansion="section")[0][0]
        assert hit.chunk_index > 0
        assert "".join(" ".join(texts_of(hit)).split()) == "".join(text.split("\n\n# Other")[0].split())
        alone = made.search("topic7", k=1, mode="sparse", expansion="subtree")[0][0]
        assert texts_of(alone) == [alone.text]


def test_trees_are_those_of_the_chunks(index: pychunk.Index) -> None:
    chunks = chunks_of([PLAIN, GUIDE])
    for document in (0, 1):
        waiting = list(chunks.tree(document))
        while waiting:
            node = waiting.pop()
            waiting += node.children
            row = next(i for i, chunk in enumerate(chunks) if chunk.chunk_id == node.chunk.chunk_id)
            first, last = index._contents.searcher().outline.region(row, "subtree", None, None)
            assert [chunk.text for chunk in chunks[first:last]] == [chunk.text for chunk in node]


@pytest.mark.parametrize("seed", range(20))
def test_words_are_never_over_the_budget(seed: int, index: pychunk.Index) -> None:
    drawn = random.Random(seed)
    budget, way = drawn.randint(1, 80), drawn.choice(["subtree", "section", 0, 1])
    parents = isinstance(way, str) and drawn.random() < 0.5
    found = index.search("cats eat fish", k=5, expansion=Expansion(way, max_words=budget, parents=parents))[0]
    spent = sum(len(passage.text.split()) for hit in found for passage in hit.around)
    assert spent <= budget
    for hit in found:
        assert hit.chunk_index in [passage.chunk_index for passage in hit.around]
        chunks = [passage.chunk_index for passage in hit.around]
        assert chunks == sorted(chunks)


def test_what_fits_is_kept_around_the_hit() -> None:
    chunks = [Passage(i, 0, 0, "one two three") for i in range(4)]
    assert [each.chunk_index for each in within(chunks, 1, 100)] == [0, 1, 2, 3]
    assert [each.chunk_index for each in within(chunks, 3, 7)] == [2, 3]
    assert [each.chunk_index for each in within(chunks, 0, 1)] == [0]  # the caller sees that it is too long


def test_a_hit_that_is_too_long_hides_none_behind_it(tmp_path: Path) -> None:
    texts = ["Cats purr. " * 20, "Cats purr.", "Cats purr loudly and sleep."]
    with pychunk.Index.create(tmp_path / "it.idx") as made:
        made.add(pychunk.segment(texts, "fixed", size=1000, ids=["long", "short", "middle"], vectors="sentence"))
        plain = [hit.document_id for hit in made.search("cats purr", k=3)[0]]
        assert set(plain) == {"long", "short", "middle"}
        for words in (1, 2, 6, 7, 40, 42, 46, 47):
            left, fit = words, []
            for name in plain:
                if (own := len(texts[["long", "short", "middle"].index(name)].split())) <= left:
                    left -= own
                    fit.append(name)
            assert [
                hit.document_id for hit in made.search("cats purr", k=3, expansion=Expansion(max_words=words))[0]
            ] == fit
        assert made.search("cats purr", k=3, expansion=Expansion(max_words=2))[0][0].document_id == "short"


@pytest.mark.parametrize("method", ["structure", "topic", "pic", "semantic", "recursive", "fixed", "sentence"])
def test_k_results_whatever_the_method_and_however_hits_are_nested(method: str, tmp_path: Path) -> None:
    options: Any = {"size": 30} if method in ("recursive", "fixed") else {}
    batch = pychunk.parse(
        [GUIDE, GUIDE.replace("Cats", "Owls"), GUIDE.replace("Cats", "Dogs")], "markdown", ids=[1, 2, 3]
    )
    with pychunk.Index.create(tmp_path / "it.idx") as made:
        made.add(pychunk.segment(batch, method, max_tokens=30, min_tokens=0, vectors="sentence", **options))
        everything = made.search("They eat fish.", k=1000)[0]
        for way in ("subtree", "section"):
            most = len(made.search("They eat fish.", k=1000, expansion=way)[0])
            assert 3 <= most <= len(everything)
            for k in range(1, most + 3):
                found = made.search("They eat fish.", k=k, expansion=way)[0]
                assert len(found) == min(k, most)
                assert found[0].path is not None
                passages = [(hit.document_id, each.chunk_index) for hit in found for each in hit.around]
                assert len(set(passages)) == len(passages)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=12), st.integers(1, 6))
def test_as_many_regions_are_read_as_it_takes(pairs: list[tuple[int, int]], k: int) -> None:
    # Regions of a tree: two are disjoint, or one contains the other.
    regions: list[tuple[int, int]] = []
    for begin, size in pairs:
        new = (begin, begin + size)
        if all(new[1] <= a or b <= new[0] or (a <= new[0] and new[1] <= b) or (new[0] <= a and b <= new[1])
               for a, b in regions):  # fmt: skip
            regions.append(new)
    counts = [len(set(outermost_by_search(regions[:n]))) for n in range(1, len(regions) + 1)]
    assert needed(regions, k) == next((n for n, count in enumerate(counts, 1) if count == k), None)


def test_errors_say_what_is_wrong(index: pychunk.Index, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expansion must be 'subtree', 'section' or a whole number"):
        index.search("cats", expansion="tree")
    with pytest.raises(ValueError, match="max_words must be a whole number"):
        index.search("cats", expansion=Expansion(max_words=0))
    with pytest.raises(ValueError, match="parents= needs a tree"):
        index.search("cats", expansion=Expansion(parents=True))
    with pychunk.Index.create(tmp_path / "flat.idx") as made:
        made.add(pychunk.segment([GUIDE], "sentence", ids=["a"], vectors="sentence"))
        with pytest.raises(ValueError, match="no tree of headings"):
            made.search("cats", expansion="subtree")


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE, encoding="utf-8")
    made = invoke(["index", str(tmp_path / "guide.md"), "-o", str(tmp_path / "it.idx")])
    assert made.exit_code == 0, made.output
    found = invoke(["search", str(tmp_path / "it.idx"), "What do they eat?", "-k", "1", "--expand", "subtree"])
    assert found.exit_code == 0, found.output
    assert "### Fish" in found.stdout
    assert "Cats" in found.stdout
