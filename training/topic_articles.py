"""Articles and chapters to learn topics from: their text with headings hidden and line breaks kept or removed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pychunk._engine import native
from pychunk._engine.arrow import flat_text
from pychunk._engine.data.ragged import Ragged
from pychunk.encoders.custom_encoder import Encoder
from pychunk.encoders.registry import VectorEncoder
from pychunk.evaluation.datasets import lines_with_headings
from pychunk.evaluation.measures import boundaries

F32 = npt.NDArray[np.float32]
U64 = npt.NDArray[np.uint64]


#: Lines, each with whether it is a heading.
Lines: TypeAlias = Sequence[tuple[str, bool]]
#: A WikiExtractor text, or the lines of a chapter.
Article: TypeAlias = "str | Lines"


class View(NamedTuple):
    """The parts of an article's layout that are kept."""

    headings: bool
    breaks: bool


#: The text in one line without headings, on which the card's figures are measured; the paragraphs without headings; the
#: complete article.
HIDDEN, PARAGRAPHS, WHOLE = View(False, False), View(False, True), View(True, True)


def seen(article: Article, view: View) -> tuple[str, list[int]]:
    r"""Return an article in a view, and its section starts in characters, without 0.

    A section whose heading is hidden begins with its first paragraph.

    Example:
        >>> seen("Ada was a mathematician.\nLife.\nShe was born in London.", HIDDEN)
        ('Ada was a mathematician. She was born in London.', [25])
    """
    joint = "\n" if view.breaks else " "
    kept, starts, at, pending, after_heading = [], [], 0, False, False
    lines = [each[1:] for each in lines_with_headings(article)] if isinstance(article, str) else article
    for line, heading in lines:
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
    """The inputs of a network for the sentences of k articles, end to end, and their section starts.

    Attributes:
        vectors: The vectors minus the mean of their document, float16[n, d].
        inputs: The inputs of topic_inputs.h, float32[n, 17].
        words: The classes of the first two words, int32[n, 2].
        begins: 1 for sentences with which a section begins, int8[n].
        offsets: The first sentence of each article, int64[k + 1].
        tokens: The number of tokens of each sentence, int64[n].
    """

    vectors: npt.NDArray[np.float16]
    inputs: F32
    words: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int8]
    offsets: npt.NDArray[np.int64]
    tokens: npt.NDArray[np.int64]

    @property
    def articles(self) -> int:
        """The number of articles."""
        return len(self.offsets) - 1


def material(articles: Sequence[Article], view: View, encoder: VectorEncoder, words: U64, threads: int) -> Material:
    """Return the material of articles in a view; every number equals the number that the engine computes."""
    shown = [seen(text, view) for text in articles]
    text, offsets = flat_text(pa.array([each for each, _ in shown], pa.large_string()))
    sentences, flags = native.split_texts(text, offsets, threads=threads)
    bounds = np.append(sentences.flat() + np.repeat(offsets[:-1], sentences.counts), offsets[-1])
    tokens = encoder.tokens_of(text, bounds, threads)
    if encoder.in_engine:
        vectors = native.embedding_bags(tokens, encoder, threads=threads)
    else:
        assert not isinstance(encoder, Encoder), "an encoder of the caller's own has no tokens"
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
    """Return the sentences that contain these characters, except the first sentence of the text."""
    at = characters if text.isascii() else [len(text[:character].encode()) for character in characters]
    return boundaries.in_units(np.array(at, np.int64), sentences.part(row))


_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+")


def first_words(articles: Iterable[Article], count: int, threads: int) -> U64:
    """Return the commonest first and second words of sentences as uint64, in increasing order.

    A word is its first 8 bytes in lower case, as in the engine. Numbers are a class of their own. Among words with
    equal counts, a fixed order decides.
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
