"""The ways to cut a section that is longer than a chunk: `within` of `structure`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Segmenter

SENTENCE = st.lists(
    st.sampled_from(["Cats", "purr", "loudly", "stars", "burn", "hydrogen", "bread", "needs", "salt"]),
    min_size=1,
    max_size=6,
).map(lambda words: " ".join(words).capitalize() + ".")


@settings(max_examples=40, deadline=None)
@given(sentences=st.lists(SENTENCE, min_size=2, max_size=9), size=st.integers(6, 25))
def test_a_section_by_topics_has_fewest_short_chunks_and_then_least_affinity_cut(
    sentences: list[str], size: int
) -> None:
    text = " ".join(sentences)
    found = pychunk.segment(text, "structure", size=size, unit="words", within="topic")
    words = [len(sentence.split()) for sentence in sentences]
    score = pychunk.Segmenter("topic").scores(text)["score"].to_pylist()
    assert len(score) == len(words)

    def worth(cuts: tuple[int, ...]) -> tuple[int, float] | None:
        lengths = [sum(words[a:b]) for a, b in itertools.pairwise((0, *cuts, len(words)))]
        if max(lengths) > size:
            return None
        return sum(length < size // 3 for length in lengths), sum(round(score[cut - 1] * 2**32) for cut in cuts)

    own = tuple(itertools.accumulate(chunk.text.count(".") for chunk in found))[:-1]
    assert len(own) == len(found) - 1
    if sum(words) <= size:
        assert own == ()
        return
    places = range(1, len(words))
    every = [cuts for count in places for cuts in itertools.combinations(places, count)]
    assert worth(own) == min(made for cuts in every if (made := worth(cuts)) is not None)


@settings(max_examples=40, deadline=None)
@given(
    sentences=st.lists(SENTENCE, min_size=2, max_size=9),
    size=st.integers(6, 25),
    method=st.sampled_from(["semantic", "nsp"]),
)
def test_a_section_is_cut_where_the_lowest_score_is(sentences: list[str], size: int, method: str) -> None:
    text = " ".join(sentences)
    found = pychunk.segment(text, "structure", size=size, unit="words", within=method, encoder="static")
    score = pychunk.Segmenter(method, encoder="static").scores(text)["score"].to_pylist()[:-1]

    def parts(first: int, last: int) -> list[int]:
        if last - first == 1 or sum(len(sentence.split()) for sentence in sentences[first:last]) <= size:
            return [last - first]
        cut = min(range(first + 1, last), key=lambda at: score[at - 1])
        return parts(first, cut) + parts(cut, last)

    assert [chunk.text.count(".") for chunk in found] == parts(0, len(sentences))


def test_within_keeps_lists_and_is_checked() -> None:
    items = "\n".join(f"- Step {i} of many. It is done." for i in range(4))
    text = "Cats purr. Stars burn hydrogen.\n\nDo this:\n" + items + "\n\nBread needs salt. It rests."
    at = text.index("Do this:")
    blocks = [("paragraph", 0, 0, at - 2), ("paragraph", 0, at, at + 8)]
    for line in items.split("\n"):
        blocks.append(("item", 1, text.index(line), text.index(line) + len(line)))
    blocks.append(("paragraph", 0, text.index("Bread"), len(text)))
    for within in ("size", "topic", "semantic", "nsp"):
        options = {"size": 40, "unit": "words", "within": within, "encoder": "static"}
        chunks = pychunk.segment(text, "structure", columns={"blocks": blocks}, **options)
        assert len(chunks) > 1
        assert any("Do this:\n" + items in chunk.text for chunk in chunks), within
        assert chunks.metadata["options"]["within"] == within
    with pytest.raises(ValueError, match="within must be one of size, topic, semantic, nsp; got 'pic'"):
        Segmenter("structure", within="pic")
    with pytest.raises(
        ValueError, match=r"within='topic' reads vectors of .* leave out columns={'sentence_vectors': ...}"
    ):
        pychunk.segment("Cats purr.", "structure", within="topic", columns={"sentence_vectors": [np.eye(1, 4)]})
    assert Segmenter(within="semantic").method.name == "structure"
