"""What the caller gives beside the texts, one entry a document: summaries, titles, page starts, sentences, cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from .._arrow import flat_text
from ..data.cuts import Cuts
from ..data.features import Features
from ..data.plan import Plan
from ..data.ragged import Ragged
from ..data.request import Request
from .spans import ragged_spans, ragged_starts, sentence_matrix
from .summaries import given_summaries

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from ..documents import TextBatch
    from ..engine import Engine
    from ..methods.base import Method


@dataclass(frozen=True)
class Given:
    """Checked, for a whole batch; ``rows`` are those of some of its documents.

    ``sentence_starts`` and ``page_starts`` are characters, as the caller counts; ``sentences`` and ``flags`` are there
    where pychunk had to split to know how many vectors each document has.
    """

    summaries: Ragged | npt.NDArray[np.float32] | None = None
    sentence_starts: Ragged | None = None
    sentences: Ragged | None = None
    flags: Ragged | None = None
    vectors: Ragged | None = None
    page_starts: Ragged | None = None
    cuts: Cuts | None = None

    @classmethod
    def of(
        cls,
        method: Method,
        texts: TextBatch,
        split: Any,
        *,
        summaries: Any = None,
        titles: Any = None,
        sentence_vectors: Any = None,
        sentence_spans: Any = None,
        page_starts: Any = None,
        cuts: Any = None,
    ) -> Given:
        """From the arguments of a call; ``split()`` gives the sentences of all texts and their flags."""
        parts: dict[str, Any] = {
            "summaries": given_summaries(method, texts, summaries, titles, has_encoder=sentence_vectors is None)
        }
        if sentence_spans is not None:
            parts["sentence_starts"] = ragged_spans(sentence_spans, texts.lengths)
        if sentence_vectors is not None:
            if sentence_spans is None:
                parts["sentences"], parts["flags"] = split()
            counted = parts["sentence_starts"] if sentence_spans is not None else parts["sentences"]
            parts["vectors"] = sentence_matrix(sentence_vectors, counted.offsets)
        if page_starts is not None:
            parts["page_starts"] = ragged_starts(page_starts, len(texts), "page_starts")
        parts["cuts"] = given_cuts(method, cuts, len(texts))
        return cls(**parts)

    def rows(self, begin: int, end: int) -> Given:
        """Those of documents [begin, end) alone; nothing is copied."""
        parts: dict[str, Any] = {name: value for name, value in vars(self).items() if value is not None}
        for name, value in parts.items():
            parts[name] = value[begin:end] if isinstance(value, np.ndarray) else value.rows(begin, end)
        return Given(**parts)

    def features(self, texts: pa.Array, first_row: int, threads: int) -> Features:
        """These, and the texts that they belong to, as the engine takes them: every position in bytes."""
        text, offsets = flat_text(texts)

        def in_bytes(characters: Ragged | None, name: str) -> Ragged | None:
            if characters is None:
                return None
            return _native.bytes_of_characters(text, offsets, characters, name, first_row=first_row, threads=threads)

        spans = in_bytes(self.sentence_starts, "sentence_spans")
        return Features(
            text,
            offsets,
            sentences=self.sentences if spans is None else spans,
            flags=self.flags,
            vectors=self.vectors,
            summaries=self.summaries,
            page_starts=in_bytes(self.page_starts, "page_starts"),
        )


def given_cuts(method: Method, cuts: Any, documents: int) -> Cuts | None:
    """First sentences of the chunks of each document, or None where the method decides.

    Raises:
        ValueError: the method is ``given`` and nothing is, or another and something is; or not one list a document.
    """
    wanted = "cuts" in method.needs
    if cuts is None:
        if wanted:
            raise ValueError(
                f"method {method.name!r} needs cuts=: for each document the first sentence of each chunk, from 0"
            )
        return None
    if not wanted:
        raise ValueError(f"cuts= are for method 'given'; got method {method.name!r}")
    if not isinstance(cuts, Cuts):
        lists = list(cuts)
        alone = documents == 1 and len(lists) > 0 and np.ndim(lists[0]) == 0
        cuts = Cuts.of([lists] if alone else lists)
    if cuts.documents != documents:
        raise ValueError(f"cuts must hold one list for each of {documents} documents; got {cuts.documents}")
    checked: Cuts = cuts
    return checked


def split_all(texts: TextBatch, engine: Engine, wrap: bool, threads: int, size: int) -> tuple[Ragged, Ragged]:
    """Sentences of all texts and their flags, ``size`` bytes of text a call."""
    found = [
        engine.split(Request(Features(*flat_text(part)), Plan("sentence", wrap=wrap), threads=threads))
        for _, part in texts.slices(size)
    ]
    return Ragged.concat([starts for starts, _ in found], np.int64), Ragged.concat([f for _, f in found], np.uint8)
