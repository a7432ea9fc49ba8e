"""The arguments of a call that hold a value for each document, checked and converted to flat arrays for requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine import native
from .._engine.data.cuts import Cuts
from .._engine.data.features import PARTS, Features, quick
from .._engine.data.plan import Plan
from .._engine.data.ragged import Ragged
from .._engine.data.removed_spans import RemovedSpans
from .._engine.data.request import Request
from .block_inputs import in_bytes
from .document_columns import DOCUMENT_COLUMNS, Call, name_of, values_of, wanted_columns

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._engine.engine import Engine
    from ..methods.base import Method
    from . import TextBatch


@dataclass(frozen=True)
class DocumentArguments:
    """The checked arguments for the documents of a batch.

    Attributes:
        parts: The features that the arguments were converted to, by name, and the caller's ``cuts``.
        characters: Names of the features whose positions are still in characters, each with the name of its argument.
    """

    parts: dict[str, Any] = field(default_factory=dict)
    characters: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, method: Method, texts: TextBatch, split: Callable[[TextBatch], tuple[Ragged, Ragged]], said: dict[str, Any]
    ) -> DocumentArguments:
        """Check the keywords of a call.

        Args:
            method: The method that will cut.
            texts: The documents.
            split: A function that returns the sentences of texts and their flags.
            said: The values of the keywords, by name.

        Raises:
            TypeError: A keyword is unknown.
            ValueError: A value that the method needs is missing, or the method cannot use a value, or there is not one
                value for each document.
        """
        said = said and {name: value for name, value in said.items() if value is not None}
        if not (said or method.wants):
            return NOTHING
        if texts.source is not None:
            said = wanted_columns(method.wants, texts.source.column_names, said)
        parts: dict[str, Any] = {}
        call = Call(method, texts, said, split, parts=parts)
        characters: dict[str, str] = {}
        for column in DOCUMENT_COLUMNS:
            name = column.name
            if name not in said:
                if name in method.wants:
                    role = f"columns={{{name!r}: ...}}"
                    raise ValueError(f"method {method.name!r} needs {role}: {column.text}, or the name of a column")
                continue
            if column.only and name not in method.wants:
                raise ValueError(
                    f"columns={{{name!r}: ...}} is for {column.only}; got {method!r:.80}: leave out {name!r}"
                )
            call.names[name] = name_of(name, said[name], texts)
            said[name] = values_of(column, said[name], texts)
            parts.update(column.flat(said[name], call))
            if column.characters:
                characters[column.characters] = name
        return cls(parts, characters)

    @property
    def has_vectors(self) -> bool:
        """Return whether the caller passed vectors of sentences."""
        return "vectors" in self.parts

    def rows(self, begin: int, end: int) -> DocumentArguments:
        """Return the arguments of documents [begin, end), without copying."""
        if not self.parts:
            return self
        parts = {
            name: value[begin:end] if isinstance(value, np.ndarray) else value.rows(begin, end)
            for name, value in self.parts.items()
        }
        return DocumentArguments(parts, self.characters)

    @property
    def removed(self) -> RemovedSpans | None:
        """The removed spans that the caller passed, or None."""
        return self.parts.get("removed")

    @property
    def cuts(self) -> Cuts | None:
        """The cuts that the caller passed, or None."""
        return self.parts.get("cuts")

    def features(
        self, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], first_row: int, threads: int
    ) -> Features:
        """Return texts with their arguments as features for the engine, with all positions in bytes."""
        if not self.parts:
            return quick(Features, text=text, offsets=offsets, others={})
        parts = {name: value for name, value in self.parts.items() if name in PARTS}
        others = {name: value for name, value in self.parts.items() if name not in PARTS and name != "cuts"}
        for name, said in self.characters.items():
            held = parts if name in PARTS else others
            held[name] = native.bytes_of_characters(
                text, offsets, held[name], said, first_row=first_row, threads=threads
            )
        for name in ("blocks", "removed"):
            if name in parts:
                parts[name] = in_bytes(parts[name], text, offsets, name, first_row, threads)
        return Features(text, offsets, **parts, others=others)


#: The arguments of a call without values for documents.
NOTHING = DocumentArguments()


def split_all(
    texts: TextBatch, engine: Engine, unwrap_lines: str | bool, threads: int, size: int
) -> tuple[Ragged, Ragged]:
    """Return the sentences of all texts and their flags, computed for ``size`` bytes of text at a time."""
    plan = Plan("sentence", unwrap_lines=unwrap_lines)
    found = [
        engine.split(Request(Features(text, offsets), plan, threads=threads)) for _, text, offsets in texts.slices(size)
    ]
    return Ragged.concat([starts for starts, _ in found], np.int64), Ragged.concat([f for _, f in found], np.uint8)
