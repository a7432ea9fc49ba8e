"""Semantic segmentation of text at the speed of tokenisation.

>>> import pychunk
>>> chunks = pychunk.segment("Cats purr. Dogs bark. Both sleep a lot.", method="fixed", size=4, unit="words")
>>> [chunk.text for chunk in chunks]
['Cats purr. Dogs bark.', 'Both sleep a lot.']
"""

from ._native import version as __version__
from .batch import RowError, TextBatch
from .chunks import Chunk, ChunkBatch
from .engine import backend
from .functions import segment, sentences
from .retrieval.hits import Hit
from .retrieval.index import Index
from .segmenter import Segmenter

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
