"""Texts and levels that tests of hierarchies draw, and properties of every hierarchy."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from pychunk import Hierarchy
from pychunk.levels.level_names import BY_PAGE, BY_STRUCTURE

WORDS = st.sampled_from(
    [
        *("Cats", "purr", "loudly.", "Dr.", "the", "sun", "burns.", "café", "naïve", "中国。", "3.14", "U.S.", "👍!"),
        *("\n\n", "\n\n", "\n", "\f", "# Early life\n\n", "## Works\n\n", "### Late\n\n", "History\n\n"),
        *("Such as:\n- item\n- item\n", "***", "x" * 130, "é" * 40, "\x85", "  ", "\v"),
    ]
)
TEXT = st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=60)
TEXTS = st.lists(TEXT, max_size=4)
STRUCTURE = st.lists(st.sampled_from(BY_STRUCTURE), min_size=1, unique=True).map(
    lambda levels: sorted(levels, key=BY_STRUCTURE.index)
)
PAGES = st.lists(st.sampled_from(BY_PAGE), min_size=1, unique=True).map(
    lambda levels: sorted(levels, key=BY_PAGE.index)
)
WINDOWS = st.lists(st.integers(1, 60), min_size=1, max_size=4, unique=True).map(sorted)
LEVELS = STRUCTURE | PAGES | WINDOWS | WINDOWS.map(lambda sizes: [*sizes, "document"])
FIVE = ["sentence", "group", "paragraph", "section", "document"]
TEXT_OF_LEVELS = (
    "# Cats\n\nThey purr. They sleep.\n\n## Food\n\nMice. Fish.\n\n### Raw\n\nSome do.\n\n"
    "## Sleep\n\nBy day.\n\nAlways."
)


def arrays(found: Hierarchy) -> list[np.ndarray]:
    own = [found.doc_offsets, found.sentence_bytes, *found.firsts, found.lowest, found.highest]
    counted = [] if found.tokens is None else [found.tokens]
    return [*own, *counted, *(found.stored_vectors or ())]


def check_same(one: Hierarchy, other: Hierarchy) -> None:
    assert one.levels == other.levels
    for mine, theirs in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype


def check_tiles(found: Hierarchy, texts: list[str]) -> None:
    for level in found.levels:
        document, spans = found.documents_of(level), list(zip(*found.spans(level), strict=True))
        in_bytes = list(zip(*found.spans_in_bytes(level), strict=True))
        for row, text in enumerate(texts):
            own = [spans[i] for i in np.flatnonzero(document == row)]
            if not text.strip():
                assert not own
                continue
            assert own[0][0] == 0
            assert own[-1][1] == len(text)
            assert all(before[1] == after[0] for before, after in pairwise(own))
            data = text.encode()
            pieces = [data[slice(*in_bytes[i])].decode() for i in np.flatnonzero(document == row)]
            assert pieces == [text[start:end] for start, end in own]
    for finer, coarser in pairwise(found.levels):
        children, parents = found.children(coarser), found.parents(finer)
        np.testing.assert_array_equal(found.first(finer)[children], found.first(coarser))
        np.testing.assert_array_equal(np.repeat(np.arange(len(children) - 1), np.diff(children)), parents)
        assert (found.documents_of(coarser)[parents] == found.documents_of(finer)).all()


def check_nodes(found: Hierarchy) -> None:
    """Check that a span is stored once, with all its levels."""
    seen: dict[tuple[int, int], int] = {}
    for place, level in enumerate(found.levels):
        first = found.first(level)
        for node, begin, end in zip(found.nodes(level), first[:-1], first[1:], strict=True):
            assert seen.setdefault((begin, end), node) == node
            assert found.lowest[node] <= place <= found.highest[node]
    assert len(seen) == len(found)
    assert sum(map(len, found.stored_vectors or ())) == (len(found) if found.has_vectors else 0)
