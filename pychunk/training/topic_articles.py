"""Articles to learn topics from: their split, and their text with headings hidden and line breaks kept or removed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import flat_text
from .._engine.data.ragged import Ragged
from ..encoders.registry import VectorEncoder
from ..evaluation.datasets import lines_with_headings
from ..evaluation.measures import boundaries

F32 = npt.NDArray[np.float32]
U64 = npt.NDArray[np.uint64]
Part = Literal["train", "validation", "test"]

#: Shares of articles that nothing is learned from: those that training is stopped and calibrated on, and the test.
VALIDATION, TEST = 0.1, 0.1


class View(NamedTuple):
    """What is left of an article's layout."""

    headings: bool
    breaks: bool


#: No headings and one line: what the figures are about. Paragraphs without headings. The article as it is.
HIDDEN, PARAGRAPHS, WHOLE = View(False, False), View(False, True), View(True, True)


def part_of(identifier: str) -> Part:
    """Which part of the split an article belongs to, by a hash of its id: the same in every file and for every seed.

    Example:
        >>> part_of("7"), part_of("12"), part_of("4")
        ('train', 'test', 'validation')
    """
    share = int.from_bytes(hashlib.sha256(f"topic:{identifier}".encode()).digest()[:8], "big") / 2**64
    return "test" if share < TEST else "validation" if share < TEST + VALIDATION else "train"


def read_articles(file: Path, part: Part, limit: int = 0) -> list[str]:
    """Texts of the articles of a part, from a Parquet file with columns ``id`` and ``text``; ``limit=0`` is all.

    Raises:
        FileNotFoundError: there is no such file.
    """
    import pyarrow.parquet as pq

    if not file.is_file():
        raise FileNotFoundError(f"no articles at {file}: pass --articles FILE or set PYCHUNK_DATA")
    table = pq.read_table(file, columns=["id", "text"])
    rows = zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True)
    found = [str(text or "") for identifier, text in rows if part_of(str(identifier)) == part]
    return found[:limit] if limit else found


def seen(text: str, view: View) -> tuple[str, list[int]]:
    """A WikiExtractor text as a view shows it, and where its sections begin there, in characters, without 0.

    A section whose heading is hidden begins with its first paragraph.

    Example:
        >>> seen("Ada was a mathematician.\\nLife.\\nShe was born in London.", HIDDEN)
        ('Ada was a mathematician. She was born in London.', [25])
    """
    joint = "\n" if view.breaks else " "
    kept, starts, at, pending, after_heading = [], [], 0, False, False
    for _, line, heading in lines_with_headings(text):
        pending |= heading and not after_heading
        after_heading = heading
        if heading and not view.headings:
            continue
        if pending and at:
            starts.append(at)
        pending = False
        kept.append(line)
        at += len(line) + 1
    return joint.join(kept), starts


@dataclass(frozen=True)
class Material:
    """What a network is told of the sentences of k articles, end to end, and where their sections begin.

    Attributes:
        vectors: float16[n, d], each less the mean of its document. inputs: float32[n, 17], of topic_inputs.h.
        words: int32[n, 2], classes of the first two words. begins: int8[n], 1 where a section begins.
        offsets: int64[k + 1]. tokens: int64[n].
    """

    vectors: npt.NDArray[np.float16]
    inputs: F32
    words: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int8]
    offsets: npt.NDArray[np.int64]
    tokens: npt.NDArray[np.int64]

    @property
    def articles(self) -> int:
        return len(self.offsets) - 1


def material(articles: Sequence[str], view: View, encoder: VectorEncoder, words: U64, threads: int) -> Material:
    """Of the articles as a view shows them; every number is what the engine sees."""
    shown = [seen(text, view) for text in articles]
    text, offsets = flat_text(pa.array([each for each, _ in shown], pa.large_string()))
    sentences, flags = native.split_texts(text, offsets, threads=threads)
    bounds = np.append(sentences.flat() + np.repeat(offsets[:-1], sentences.counts), offsets[-1])
    tokens = encoder.tokens_of(text, bounds, threads)
    if encoder.in_engine:
        vectors = native.embedding_bags(tokens, encoder, threads=threads)
    else:
        vectors = encoder.encode_tokens(tokens, threads=threads)
    inputs, classes = native.topic_inputs(text, offsets, sentences, flags.flat(), vectors, words, threads=threads)
    begins = np.zeros(len(vectors), np.int8)
    for row, (own, starts) in enumerate(shown):
        begins[int(sentences.offsets[row]) + _sentences_at(own, starts, sentences, row)] = 1
    centred = np.empty(vectors.shape, np.float16)
    for begin, end in zip(sentences.offsets, sentences.offsets[1:], strict=False):
        if end > begin:
            centred[begin:end] = vectors[begin:end] - vectors[begin:end].mean(axis=0)
    return Material(centred, inputs, classes, begins, sentences.offsets, tokens.counts)


def _sentences_at(text: str, characters: list[int], sentences: Ragged, row: int) -> npt.NDArray[np.int64]:
    """The sentences that characters lie in, without the first one."""
    at = characters if text.isascii() else [len(text[:character].encode()) for character in characters]
    return boundaries.in_units(np.array(at, np.int64), sentences.part(row))


_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+")


def first_words(articles: Iterable[str], count: int, threads: int) -> U64:
    """The commonest first and second words of sentences, uint64: their first 8 bytes in lower case, as the engine does.

    Numbers are a class of their own. Rising, so that equal counts have one order.
    """
    text, offsets = flat_text(pa.array([seen(each, HIDDEN)[0] for each in articles], pa.large_string()))
    sentences, _ = native.split_texts(text, offsets, threads=threads)
    data, found = text.tobytes(), Counter[bytes]()
    for row in range(sentences.documents):
        begin = int(offsets[row])
        starts = [*sentences.part(row).tolist(), int(offsets[row + 1]) - begin]
        for a, b in pairwise(starts):
            own = _WORD.findall(data[begin + a : begin + min(b, a + 80)].lower())[:2]
            found.update(word[:8] for word in own if not word.isdigit())
    kept = sorted(sorted(found), key=lambda word: -found[word])[:count]
    return np.array(sorted(int.from_bytes(word.ljust(8, b"\0"), "little") for word in kept), np.uint64)
