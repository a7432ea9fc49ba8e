"""Semantic segmentation of text at the speed of tokenisation.

>>> import pychunk
>>> chunks = pychunk.segment("Cats purr. Dogs bark. Both sleep a lot.", method="fixed", size=4, unit="words")
>>> [chunk.text for chunk in chunks]
['Cats purr. Dogs bark.', 'Both sleep a lot.']
"""

import sys as _sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # At run time __getattr__ loads these.
    from . import cuda as cuda
    from . import evaluation as evaluation
    from . import index as index
    from . import ingest as ingest
    from . import integrations as integrations
    from . import io as io
    from .answers import answer
    from .augmentation import augment
    from .chunks.differences import diff as diff
    from .duplicates import find_duplicates
    from .embedding import embed
    from .encoders.custom_encoder import Encoder
    from .index.index import Index
    from .index.search.hits import Hit
    from .inputs.languages import detect_languages
    from .io.markup import parse
    from .levels.hierarchy import Hierarchy
    from .reader import read
    from .tokenization import count_tokens, tokenize
    from .tokenizers.tokenizer import Tokenizer

#: The commands that multiply no large matrices with NumPy, and make no pandas data frames.
_QUICK = ("-h", "--help", "--version", "doctor", "index", "llm", "methods", "search", "segment", "view")
#: The program's name and arguments. The two "" ensure that there are a name and a first argument.
_words: list[str] = [*getattr(_sys, "argv", []), "", ""]
_name = _words[0]
_is_command = _name == "-m" or _name.replace("\\", "/").rpartition("/")[2] == "pychunk"

try:
    if _is_command and _words[1] in _QUICK:  # These commands run often and briefly, so their start time matters.
        from ._util.startup import load_numpy_and_arrow as _load

        _load()
    from ._engine.data.cuts import Cuts
    from ._engine.data.features import Features
    from ._engine.data.ragged import Ragged
    from ._engine.engine import backend
    from ._engine.native import version as __version__
    from ._util import forks as _forks  # noqa: F401  # the import makes each fork wait for imports of other threads
    from ._util.lazy_imports import on_demand as _on_demand
    from .api import segment, segment_levels, split_sentences
    from .chunks.batch import Chunk, ChunkBatch
    from .inputs import RowError, TextBatch
    from .methods.base import Method
    from .placement import Placement
    from .segmenter import Segmenter
    from .vectors import Vectors
except (KeyboardInterrupt, ImportError, MemoryError) as error:
    # Loading NumPy and Arrow takes the first 0.3 s of the command. Until then, no other code can handle an error.
    if not _is_command:
        raise
    if not isinstance(error, KeyboardInterrupt):
        _sys.stderr.write(f"error: {str(error) or 'there is not enough memory to start'}\n")
    _sys.exit(130 if isinstance(error, KeyboardInterrupt) else 2)

__all__ = [
    "Chunk",
    "ChunkBatch",
    "Cuts",
    "Encoder",
    "Features",
    "Hierarchy",
    "Hit",
    "Index",
    "Method",
    "Placement",
    "Ragged",
    "RowError",
    "Segmenter",
    "TextBatch",
    "Tokenizer",
    "Vectors",
    "__version__",
    "answer",
    "augment",
    "backend",
    "count_tokens",
    "detect_languages",
    "diff",
    "embed",
    "find_duplicates",
    "parse",
    "read",
    "segment",
    "segment_levels",
    "split_sentences",
    "tokenize",
]

_MODULES = ("cuda", "evaluation", "index", "ingest", "integrations", "io", "llm")

if not TYPE_CHECKING:  # If a module has __getattr__, a type checker accepts any name in it.
    __getattr__ = _on_demand(
        __name__,
        _MODULES,
        {
            "Encoder": ".encoders.custom_encoder",
            "Hierarchy": ".levels.hierarchy",
            "Hit": ".index.search.hits",
            "Index": ".index.index",
            "Tokenizer": ".tokenizers.tokenizer",
            "answer": ".answers",
            "augment": ".augmentation",
            "count_tokens": ".tokenization",
            "detect_languages": ".inputs.languages",
            "diff": ".chunks.differences",
            "embed": ".embedding",
            "find_duplicates": ".duplicates",
            "parse": ".io.markup",
            "read": ".reader",
            "tokenize": ".tokenization",
        },
    )


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
