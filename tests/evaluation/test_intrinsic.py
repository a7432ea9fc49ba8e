"""Measures of chunks without questions: each counted by hand, and properties on arbitrary text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk.evaluation.measures import chunk_starts, intrinsic, plain_text_blocks

TEXT = "Ada wrote. She sang. The sea rose. It fell. Ships sank."
SENTENCES = [(0, 10), (11, 20), (21, 34), (35, 43), (44, 55)]


def rows(chunks: list[tuple[int, int]]) -> np.ndarray:
    return chunk_starts.holders([start for start, _ in SENTENCES], chunks)


def test_a_reference_is_complete_where_the_sentence_before_it_is_in_its_chunk() -> None:
    refers = [chunk_starts.refers_back(TEXT[a:b]) for a, b in SENTENCES]
    assert refers == [False, True, False, True, False]
    # "She" follows Ada; "It" begins a chunk.
    assert intrinsic.reference_completeness(refers, rows([(0, 34), (35, 55)])) == (1, 2)
    assert intrinsic.reference_completeness(refers, rows([(0, 55)])) == (2, 2)
    # The document's first sentence refers to nothing in any chunk; a sentence in no chunk is not counted.
    assert intrinsic.reference_completeness([True, True], [0, 0]) == (1, 1)
    assert intrinsic.reference_completeness([False, True], [0, -1]) == (0, 0)
    with pytest.raises(ValueError, match="one entry for each sentence"):
        intrinsic.reference_completeness([True], [0, 1])


def test_cohesion_is_the_cosine_to_the_mean_of_the_own_chunk() -> None:
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.0, 0.0]], np.float32)
    # The mean of the first two is along (1.6, 0.8), both cosines are 2 / sqrt(5). The third is alone, the fourth zero.
    found = intrinsic.intrachunk_cohesion(vectors, [0, 0, 1, 1])
    assert found.of == 2
    assert found.found == pytest.approx(2 * 2 / np.sqrt(5))
    assert intrinsic.intrachunk_cohesion(vectors, [0, 1, 2, 2]) == (0.0, 0)
    assert intrinsic.intrachunk_cohesion(vectors[:0], []) == (0.0, 0)
    with pytest.raises(ValueError, match="must not decrease"):
        intrinsic.intrachunk_cohesion(vectors, [1, 0, 1, 1])


def test_coherence_is_the_cosine_to_the_sentences_around() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [1.0, 0.0]], np.float32)
    # One sentence to each side. Chunk 0 is (1, 0), next to (0, 1): 0. Chunk 1 is (0.6, 1.8), between (1, 0) and (1, 0):
    # 0.6 / sqrt(3.6). Chunk 2 is (1, 0), after (0.6, 0.8): 0.6.
    found = intrinsic.contextual_coherence(vectors, [0, 1, 1, 2], window=1)
    assert found.of == 3
    assert found.found == pytest.approx(0.6 / np.sqrt(3.6) + 0.6)
    # Two to each side: chunk 0 is next to (0.6, 1.8).
    found = intrinsic.contextual_coherence(vectors[:3], [0, 1, 1], window=2)
    assert found.found == pytest.approx(2 * 0.6 / np.sqrt(3.6))
    assert intrinsic.contextual_coherence(vectors, [0, 0, 0, 0]) == (0.0, 0)
    with pytest.raises(ValueError, match="at least 1"):
        intrinsic.contextual_coherence(vectors, [0, 0, 0, 0], window=0)


def test_a_block_is_whole_in_one_chunk() -> None:
    chunks = [(0, 20), (20, 40), (45, 60)]
    assert intrinsic.block_integrity([(0, 20), (21, 40), (15, 25), (41, 60), (46, 60)], chunks) == (3, 5)
    assert intrinsic.block_integrity([], chunks) == (0, 0)
    assert intrinsic.block_integrity([(0, 5)], []) == (0, 1)


def test_sizes_comply_between_both_ends() -> None:
    assert intrinsic.size_compliance([9, 10, 20, 21], least=10, most=20) == (2, 4)
    assert intrinsic.size_compliance([3], least=10, most=20) == (1, 1)  # of a short document
    assert intrinsic.size_compliance([30], least=10, most=20) == (0, 1)
    with pytest.raises(ValueError, match="least=20, most=10"):
        intrinsic.size_compliance([3], least=20, most=10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They left.", True),
        ("“However, they left.”", True),
        ("For example, Ada left.", True),
        ("For Ada, it was late.", False),
        ("It’s late.", True),
        ("The latter left.", True),
        ("The late ones left.", False),
        ("Theyre left.", False),
        ("- Also Ada left.", True),
        ("Проте вона пішла.", True),
        ("Таким чином, дія триває.", True),
        ("Таблетки по 200 мг.", False),
        ("", False),
        ("...", False),
    ],
)
def test_what_refers_back(text: str, expected: bool) -> None:
    assert chunk_starts.refers_back(text) is expected


def test_where_headings_stand() -> None:
    text = "Ada\nLife\nShe wrote.\nWork\nEngines.\nDeath\nIn 1852."
    headings = [(0, 3), (4, 8), (20, 24), (34, 39)]
    # The title and the first heading are one run.
    assert chunk_starts.heading_places(text, headings, [(0, 19), (20, 33), (34, 48)]) == (4, 0, 0, 0, 0)
    assert chunk_starts.heading_places(text, headings, [(0, 3), (4, 24), (25, 39), (40, 48)]) == (1, 1, 2, 0, 0)
    assert chunk_starts.heading_places(text, headings, [(0, 48)]) == (2, 0, 0, 0, 2)
    assert chunk_starts.heading_places(text, headings, [(0, 8), (9, 48)]) == (0, 2, 0, 0, 2)
    assert chunk_starts.heading_places(text, headings, [(9, 19)]) == (0, 0, 0, 0, 0)
    assert chunk_starts.heading_places("x" * 50 + text, [(70, 74)], [(0, 98)]) == (0, 0, 0, 1, 0)
    # The number of a heading is part of it; the line above is not.
    numbered = "7.\n\nWork\n\nEngines. 8.\n\nDeath\n\nIn 1852."
    assert chunk_starts.heading_places(numbered, [(4, 8), (23, 28)], [(0, 18), (19, 38)]) == (2, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="in order"):
        chunk_starts.heading_places(text, headings, [(4, 8), (0, 3)])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8), st.lists(st.integers(0, 90), max_size=20))
def test_a_position_is_held_by_the_chunk_that_it_is_in(sizes: list[tuple[int, int]], positions: list[int]) -> None:
    chunks, at = [], 0
    for gap, length in sizes:
        chunks.append((at + gap, at + gap + length))
        at += gap + length
    # An empty chunk holds nothing; one that begins at its position may.
    expected = [next((i for i, (a, b) in enumerate(chunks) if a <= p < b), -1) for p in positions]
    assert chunk_starts.holders(positions, chunks).tolist() == expected


def texts_of(text: str, headings: tuple[tuple[int, int], ...] = (), pages: tuple[int, ...] = ()) -> list[str]:
    return [text[a:b] for a, b in plain_text_blocks.find_blocks(text, headings, pages)]


def test_lines_are_paragraphs_unless_blank_lines_part_them() -> None:
    assert texts_of("One.\nTwo.") == ["One.", "Two."]
    assert texts_of("One.\nTwo.\n\n Three. ") == ["One.\nTwo.", "Three."]


def test_filled_lines_are_one_paragraph() -> None:
    filled = "x" * 50 + " and on it goes to the end of\nthe line, which is filled.\nNext."
    assert texts_of(filled) == [filled[:-6], "Next."]


def test_a_list_keeps_its_introduction_and_a_heading_what_follows() -> None:
    text = "Tools\n\nYou need:\n\n- a saw\n- a nail\n\n1. Begin.\n2) End.\n\nDone."
    expected = ["Tools\n\nYou need:\n\n- a saw\n- a nail\n\n1. Begin.\n2) End.", "Done."]
    assert texts_of(text, headings=((0, 5),)) == expected
    assert texts_of(text)[0] == "Tools"


def test_code_and_tables_are_whole() -> None:
    text = "Run\n```\na\n\n- b\n```\n| a |\n| - |\nEnd."
    assert texts_of(text) == ["Run", "```\na\n\n- b\n```", "| a |\n| - |", "End."]
    assert texts_of("```\nnever closed\n\nx") == ["```\nnever closed\n\nx"]
    assert texts_of("```\na\n```\n```\nb\n```") == ["```\na\n```", "```\nb\n```"]


def test_blocks_end_with_their_page() -> None:
    text = "Head\nText:\n- a\n- b"
    assert texts_of(text, headings=((0, 4),), pages=(0, 5)) == ["Head", "Text:\n- a\n- b"]
    assert texts_of(text, headings=((0, 4),), pages=(0, 15)) == ["Head\nText:\n- a", "- b"]


@given(st.text("ab.:\n -|`1", max_size=60), st.lists(st.integers(0, 60), max_size=3))
def test_blocks_hold_every_character_once(text: str, pages: list[int]) -> None:
    starts = sorted({0, *pages})
    found = plain_text_blocks.find_blocks(text, page_starts=starts).tolist()
    kept = "".join("".join(text[a:b].split()) for a, b in found)
    assert kept == "".join(text.split())
    assert all(b <= a for (_, b), (a, _) in zip(found, found[1:]))
    assert all(text[a:b] == text[a:b].strip() and a < b for a, b in found)
