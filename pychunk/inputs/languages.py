"""The function detect_languages(): the language of each text, from the trigrams of its words."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pyarrow as pa

from .._engine import native
from .._engine.arrow import flat_text
from .._engine.threads import threads_of
from .._util.weights import read_weights
from .texts import TextBatch

FACTS = Path(__file__).resolve().parent.parent / "models" / "languages.json"


class Languages:
    """The languages that a table tells apart.

    Args:
        facts: The ``languages.json`` of the table.

    Attributes:
        codes: The ISO 639 code of each language.

    Raises:
        ValueError: A file is missing or damaged.
    """

    def __init__(self, facts: Path = FACTS) -> None:
        known, arrays = read_weights(facts, "table of languages", "install pychunk again", ("languages",))
        self.codes: list[str] = known["languages"]
        self._core = native.languages(
            *(arrays[name] for name in ("letters", "lower", "alone", "written_in", "weights"))
        )

    def detect(self, texts: pa.LargeStringArray, threads: int = 1) -> pa.StringArray:
        """Return the language of each text, null for a text without letters."""
        found = self._core.detect(*flat_text(texts), threads)
        numbers = pa.array(found, mask=found < 0)
        return pa.array(self.codes, pa.string()).take(numbers)


@functools.cache
def load() -> Languages:
    """Return the table that pychunk ships, loaded once."""
    return Languages()


def detect_languages(batch: Any, *, column: str | None = None, threads: int | None = None) -> pa.StringArray:
    """Return the language in which each text is written, as an ISO 639 code such as ``"de"``, null without letters.

    The script with the most letters leaves the languages that are written in it, of which the trigrams of words choose
    one. Of a text above 2 KiB, four parts of 512 bytes are read. If the table does not have a text's language, the
    result is another one of this script, or null if it has none.

    Args:
        batch: A str, a list of str, an Arrow array, record batch or table, a pandas or Polars series or data frame.
        column: The column that holds the text. Default: the only string column, else ``text``.
        threads: The number of threads. Default: ``PYCHUNK_THREADS``, else the CPUs that the process may use.

    Raises:
        ValueError, TypeError: A row is not text; the message has the row's number. Or ``threads`` is out of range.

    Example:
        >>> import pychunk
        >>> pychunk.detect_languages(["Where is the station?", "Wo ist der Bahnhof?", "42"]).to_pylist()
        ['en', 'de', None]
    """
    count = threads_of(threads)
    found = [load().detect(part, count) for part in TextBatch.of(batch, column=column).texts]
    return pa.chunked_array(found, pa.string()).combine_chunks()
