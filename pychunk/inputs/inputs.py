"""The documents of a call: read, checked, without rows to skip, and divided into requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.arrow import flat_text, strings
from .._engine.data.features import quick
from .._engine.data.ragged import Ragged
from .arguments import NOTHING, DocumentArguments
from .block_inputs import columns_of_parsers
from .document_columns import DocumentColumns, columns_by_role
from .texts import PartialRowError, RowError, TextBatch

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._engine.data.request import Request
    from ..methods.base import Method

#: The bytes of text of one native call. They keep every thread busy, and are few enough to report progress often and to
#: stop soon after Ctrl-C.
CALL_BYTES = 32 << 20


@dataclass(frozen=True)
class Inputs:
    """The documents of a call and the caller's values for each.

    Attributes:
        texts: The documents.
        said: The caller's arguments by keyword: values for each document, or the name of a column.
        kept: The columns that every chunk repeats.
        first_document: The number of the first document.
        skips: Whether rows that cannot be used are skipped.
        given: The values of ``said`` after :meth:`checked` has checked them for a method.
        written: Whether an LLM has already written the summaries in ``said``.
        notes: Rows that are cut, but not completely as requested.
        foreign: With ``encoder="auto"``, whether each document is read by the models of other languages than English.
    """

    texts: TextBatch
    said: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)
    first_document: int = 0
    skips: bool = False
    given: DocumentArguments = NOTHING
    written: bool = False
    notes: tuple[RowError, ...] = ()
    foreign: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        batch: Any,
        columns: DocumentColumns | Mapping[str, Any] | None,
        *,
        ids: Any = None,
        metadata_columns: Sequence[str] = (),
        on_error: str = "raise",
        first_document: int = 0,
    ) -> Inputs:
        """Return the arguments of a call as Inputs.

        If ``batch`` is an Inputs already, it is returned unchanged.

        Raises:
            TypeError, ValueError: An argument is invalid, see :meth:`TextBatch.of`, or a column that chunks should
                repeat does not exist.
        """
        if isinstance(batch, Inputs):
            return batch
        said = {} if columns is None else columns_by_role(columns)
        texts = TextBatch.of(batch, column=said.pop("text", None) if said else None, ids=ids, on_error=on_error)
        kept = {}
        metadata_columns = metadata_columns or texts.metadata_columns
        if metadata_columns:
            from .passthrough import kept_columns  # here, as below, because few calls need it

            kept = kept_columns(metadata_columns, texts)
        return quick(cls, texts=texts, said=said, kept=kept, first_document=first_document, skips=on_error == "skip")

    def with_parsed(self, has_structure: Callable[[], bool]) -> Inputs:
        """Return the inputs with the columns that readers of structured documents added to the table.

        See :func:`columns_of_parsers`.
        """
        if not isinstance(self.texts.source, pa.Table):
            return self
        return replace(self, said=columns_of_parsers(self.texts.source, self.said, has_structure))

    @property
    def columns_of_chunks(self) -> dict[str, Any]:
        """The columns that every chunk repeats: the encoder that was chosen for the document, and the caller's."""
        if self.foreign is None:
            return self.kept
        encoders = pa.array(["static", "multilingual"]).take(pa.array(self.foreign.astype(np.int8)))
        return {"encoder": encoders, **self.kept}

    @property
    def has_blocks(self) -> bool:
        """Return whether the documents have blocks, from the caller or a reader."""
        return self.said.get("blocks") is not None

    def checked(self, method: Method, split: Callable[[TextBatch], tuple[Ragged, Ragged]]) -> Inputs:
        """Check the arguments for a method, skip the rows that lack a value, and let the method write its summaries.

        Args:
            method: The method that will cut.
            split: A function that returns the sentences of all texts and their flags.

        Raises:
            TypeError, ValueError: An argument is invalid, see :meth:`DocumentArguments.of`, or the role
                ``summaries`` is passed to a method that writes them itself.
        """
        texts, said, notes = self.texts, self.said, self.notes
        if self.skips and said:
            from .skip import left_out

            texts, said = left_out(texts, said)
        write = None if self.written else getattr(method, "writes", None)
        if write is not None:
            if said.get("summaries") is not None:
                raise ValueError(
                    "columns={'summaries': ...} is for summary='given'; got summary='llm', which writes them: leave "
                    "summaries out, or pass summary='given'"
                )
            summaries, notes = self._summaries(write)
            said = {**said, "summaries": summaries}
        given = DocumentArguments.of(method, texts, split, said)
        if given is self.given and texts is self.texts and write is None:
            return self
        return replace(
            self, texts=texts, said=said, notes=notes, given=given, written=self.written or write is not None
        )

    def _summaries(self, write: Callable[[list[str]], Any]) -> tuple[pa.Array, tuple[RowError, ...]]:
        written: list[str] = []
        notes: list[RowError] = []
        for row, text, offsets in self.texts.slices(CALL_BYTES):
            found, failed = write(strings(text, offsets).to_pylist())
            notes += [PartialRowError(self.first_document + row + at, note) for at, note in failed]
            written += found
        return pa.array(written, pa.large_string()), tuple(notes)

    def requests(
        self, make: Callable[..., Request], size: int, threads: int
    ) -> Iterator[tuple[Request, pa.Array | None]]:
        """Yield requests of at most ``size`` bytes of text, or of one longer document, each with the caller's ids.

        Args:
            make: A function that makes a request from features and the keywords ``cuts``, ``ids``, ``first_row`` and
                ``threads``.
            size: The most bytes of text.
            threads: Number of threads.
        """
        for row, text, offsets in self._slices(size):
            count = len(offsets) - 1
            ids = None if self.texts.ids is None else self.texts.ids.slice(row, count)
            given = self.given.rows(row, row + count)
            first = self.first_document + row
            flat = None if ids is None else Ragged(*flat_text(ids.cast(pa.large_string())))
            features = given.features(text, offsets, first, threads)
            known: dict[str, Any] = {} if self.foreign is None else {"foreign": bool(self.foreign[row])}
            yield make(features, cuts=given.cuts, ids=flat, first_row=first, threads=threads, **known), ids

    def _slices(self, size: int) -> Iterator[tuple[int, npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
        """Yield slices of the texts (:meth:`TextBatch.slices`), each of documents that the same models read."""
        for row, text, offsets in self.texts.slices(size):
            if self.foreign is None:
                yield row, text, offsets
                continue
            changes = np.flatnonzero(np.diff(self.foreign[row : row + len(offsets) - 1])) + 1
            for begin, end in pairwise([0, *changes.tolist(), len(offsets) - 1]):
                yield row + begin, text, offsets[begin : end + 1]

    def no_request(self, make: Callable[..., Request], threads: int) -> Request:
        """Return a request of no documents that has the types of the caller's arguments."""
        given = self.given.rows(0, 0)
        features = given.features(np.empty(0, np.uint8), np.zeros(1, np.int64), 0, threads)
        return make(features, cuts=given.cuts, ids=None, first_row=0, threads=threads)

    def errors_with(self, notes: Sequence[RowError]) -> list[RowError]:
        """Return the skipped rows, and the rows with notes of the inputs or of ``notes``, in ascending order."""
        if not (self.texts.errors or self.notes or notes):
            return []
        out = [RowError(row + self.first_document, reason) for row, reason in self.texts.errors]
        noted = [*self.notes, *notes]
        return sorted(out + noted, key=lambda error: error.row) if noted else out
