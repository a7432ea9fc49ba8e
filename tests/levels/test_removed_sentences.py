"""Removed sentences are those of the engine, and their holes and the starts of nodes follow from them."""

from itertools import pairwise

import numpy as np
from hierarchies import TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine.data.removed_spans import RemovedSpans
from pychunk._engine.reference.document import Document
from pychunk.levels.removed_sentences import KeptSentences, holes_of, kept_starts, with_words


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, drawn=st.data())
def test_removed_sentences_are_those_of_the_engine(texts: list[str], drawn: st.DataObject) -> None:
    places = [sorted(drawn.draw(st.sets(st.integers(0, len(text)), max_size=8))) for text in texts]
    spans = [list(pairwise(each))[::2] for each in places]
    found = pychunk.segment_levels(texts, ["document"], columns={"removed": spans})
    segmenter = pychunk.Segmenter("sentence")
    wanted: list[bool] = []
    for request, _ in segmenter.requests(segmenter.read(texts, {"removed": spans})[1]):
        wanted += [flag for row in range(request.documents) for flag in Document(request, row).removed]
    got = np.zeros(len(wanted), bool) if found.removed is None else found.removed
    assert got.tolist() == wanted


def test_white_space_before_a_removed_sentence_does_not_hide_it() -> None:
    for space in " ", "\n", "\u00a0", "\u2003\u3000", "\u1680":
        text = f"{space}Menu. Cats."
        spans = [(len(space), len(space) + 5)]
        found = pychunk.segment_levels([text], ["document"], columns={"removed": [spans]})
        assert found.removed is not None
        assert found.removed.tolist() == [True, False]


def test_holes_are_runs_within_a_document() -> None:
    text = np.frombuffer(b"A. Menu. Home. B. \n\n C. D.", np.uint8)
    bounds = np.array([0, 3, 9, 15, 22, 24])
    removed = np.array([False, True, True, False, False])
    found = holes_of(text, bounds[:-1], bounds[1:], removed, np.array([0, 2, 5]))
    assert found.first.tolist() == [1, 2]
    assert found.last.tolist() == [2, 3]
    assert found.size.tolist() == [5, 5]
    assert found.breaks.tolist() == [False, False]
    found = holes_of(text, bounds[:-1], bounds[1:], ~removed, np.array([0, 5]))
    assert [each.tolist() for each in found[:2]] == [[0, 3], [1, 5]]
    assert found.breaks.tolist() == [False, True]


@given(flags=st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_starts_move_to_kept_sentences(flags: list[tuple[bool, bool, bool]]) -> None:
    removed, starts = np.array([each[0] for each in flags]), np.array([each[1] for each in flags])
    documents = np.array([0, *(s for s, each in enumerate(flags) if s and each[2]), len(flags)])
    found = kept_starts(starts, removed, documents)
    waiting, seen, wanted = False, False, []
    for s in range(len(flags)):
        if s in documents:
            waiting = seen = False
        waiting |= bool(starts[s])
        wanted.append(s in documents or bool(not removed[s] and waiting and seen))
        if not removed[s]:
            waiting, seen = False, True
    assert found.tolist() == wanted


def test_kept_sentences_count_without_the_removed_ones() -> None:
    kept = KeptSentences(np.array([True, False, True, False, True]), np.array([0, 4, 5]))
    assert kept.numbers.tolist() == [1, 3]
    assert kept.doc_offsets.tolist() == [0, 2, 2]
    assert kept.firsts([np.array([0, 3, 4, 5])])[0].tolist() == [0, 1, 2]
    assert kept.of_all(np.array([0, 1])).tolist() == [0, 3, 4]


def test_spans_without_words_are_dropped() -> None:
    badge, menu = (0, 4, "badge", 1.0), (5, 9, "menu", 1.0)
    assert with_words(None) is None
    assert with_words(RemovedSpans.of([[]])) is None
    mixed = with_words(RemovedSpans.of([[badge, menu], [badge]]))
    assert mixed is not None
    assert [mixed.part(row) for row in range(2)] == [[menu], []]
