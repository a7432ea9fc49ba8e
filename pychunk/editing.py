"""Edits of one document: its new text, and the sentences that its chunks take over from the text before."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ._engine import native
from ._engine.arrow import flat_text, strings
from ._engine.data.ragged import Ragged
from .chunks.batch import ChunkBatch
from .chunks.provenance import BatchProvenance
from .inputs.inputs import Inputs

if TYPE_CHECKING:
    import numpy.typing as npt

    from .inputs import TextBatch

#: An edit: the text that replaces characters ``start`` to ``end`` of the document before all edits.
Edit = tuple[int, int, str]
#: The roles whose values stay right if the text changes: one value for the whole document.
_WHOLE = {"summaries", "titles"}
#: The roles that parsing Markdown fills.
_PARSED = {"blocks", "removed"}
_FEW = 5  # edits in an error


def _parsed(text: Any) -> TextBatch:
    from .io.markup import parse  # imported here because few edited documents are Markdown

    return parse(text, "markdown")


def origin_of(chunks: ChunkBatch) -> BatchProvenance:
    """Return the provenance of the chunks of one document, which holds the document.

    Raises:
        TypeError: ``chunks`` is not a ChunkBatch.
        ValueError: The chunks are of several documents or of none, or do not hold their document.
    """
    if not isinstance(chunks, ChunkBatch):
        raise TypeError(
            f"edit() takes chunks as a Segmenter returned them; got {chunks!r:.80}: pass the ChunkBatch of the call"
        )
    if chunks.documents != 1:
        raise ValueError(
            f"edit() takes the chunks of one document; got those of {chunks.documents}: call the Segmenter once for "
            "each document that you edit"
        )
    origin = chunks.origin
    if not isinstance(origin, BatchProvenance) or origin.texts is None:
        raise ValueError(
            "these chunks do not hold their document (they come from a file or a pickle, or from more than 4 MB of "
            "text): call the Segmenter with the new text; to edit a longer document, call edit() with the chunks of "
            'the empty document "" and the edit (0, 0, text)'
        )
    return origin


def edited_text(text: pa.LargeStringArray, edits: Iterable[Edit]) -> tuple[pa.LargeStringArray, npt.NDArray[np.int64]]:
    """Return the text after the edits, and the spans that it takes over, as ``native.KeptSentences`` expects them.

    Args:
        text: An array that holds the document.
        edits: The edits, with positions in characters of ``text``.

    Raises:
        TypeError: An edit is not (start, end, text).
        ValueError: An edit is outside the document, or two edits overlap, or a text is not valid Unicode.
    """
    data, offsets = flat_text(text)
    own = np.ascontiguousarray(data[offsets[0] : offsets[-1]])
    ordered = _ordered(edits)
    every = [at for start, end, _ in ordered for at in (start, end)]
    # Larger numbers are outside as well, but not whole numbers of NumPy.
    marks, places = np.unique([max(-1, min(at, len(own) + 1)) for at in every], return_inverse=True)
    try:
        marks = native.bytes_of_characters(
            own,
            np.array([0, len(own)]),
            Ragged(marks.astype(np.int64), np.array([0, len(marks)])),
            "edits",
            first_row=0,
            threads=1,
        ).flat()
    except ValueError:
        length = len(own.tobytes().decode())
        outside = _shown([edit for edit in ordered if edit[0] < 0 or edit[1] > length])
        raise ValueError(
            f"edits must be inside the document, which has {length} characters; got {outside}: count characters of "
            "the text before all of these edits"
        ) from None
    spans = marks[places].reshape(-1, 2).tolist()
    parts: list[npt.NDArray[np.uint8]] = []
    kept = []
    done = size = 0
    for (begin, end), (_, _, new) in zip([*spans, (len(own), len(own))], [*ordered, (0, 0, "")], strict=True):
        if begin > done:
            kept.append((done, size, begin - done))
            parts.append(own[done:begin])
            size += begin - done
        parts.append(np.frombuffer(_encoded(new), np.uint8))
        size += len(parts[-1])
        done = end
    made = strings(np.concatenate(parts), np.array([0, size], np.int64))
    return made, np.array(kept, np.int64).reshape(-1, 3)


def _ordered(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits by rising positions, after checking them against one another."""
    found = list(edits)
    for edit in found:
        good = isinstance(edit, Sequence) and len(edit) == 3 and isinstance(edit[2], str)
        if not (good and all(isinstance(at, (int, np.integer)) and not isinstance(at, bool) for at in edit[:2])):
            raise TypeError(f"an edit must be (start, end, text), two whole numbers and a str; got {edit!r:.80}")
    ordered = sorted(((int(start), int(end), text) for start, end, text in found), key=lambda edit: edit[:2])
    if turned := [edit for edit in ordered if edit[1] < edit[0]]:
        raise ValueError(f"an edit must not end before it begins; got {_shown(turned)}: to insert, pass the same twice")
    for before, after in itertools.pairwise(ordered):
        if after[0] < before[1]:
            raise ValueError(
                f"edits must not overlap; got {_shown([before, after])}: join them, or call edit() once for each"
            )
    return ordered


def _shown(edits: Sequence[Edit]) -> str:
    shown = ", ".join(
        f"({start}, {end}, {text:.20}...)" if len(text) > 20 else repr((start, end, text))
        for start, end, text in edits[:_FEW]
    )
    return shown + (f" and {len(edits) - _FEW} more" if len(edits) > _FEW else "")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text of an edit has the lone surrogate U+{ord(text[error.start]):04X} at character {error.start}: "
            "remove it"
        ) from None


def edited_inputs(origin: BatchProvenance, text: pa.LargeStringArray, read: Any, writes: bool) -> Inputs:
    """Return the inputs of the new text, with what the caller said about the document.

    Args:
        origin: The provenance of the chunks.
        text: The new text.
        read: A function that returns checked inputs for documents and their columns.
        writes: Whether the method writes the document's summary itself, and so writes it again.

    Raises:
        ValueError: The document has columns whose positions an edit would move, and is not parsed Markdown.
    """
    before = origin.inputs
    texts = replace(before.texts, texts=[text], errors=[])  # the new text can be used, whatever was wrong before
    new = Inputs(texts, {}, before.kept, before.first_document, before.skips)
    positions = {role for role, value in before.said.items() if value is not None} - _WHOLE
    if "blocks" in positions <= _PARSED and _is_markdown(origin, read):
        parsed = _parsed(text)
        source = _with_columns(parsed.source, texts.source)
        made: Inputs = read(replace(parsed, ids=texts.ids, uuids=texts.uuids, source=source))
        return replace(made, kept=before.kept, first_document=before.first_document)
    if positions:
        raise ValueError(
            f"an edit would move the positions in columns={{{min(positions)!r}: ...}} of this document; call the "
            "Segmenter with the new text and its columns (edit() parses only Markdown from pychunk.parse again)"
        )
    if before.given.parts and not writes:
        return replace(new, said=before.said, given=before.given)
    checked: Inputs = read(new)
    return checked


def _with_columns(parsed: Any, before: Any) -> Any:
    """Return the table of the parsed document with the other columns that contexts read."""
    for name in [] if before is None else before.column_names:
        if name not in parsed.column_names:
            parsed = parsed.append_column(name, before.column(name))
    return parsed


def _is_markdown(origin: BatchProvenance, read: Any) -> bool:
    """Return whether parsing the document as Markdown gives the blocks and removed spans of its columns."""
    if origin.markdown is None:
        own, parts = origin.inputs.given.parts, read(_parsed(origin.inputs.texts.texts[0])).given.parts
        origin.markdown = parts.keys() == own.keys() and all(_equal(own[name], part) for name, part in parts.items())
    return origin.markdown


def _equal(one: Any, other: Any) -> bool:
    """Return whether two layouts of one document have equal fields."""
    pairs = [(getattr(one, each.name), getattr(other, each.name)) for each in fields(one)]
    numbers = [getattr(a, "dtype", np.dtype(object)).kind == "f" for a, _ in pairs]
    return all(np.array_equal(a, b, equal_nan=nan) for (a, b), nan in zip(pairs, numbers, strict=True))
