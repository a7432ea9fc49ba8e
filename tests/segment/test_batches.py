"""Batches, tensors and pooling around a transformer, compared with slow and obvious twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk._engine import native
from pychunk._engine.data.models import Template
from pychunk._engine.data.ragged import Ragged
from pychunk._engine.data.tokens import Tokens

BERT = Template((101,), (102,), (102,), 0, 512)
LENGTHS = st.lists(st.integers(1, 40), max_size=60)


def planned(lengths: list[int], budget: int, least: int) -> list[list[int]]:
    """Return batches, longest first: each takes rows of its first one's length while they fit, others while small."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batches:
            width = lengths[batches[-1][0]]
            size = len(batches[-1]) * width
            if size + width <= budget and (lengths[row] == width or size < least):
                batches[-1].append(row)
                continue
        batches.append([row])
    return batches


@given(lengths=LENGTHS, budget=st.integers(1, 200), least=st.integers(0, 80))
def test_batches_hold_every_row_once_within_the_budget(lengths: list[int], budget: int, least: int) -> None:
    order, borders = native.plan_batches(np.array(lengths, np.int64), budget=budget, least=least)
    found = [order[a:b].tolist() for a, b in zip(borders, borders[1:])]
    assert found == planned(lengths, budget, least)
    assert sorted(order.tolist()) == list(range(len(lengths)))


def test_a_pool_of_real_lengths_needs_no_padding(articles: list[str]) -> None:
    from pychunk.encoders import static_encoder

    text = np.frombuffer("".join(articles).encode(), np.uint8)
    offsets = np.array([0, len(text)])
    starts, _ = native.split_texts(text, offsets, threads=1)
    tokens = native.tokenize(static_encoder.load(), text, np.append(starts.values, len(text)))
    lengths = native.pair_rows(tokens, np.arange(len(tokens.counts)), None, BERT).lengths()
    order, borders = native.plan_batches(lengths, budget=2048, least=256)
    padded = sum((b - a) * lengths[order[a]] for a, b in zip(borders, borders[1:]))
    assert lengths.sum() / padded >= 0.98


SENTENCES = st.lists(st.lists(st.integers(200, 30000), max_size=12), min_size=1, max_size=6)


def flat(sentences: list[list[int]]) -> Tokens:
    ids, offsets = Ragged.of(sentences, np.int32)
    return Tokens(ids, offsets, np.diff(offsets))


def longest_first(a: list[int], b: list[int], room: int) -> tuple[list[int], list[int]]:
    """Return pairs cut as the package tokenizers cuts them; see test_pairs_are_cut_as_tokenizers_does."""
    if len(a) + len(b) <= room:
        return a, b
    low = min(len(a), len(b), room // 2)
    return (a[: room - low], b[:low]) if len(a) > len(b) else (a[:low], b[: room - low])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@given(sentences=SENTENCES, max_length=st.integers(3, 30), pair=st.booleans(), data=st.data())
def test_tensors_equal_lists(
    dtype: type, sentences: list[list[int]], max_length: int, pair: bool, data: st.DataObject
) -> None:
    shape = Template((101,), (102,), (102,), 7, max_length)
    numbers = st.lists(st.integers(0, len(sentences) - 1), min_size=4, max_size=4)
    first = data.draw(numbers)
    second = data.draw(numbers) if pair else None
    rows = native.pair_rows(flat(sentences), np.array(first), None if second is None else np.array(second), shape)
    ids, types = [], []
    for i, number in enumerate(first):
        if second is None:
            row = [101, *sentences[number][: max_length - 2], 102]
            ids.append(row)
            types.append([0] * len(row))
        else:
            a, b = longest_first(sentences[number], sentences[second[i]], max_length - 3)
            ids.append([101, *a, 102, *b, 102])
            types.append([0] * (len(a) + 2) + [1] * (len(b) + 1))
    assert rows.lengths().tolist() == [len(row) for row in ids]
    chosen = np.array([2, 0, 3])
    width = max(len(ids[i]) for i in chosen)
    tensors = [np.full((3, width), -1, dtype) for _ in range(3)]
    rows.fill(chosen, width, *tensors)
    for k, i in enumerate(chosen):
        pads = width - len(ids[i])
        assert tensors[0][k].tolist() == ids[i] + [7] * pads
        assert tensors[1][k].tolist() == [1] * len(ids[i]) + [0] * pads
        assert tensors[2][k].tolist() == types[i] + [0] * pads


def test_pairs_are_cut_as_tokenizers_does() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from pychunk.encoders import static_encoder

    tokenizer = tokenizers.BertWordPieceTokenizer(str(static_encoder.SHIPPED / "vocab.txt"))
    for a in range(9):
        for b in range(9):
            for max_length in range(4, 18):
                tokenizer.enable_truncation(max_length, strategy="longest_first")
                expected = tokenizer.encode("cat " * a, "dog " * b).ids
                cat, dog = tokenizer.token_to_id("cat"), tokenizer.token_to_id("dog")
                rows = native.pair_rows(
                    flat([[cat] * a, [dog] * b]),
                    np.array([0]),
                    np.array([1]),
                    Template((101,), (102,), (102,), 0, max_length),
                )
                ids = np.zeros((1, int(rows.lengths()[0])), np.int64)
                rows.fill(np.array([0]), ids.shape[1], ids, None, None)
                assert ids[0].tolist() == expected, (a, b, max_length)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("unit", [True, False])
def test_pooling_equals_numpy(dtype: type, pooling: str, unit: bool) -> None:
    random = np.random.default_rng(3)
    states = random.normal(size=(5, 7, 24)).astype(dtype)
    chosen = np.array([3, 1, 4, 0, 2])
    lengths = np.array([7, 1, 3, 6, 2])
    out = np.full((5, 24), np.nan, np.float32)
    native.pool(states, chosen, lengths, out, pooling=pooling, unit=unit)
    for row, number in enumerate(chosen):
        tokens = 1 if pooling == "cls" else lengths[number]
        expected = states[row, :tokens].astype(np.float64).mean(axis=0)
        if unit:
            expected /= np.linalg.norm(expected)
        np.testing.assert_allclose(out[number], expected, atol=1e-6)


def test_every_half_precision_number_is_read_exactly() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(-1, 1, 1)
    out = np.zeros((len(finite), 1), np.float32)
    order = np.arange(len(finite))
    native.pool(finite, order, np.ones(len(finite), np.int64), out, pooling="cls", unit=False)
    np.testing.assert_array_equal(out[:, 0], finite[:, 0, 0].astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_probabilities_equal_softmax(dtype: type) -> None:
    logits = np.array([[2, -1], [0, 0], [-60, 60], [60, -60]], dtype)
    out = np.zeros(4, np.float32)
    native.class_probability(logits, np.array([3, 2, 1, 0]), 0, out)
    wide = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out[::-1], (wide / wide.sum(axis=1, keepdims=True))[:, 0], rtol=1e-6, atol=1e-40)


def test_the_border_refuses_what_does_not_fit() -> None:
    tokens = flat([[5, 6], [7]])
    with pytest.raises(ValueError, match="first must be from 0 to 1, got 2"):
        native.pair_rows(tokens, np.array([2]), None, BERT)
    with pytest.raises(ValueError, match="second must have the length 1, as first has, got 2"):
        native.pair_rows(tokens, np.array([0]), np.array([0, 1]), BERT)
    with pytest.raises(ValueError, match="max_length must be at least"):
        native.pair_rows(tokens, np.array([0]), None, Template((101,), (102,), (102,), 0, 1))
    rows = native.pair_rows(tokens, np.array([0]), None, BERT)
    with pytest.raises(ValueError, match="row 0 does not fit in 3, its width must be at least 4"):
        rows.fill(np.array([0]), 3, np.zeros((1, 3), np.int64), None, None)
    with pytest.raises(ValueError, match="mask must be"):
        rows.fill(np.array([0]), 4, np.zeros((1, 4), np.int64), np.zeros((2, 4), np.int64), None)
    with pytest.raises(ValueError, match="lengths must be from 1 to 2, the width of states, got 9"):
        native.pool(
            np.zeros((1, 2, 4), np.float32),
            np.array([0]),
            np.array([9]),
            np.zeros((1, 4), np.float32),
            pooling="mean",
            unit=True,
        )
