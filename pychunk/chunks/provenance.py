"""The provenance of a batch of chunks: its documents and its Segmenter, as ``ChunkBatch.view`` needs them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from .._engine.arrow import flat_text, strings
from .._engine.data.columns import COLUMNS
from ..inputs import TextBatch
from ..inputs.arguments import NOTHING
from ..inputs.document_columns import named_values
from ..inputs.inputs import Inputs
from ..vectors import Vectors

if TYPE_CHECKING:
    from .._engine.data.models import KeptSentences
    from .batch import ChunkBatch

#: The most text, in bytes, for which a batch of chunks holds its documents. A program that keeps all chunks of a corpus
#: should not thereby keep the corpus in memory.
MOST_BYTES = 4 << 20
#: The most bytes of memory of such texts, which may be slices of larger arrays.
_MOST_HELD = 2 * MOST_BYTES
#: The checked values of a document that take little memory, so that its provenance holds them for edits.
_SMALL = frozenset({"summaries", "blocks", "removed"})


class Cutter(Protocol):
    """The Segmenter of chunks, with the members that their provenance uses."""

    @property
    def options(self) -> dict[str, Any]:
        """The options with which another Segmenter like this one can be made."""
        ...

    @property
    def method(self) -> Any:
        """The Segmenter's method."""
        ...

    @property
    def ways(self) -> Sequence[Any]:
        """The sources of contexts, as ``ContextSource`` of the package ``augmentation``."""
        ...

    def __call__(self, *batch: Any, **said: Any) -> ChunkBatch:
        """Return the chunks of documents."""
        ...

    def score_tables(self, inputs: Inputs) -> list[pa.Table] | None:
        """Return tables with the method's scores of documents, or None if the method has no scores."""
        ...


class BatchProvenance:
    """The documents of a batch with the caller's values for them, and the Segmenter.

    See ``Provenance`` in ``batch``. The Segmenter is held by a weak reference, because it keeps models in memory. If it
    no longer exists, another Segmenter is made from its options.

    Args:
        inputs: The documents; None if they are too large to be kept.

    Attributes:
        markdown: Whether the blocks of the only document are those of its text as Markdown; None if not known yet.
    """

    def __init__(self, segmenter: Cutter, inputs: Inputs | None) -> None:
        self._segmenter, self._options, self._kind = weakref.ref(segmenter), segmenter.options, type(segmenter)
        vectors = self._options["vectors"]
        self._vectors = vectors if isinstance(vectors, Vectors) else None
        self._inputs = inputs
        self._columns: dict[str, Any] = {}
        self._scores: pa.Table | None = None
        self._sentences: list[KeptSentences] = []
        self.markdown: bool | None = None

    @classmethod
    def kept(cls, segmenter: Cutter, inputs: Inputs, size: int) -> BatchProvenance | None:
        """Return a provenance for chunks that may stay in memory for long. ``size`` is the bytes of text in all.

        If the documents have more than 4 MB of text in all, the provenance does not hold them. If the caller also
        passed values for such documents, such as vectors, the result is None.
        """
        texts = inputs.texts
        if size <= MOST_BYTES:
            bare = texts.source is None and not inputs.kept and inputs.given is NOTHING
            if bare and _is_small(texts):
                return cls(segmenter, inputs)
            return cls._holding(segmenter, inputs, [_compact(part) for part in texts.texts])
        return None if any(value is not None for value in inputs.said.values()) else cls(segmenter, None)

    @classmethod
    def _holding(cls, segmenter: Cutter, inputs: Inputs, parts: list[pa.LargeStringArray]) -> BatchProvenance:
        alone = len(inputs.texts) == 1  # as for edit()
        source = _read_by(segmenter, inputs.texts) if alone else None
        texts = TextBatch(parts, inputs.texts.ids, inputs.texts.errors, source, inputs.texts.uuids)
        given = inputs.given if alone and inputs.given.parts.keys() <= _SMALL else NOTHING
        made = cls(segmenter, replace(inputs, texts=texts, kept=inputs.kept if alone else {}, given=given))
        made._columns = named_values(inputs.said, inputs.texts)
        return made

    def after(self, segmenter: Cutter, inputs: Inputs, sentences: KeptSentences | None) -> BatchProvenance:
        """Return the provenance of the chunks after an edit, which holds the document whatever its length.

        Args:
            segmenter: The Segmenter of both chunks.
            inputs: The document after the edit.
            sentences: The sentences that the engine keeps for the next edit.
        """
        made = self._holding(segmenter, inputs, inputs.texts.texts)
        made._sentences = [] if sentences is None else [sentences]
        made.markdown = self.markdown
        return made

    def take_sentences(self) -> KeptSentences | None:
        """Return the sentences of the document that the engine keeps, only once, because an edit changes them."""
        try:
            return self._sentences.pop()
        except IndexError:
            return None

    def is_of(self, segmenter: Cutter) -> bool:
        """Return whether this Segmenter itself cut the documents."""
        return self._segmenter() is segmenter

    @property
    def inputs(self) -> Inputs:
        """The documents with the caller's values for them; only if ``texts`` is not None."""
        assert self._inputs is not None
        return self._inputs

    @property
    def _with_columns(self) -> Inputs:
        """The inputs with the values of the columns that they name. The table of these columns is not held."""
        return replace(self.inputs, said={**self.inputs.said, **self._columns}, given=NOTHING)

    @property
    def texts(self) -> TextBatch | None:
        """The documents, or None if they were too large to be kept."""
        return None if self._inputs is None else self._inputs.texts

    def of(self, texts: TextBatch, first_document: int) -> BatchProvenance:
        """Return the same provenance for the documents ``texts``, numbered from ``first_document``."""
        inputs = self._inputs
        inputs = Inputs(texts, first_document=first_document) if inputs is None else replace(inputs, texts=texts)
        made = BatchProvenance(self.segmenter, inputs)
        made._columns = self._columns
        return made

    @property
    def segmenter(self) -> Cutter:
        """The Segmenter that cut the documents, or another one with the same options."""
        return self._segmenter() or self._kind(**self._options)

    @property
    def has_vectors(self) -> bool:
        """True if the caller passed the sentence vectors."""
        return self._inputs is not None and self._inputs.said.get("sentence_vectors") is not None

    @property
    def table_encoder(self) -> Any:
        """The encoder with which :meth:`again` computes vectors, as the argument of a Segmenter."""
        own = None if "pairs" in self.segmenter.method.traits.needs else self._options["encoder"]
        return (self._vectors and self._vectors.encoder) or own or "static"

    def scores(self) -> pa.Table | None:
        """Return the method's scores of these documents, as ``Segmenter.scores`` does, or None if it has none."""
        segmenter = self.segmenter
        method = segmenter.method
        if (
            self._scores is None
            and self._inputs is not None
            and (method.scores or not (method.is_native or method.removes))
        ):
            found = segmenter.score_tables(self._with_columns)
            self._scores = pa.concat_tables(found) if found else None
        return self._scores

    def again(self, ids: pa.Array) -> ChunkBatch:
        """Return the same chunks with sentence vectors, under other ids of the documents."""
        assert self._inputs is not None
        vectors = replace(self._vectors or Vectors(), of="sentence")
        made = self._kind(**{**self._options, "vectors": vectors, "augment": None})
        texts = replace(self._inputs.texts, ids=ids, uuids=False)
        return made(replace(self._with_columns, texts=texts, kept={}, first_document=0))


def _is_small(texts: TextBatch) -> bool:
    """Return whether small texts are no slices of large arrays. Arrays that are not made yet are no slices."""
    return "texts" not in vars(texts) or all(part.get_total_buffer_size() <= _MOST_HELD for part in texts.texts)


def _read_by(segmenter: Cutter, texts: TextBatch) -> pa.Table | None:
    """Return the columns of the documents that the segmenter's sources of contexts read, or None if they read none."""
    names = {way.reads for way in segmenter.ways}.intersection(texts.column_names) - {each.name for each in COLUMNS}
    if not names:
        return None
    from ..inputs.passthrough import kept_columns  # imported here because few calls need it

    return pa.table(kept_columns(sorted(names), texts))


def _compact(part: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the text, copied if its buffer exceeds 8 MB, because a slice keeps the whole buffer in memory."""
    if part.get_total_buffer_size() <= _MOST_HELD:
        return part
    text, offsets = flat_text(part)
    return strings(text[offsets[0] : offsets[-1]].copy(), offsets - offsets[0])
