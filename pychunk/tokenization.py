"""The functions tokenize() and count_tokens(): the tokens of a language model, with their bytes, and their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._engine.arrow import flat_text
from ._engine.threads import threads_of
from .inputs import TextBatch
from .tokenizers.library import FunctionTokenizer
from .tokenizers.sources import tokenizer_of

#: The columns that :func:`tokenize` returns.
SCHEMA = pa.schema(
    [
        ("ids", pa.large_list(pa.int32())),
        ("start_byte", pa.large_list(pa.int64())),
        ("end_byte", pa.large_list(pa.int64())),
    ]
)


def tokenize(batch: Any, tokenizer: Any, *, column: str | None = None, threads: int | None = None) -> pa.Table:
    """Return the tokens of texts, equal to those of the tokenizer's own library, without special tokens.

    Special tokens in a text, such as ``<|endoftext|>``, are text.

    Args:
        batch: A str, a list of str, an Arrow array, record batch or table, a pandas or Polars series or data frame.
        tokenizer: The name of a tokenizer, such as ``"o200k_base"`` (``pychunk model get`` gets it); the path of a
            ``tokenizer.json``, a ``.model`` of sentencepiece, a ``.tiktoken`` file or the folder of a model; or a
            tokenizer of tokenizers, transformers, tiktoken or sentencepiece.
        column: The column that holds the text. Default: the only string column, else ``text``.
        threads: The number of threads. Default: ``PYCHUNK_THREADS``, else the CPUs that the process may use.

    Returns:
        A table with a row for each text and three columns of lists: ``ids``, and for each token ``start_byte`` and
        ``end_byte``. The token's text is ``text.encode()[start_byte:end_byte]``. A token may hold a part of a character
        only. The result is the same for any batch and number of threads.

    Raises:
        ValueError, TypeError: The tokenizer is unknown or damaged, ``threads`` is out of range, or a row is not text;
            the message has the row's number.

    Example:
        >>> import pychunk
        >>> vocabulary = pychunk.__path__[0] + "/models/vocab.txt"
        >>> pychunk.tokenize(["Cats purr."], vocabulary).to_pylist()
        [{'ids': [8870, 16405, 12171, 1012], 'start_byte': [0, 5, 7, 9], 'end_byte': [4, 7, 9, 10]}]
    """
    found, count = tokenizer_of(tokenizer), threads_of(threads)
    if isinstance(found, FunctionTokenizer):
        raise TypeError(
            f"tokenize() needs a tokenizer with ids, but {found.name} only counts tokens: pass a file, or call "
            "count_tokens()"
        )
    parts = []
    for text, bounds in _flat(batch, column):
        tokens, spans = found.encode(text, bounds, threads=count)
        before = np.repeat(bounds[:-1], tokens.counts)
        lists = (tokens.ids, spans[:, 0] - before, spans[:, 1] - before)
        parts.append(
            pa.RecordBatch.from_arrays(
                [pa.LargeListArray.from_arrays(tokens.offsets, np.ascontiguousarray(each)) for each in lists],
                schema=SCHEMA,
            )
        )
    return pa.Table.from_batches(parts, SCHEMA)


def count_tokens(batch: Any, tokenizer: Any, *, column: str | None = None, threads: int | None = None) -> pa.Array:
    """Return the number of tokens of each text, without special tokens. It takes less time than :func:`tokenize`.

    Args:
        batch: See :func:`tokenize`.
        tokenizer: See :func:`tokenize`; also a function that counts the tokens of a text or of a list of texts.
        column: See :func:`tokenize`.
        threads: See :func:`tokenize`.

    Returns:
        int64[n], one number for each text.

    Raises:
        ValueError, TypeError: See :func:`tokenize`.

    Example:
        >>> import pychunk
        >>> pychunk.count_tokens(["Cats purr.", ""], pychunk.__path__[0] + "/models/vocab.txt").to_pylist()
        [4, 0]
    """
    found, count = tokenizer_of(tokenizer), threads_of(threads)
    parts: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
    for text, bounds in _flat(batch, column):
        parts.append(found.count(text, bounds, count))
    return pa.array(np.concatenate(parts))


def _flat(batch: Any, column: str | None) -> list[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
    """Return each part of a batch as its bytes and the bounds of its texts."""
    found = [flat_text(part) for part in TextBatch.of(batch, column=column).texts if len(part)]
    return [(text[bounds[0] : bounds[-1]], bounds - bounds[0]) for text, bounds in found]
