"""Hits in an index of levels with the section that contains them, compared with the chunk table."""

from pathlib import Path
from typing import Any

import pytest
from command_line import invoke

from pychunk.index import Expansion, Ranking

pytest.importorskip("faiss")

from test_levels_across import LEVELS, index_of, texts_of

import pychunk

QUERIES = ["Which cats purr?", "mice hide in bread", "Kings rule towns. Stars burn.", "rivers"]
RANGES = [("sentence", "document"), ("sentence", "paragraph"), ("paragraph", "paragraph"), ("section", "document")]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pychunk.Index:
    texts = texts_of(11, 30)
    found = index_of(tmp_path_factory.mktemp("context") / "l.idx", texts)
    again = pychunk.segment_levels([texts[3]], LEVELS, vectors="chunk", ids=["d4"])
    found.add(again.chunks())  # in the place of another, whose rows are removed
    found.save()
    return found


def section_of(rows: list[dict[str, Any]], hit: Any) -> dict[str, Any]:
    """Return the section that holds a hit, or the hit itself if none does."""
    holding = [
        row
        for row in rows
        if row["document_id"] == hit.document_id
        and "section" in row["levels"]
        and row["start"] <= hit.start
        and hit.end <= row["end"]
    ]
    assert len(holding) <= 1
    return holding[0] if holding else {"start": hit.start, "end": hit.end}


@pytest.mark.slow
@pytest.mark.parametrize("levels", RANGES)
@pytest.mark.parametrize("fusion", ["levels", "score"])
def test_a_section_comes_as_nodes_of_the_level_of_its_best_hit(
    index: pychunk.Index, levels: tuple[str, str], fusion: str
) -> None:
    searcher = index._contents.searcher()
    rows = [row for row, alive in zip(index.table.to_pylist(), searcher.alive, strict=True) if alive]
    names = LEVELS[LEVELS.index(levels[0]) : LEVELS.index(levels[1]) + 1]
    wider = 0
    for query in QUERIES:
        ranking = Ranking(levels=levels, fusion=fusion)
        found = index.search(query, k=9, ranking=ranking, expansion="section")[0]
        plain, sections = [], set()
        for hit in index.search(query, k=1000, ranking=ranking)[0]:  # as many as it takes to have 9 sections
            if len(sections) < 9:
                plain.append(hit)
                sections.add((hit.document_id, section_of(rows, hit)["start"], section_of(rows, hit)["end"]))
        assert len(found) == len(sections)
        assert {hit.row for hit in found} <= {hit.row for hit in plain}
        for hit in found:
            own = section_of(rows, hit)
            level = [name for name in names if name in hit.metadata["levels"]][-1]
            wanted = sorted(
                (row["start"], row["end"], row["text"])
                for row in rows
                if row["document_id"] == hit.document_id
                and level in row["levels"]
                and own["start"] <= row["start"]
                and row["end"] <= own["end"]
            )
            assert [(each.start, each.end, each.text) for each in hit.around] == wanted
            assert (hit.start, hit.end, hit.text) in wanted
            best = min(
                each
                for each, other in enumerate(plain)
                if section_of(rows, other) == own and other.document_id == hit.document_id
            )
            assert plain[best].row == hit.row
            wider += len(wanted) > 1
        for budget in (1, 12, 40):
            few = index.search(
                query,
                k=9,
                ranking=Ranking(levels=levels, fusion=fusion),
                expansion=Expansion("section", max_words=budget),
            )[0]
            assert sum(len(each.text.split()) for hit in few for each in hit.around) <= budget
            assert all(any(each.chunk_index == hit.chunk_index for each in hit.around) for hit in few)
    assert (wider > 0) == (levels[0] != "section")


def test_documents_without_ids_of_two_calls_are_two(tmp_path: Path) -> None:
    with pychunk.Index.create(tmp_path / "l.idx", vectors="chunk") as made:
        for text in ("Cats purr loudly. They sleep.\n\nDogs bark.", "Cats purr softly. They eat.\n\nGoats climb."):
            made.add(pychunk.segment_levels(text, ["sentence", "paragraph", "document"], vectors="chunk").chunks())
        hits = made.search("cats purr", k=2, ranking=Ranking(levels="sentence"), expansion=1)[0]
        assert sorted([each.text for each in hit.around] for hit in hits) == [
            ["Cats purr loudly.", "They sleep."],
            ["Cats purr softly.", "They eat."],
        ]


def test_a_node_is_its_own_subtree(index: pychunk.Index) -> None:
    for levels in (*RANGES, "sentence"):
        plain = index.search("cats purr", k=5, ranking=Ranking(levels=levels))[0]
        found = index.search("cats purr", k=5, ranking=Ranking(levels=levels), expansion="subtree")[0]
        assert [hit.row for hit in found] == [hit.row for hit in plain]
        assert all([each.text for each in hit.around] == [hit.text] for hit in found)
    for hits in index.search(QUERIES, k=30, expansion="subtree"):  # nested nodes: the outermost
        spans = sorted((hit.document_id, hit.around[0].start, hit.around[-1].end) for hit in hits)
        assert all(a[0] != b[0] or a[2] <= b[1] for a, b in zip(spans, spans[1:], strict=False))


def test_what_cannot_be_expanded(index: pychunk.Index, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="an index of levels does not have"):
        index.search("cats", expansion=Expansion("section", parents=True))
    found = pychunk.segment_levels(["Cats purr. They sleep."], ["sentence", "document"], vectors="chunk", ids=["a"])
    with pychunk.Index.create(tmp_path / "l.idx", vectors="chunk") as made:
        made.add(found.chunks())
        with pytest.raises(ValueError, match="needs the level 'section'; this index has sentence, document"):
            made.search("cats", expansion="section")
        assert (
            made.search("They sleep", k=1, ranking=Ranking(levels="sentence"), expansion="subtree")[0][0].around[0].text
            == "They sleep."
        )


def test_on_the_command_line(index: pychunk.Index) -> None:
    arguments = ["search", str(index.path), "Which cats purr?", "-k", "1", "--levels", "sentence", "--expand"]
    found = invoke([*arguments, "section"])
    assert found.exit_code == 0, found.output
    assert invoke([*arguments, "subtree"]).exit_code == 0
