"""The reading of a FAISS graph from its file, with checks that no number points outside the file or exhausts memory."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

_BLOCK = 1 << 20
#: The bytes of each number in the vectors of a graph: probabilities, widths of levels, levels, offsets and links.
_GRAPH = (8, 4, 4, 8, 4)
#: The forms of graphs, and the forms of their vectors: unchanged numbers, or half precision.
_GRAPHS, _FLAT, _HALF = (b"IHNf", b"IHNs"), b"IxFI", b"IxSQ"


def read(faiss: Any, file: Any) -> Any:
    """Return the index in a memory-mapped file.

    Raises:
        ValueError: The file holds no such graph, or announces more numbers than it has bytes.
        RuntimeError: FAISS finds a fault.
    """
    check(file)
    file.seek(0)
    return faiss.read_index(faiss.PyCallbackIOReader(file.read, _BLOCK))


def check(file: Any) -> None:
    """Check each size in a file before FAISS allocates memory for that many numbers. 2^36 of them took 64 GB.

    FAISS has always read the data after one of these names in the same way, and gives other forms another name.

    Raises:
        ValueError: The form is another one, or the file cannot hold a size.
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
            raise ValueError(f"it announces {count:,} numbers")
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
    taken("<5i")  # The numbers are the entry point, the highest level and candidates.
    name = head()
    if name == _HALF:
        taken("<iifQQ")  # The numbers are the kind, range, dimensions and bytes.
        skip_vector(4)
    elif name != _FLAT:
        raise ValueError(f"its vectors are of the form {name!r}")
    skip_vector(4 if name == _FLAT else 1)
    if file.tell() != end:
        raise ValueError("it goes on after its end")


def sound(faiss: Any, index: Any) -> bool:
    """Return whether all links of a graph lead to existing vectors. FAISS follows any number."""
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
    """Return whether links of each level lead to vectors at that level."""
    for level in range(1, int(levels.max())):
        rows = np.flatnonzero(levels > level)
        places = offsets[rows].astype(np.int64)[:, None] + np.arange(widths[level], widths[level + 1])
        at = links[places]
        if (levels[at[at >= 0]] <= level).any():
            return False
    return True
