"""Semantic segmentation of text at the speed of tokenisation.

>>> import pychunk
>>> chunks = pychunk.segment("Cats purr. Dogs bark. Both sleep a lot.", method="fixed", size=4, unit="words")
>>> [chunk.text for chunk in chunks]
['Cats purr. Dogs bark.', 'Both sleep a lot.']
"""

import sys as _sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # at run time __getattr__ loads these
    from . import cuda as cuda
    from . import evaluation as evaluation
    from . import ingest as ingest
    from . import integrations as integrations
    from . import io as io
    from . import retrieval as retrieval
    from .embedding import embed
    from .retrieval.hits import Hit
    from .retrieval.index import Index

try:
    from ._native import version as __version__
    from .chunks import Chunk, ChunkBatch
    from .data.cuts import Cuts
    from .data.features import Features
    from .data.ragged import Ragged
    from .documents import RowError, TextBatch
    from .engine import backend
    from .functions import segment, sentences
    from .methods.base import Method
    from .plumbing.lazy import on_demand as _on_demand
    from .segmenter import Segmenter
except (KeyboardInterrupt, ImportError) as error:
    # Loading NumPy and Arrow takes the first 0.3 s of the command, before any of its code can see Ctrl-C or report.
    if _sys.argv[0] != "-m" and _sys.argv[0].replace("\\", "/").rpartition("/")[2] != "pychunk":
        raise
    if isinstance(error, ImportError):
        _sys.stderr.write(f"error: {error}\n")
    _sys.exit(2 if isinstance(error, ImportError) else 130)

__all__ = [
    "Chunk",
    "ChunkBatch",
    "Cuts",
    "Features",
    "Hit",
    "Index",
    "Method",
    "Ragged",
    "RowError",
    "Segmenter",
    "TextBatch",
    "__version__",
    "backend",
    "embed",
    "segment",
    "sentences",
]

_MODULES = ("cuda", "evaluation", "ingest", "integrations", "io", "retrieval")

if not TYPE_CHECKING:  # to a type checker a module with __getattr__ has every name
    __getattr__ = _on_demand(
        __name__, _MODULES, {"Hit": ".retrieval.hits", "Index": ".retrieval.index", "embed": ".embedding"}
    )


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
