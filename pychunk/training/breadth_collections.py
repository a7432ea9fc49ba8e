"""Small collections of documents, some of them long, with the questions of mixed breadth about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .._engine.data.blocks import Blocks
from .breadth import Questions

I64 = npt.NDArray[np.int64]


def about(data: Questions, rows: Sequence[int]) -> Questions:
    """Return some of the documents, by increasing number, and the questions about them."""
    place = {row: number for number, row in enumerate(rows)}
    blocks = data.blocks
    own = [np.arange(blocks.offsets[row], blocks.offsets[row + 1]) for row in rows]
    kept = np.concatenate(own)
    offsets = np.cumsum([0, *map(len, own)])
    return Questions(
        [data.names[row] for row in rows],
        [data.documents[row] for row in rows],
        Blocks(offsets, blocks.kind[kept], blocks.level[kept], blocks.start[kept], blocks.end[kept]),
        [replace(each, document=place[each.document]) for each in data.questions if each.document in place],
    )


def joined(data: Questions, count: int) -> Questions:
    r"""Join neighbouring documents with blank lines between them, so that ``count`` long documents are left.

    Example:
        >>> from pychunk.training.breadth import Question
        >>> asked = Question("?", "", "sentence", 1, ((0, 4),))
        >>> blocks = Blocks.of([[], [("paragraph", 0, 0, 4)]])
        >>> made = joined(Questions(["a", "b"], ["One.", "Two."], blocks, [asked]), 1)
        >>> made.documents, made.blocks.start.tolist(), made.questions[0].document, made.questions[0].spans
        (['One.\n\nTwo.'], [6], 0, ((6, 10),))
    """
    documents = len(data.documents)
    count = min(count, documents)
    of = np.arange(documents) * count // documents
    begins = np.zeros(documents, np.int64)
    for row in range(1, documents):
        begins[row] = begins[row - 1] + len(data.documents[row - 1]) + 2 if of[row] == of[row - 1] else 0
    blocks = data.blocks
    counts = np.diff(blocks.offsets)
    moved = np.repeat(begins, counts)
    firsts = np.searchsorted(of, np.arange(count + 1))
    return Questions(
        [data.names[row] for row in firsts[:-1]],
        ["\n\n".join(data.documents[a:b]) for a, b in pairwise(firsts)],
        Blocks(blocks.offsets[firsts], blocks.kind, blocks.level, blocks.start + moved, blocks.end + moved),
        [
            replace(
                each,
                document=int(of[each.document]),
                spans=tuple((a + int(begins[each.document]), b + int(begins[each.document])) for a, b in each.spans),
            )
            for each in data.questions
        ],
    )


def collections(documents: int, most: int, seed: int = 0) -> list[I64]:
    """Divide documents at random into collections of 1 to ``most``, and return the documents' numbers in each.

    The logarithms of the sizes are drawn evenly, so there are about as many collections of 1 or 2 documents as of 32 to
    64.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(documents)
    found = []
    while len(order):
        size = int(2 ** rng.uniform(0, np.log2(most + 1)))
        found.append(np.sort(order[:size]))
        order = order[size:]
    return found
