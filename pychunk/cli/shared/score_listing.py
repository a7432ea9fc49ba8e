"""The listing of chunks on the terminal, with the scores of their sentences as bars of characters."""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from ...chunks.batch import Chunk
from ...inputs import TextBatch
from ...inputs.document_columns import arguments_of
from ...segmenter import Segmenter
from ...view.sparkline import spark


def with_curves(made: Segmenter, batches: Iterator[tuple[TextBatch, list[dict[str, Any]]]]) -> None:
    """Print the chunks of batches of documents, each with the scores of its sentences.

    Raises:
        ValueError: The method has no scores.
    """
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    first = 0
    for texts, [said] in batches:
        out = made(texts, first_document=first, **arguments_of(said))
        table = made.scores(texts, first_document=first, columns=arguments_of(said)["columns"])
        facts = json.loads(table.schema.metadata[b"pychunk"])
        rows = np.asarray(table["document_index"].combine_chunks())
        for document, chunks in enumerate(out.by_document(), first):
            begin, end = (int(at) for at in np.searchsorted(rows, [document, document + 1]))
            curve = Curve(table.slice(begin, end - begin).to_pydict())
            if chunks:
                console.print(Text(f"{facts['score']}: {curve.about}", style="bold"))
                console.print()
            reached = 0
            for chunk in chunks:
                console.print(header(chunk))
                console.print(curve.of(max(chunk.start, reached), chunk.end, console.encoding))
                console.print(Text(chunk.text))
                console.print()
                reached = max(reached, chunk.end)
        first += len(texts)


class Curve:
    """The scores of one document, from the columns of the table that ``Segmenter.scores`` returns."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._starts, self._scores = columns["start"], columns["score"]
        self._threshold = next(iter(columns["threshold"]), None)
        known = [score for score in self._scores if score is not None]
        self._low, self._high = min(known, default=0.0), max(known, default=0.0)

    @property
    def about(self) -> str:
        """The range of the scores and the threshold, as text."""
        if not any(score is not None for score in self._scores):
            return "none"
        threshold = "" if self._threshold is None else f", threshold {self._threshold:.3f}"
        return f"{self._low:.3f} to {self._high:.3f}{threshold}"

    def of(self, start: int, end: int, encoding: str) -> Text:
        """Return the score bars of the sentences that begin in a span; bars below the threshold are highlighted."""
        own = self._scores[bisect_left(self._starts, start) : bisect_left(self._starts, end)]
        line = Text(spark(own, self._low, self._high, encoding))
        if self._threshold is not None:
            for i, score in enumerate(own):
                if score is not None and score < self._threshold:
                    line.stylize("bold red", i, i + 1)
        return line


def header(chunk: Chunk) -> Text:
    """Return the line above the text of a chunk in a listing."""
    name = chunk.document_index if chunk.document_id is None else chunk.document_id
    header = Text(f"document {name}, chunk {chunk.chunk_index}", style="bold cyan")
    header.append(f"  {chunk.start}:{chunk.end}", style="dim")
    if chunk.tokens is not None:
        header.append(f"  {chunk.tokens} tokens", style="dim")
    if chunk.relevance is not None:
        header.append(f"  {chunk.relevance}", style="green" if chunk.relevance == "relevant" else "dim")
    if chunk.score is not None:
        header.append(f"  {chunk.score:.3f}", style="dim")
    return header
