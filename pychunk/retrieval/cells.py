"""An approximate index that a few scans build: cells of vectors, a bit for each number, scored again as stored.

IVF with RaBitQ codes (Gao and Long, SIGMOD 2024) of rotated vectors, from FAISS. A search looks at the codes of the
nearest cells; the best candidates by codes are scored as they are stored. How many cells it takes is tried when the
index is built, on vectors of its own, and is kept in its file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Fewer vectors than this make no cells worth the name.
LEAST = 1000
#: Vectors that a cell's centre is learned from, and rounds: 128 and 25 take four times as long for .001 of recall@10.
_PER_CELL, _ROUNDS = 64, 10
#: Candidates by codes that are scored as they are stored: one of so many vectors, at least and at most these. Recall@10
#: on 300,000 sentence vectors of 256 numbers, 128 of 547 cells: .931 with 64, .982 with 256, .987 with 512, .991 with
#: 1,024; of vectors that are not rotated first .866 to .983, as a bit says more of a number where all numbers spread
#: alike. Of 5,000,000, 268 of 2,236 cells: .959 with 1,024, .982 with 5,000.
_ONE_OF, _FEWEST, _MOST = 1000, 512, 8192
#: Bits of a query's numbers; 8 find what 4 find, within .001.
_QUERY_BITS = 4
#: What is asked for when it is built: so many of the ten nearest of each of some stored vectors. Sentences that are not
#: in the index found .980 to .986 where the probe said .979 to .983 (5,000,000 vectors, 268 to 447 of 2,236 cells).
#: Half as many cells again that find less than ``_GAIN`` more are not worth their time: codes miss what is missed.
_PROBED, _NEAREST, _RECALL, _GAIN = 256, 10, 0.985, 0.001


def cells_for(count: int) -> int:
    """How many cells ``count`` vectors get: finding a vector's cell and looking at all of one take as long."""
    return int(max(1, min(np.sqrt(count), 16_384)))


def trained(faiss: Any, dim: int, count: int, sample: Callable[[I64], F32]) -> Any:
    """An empty index for ``count`` vectors, its centres learned from some of them, drawn evenly."""
    cells = cells_for(count)
    index = faiss.index_factory(dim, f"RR{dim},IVF{cells},RaBitQ", faiss.METRIC_INNER_PRODUCT)
    own = faiss.extract_index_ivf(index)
    own.cp.niter, own.cp.min_points_per_centroid = _ROUNDS, 1
    index.train(sample(np.unique(np.linspace(0, count - 1, min(count, _PER_CELL * cells)).astype(np.int64))))
    return index


def outgrown(faiss: Any, index: Any, count: int) -> bool:
    """Whether there are so many more vectors than it was learned from that it should be learned again."""
    return bool(2 * faiss.extract_index_ivf(index).nlist < cells_for(count))


def search(
    faiss: Any,
    index: Any,
    queries: F32,
    count: int,
    score: Callable[[F32, I64], F32],
    *,
    allowed: Mask | None = None,
    cells: int | None = None,
) -> tuple[F32, I64]:
    """(scores as ``score`` gives them, rows) of about the ``count`` best rows of each query, [q, count], best first.

    Args:
        score: of a query and rows, the scores by the vectors as stored.
        allowed: bool[n], the others are left out. So many more cells are looked at as there are fewer rows in them.
        cells: to look at; None: as many as were chosen when it was built.
    """
    inner = faiss.extract_index_ivf(index)
    cells = inner.nprobe if cells is None else cells
    left = int(index.ntotal) if allowed is None else int(np.count_nonzero(allowed))
    if left < index.ntotal:
        cells *= -(-int(index.ntotal) // max(1, left))
    cells = max(1, min(cells, inner.nlist))
    total = int(index.ntotal)
    wide = min(max(count, _FEWEST, min(total // _ONE_OF, _MOST)), total)
    found = index.search(queries, wide, params=_parameters(faiss, cells, allowed))[1]
    short = (found >= 0).sum(axis=1) < min(count, left)
    if short.any():  # what the nearest cells hold is not enough
        found[short] = index.search(queries[short], wide, params=_parameters(faiss, inner.nlist, allowed))[1]
    scores = np.full((len(queries), count), -np.inf, np.float32)
    rows = np.full((len(queries), count), -1, np.int64)
    for number, own in enumerate(found):
        own = own[own >= 0]
        exact = score(queries[number], own)
        best = np.lexsort((own, -exact))[:count]
        scores[number, : len(best)], rows[number, : len(best)] = exact[best], own[best]
    return scores, rows


def tune(faiss: Any, index: Any, rows: Callable[[I64], F32], exact: Callable[[F32, int], I64], score: Any) -> float:
    """Sets how many cells a search looks at; the recall@10 that was found with them.

    Args:
        rows: vectors by number. exact: of queries the numbers of so many nearest. score: as for :func:`search`.
    """
    total = int(index.ntotal)
    drawn = np.unique(np.linspace(0, total - 1, min(total, _PROBED)).astype(np.int64))
    queries = rows(drawn)
    count = min(_NEAREST + 1, total)  # the vector itself is its own nearest
    wanted = [set(own.tolist()) for own in exact(queries, count)]
    inner = faiss.extract_index_ivf(index)
    cells = max(1, inner.nlist // 32)
    before = 0.0
    while True:
        found = search(faiss, index, queries, count, score, cells=cells)[1].tolist()
        recall = float(np.mean([len(own & set(each)) / len(own) for own, each in zip(wanted, found, strict=True)]))
        inner.nprobe = cells
        if recall >= _RECALL or cells >= inner.nlist or recall - before < _GAIN:
            return recall
        before = recall
        cells = min(int(inner.nlist), cells + max(1, cells // 2))


def _parameters(faiss: Any, cells: int, allowed: Mask | None) -> Any:
    options: dict[str, Any] = {}
    if allowed is not None:
        options["sel"] = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
    own = faiss.IVFRaBitQSearchParameters(nprobe=int(cells), qb=_QUERY_BITS, **options)
    return faiss.SearchParametersPreTransform(index_params=own)
