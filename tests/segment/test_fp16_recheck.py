"""Sentences that half precision leaves undecided, compared with slow and obvious twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk._engine import native
from pychunk._engine.data.plan import Plan
from pychunk._engine.data.ragged import Ragged
from pychunk._engine.reference.search import thresholds
from pychunk.features import fp16_recheck

DOCUMENTS = st.lists(st.lists(st.floats(-1, 1, width=32), max_size=12), min_size=1, max_size=6)


def flat(documents: list[list[float]]) -> Ragged:
    return Ragged.of(documents, np.float32)


@given(documents=DOCUMENTS, k=st.sampled_from([0.0, -1.0, 0.5]))
def test_thresholds_of_pic_part_relevant_scores_from_others(documents: list[list[float]], k: float) -> None:
    found = native.thresholds(Plan("pic", k=k), flat(documents), threads=2)
    for own, threshold in zip(documents, found):
        if not own:
            assert np.isnan(threshold)
            continue
        values = np.array(own, np.float32)
        for score, label in zip(values, thresholds.labels(values, k)):
            assert abs(float(score) - threshold) < 1e-9 or (score > threshold) == bool(label)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [("value", 0.2), ("percentile", 20.0), ("std", 1.0), ("iqr", 1.5)])
@given(documents=DOCUMENTS)
def test_thresholds_of_semantic_part_cuts_from_the_rest(kind: tuple[str, float], documents: list[list[float]]) -> None:
    plan = Plan("semantic", threshold=kind[0], threshold_value=kind[1])
    for own, threshold in zip(documents, native.thresholds(plan, flat(documents), threads=1)):
        values = np.array(own, np.float32)
        for score, cut in zip(values, thresholds.cuts(values, *kind) if own else []):
            assert abs(float(score) - threshold) < 1e-9 or (score < threshold) == bool(cut)


def test_a_gradient_has_no_threshold_for_scores() -> None:
    plan = Plan("semantic", threshold="gradient", threshold_value=95.0)
    assert np.isnan(native.thresholds(plan, flat([[0, 0, 0]]), threads=1)).all()


@given(documents=DOCUMENTS, margin=st.sampled_from([0.0, 0.05, 0.5]), pairs=st.booleans())
def test_sentences_near_a_threshold(documents: list[list[float]], margin: float, pairs: bool) -> None:
    scores, _ = flat(documents)
    thresholds = np.linspace(-0.5, 0.5, len(documents))
    sentences = [len(own) + (1 if pairs else 0) if own or not pairs else 1 for own in documents]
    borders = np.cumsum([0, *sentences]).astype(np.int64)
    wanted = np.zeros(borders[-1], bool)
    for d, own in enumerate(documents):
        for i, score in enumerate(np.array(own, np.float32)):
            if abs(float(score) - thresholds[d]) <= margin:
                wanted[borders[d] + i] = True
                if pairs:
                    wanted[borders[d] + i + 1] = True
    found = fp16_recheck.sentences_near(scores, thresholds, borders, margin, pairs=pairs)
    assert found.tolist() == wanted.tolist()
    whole = fp16_recheck.whole_documents(found, borders)
    for begin, end in zip(borders, borders[1:]):
        assert whole[begin:end].all() == whole[begin:end].any() or begin == end
        assert whole[begin:end].any() == wanted[begin:end].any()
