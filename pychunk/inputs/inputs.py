"""The documents of a call: read, checked, without rows to skip, and cut into requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._engine.arrow import flat_text
from .._engine.data.ragged import Ragged
from .arguments import NOTHING, DocumentArguments
from .block_inputs import columns_of_parsers
from .passthrough import kept_columns
from .skip import left_out
from .texts import PartialRowError, RowError, TextBatch

if TYPE_CHECKING:
    from .._engine.data.request import Request
    from ..methods.base import Method

#: Text of one native call: large enough to keep every thread busy, small enough for progress and clean interrupts.
CALL_BYTES = 32 << 20


@dataclass(frozen=True)
class Inputs:
    """The documents of a call and what the caller says of each.

    Attributes:
        texts: the documents.
        said: the values of each document by keyword, or names of columns.
        kept: the columns that are repeated on every chunk.
        first_document: the number of the first document.
        skips: whether rows that cannot be used are left out.
        given: ``said``, checked for a method by :meth:`checked`.
        written: whether ``said`` has the summaries that a model wrote for it.
        notes: rows that are cut, but not as they should have been.
    """

    texts: TextBatch
    said: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)
    first_document: int = 0
    skips: bool = False
    given: DocumentArguments = NOTHING
    written: bool = False
    notes: tuple[RowError, ...] = ()

    @classmethod
    def of(
        cls,
        batch: Any,
        said: Mapping[str, Any],
        *,
        column: str | None = None,
        ids: Any = None,
        keep: Sequence[str] = (),
        on_error: str = "raise",
        first_document: int = 0,
    ) -> Inputs:
        """Read the arguments of a call; inputs are returned as they are.

        Raises:
            TypeError, ValueError: as :meth:`TextBatch.of`, and for columns to keep that are not there.
        """
        if isinstance(batch, Inputs):
            return batch
        texts = TextBatch.of(batch, column=column, ids=ids, on_error=on_error)
        kept = kept_columns(keep, texts) if keep else {}
        return cls(texts, dict(said), kept, first_document, on_error == "skip")

    def with_parsed(self, has_structure: Callable[[], bool]) -> Inputs:
        """Add the columns of readers of structured documents; see :func:`columns_of_parsers`."""
        if not isinstance(self.texts.source, pa.Table):
            return self
        return replace(self, said=columns_of_parsers(self.texts.source, self.said, has_structure))

    @property
    def has_blocks(self) -> bool:
        """Return whether a parser's blocks are known."""
        return self.said.get("blocks") is not None

    def checked(self, method: Method, split: Callable[[TextBatch], tuple[Ragged, Ragged]]) -> Inputs:
        """Check what was said for a method, leave out the rows that lack it, have the summaries written that it needs.

        Args:
            split: returns the sentences of all texts and their flags.

        Raises:
            TypeError, ValueError: as :meth:`DocumentArguments.of`; or ``summaries=`` for a method that has them
            written.
        """
        texts, said, notes = self.texts, self.said, self.notes
        if self.skips and said:
            texts, said = left_out(texts, said)
        write = None if self.written else getattr(method, "writes", None)
        if write is not None:
            if said.get("summaries") is not None:
                raise ValueError("summaries= is for summary='given'; got summary='llm', which has them written")
            summaries, notes = self._summaries(write)
            said = {**said, "summaries": summaries}
        given = DocumentArguments.of(method, texts, split, said)
        return replace(
            self, texts=texts, said=said, notes=notes, given=given, written=self.written or write is not None
        )

    def _summaries(self, write: Callable[[list[str]], Any]) -> tuple[pa.Array, tuple[RowError, ...]]:
        written: list[str] = []
        notes: list[RowError] = []
        for row, part in self.texts.slices(CALL_BYTES):
            found, failed = write(part.to_pylist())
            notes += [PartialRowError(self.first_document + row + at, note) for at, note in failed]
            written += found
        return pa.array(written, pa.large_string()), tuple(notes)

    def requests(
        self, make: Callable[..., Request], size: int, threads: int
    ) -> Iterator[tuple[Request, pa.Array | None]]:
        """Yield requests of at most ``size`` bytes of text, or of one document, each with the caller's ids.

        Args:
            make: makes a request of features; the keywords are ``cuts``, ``ids``, ``first_row`` and ``threads``.
        """
        for row, part in self.texts.slices(size):
            ids = None if self.texts.ids is None else self.texts.ids.slice(row, len(part))
            given = self.given.rows(row, row + len(part))
            first = self.first_document + row
            flat = None if ids is None else Ragged(*flat_text(ids.cast(pa.large_string())))
            features = given.features(part, first, threads)
            yield make(features, cuts=given.cuts, ids=flat, first_row=first, threads=threads), ids

    def no_request(self, make: Callable[..., Request], threads: int) -> Request:
        """Return a request of no documents, with the types of what was said."""
        given = self.given.rows(0, 0)
        features = given.features(pa.array([], pa.large_string()), 0, threads)
        return make(features, cuts=given.cuts, ids=None, first_row=0, threads=threads)

    def errors_with(self, notes: Sequence[RowError]) -> list[RowError]:
        """Return the rows that were left out, and those with notes of the inputs or these, by number."""
        out = [RowError(row + self.first_document, reason) for row, reason in self.texts.errors]
        noted = [*self.notes, *notes]
        return sorted(out + noted, key=lambda error: error.row) if noted else out
