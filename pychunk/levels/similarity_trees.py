"""Trees of a document by likeness: RAPTOR's levels, kept contiguous.

RAPTOR (Sarathi et al., 2024) clusters chunks by their vectors, whatever stands between them, level by level. Here only
neighbours join, so that every node is a span of its document, and no text is summarised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._engine import engine as engines
from .hierarchy import Hierarchy
from .hierarchy_builder import level_vectors

if TYPE_CHECKING:
    from .level_names import Level


def agglomerated(found: Hierarchy, branching: int = 5, *, base: Level = "sentence", threads: int = 1) -> Hierarchy:
    """The same sentences under trees that join neighbours whose vectors are alike.

    Of all neighbours that together hold at most ``branching`` nodes of the level below, the two of the highest cosine
    are joined (of their sentences' sums by tokens), until a level has no more than 1 / ``branching`` of the nodes below
    or none may be joined; what fits under one node goes under one. O(n log n) comparisons a document.

    Args:
        found: with vectors.
        branching: the most nodes of the level below that one holds, at least 2.
        base: the level whose nodes the trees stand on.
        threads: documents that are worked on at a time.

    Returns:
        Levels ``"sentence"``, the base if it is another, then ``"tree 1"``, ``"tree 2"`` and so on, of which the last
        holds one node a document; the root of a low tree is at all levels above it, too.

    Raises:
        ValueError: no vectors, an unknown level, or ``branching`` under 2.

    Example:
        >>> import pychunk
        >>> text = "Cats purr. Cats sleep. Stars burn hydrogen. Stars shine."
        >>> found = pychunk.segment(text, levels=["sentence"], vectors="sentence")
        >>> agglomerated(found, branching=2).texts_of("tree 1")
        ['Cats purr. Cats sleep.', 'Stars burn hydrogen. Stars shine.']
    """
    if isinstance(branching, bool) or not hasattr(branching, "__index__") or branching < 2:
        raise ValueError(f"branching must be a whole number of at least 2; got {branching!r}")
    place = found.place(base)
    vectors, tokens = found.vectors("sentence"), found.token_counts("sentence")
    first, engine = found.firsts[place], engines.engine()
    made = engine.agglomerate(vectors, tokens, found.doc_offsets, first, int(branching), threads=threads)
    trees = [np.append(level, found.doc_offsets[-1]) for level in made]
    firsts = (*((found.firsts[0],) if place else ()), first, *trees)
    names: tuple[Level, ...] = (*(("sentence",) if place else ()), found.levels[place])
    return Hierarchy(
        names + tuple(f"tree {level}" for level in range(1, len(trees) + 1)),
        found.doc_offsets,
        found.sentence_bytes,
        firsts,
        found.texts,
        found.tokens,
        tuple(level_vectors(vectors, tokens, found.doc_offsets, firsts, engine, threads)),
        found.ids,
        found.first_document,
        {**found.metadata, "tree": {"branching": int(branching), "base": base}},
    )
