"""Near-copies among documents: the native core finds the same ones as the reference, for any number of threads."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk._engine import native
from pychunk._engine.arrow import flat_texts
from pychunk._engine.reference.near_copies import near_copies

WORDS = ["a", "b", "cc", "ddd", "straße", "naïve", "猫", "が", "ไทย", "𠀀", "x\u2028y", "\u3000", "\x00", "\x1f", "😺"]


def found(texts: list[str], share: float, band: int, threads: int = 1) -> list[tuple[int, int, float]]:
    columns = native.near_copies(*flat_texts(texts), share, band, threads=threads)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), max_size=9),
    st.sampled_from([0.2, 0.5, 0.8, 1.0]),
    st.sampled_from([1, 2, 4, 128]),
)
def test_short_texts(texts: list[str], share: float, band: int) -> None:
    assert found(texts, share, band) == near_copies(texts, share, band)


@given(st.lists(st.text(max_size=20), max_size=6))
def test_any_characters(texts: list[str]) -> None:
    assert found(texts, 0.5, 1) == near_copies(texts, 0.5, 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.5, 0.8, 0.9])
def test_changed_copies(seed: int, share: float) -> None:
    rng = random.Random(seed)
    texts: list[str] = []
    for _ in range(60):
        words = [f"w{rng.randrange(200)}" for _ in range(rng.choice([3, 10, 60, 300]))]
        if texts and rng.random() < 0.7:
            words = rng.choice(texts).split()
            for _ in range(rng.randrange(1 + len(words) // 8)):
                words[rng.randrange(len(words))] = "changed"
        texts.append(" ".join(words))
    expected = near_copies(texts, share, 3)
    assert expected
    for threads in (1, 2, 3):
        assert found(texts, share, 3, threads) == expected


def test_more_documents_than_a_block_has() -> None:
    texts = [f"{number % 700} " + " ".join(f"{number % 700}.{i // 2}" for i in range(12)) for number in range(1500)]
    expected = [(row, row - 700 if row < 1400 else row - 1400, 1.0) for row in range(700, 1500)]
    assert found(texts, 0.8, 4, 2) == found(texts, 0.8, 4, 1) == expected
    changed = [text if row < 700 else text + " end" for row, text in enumerate(texts)]
    assert [pair[:2] for pair in found(changed, 0.8, 4, 2)] == [pair[:2] for pair in expected]


def test_arguments_are_checked() -> None:
    text, offsets = flat_texts(["a b c", "ä"])
    with pytest.raises(ValueError, match="share must be above 0 and at most 1"):
        native.near_copies(text, offsets, 1.5, 4, threads=1)
    with pytest.raises(ValueError, match="band must be from 1 to 128, got 0"):
        native.near_copies(text, offsets, 0.5, 0, threads=1)
    with pytest.raises(ValueError, match="a text begins inside a character at byte 6"):
        native.near_copies(text, np.array([0, 6, 7]), 0.5, 4, threads=1)
    with pytest.raises(ValueError, match="texts must be valid UTF-8"):
        native.near_copies(text[:-1], np.array([0, 6]), 0.5, 4, threads=1)
