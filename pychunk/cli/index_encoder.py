"""The encoder of a new index for ``--encoder auto``: that of most of the first documents."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from .._engine.arrow import flat_text
from .._util.counting import counted
from ..encoders.registry import MULTILINGUAL
from ..inputs.foreign_documents import foreign_languages
from ..inputs.texts import TextBatch
from .shared.console import say
from .shared.segment_options import ReaderOptions

#: The documents that decide.
FIRST = 64


def with_encoder(
    given: dict[str, Any], path: Path | None, inputs: list[str], kind: str, reading: ReaderOptions
) -> dict[str, Any]:
    """Return the options of an index with the encoder that ``auto`` means; an index that exists has one already.

    Raises:
        ValueError: An input is standard input, which cannot be read twice.
    """
    if given.get("encoder") != "auto":
        return given
    others = {name: value for name, value in given.items() if name != "encoder"}
    if path is None or (path / "manifest.json").is_file():
        return others
    if "-" in inputs:
        raise ValueError(
            "--encoder auto reads the first documents twice; got standard input: name static or multilingual"
        )
    texts = pa.array(itertools.islice(_texts(inputs, kind, reading), FIRST), pa.large_string())
    found = foreign_languages(*flat_text(texts))
    foreign = len(found) - found.count(None)
    encoder = MULTILINGUAL if 2 * foreign > len(found) else "static"
    say(f"--encoder {encoder}: of the first {counted(len(found), 'document')}, {foreign} not in English")
    return {**others, "encoder": encoder}


def _texts(inputs: list[str], kind: str, reading: ReaderOptions) -> Iterator[str]:
    """Yield the texts of documents. The reading for the index tells what cannot be read."""
    for source, said in reading.sources(inputs, kind, frozenset(), lambda _: None):
        for batch in source.batches(in_pieces=True):
            for part in TextBatch.of(batch.table, column=said.get("text"), on_error="skip").texts:
                yield from part.to_pylist()
