"""The systems that an evaluation compares: chunks of methods and peers, with one encoder's vectors and their cost."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from ..api import split_sentences
from ..encoders import registry, static_encoder
from ..index.chunk_tables import encode_chunks
from ..inputs.document_columns import DocumentColumns
from ..methods import Method
from ..segmenter import Segmenter
from ..vectors import Vectors
from . import custom as callers
from .datasets import Dataset
from .peers import Peer, locate


class Encoder:
    """A vector encoder that counts the tokens it encodes.

    Args:
        given: The encoder as in :class:`pychunk.Segmenter`, or your own model as in :class:`~.custom.Model`, or its
            ``module:name``.
        runtime: The runtime of a transformer.

    Attributes:
        index: The keywords of :meth:`pychunk.Index.create` for an index with this encoder's vectors.
    """

    def __init__(self, given: Any, runtime: str = "onnxruntime") -> None:
        placed = isinstance(given, str) and callers.is_place(given)
        self.model: Any
        if placed or not isinstance(given, (str, Path)):
            made = given if inspect.isclass(given) or inspect.isroutine(given) else type(given)
            self.name = given if placed else made.__name__
            self.model = callers.Model(callers.load(given) if placed else given, self.name)
            self.index: dict[str, Any] = {"encoder": None, "dim": self.model.dim}
        else:
            self.name = str(given)
            self.model = registry.vector_encoder(given, runtime)
            self.index = {"encoder": self.name}
        self.tokens = 0
        self._sentences: tuple[Dataset, list[list[tuple[int, int]]], npt.NDArray[np.float32]] | None = None
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def remembered(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors, float32[n, dim], encoding each text only once and counting no tokens."""
        new = list({text: None for text in texts if text not in self._known})
        if new:
            self._known.update(zip(new, self._encoded(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def sentences(self, data: Dataset) -> tuple[list[list[tuple[int, int]]], npt.NDArray[np.float32]]:
        """Return (spans, vectors float32[n, dim]) of all sentences of a dataset's documents, encoded once."""
        if self._sentences is None or self._sentences[0] is not data:
            spans = split_sentences(data.documents)
            flat = [text[a:b] for text, own in zip(data.documents, spans, strict=True) for a, b in own]
            self._sentences = (data, spans, self._encoded(flat))
        return self._sentences[1:]

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors, float32[n, dim]."""
        self.tokens += count_tokens(texts)
        return self._encoded(list(texts))

    def asked(self, questions: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors of questions, after the model's prompt for questions if it has one."""
        self.tokens += count_tokens(questions)
        return np.asarray(self.model.encode_queries(list(questions)), np.float32)

    def _encoded(self, texts: list[str]) -> npt.NDArray[np.float32]:
        return np.asarray(self.model.encode(texts), np.float32)


def count_tokens(texts: Sequence[str]) -> int:
    """Return the number of WordPiece tokens in the texts, without special tokens."""
    data = [text.encode() for text in texts]
    bounds = np.cumsum([0, *map(len, data)]).astype(np.int64)
    ids, _, _ = native.encode_words(static_encoder.load(), np.frombuffer(b"".join(data), np.uint8), bounds)
    return len(ids)


@dataclass(frozen=True)
class LevelSetup:
    """The levels whose nodes are the chunks, and the levels that are searched.

    Attributes:
        names: The levels from fine to coarse.
        plan: The finest and the coarsest level to search for all questions, or a planner.
        fusion: The fusion as in :meth:`pychunk.Index.search`.
    """

    names: tuple[str, ...]
    plan: Any
    fusion: str = "score"


@dataclass(frozen=True)
class SystemChunks:
    """The chunks that one system made of all documents.

    Attributes:
        name: The name of the row.
        table: The chunk table, with the column ``sentences`` and vectors of the evaluation's encoder. Nodes of levels
            have the column ``vector`` instead.
        seconds: The time for cutting, without the vectors for the index.
        cutting: The number of tokens that a transformer read for cutting.
        reused: Whether the index reuses the vectors of these tokens.
        options: The options of the row.
        peer: The package and version of a peer, None for pychunk's own methods.
        levelled: The levels whose nodes are the chunks, None for chunks of one size.
    """

    name: str
    table: pa.Table
    seconds: float
    cutting: int = 0
    reused: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    peer: str | None = None
    levelled: LevelSetup | None = None

    @property
    def words(self) -> npt.NDArray[np.int64]:
        """The number of words in each chunk."""
        return np.array([len(text.split()) for text in self.table["text"].to_pylist()], np.int64)

    @property
    def vectors(self) -> npt.NDArray[np.float32]:
        """The unit vector of each chunk, float32[n, dim]: the sum of its sentences' vectors, or zeros without any.

        Every sentence counts alike. The engine's own chunk vectors weight sentences by their number of tokens, which
        the table does not contain. No search uses these vectors. Nodes of levels have vectors of their own.
        """
        if self.levelled is not None:
            flat = np.asarray(self.table["vector"].combine_chunks().flatten(), np.float32)
            return flat.reshape(self.table.num_rows, -1)
        lists = self.table["sentences"].combine_chunks()
        offsets = np.asarray(lists.offsets, np.int64)
        flat = lists.flatten().flatten()[2]
        sentence = np.asarray(flat.flatten(), np.float32).reshape(len(flat), -1)
        sums = np.zeros((len(lists), sentence.shape[1]), np.float32)
        some = np.diff(offsets) > 0
        if some.any():
            sums[some] = np.add.reduceat(sentence, (offsets[:-1] - offsets[0])[some], axis=0)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.asarray(sums / np.maximum(norms, np.float32(1e-12)), np.float32)


def of_any(
    method: Any,
    options: Mapping[str, Any],
    data: Dataset,
    encoder: Encoder,
    name: str = "",
    llm: Any = None,
) -> SystemChunks:
    """Return the chunks of one of pychunk's methods or of the caller's own.

    Args:
        method: A name, None for the default, a method as in :func:`~.custom.method_of`, or its ``module:name``.
        options: The options of the method, and those of :class:`pychunk.Segmenter`.
        data: The dataset.
        encoder: The encoder of the evaluation.
        name: The name of the row. By default, it names the method and its options.
        llm: The client of a method that asks a model, as in :func:`by_method`.
    """
    if method is None or (isinstance(method, str) and not callers.is_place(method)):
        return by_method(method, options, data, encoder, name, llm)
    given = callers.load(method) if isinstance(method, str) else method
    shown = name or (method if isinstance(method, str) else getattr(given, "__name__", type(given).__name__))
    made, left = callers.method_of(given, options, shown)
    if isinstance(made, Method):
        return by_method(made, left, data, encoder, shown, llm)
    begun = time.perf_counter()
    cut = [callers.pieces(made(text), text, shown) for text in data.documents]
    seconds = time.perf_counter() - begun
    table = span_table(data, [_spans(text, each, shown) for text, each in zip(data.documents, cut, strict=True)])
    return SystemChunks(shown, _encoded(table, data, encoder), seconds)


def _spans(text: str, cut: Sequence[Any], name: str) -> list[tuple[int, int]]:
    if cut and isinstance(cut[0], str):
        return locate(text, [(each, None) for each in cut], name)
    return list(cut)


def _encoded(table: pa.Table, data: Dataset, encoder: Encoder) -> pa.Table:
    """Return the chunks of another package or function with vectors of their sentences."""
    if encoder.index["encoder"] is not None:
        return encode_chunks(table, encoder.name)
    return _with_vectors(encode_chunks(table, "static"), data, encoder)


def by_method(
    method: str | Method | None,
    options: Mapping[str, Any],
    data: Dataset,
    encoder: Encoder,
    name: str = "",
    llm: Any = None,
) -> SystemChunks:
    """Return the chunks of one of pychunk's methods; None is the default.

    Args:
        method: The name of a method, a method, or None.
        options: Options of :class:`pychunk.Segmenter`. With ``encoder``, the method cuts by that model's vectors, else
            by static vectors.
        data: The dataset.
        encoder: The encoder of the evaluation.
        name: The name of the row; default: the method and its options.
        llm: The client of a method that asks a model. Documents are cut twice, but a client with a cache sends each
            request once.
    """
    cutter = options.get("encoder")
    asked = {} if llm is None else {"llm": llm}
    columns: DocumentColumns = {}
    if data.page_starts:
        columns["page_starts"] = data.page_starts
    begun = time.perf_counter()
    Segmenter(cast(Any, method), **options, **asked)(data.documents, ids=data.ids, columns=columns)
    seconds = time.perf_counter() - begun
    shared = cutter == encoder.name  # the method cuts by the vectors of the index
    made = Segmenter(cast(Any, method), **options, **asked, vectors=Vectors("sentence", None if shared else "static"))
    table = made(data.documents, ids=data.ids, columns=columns).table
    if not shared and encoder.name != "static":
        table = _with_vectors(table, data, encoder)
    by_model = method == "nsp" if cutter is None else cutter not in ("static", "multilingual", "auto")
    cutting = count_tokens(data.documents) * (1 + (method == "nsp")) if by_model else 0
    said = method.name if isinstance(method, Method) else method or "default"
    shown = " ".join([said, *(f"{key}={value}" for key, value in options.items() if key != "unit")])
    return SystemChunks(name or shown, table, seconds, cutting, shared, dict(options))


def _with_vectors(table: pa.Table, data: Dataset, encoder: Encoder) -> pa.Table:
    """Return the table with vectors of its sentences by the encoder, which encodes each once for all systems.

    If a chunk ends inside a sentence, both parts of it get the vector of the whole sentence, as with
    :class:`pychunk.Vectors`.
    """
    spans, vectors = encoder.sentences(data)
    first = np.concatenate([[0], np.cumsum([len(own) for own in spans])])
    lists = table["sentences"].combine_chunks()
    start, end, _ = lists.flatten().flatten()
    document = np.repeat(np.asarray(table["document_index"], np.int64), np.diff(np.asarray(lists.offsets)))
    begins = np.asarray(start, np.int64)
    rows = np.empty(len(begins), np.int64)
    for number in np.unique(document):
        own = document == number
        borders = np.array([begin for begin, _ in spans[number]])
        rows[own] = first[number] + np.searchsorted(borders, begins[own], side="right") - 1
    items = pa.FixedSizeListArray.from_arrays(pa.array(vectors[rows].ravel()), vectors.shape[1])
    structs = pa.StructArray.from_arrays([start, end, items], ["start", "end", "vector"])
    offsets = pa.array(np.asarray(lists.offsets, np.int64) - lists.offsets[0].as_py())
    at = table.column_names.index("sentences")
    known = encoder.model.fingerprint if encoder.index["encoder"] is not None else "given"
    facts = {b"pychunk": json.dumps({"vector_encoder": known}).encode()}
    swapped = table.set_column(at, "sentences", pa.LargeListArray.from_arrays(offsets, structs))
    return swapped.replace_schema_metadata(facts)


def by_peer(peer: Peer, words: float, data: Dataset, encoder: Encoder) -> SystemChunks:
    """Return a peer's chunks with a mean length of about ``words``, made with the evaluation's embeddings.

    Peers take a limit on the length, not a mean. The function adapts the limit up to three times, until the mean is
    within 5 %. Only the last run is timed, and only its tokens are counted.
    """
    ask, best = words, (np.inf, words)
    for _ in range(3):
        split = peer.chunker(ask, encoder.remembered)
        lengths = [len(text[a:b].split()) for text in data.documents for a, b in split(text)]
        mean = float(np.mean(lengths)) if lengths else words
        best = min(best, (abs(mean - words), ask))
        if abs(mean - words) <= 0.05 * words:
            break
        ask *= words / mean
    ask = best[1]
    before = encoder.tokens
    cut = peer.make(ask, encoder.encode)
    begun = time.perf_counter()
    pieces = [cut(text) for text in data.documents]
    seconds = time.perf_counter() - begun
    table = span_table(data, [locate(text, own, peer.name) for text, own in zip(data.documents, pieces, strict=True)])
    cutting = encoder.tokens - before
    table = _encoded(table, data, encoder)
    return SystemChunks(peer.name, table, seconds, cutting, False, {"words": round(ask)}, peer.version)


def span_table(data: Dataset, spans: Sequence[Sequence[tuple[int, int]]]) -> pa.Table:
    """Return a chunk table of spans in characters, without vectors."""
    rows: list[dict[str, Any]] = []
    for number, (text, own) in enumerate(zip(data.documents, spans, strict=True)):
        for chunk, (start, end) in enumerate(own):
            name = f"{data.ids[number]}:{chunk}"
            rows.append(
                {
                    "document_index": number,
                    "document_id": data.ids[number],
                    "chunk_index": chunk,
                    "chunk_id": name,
                    "start": start,
                    "end": end,
                    "text": text[start:end],
                }
            )
    return pa.Table.from_pylist(rows)


def pooled(chunked: SystemChunks, encoder: Encoder) -> pa.Table:
    """Return the table with each chunk's text encoded as a whole, as most pipelines do.

    ``encoder`` counts the extra tokens.
    """
    vectors = encoder.encode(chunked.table["text"].to_pylist())
    dim = vectors.shape[1]
    column = pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(vectors).ravel()), dim)
    own = "vector" if chunked.levelled is not None else "sentences"
    return chunked.table.drop_columns([own]).append_column("vector", column)
