"""One document of a request: its sentences, pages, token counts, vectors and affinities, computed when first used."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..data.blocks import PARAGRAPH as PARAGRAPH_BLOCK
from ..data.request import Request
from . import budget, document_blocks, topic
from . import vectors as linear
from .budget import Borders
from .cohesion import Break, Cohesion, find_cohesion
from .text import wordpiece
from .text.graphemes import count_words
from .text.sentence_splitter import BLANK_LINE, PAGE, PARAGRAPH, flags_of_gap, sentence_starts
from .vectors import F32

Trimmed = tuple[int, int]


def trim(text: str, begin: int, end: int) -> Trimmed:
    """Return [begin, end) without the white space at its edges."""
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    return begin, end


class Document:
    """One document of a request, with positions in characters."""

    def __init__(self, request: Request, row: int) -> None:
        self.request, self.row, self.plan = request, row, request.plan
        self.features = request.features
        if request.counter is not None:
            raise ValueError(
                "PYCHUNK_BACKEND=reference counts only the tokens of WordPiece encoders; got the tokenizer "
                f"{getattr(request.counter, 'name', type(request.counter).__name__)}: unset PYCHUNK_BACKEND"
            )
        data = bytes(self.features.text[self.features.offsets[row] : self.features.offsets[row + 1]])
        self.data, self.text = data, data.decode()
        self.vocabulary: dict[str, int] = {}
        if request.tokenizer is not None:
            self.vocabulary = token_ids(request.tokenizer)
        self.starts, self.flags = self._sentences()
        self.blocks = document_blocks.blocks_of(self.features.blocks, row, data)
        gone = self._gone()
        own = self.features.sentences is None
        self.starts, self.flags = document_blocks.cut(self.text, self.starts, self.flags, self.blocks, gone, own)
        self.pages = self._pages()
        if self.features.page_starts is not None:
            self._cut_at_pages()
        self.paragraphs = [bool(flag & PARAGRAPH) for flag in self.flags]
        self.n = len(self.starts)
        self.ends = [*self.starts[1:], len(self.text)][: self.n]
        self.block_of = document_blocks.block_of(self.text, self.starts, self.ends, self.blocks)
        self.removed = document_blocks.find_removed(self.text, self.starts, self.ends, gone)
        #: For each sentence its level as a heading, or 0 if it is no heading. Reading ``borders`` fills this list.
        self.levels: list[int] = []
        self._tokens: list[int] | None = None
        self._counts: dict[str, int] = {}  # the numbers of tokens of texts, cached
        self._vectors: F32 | None = None
        self._affinities: list[float] | None = None
        self._borders: Borders | None = None
        self._text_borders: Borders | None = None

    def _sentences(self) -> tuple[list[int], list[int]]:
        given = self.features.sentences
        if given is None:
            return sentence_starts(self.text, self.plan.unwrap_lines)
        starts = [self._characters(byte) for byte in given.part(self.row)]
        name = self.request.first_row + self.row
        if not starts:
            if self.text.strip():
                raise ValueError(f"document {name} has text but no sentence in sentence_spans")
            return [], []
        starts[0] = 0
        if self.features.flags is not None:
            return starts, self.features.flags.part(self.row).tolist()
        gaps = [self.text[len(self.text[:start].rstrip()) : start] for start in starts]
        return starts, [flags_of_gap(gap) if start else PARAGRAPH for start, gap in zip(starts, gaps, strict=True)]

    def _pages(self) -> list[int]:
        given = self.features.page_starts
        if given is None:
            return [0, *(i + 1 for i, c in enumerate(self.text) if c == "\f")]
        return sorted({0, *(self._characters(byte) for byte in given.part(self.row))})

    def _characters(self, byte: int) -> int:
        return len(self.data[:byte].decode())

    def _cut_at_pages(self) -> None:
        starts: list[int] = []
        flags: list[int] = []
        for i, start in enumerate(self.starts):
            stop = self.starts[i + 1] if i + 1 < len(self.starts) else len(self.text)
            starts.append(start)
            flags.append(self.flags[i])
            for page in self.pages:
                inside = start < page < stop and not self._is_in_block(page)
                if inside and self.text[starts[-1] : page].strip() and self.text[page:stop].strip():
                    starts.append(trim(self.text, page, stop)[0])
                    flags.append(PARAGRAPH | PAGE)
        self.starts, self.flags = starts, flags

    def _gone(self) -> list[tuple[int, int]]:
        """Return the spans that are in no chunk, in characters."""
        found = self.features.removed
        if found is None:
            return []
        own = slice(int(found.offsets[self.row]), int(found.offsets[self.row + 1]))
        spans = zip(found.start[own], found.end[own], strict=True)
        return [(self._characters(a), self._characters(b)) for a, b in spans]

    def kind_of(self, s: int) -> int:
        """Return the kind of the block that contains a sentence, or "paragraph" if there are no blocks."""
        return self.blocks[self.block_of[s]].kind if self.block_of[s] >= 0 else PARAGRAPH_BLOCK

    def has_markup(self, s: int) -> bool:
        """Return whether a heading is Markdown source. A heading that is in no block counts as Markdown."""
        return self.block_of[s] < 0 or self.blocks[self.block_of[s]].markup

    @property
    def heeds_borders(self) -> bool:
        """True if there may be boundaries between sentences at which no group may begin."""
        return self.plan.keep_together or self.plan.traits.outline or self.has_walls

    @property
    def has_walls(self) -> bool:
        return self.features.removed is not None and bool(self._gone())

    def page_at(self, character: int) -> int:
        return bisect_right(self.pages, character)

    def turns_page(self, s: int) -> bool:
        """Return whether one of the caller's pages begins between the sentence before and this one.

        Pages that begin inside a block do not count.
        """
        if self.features.page_starts is None:
            return False
        turned = self.pages[self.page_at(self.starts[s - 1]) : self.page_at(self.starts[s])]
        return not all(map(self._is_in_block, turned))

    def _is_in_block(self, page: int) -> bool:
        """Return whether a page begins inside a block and the method does not cut at pages."""
        return not self.plan.traits.pages and any(block.start < page < block.end for block in self.blocks)

    def encode(self, text: str) -> list[int]:
        assert self.request.tokenizer is not None
        return wordpiece.encode(text, self.vocabulary, self.request.tokenizer.tokenizer_options)

    def count(self, text: str) -> int:
        assert self.request.tokenizer is not None
        if text not in self._counts:
            options = self.request.tokenizer.tokenizer_options
            self._counts[text] = wordpiece.count(text, self.vocabulary, options)
        return self._counts[text]

    def measure(self, text: str, unit: str) -> int:
        return {"characters": len, "words": count_words, "tokens": self.count}[unit](text)

    @property
    def borders(self) -> Borders:
        """The cohesion and the break at the boundary before each sentence.

        If the plan does not keep spans together, all boundaries are open, except those of removed text.
        """
        if self._borders is None:
            self._borders = self._find_borders(self.plan.keep_together or self.plan.traits.outline)
        return self._borders

    @property
    def text_borders(self) -> Borders:
        """The same boundaries with the cohesion of the text, whether or not the plan keeps spans together."""
        if self.plan.keep_together or self.plan.traits.outline:
            return self.borders
        if self._text_borders is None:
            self._text_borders = self._find_borders(True)
        return self._text_borders

    def _find_borders(self, by_text: bool) -> Borders:
        breaks = []
        for s, flag in enumerate(self.flags):
            found = Break.BLANK_LINE if flag & BLANK_LINE else Break.LINE if flag & PARAGRAPH else Break.SENTENCE
            turned = flag & PAGE or (s > 0 and self.turns_page(s))
            breaks.append(Break.DOCUMENT if s == 0 else Break.PAGE if turned else found)
        spans = [trim(self.text, a, b) for a, b in zip(self.starts, self.ends, strict=True)]
        cohesion = [Cohesion.OPEN] * self.n
        if by_text:
            known = document_blocks.levels(self.blocks, self.block_of, self.removed) if self.blocks else None
            cohesion, self.levels = find_cohesion(self.text, spans, breaks, known)
            if self.blocks:
                texts = [self.text[a:b] for a, b in spans]
                document_blocks.find_block_cohesion(texts, self.blocks, self.block_of, breaks, cohesion)
                document_blocks.break_code(spans, self.text, self.block_of, self.blocks, breaks)
        for s in range(1, self.n):
            if self.removed[s] != self.removed[s - 1]:
                cohesion[s] = Cohesion.WALL
        return cohesion, breaks

    @property
    def limits(self) -> tuple[str, int, int]:
        """(unit, most, least): the longest and the shortest length of a chunk; 0 means no limit.

        Automatic limits count characters if the tokenizer splits most words of the document into letters.
        """
        plan, text = self.plan, self.text
        most, least = plan.max_tokens, plan.min_tokens
        if plan.unit != "tokens" and not plan.traits.sized:
            return plan.unit, most, least
        foreign = plan.auto_limits and 2 * len(self.data) >= 3 * len(text) and not text.isascii()
        if foreign and (most or least) and sum(self.tokens) > 3 * count_words(text):
            return "characters", 4 * most, 4 * least
        return "tokens", most, least

    @property
    def limited_lengths(self) -> list[int]:
        """The length of each sentence, with the white space around it, in the unit of ``limits``."""
        unit = self.limits[0]
        if unit == "tokens":
            return self.tokens
        if unit == "words":
            return [count_words(self.text[start:end]) for start, end in zip(self.starts, self.ends, strict=True)]
        return [end - start for start, end in zip(self.starts, self.ends, strict=True)]

    @property
    def tokens(self) -> list[int]:
        if self.features.token_counts is not None:
            return [int(count) for count in self.features.token_counts.part(self.row)]
        if self._tokens is None:
            self._tokens = [self.count(self.text[a:b]) for a, b in zip(self.starts, self.ends, strict=True)]
        return self._tokens

    def length(self, unit: str, starts: list[int] | None = None, ends: list[int] | None = None) -> budget.Length:
        """Return a function that measures the text of the parts [i, j) in a unit.

        Without ``starts`` and ``ends``, the parts are the sentences. Tokens are those of the text as a whole, because a
        word may extend across the boundary between two parts.
        """
        text = self.text
        starts, ends = self.starts if starts is None else starts, self.ends if ends is None else ends
        if unit == "characters":
            return lambda i, j: trim(text, 0, ends[j - 1])[1] - trim(text, starts[i], len(text))[0]
        if unit == "words":
            counts = [count_words(text[a:b]) for a, b in zip(starts, ends, strict=True)]
            return lambda i, j: sum(counts[i:j])
        own = list(accumulate((self.count(text[a:b]) for a, b in zip(starts, ends, strict=True)), initial=0))
        open_borders = list(accumulate((text[a - 1 : a] not in (" ", "\n") for a in starts[1:]), initial=0))

        def tokens(i: int, j: int) -> int:
            # A new word begins after a space or a line feed. At other boundaries, a word may extend across the
            # boundary.
            whole = open_borders[j - 1] == open_borders[i]
            return own[j] - own[i] if whole else self.count(text[starts[i] : ends[j - 1]])

        return tokens

    @property
    def vectors(self) -> F32:
        if self._vectors is None:
            if self.features.vectors is not None:
                self._vectors = self.features.vectors.part(self.row)
                if len(self._vectors) != self.n:
                    raise ValueError(
                        f"document {self.request.first_row + self.row} has {self.n} sentence{'s' * (self.n != 1)} but "
                        f"{len(self._vectors)} sentence vector{'s' * (len(self._vectors) != 1)}; pass "
                        "columns={'sentence_spans': ...} to say which sentences they belong to"
                    )
            else:
                self._vectors = np.stack(
                    [self.vector(self.text[a:b]) for a, b in zip(self.starts, self.ends, strict=True)]
                )
        return self._vectors

    def vector(self, text: str) -> F32:
        assert self.request.table is not None
        return linear.bag(self.request.table, self.encode(text))

    @property
    def affinities(self) -> list[float]:
        """The affinity of each pair of neighbouring sentences: a probability (nsp, topic), otherwise the cosine."""
        if self._affinities is None:
            cuts, given, head = self.request.cuts, self.features.pair_scores, self.request.pair_head
            if cuts is not None and cuts.pairs and cuts.score is not None:
                found = cuts.score.part(self.row)
            elif given is not None:
                found = given.part(self.row)
            elif head is not None:
                found = linear.next_probabilities(head, self.vectors)
            elif self.request.topic_head is not None:
                texts = [self.text[a:b] for a, b in zip(self.starts, self.ends, strict=True)]
                found = topic.affinities(self.request.topic_head, texts, self.flags, self.vectors)
            else:
                found = linear.adjacent(self.vectors)
            self._affinities = [float(x) for x in found]
        return self._affinities

    @property
    def table_vectors(self) -> F32:
        """The vectors that the table holds."""
        return self.vectors if self.features.table_vectors is None else self.features.table_vectors.part(self.row)


def token_ids(encoder: Any) -> dict[str, int]:
    """Return the ids of an encoder's tokens, which are cached as long as the encoder exists."""
    if encoder not in _vocabularies:
        _vocabularies[encoder] = {token: i for i, token in enumerate(encoder.vocabulary)}
    return _vocabularies[encoder]


_vocabularies: WeakKeyDictionary[Any, dict[str, int]] = WeakKeyDictionary()
