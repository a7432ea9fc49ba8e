"""Trees of a document's sentences by similarity, like RAPTOR's levels, but with contiguous nodes.

RAPTOR (Sarathi et al., 2024) clusters chunks by their vectors level by level, even if other text is between them. Here
only neighbours join. Every node is therefore a span of its document, and no text is summarised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._engine import engine as engines
from .hierarchy import Hierarchy
from .hierarchy_builder import level_vectors
from .removed_sentences import KeptSentences

if TYPE_CHECKING:
    from .level_names import Level


def agglomerated(found: Hierarchy, branching: int = 5, *, base: Level = "sentence", threads: int = 1) -> Hierarchy:
    """Return a hierarchy of the same sentences, with trees that join neighbours with similar vectors.

    Two neighbouring nodes may join if together they hold at most ``branching`` nodes of the level below. Of all such
    pairs, the pair with the highest cosine joins first. The cosine of a pair is that between the token-weighted sums of
    the two nodes' sentence vectors. A level is finished when it has at most 1 / ``branching`` of the nodes of the level
    below, or when no pair may join. If all nodes of a document fit under one node, they become its children. This takes
    O(n log n) comparisons for a document of n sentences.

    Args:
        found: A hierarchy with vectors.
        branching: The most nodes of the level below that one node holds, at least 2.
        base: The level whose nodes are the leaves of the trees.
        threads: The number of documents that are processed at a time.

    Returns:
        A hierarchy with the levels ``"sentence"``, ``base`` if that is another level, then ``"tree 1"``, ``"tree 2"``
        and so on. The last level has one node for each document. If a document's tree has fewer levels than others, its
        root is also at all higher levels.

    Raises:
        ValueError: There are no vectors, the level is unknown, or ``branching`` is under 2.

    Example:
        >>> import pychunk
        >>> text = "Cats purr. Cats sleep. Stars burn hydrogen. Stars shine."
        >>> found = pychunk.segment_levels(text, ["sentence"], vectors="sentence")
        >>> agglomerated(found, branching=2).texts_of("tree 1")
        ['Cats purr. Cats sleep.', 'Stars burn hydrogen. Stars shine.']
    """
    if isinstance(branching, bool) or not hasattr(branching, "__index__") or branching < 2:
        raise ValueError(f"branching must be a whole number of at least 2; got {branching!r:.80}")
    place = found.place(base)
    vectors, tokens = found.vectors("sentence"), found.token_counts("sentence")
    first, engine = found.firsts[place], engines.engine()
    if found.removed is None:
        made = engine.agglomerate(vectors, tokens, found.doc_offsets, first, int(branching), threads=threads)
    else:
        kept = KeptSentences(found.removed, found.doc_offsets)
        own = (vectors[kept.numbers], tokens[kept.numbers], kept.doc_offsets)
        trees = engine.agglomerate(*own, kept.firsts([first])[0], int(branching), threads=threads)
        made = [kept.of_all(each) for each in trees]
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
        tuple(level_vectors(vectors, tokens, found.doc_offsets, firsts, engine, threads, removed=found.removed)),
        found.ids,
        found.first_document,
        {**found.metadata, "tree": {"branching": int(branching), "base": base}},
        found.removed,
    )
