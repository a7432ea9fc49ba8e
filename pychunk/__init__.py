"""Semantic segmentation of text at the speed of tokenisation.

>>> import pychunk
>>> chunks = pychunk.segment("Cats purr. Dogs bark. Both sleep a lot.", method="fixed", size=4, unit="words")
>>> [chunk.text for chunk in chunks]
['Cats purr. Dogs bark.', 'Both sleep a lot.']
"""

import sys as _sys

try:
    from ._native import version as __version__
    from .batch import RowError, TextBatch
    from .chunks import Chunk, ChunkBatch
    from .engine import backend
    from .functions import segment, sentences
    from .retrieval.hits import Hit
    from .retrieval.index import Index
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
    "Hit",
    "Index",
    "RowError",
    "Segmenter",
    "TextBatch",
    "__version__",
    "backend",
    "segment",
    "sentences",
]
