"""The reading of a FAISS graph (HNSW) from its file, with checks, so that a damaged file cannot crash the process.

No number may point outside the graph, or make FAISS allocate more memory than the file has bytes.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

_BLOCK = 1 << 20
#: The bytes of a number in each of the five arrays of a graph: probabilities, widths of levels, levels, offsets, links.
_GRAPH = (8, 4, 4, 8, 4)
#: FAISS's names of the forms of a graph, and of the form of its vectors: float32, or half precision.
_GRAPHS, _FLAT, _HALF = (b"IHNf", b"IHNs"), b"IxFI", b"IxSQ"


def read(faiss: Any, file: Any) -> Any:
    """Return the index in a memory-mapped file.

    Raises:
        ValueError: The file does not contain such a graph, or claims to contain more numbers than it has bytes for.
        RuntimeError: FAISS rejects the file.
    """
    check(file)
    file.seek(0)
    return faiss.read_index(faiss.PyCallbackIOReader(file.read, _BLOCK))


def check(file: Any) -> None:
    """Check each size in a file before FAISS allocates memory for it. A false size of 2^36 made FAISS allocate 64 GB.

    This relies on the format of the file. In all versions of FAISS, a form of graph with the same name has the same
    format.

    Raises:
        ValueError: The form is unknown, or a size is larger than the rest of the file.
    """
    file.seek(0, 2)
    end = file.tell()
    file.seek(0)

    def taken(form: str) -> tuple[Any, ...]:
        data = file.read(struct.calcsize(form))
        if len(data) < struct.calcsize(form):
            raise ValueError("it ends early")
        return struct.unpack(form, data)

    def skip_vector(size: int) -> None:
        (count,) = taken("<Q")
        if count * size > end - file.tell():
            raise ValueError(f"it announces {count:,} numbers, more than it holds")
        file.seek(count * size, 1)

    def head() -> bytes:
        name, *_, metric = taken("<4siqqqBi")
        if metric != 0:  # The metric 0 is the inner product.
            raise ValueError(f"its metric is {metric}")
        return bytes(name)

    if (name := head()) not in _GRAPHS:
        raise ValueError(f"it is of the form {name!r}")
    for size in _GRAPH:
        skip_vector(size)
    taken("<5i")  # The entry point, the highest level and the numbers of candidates.
    name = head()
    if name == _HALF:
        taken("<iifQQ")  # The kind of quantizer, its range, the dimensions and the bytes of a vector.
        skip_vector(4)
    elif name != _FLAT:
        raise ValueError(f"its vectors are of the form {name!r}")
    skip_vector(4 if name == _FLAT else 1)
    if file.tell() != end:
        raise ValueError("it goes on after its end")


def sound(faiss: Any, index: Any) -> bool:
    """Return whether all links of a graph lead to existing vectors. FAISS itself does not check them."""
    own = faiss.downcast_index(index)
    if not isinstance(own, faiss.IndexHNSW) or own.metric_type != faiss.METRIC_INNER_PRODUCT:
        return False
    graph, kept, count = own.hnsw, faiss.downcast_index(own.storage), int(own.ntotal)
    levels, offsets, links, widths = (
        faiss.vector_to_array(each)
        for each in (graph.levels, graph.offsets, graph.neighbors, graph.cum_nneighbor_per_level)
    )
    if not isinstance(kept, (faiss.IndexScalarQuantizer, faiss.IndexFlat)) or len(levels) != count:
        return False
    if (kept.ntotal, kept.d, kept.codes.size()) != (count, own.d, count * kept.sa_code_size()):
        return False
    if not count:
        return True
    if levels.min() < 1 or levels.max() >= len(widths) or widths[0] != 0 or (np.diff(widths) < 0).any():
        return False
    whole = len(offsets) == count + 1 and offsets[0] == 0 and offsets[-1] == len(links)
    return bool(
        whole
        and (np.diff(offsets.astype(np.int64)) == widths[levels]).all()
        and (links >= -1).all()
        and (links < count).all()
        and 0 <= graph.entry_point < count
        and graph.max_level == levels[graph.entry_point] - 1 == levels.max() - 1
        and _on_their_levels(levels, offsets, links, widths)
    )


def _on_their_levels(levels: Any, offsets: Any, links: Any, widths: Any) -> bool:
    """Return whether the links of each level lead only to vectors that are at that level."""
    for level in range(1, int(levels.max())):
        rows = np.flatnonzero(levels > level)
        places = offsets[rows].astype(np.int64)[:, None] + np.arange(widths[level], widths[level + 1])
        at = links[places]
        if (levels[at[at >= 0]] <= level).any():
            return False
    return True
