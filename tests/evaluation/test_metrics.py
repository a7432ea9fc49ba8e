"""The measures against hand-computed cases and slow references written from their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.evaluation.measures import boundaries, intervals, metrics, page_accuracy, span_overlap

# --- answers ---


def test_hits_need_an_answer_in_an_allowed_chunk() -> None:
    shares = np.array([[0.0, 0.3, 0.0], [0.0, 0.0, 0.0], [0.1, 0.0, 0.2]])
    allowed = np.array([[True, False, True], [True, True, True], [False, False, True]])
    assert metrics.hits(shares).tolist() == [1, 0, 1]
    assert metrics.hits(shares, allowed).tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match=r"\(3, 3\); got \(3, 2\)"):
        metrics.hits(shares, allowed[:, :2])


def test_a_chunk_is_in_the_paragraph_if_they_share_a_character_of_one_document() -> None:
    documents = np.array([[4, 4, 4, 5, -1]])
    chunks = np.array([[[0, 10], [9, 11], [20, 30], [12, 14], [0, 0]]])
    inside = metrics.in_paragraph(documents, chunks, np.array([[4, 10, 20]]))
    assert inside.tolist() == [[False, True, False, False, False]]


def test_hits_within_words_count_chunks_that_fit_wholly() -> None:
    held = np.array([[False, True, False], [True, False, True], [False, False, False]])
    words = np.array([[100, 150, 10], [300, 10, 10], [1, 1, 1]])
    assert metrics.hits_within_words(held, words, [249, 250, 320]).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    with pytest.raises(ValueError, match="negative; got -1"):
        metrics.hits_within_words(held, words - 2, [10])
    with pytest.raises(ValueError, match=r"got \(3, 2\)"):
        metrics.hits_within_words(held, words[:, :2], [10])


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=1, max_size=8), st.integers(0, 40))
def test_hits_within_words_walk_down_the_ranking(ranking: list[tuple[bool, int]], budget: int) -> None:
    left, expected = budget, 0
    for held, words in ranking:
        left -= words
        if left < 0:
            break
        expected |= held
    held, words = np.array(ranking).T[:, None]
    assert metrics.hits_within_words(held.astype(bool), words, [budget]) == [[expected]]


# --- spans ---

LAST = 24
span = st.tuples(st.integers(0, LAST), st.integers(0, LAST)).map(lambda ends: (min(ends), max(ends)))
chunk_lists = st.lists(span, max_size=6)
reference_lists = st.lists(span, min_size=1, max_size=4).filter(lambda found: any(e > s for s, e in found))


def positions(*found: tuple[int, int]) -> set[int]:
    return {position for start, end in found for position in range(start, end)}


@settings(deadline=None)
@given(chunk_lists, reference_lists, st.integers(0, 5))
def test_span_scores_are_those_of_sets_of_positions(
    chunks: list[tuple[int, int]], references: list[tuple[int, int]], elsewhere: int
) -> None:
    held = positions(*chunks)
    shared = len(held & positions(*references))
    retrieved = sum(len(positions(chunk)) for chunk in chunks) + elsewhere
    wanted = sum(len(positions(reference)) for reference in references)
    missed = sum(len(positions(reference) - held) for reference in references)
    scores = span_overlap.span_scores(chunks, references, elsewhere=elsewhere)
    assert scores.recall == shared / wanted
    assert scores.precision == (shared / retrieved if retrieved else 0)
    assert scores.iou == shared / (retrieved + missed)


@settings(deadline=None)
@given(chunk_lists, reference_lists)
def test_precision_omega_is_that_of_sets_of_positions(
    chunks: list[tuple[int, int]], references: list[tuple[int, int]]
) -> None:
    wanted = positions(*references)
    holding = [bool(positions(chunk) & wanted) for chunk in chunks]
    assert span_overlap.holds_reference(chunks, references).tolist() == holding
    reached = positions(*(chunk for chunk, held in zip(chunks, holding) if held))
    assert span_overlap.precision_omega(chunks, references) == len(reached & wanted) / len(reached | wanted)


def test_overlapping_chunks_count_twice_in_precision_and_iou_and_once_in_omega() -> None:
    chunks, references = [[0, 20], [10, 30]], [[10, 20]]
    assert span_overlap.span_scores(chunks, references) == (1.0, 0.25, 0.25)
    assert span_overlap.precision_omega(chunks, references) == pytest.approx(1 / 3)


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=10), st.lists(st.integers(0, 30), max_size=4))
def test_every_token_is_in_one_of_the_chunks_that_tile_the_text(lengths: list[int], cuts: list[int]) -> None:
    ends = np.cumsum(lengths)
    tokens = np.stack([ends - lengths, ends], axis=1)
    edges = np.array([0, *sorted(cuts), max(31, ends[-1])])
    found = span_overlap.in_tokens(np.stack([edges[:-1], edges[1:]], axis=1), tokens)
    held = [token for start, end in found for token in range(start, end)]
    assert held == list(range(len(tokens)))


def test_spans_that_make_no_sense_are_named() -> None:
    with pytest.raises(ValueError, match=r"got \[7, 3\] in row 1"):
        span_overlap.span_scores([[0, 1], [7, 3]], [[0, 1]])
    with pytest.raises(ValueError, match=r"at least one character; got \[\[4, 4\]\]"):
        span_overlap.span_scores([[0, 1]], [[4, 4]])
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        span_overlap.precision_omega([0, 1, 2], [[0, 1]])
    with pytest.raises(ValueError, match="got -1"):
        span_overlap.span_scores([[0, 1]], [[0, 1]], elsewhere=-1)


# --- boundaries ---


@st.composite
def segmentations(draw: st.DrawFn) -> tuple[list[int], list[int], int, int]:
    units = draw(st.integers(2, 12))
    boundary_lists = st.lists(st.integers(1, units - 1), max_size=units, unique=True)
    return draw(boundary_lists), draw(boundary_lists), units, draw(st.integers(1, units - 1))


def crossed(found: list[int], first: int, last: int) -> int:
    return sum(first < boundary <= last for boundary in found)


@settings(deadline=None)
@given(segmentations())
def test_pk_and_window_diff_are_as_defined(case: tuple[list[int], list[int], int, int]) -> None:
    reference, hypothesis, units, window = case
    counts = [(crossed(reference, i, i + window), crossed(hypothesis, i, i + window)) for i in range(units - window)]
    pk = sum((a == 0) != (b == 0) for a, b in counts) / len(counts)
    window_diff = sum(a != b for a, b in counts) / len(counts)
    assert boundaries.pk(reference, hypothesis, units, window=window) == pytest.approx(pk)
    assert boundaries.window_diff(reference, hypothesis, units, window=window) == pytest.approx(window_diff)


@settings(deadline=None)
@given(segmentations())
def test_pk_and_window_diff_are_nltks(case: tuple[list[int], list[int], int, int]) -> None:
    segmentation = pytest.importorskip("nltk.metrics.segmentation")
    reference, hypothesis, units, window = case
    # NLTK needs a character for each place where a boundary can be.
    gold, guess = ("".join("01"[i in found] for i in range(1, units)) for found in (reference, hypothesis))
    assert boundaries.pk(reference, hypothesis, units, window=window) == pytest.approx(
        segmentation.pk(gold, guess, window)
    )
    assert boundaries.window_diff(reference, hypothesis, units, window=window) == pytest.approx(
        segmentation.windowdiff(gold, guess, window)
    )


def most_matches(expected: list[int], found: list[int], tolerance: int) -> int:
    """Return the largest one-to-one matching, by trying all."""
    if not expected:
        return 0
    first, rest = expected[0], expected[1:]
    tries = [
        1 + most_matches(rest, [other for other in found if other != each], tolerance)
        for each in found
        if abs(each - first) <= tolerance
    ]
    return max([most_matches(rest, found, tolerance), *tries])


@settings(deadline=None)
@given(st.sets(st.integers(1, 14), max_size=5), st.sets(st.integers(1, 14), max_size=5), st.integers(0, 4))
def test_boundary_f1_matches_as_many_as_can_be(expected: set[int], found: set[int], tolerance: int) -> None:
    scores = boundaries.boundary_f1(sorted(expected), list(found), 15, tolerance=tolerance)
    if not expected and not found:
        assert scores == (1, 1, 1)
        return
    matches = most_matches(sorted(expected), sorted(found), tolerance)
    precision, recall = matches / max(1, len(found)), matches / max(1, len(expected))
    harmonic = 2 * precision * recall / (precision + recall) if matches else 0
    assert scores == pytest.approx((precision, recall, harmonic))


def test_the_window_is_half_the_mean_reference_segment() -> None:
    assert boundaries.window_size([10, 20], units=30) == 5
    assert boundaries.window_size([], units=1) == 1
    assert boundaries.pk([10, 20], [11, 20], 30) == boundaries.pk([10, 20], [11, 20], 30, window=5) == 2 / 25
    assert boundaries.pk([], [], 1) == boundaries.window_diff([], [], 1) == 0


def test_a_perfect_segmentation_and_its_opposite() -> None:
    every = list(range(1, 10))
    for measure in (boundaries.pk, boundaries.window_diff):
        assert measure(every, every, 10) == 0
        assert measure(every, [], 10) == 1
    assert boundaries.boundary_f1(every, every, 10).f1 == 1
    assert boundaries.boundary_f1(every, [], 10) == (0, 0, 0)


def test_character_positions_become_units() -> None:
    assert boundaries.in_units([0, 20, 25, 80, 200], [0, 20, 40, 80]).tolist() == [1, 3]


def test_boundaries_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match=r"reference boundaries must be from 1 to units - 1 \(4\); got 5"):
        boundaries.pk([5], [1], 5)
    with pytest.raises(ValueError, match=r"hypothesis boundaries must be from 1 to units - 1 \(4\); got 0"):
        boundaries.boundary_f1([1], [0], 5)
    with pytest.raises(ValueError, match=r"window must be from 1 to units - 1 \(4\); got 5"):
        boundaries.window_diff([1], [1], 5, window=5)
    with pytest.raises(ValueError, match="units must be at least 1; got 0"):
        boundaries.window_size([], 0)
    with pytest.raises(ValueError, match="tolerance must not be negative; got -1"):
        boundaries.boundary_f1([1], [1], 5, tolerance=-1)


# --- pages ---


def test_pages_by_hand() -> None:
    gold_documents, gold_pages, counts = [0, 1, 2], [1, 4, 2], [5, 4, 2]
    assert page_accuracy.accuracy_doc([0, 1, 0], gold_documents).tolist() == [1, 1, 0]
    scores = page_accuracy.accuracy_page([0, 1, 0], [5, 4, 2], gold_documents, gold_pages, counts)
    assert scores == pytest.approx([1 - 4 / 5, 1, 0])
    recall = page_accuracy.page_recall_at_k(
        [[0, 1], [1, 1], [-1, 2]], [[2, 1], [3, 4], [-1, 2]], gold_documents, gold_pages
    )
    assert recall.tolist() == [0, 1, 1]
    assert page_accuracy.pages_at([0, 5, 9], [0, 4, 5, 8, 9, 99]).tolist() == [1, 1, 2, 2, 3, 3]


def test_page_shapes_and_counts_are_checked() -> None:
    with pytest.raises(ValueError, match=r"equal; got \(2,\), \(3,\)"):
        page_accuracy.accuracy_doc([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="at least 1; got 0"):
        page_accuracy.accuracy_page([0], [1], [0], [1], [0])
    with pytest.raises(ValueError, match=r"documents must have the shape .* got \(2,\) and \(2,\)"):
        page_accuracy.page_recall_at_k([0, 1], [1, 1], [0, 1], [1, 1])


# --- intervals ---


def test_the_interval_is_near_the_normal_one_and_the_same_for_the_same_seed() -> None:
    values = np.random.default_rng(1).random(2000) < 0.3
    found = intervals.interval(values, resamples=4000)
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert found.mean == values.mean()
    assert found.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.1 * half)
    assert found == intervals.interval(values, resamples=4000)
    assert found != intervals.interval(values, resamples=4000, seed=1)
    narrow = intervals.interval(values, resamples=4000, level=0.5)
    assert found.low < narrow.low < narrow.high < found.high


def test_the_interval_does_not_depend_on_how_much_is_drawn_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).random(50)
    whole = intervals.interval(values, resamples=100)
    monkeypatch.setattr(intervals, "_BLOCK", 350)
    assert intervals.interval(values, resamples=100) == whole


def test_a_paired_difference_is_surer_than_its_sides() -> None:
    rng = np.random.default_rng(3)
    a = rng.random(500)
    b = a + 0.01 * rng.random(500)
    found, alone = intervals.paired(b, a), intervals.interval(a)
    assert 0 < found.low < found.mean < found.high < 0.01
    assert alone.high - alone.low > 10 * (found.high - found.low)


def test_a_figure_of_sums_draws_whole_documents() -> None:
    rng = np.random.default_rng(4)
    values = rng.random(300)
    mean = intervals.of_sums(np.stack([np.ones(300), values], axis=1), lambda sums: sums[1] / sums[0])
    alone = intervals.interval(values)
    assert mean.mean == pytest.approx(alone.mean)
    assert (mean.low, mean.high) == pytest.approx((alone.low, alone.high), abs=0.1 * (alone.high - alone.low))
    # Every chunk ten times gives no more certainty; drawing chunks one by one would.
    tenfold = intervals.of_sums(np.stack([np.full(300, 10), 10 * values], axis=1), lambda sums: sums[1] / sums[0])
    assert (tenfold.low, tenfold.high) == pytest.approx((mean.low, mean.high))
    some = intervals.of_sums([[0, 0], [1, 4]], lambda sums: sums[1] / sums[0])  # a quarter of the draws hold no chunk
    assert some == (4, 4, 4)
    with pytest.raises(ValueError, match=r"figure must be finite for the sums of parts; got nan for \[0.0, 0.0\]"):
        intervals.of_sums([[0, 0]], lambda sums: sums[1] / sums[0])
    for parts, problem in (([1.0], r"shape \(1,\)"), ([[1, 1], [1, np.nan]], r"got \[1.0, nan\] in row 1")):
        with pytest.raises(ValueError, match=problem):
            intervals.of_sums(parts, lambda sums: sums[1] / sums[0])


def test_interval_arguments_are_checked() -> None:
    for values, problem in (([], r"shape \(0,\)"), ([[1.0]], r"shape \(1, 1\)"), ([0, np.nan], "nan for question 1")):
        with pytest.raises(ValueError, match=problem):
            intervals.interval(values)
    with pytest.raises(ValueError, match=r"got 1\.5"):
        intervals.interval([1], level=1.5)
    with pytest.raises(ValueError, match="at least 1; got 0"):
        intervals.interval([1], resamples=0)
    with pytest.raises(ValueError, match=r"got shapes \(2,\) and \(1,\)"):
        intervals.paired([1, 2], [1])
