"""The choice of the engine: the native core, or the NumPy reference if PYCHUNK_BACKEND asks for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

from . import device
from . import native as _native

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from .data.blocks import Blocks
    from .data.cuts import Cuts
    from .data.headings import Headings
    from .data.html_document import HtmlDocument
    from .data.models import TokenTable
    from .data.ragged import Ragged
    from .data.request import Request
    from .data.tokens import Tokens


class Engine(Protocol):
    """The functions of the native core and of the reference. :mod:`pychunk._engine.native` describes each function."""

    def segment(self, request: Request) -> dict[str, Any]: ...
    def cuts(self, request: Request, *, held: bool = False) -> Cuts: ...
    def split(self, request: Request) -> tuple[Ragged, Ragged]: ...
    def adjacent_sums(self, request: Request) -> tuple[int, int]: ...
    def encode_static(
        self, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], encoder: TokenTable, *, threads: int
    ) -> npt.NDArray[np.float32]: ...
    def headings(self, request: Request) -> Headings: ...
    def span_vectors(
        self,
        vectors: npt.NDArray[np.float32],
        weights: npt.NDArray[np.int64],
        doc_offsets: npt.NDArray[np.int64],
        levels: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
        *,
        threads: int,
    ) -> list[npt.NDArray[np.float32]]: ...
    def compressed_vectors(
        self,
        parts: Sequence[npt.NDArray[np.float32]],
        vectors: npt.NDArray[np.float32],
        tokens: npt.NDArray[np.int64],
        doc_offsets: npt.NDArray[np.int64],
        levels: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
        *,
        threads: int,
    ) -> list[npt.NDArray[np.float32]]: ...
    def agglomerate(
        self,
        vectors: npt.NDArray[np.float32],
        weights: npt.NDArray[np.int64],
        doc_offsets: npt.NDArray[np.int64],
        first: npt.NDArray[np.int64],
        branching: int,
        *,
        threads: int,
    ) -> list[npt.NDArray[np.int64]]: ...
    def token_windows(
        self, tokens: npt.NDArray[np.int64], doc_offsets: npt.NDArray[np.int64], sizes: list[int]
    ) -> list[npt.NDArray[np.int64]]: ...
    def embedding_bags(self, tokens: Tokens, encoder: TokenTable, *, threads: int) -> npt.NDArray[np.float32]: ...
    def find_keys(self, page: npt.NDArray[np.uint8], keys: list[bytes]) -> list[list[int]]: ...
    def find_told(
        self,
        text: npt.NDArray[np.uint8],
        start: npt.NDArray[np.int64],
        end: npt.NDArray[np.int64],
        told: npt.NDArray[np.uint8],
        *,
        least: int,
        most: int,
    ) -> npt.NDArray[np.uint8]: ...
    def block_words(
        self,
        text: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.int64],
        stop_words: str,
        marks: str,
        *,
        first: int,
        last: int,
    ) -> tuple[npt.NDArray[Any], ...]: ...
    def noise_columns(
        self,
        text: npt.NDArray[np.uint8],
        blocks: Blocks,
        kinds: int,
        facts: Mapping[str, Any],
        words: Sequence[Any],
    ) -> tuple[npt.NDArray[Any], ...]: ...
    def put_reasons(
        self,
        page: Mapping[str, npt.NDArray[Any]],
        *,
        known: npt.NDArray[np.uint32],
        reasons: npt.NDArray[np.int64],
        why: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64]: ...
    def noise_network(
        self,
        *,
        vocabulary: Sequence[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int16]]],
        neighbours: Sequence[int],
        windows: Sequence[int],
        nets: Sequence[Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]]],
        groups: int,
    ) -> Callable[[Mapping[str, npt.NDArray[Any]]], npt.NDArray[np.int64]]: ...


def backend_name() -> str:
    """Return ``native``, or the backend that the environment variable PYCHUNK_BACKEND names.

    Raises:
        ValueError: There is no such backend.
    """
    wish = os.environ.get("PYCHUNK_BACKEND", "native")
    if wish not in ("native", "reference"):
        raise ValueError(f"PYCHUNK_BACKEND must be 'native' or 'reference'; got {wish!r:.80}")
    return wish


def engine(name: str | None = None) -> Engine:
    """Return the engine with this name, by default the one that the environment selects."""
    if (name or backend_name()) == "native":
        native: Engine = _native
        return native
    from .reference import engine as reference

    slow: Engine = reference
    return slow


def walk_tree(root: Any, *, images: bool, targets: bool) -> HtmlDocument:
    """Return the text, blocks and elements below an element of lexbor's tree, read by the reference.

    The reference can also read pages that lexbor would write in another form than the native core expects.
    """
    from .reference.parsing.html_walk import walk

    return walk(root, images=images, targets=targets)


def backend() -> dict[str, Any]:
    """Return the version, backend, threads and CUDA in use, the instruction set, and all sets that this CPU supports.

    ``cuda`` is a dictionary with the names of the ``devices`` and the versions of ``driver`` and ``runtime``. Its entry
    ``why`` says why CUDA cannot be used, and is empty if it can.

    Example:
        >>> sorted(backend())
        ['backend', 'cuda', 'isa', 'isas', 'threads', 'version']
    """
    return {
        "version": _native.version,
        "backend": backend_name(),
        "isa": _native.isa(),
        "isas": _native.available_isas(),
        "threads": _native.default_threads(),
        "cuda": device.facts(),
    }
