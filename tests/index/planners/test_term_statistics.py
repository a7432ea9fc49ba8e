"""The planners' facts about a query's words: their weights, and the sentences that hold them."""

from pathlib import Path

import numpy as np
import pytest

from pychunk.index import Ranking

pytest.importorskip("faiss")

import pychunk
from pychunk.index.planners.planner_features import _spread, _terms, features
from pychunk.index.planners.term_statistics import Terms

LEVELS = ["sentence", "paragraph", "document"]
TEXTS = ["Cats purr. They sleep by day.\n\nCats eat mice. Fish, too.", "Stars burn hydrogen.", "Dogs bark at cats."]


@pytest.mark.parametrize("parts", [1, 3])
def test_terms_of_the_best_hits(parts: int, tmp_path: Path) -> None:
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk") as index:
        for own in np.array_split(np.arange(3), parts):
            ids = [str(row) for row in own]
            index.add(pychunk.segment_levels([TEXTS[row] for row in own], LEVELS, vectors="chunk", ids=ids).chunks())
            index.save()
        queries = ["cats cats sleep unheard", "hydrogen", ""]
        told = index.plan_metadata(queries)
        table = index.table.to_pylist()
        for query, each in zip(queries, told, strict=True):
            words = list(dict.fromkeys(query.split()))
            terms = each.terms
            assert terms is not None
            held = [[word in row["text"].lower() for row in table] for word in words]
            assert terms.known.tolist() == [any(own) for own in held]
            assert all((terms.weight > 0) & (terms.weight <= 1))
            assert [weight == 1 for weight in terms.weight] == [sum(own) <= 1 for own in held]
            for level, found, inside in (("sentence", terms.fine, terms.near), ("document", terms.coarse, terms.far)):
                rows, _ = index.rank(query, 3, ranking=Ranking(levels=level))
                best = [table[row]["text"].lower() for row in rows[0] if row >= 0]
                assert found.tolist() == [[word in text for word in words] for text in best]
                sentences = [
                    row["text"].lower()
                    for row in table
                    if best and "sentence" in row["levels"] and row["document_id"] == table[rows[0][0]]["document_id"]
                ]
                assert inside.tolist() == [[word in text for word in words] for text in sentences]
            assert len(features(query, each)) == len(features("", told[-1]))


def test_how_terms_lie_in_sentences_by_hand() -> None:
    held = np.array([[True, False], [True, True], [True, True], [False, False]])
    weight = np.array([0.25, 0.75], np.float32)
    wanted = [0.75, 0.5, 0.25 * 0.75 + 0.75 * 0.5, np.log(3), np.log(3), np.log(4), 1, 1, 0.75, 0.5 / 4]
    assert _spread(held, weight) == pytest.approx(wanted)
    assert _spread(held[:0], weight) == [0] * 10
    best = held[1:2]
    found = _terms(Terms(weight, np.array([True, True]), best, held[:1], held, held))
    assert found[:8] == pytest.approx([0.2, 1, 0.75, 0.25, 0.5, 0.25, 0.25, 0.75])
    assert found[8:20] == pytest.approx([1, 1, 1, 1, 1, 1, 0.25, 0.25, 0.25, 0.5, 0, 1 / 3])
    assert len(found) == len(_terms(None))
