"""The defaults of pychunk, each defined once for signatures, help and evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Chunks:
    """The default method, and the lengths of chunks in tokens that ``"auto"`` means.

    bench/retrieval/defaults.py chose the first four on questions with known answers, see docs/evaluation.md.

    Attributes:
        method: The method if the caller names none.
        size: The mean length that this method aims at: some 110 English words.
        max_tokens: The most tokens of its chunks.
        min_tokens: The fewest tokens of its chunks.
        max_by_meaning: The most tokens for methods that cut by meaning; 512 is BERT's longest input.
        min_by_meaning: The fewest tokens for these methods.
        max_by_topic: The most tokens for ``topic`` if it is named. On validation articles 1,024 cost F1 nothing and Pk
            0.002, and 512 cost 0.000 and 0.025.
        piece: The size for the methods that cut by length, ``fixed`` and ``recursive``, in their unit.
        topic: The size for ``topic`` if it is named.
        short: The number of characters below which a chunk says too little to be found or read by itself.
        method_for_blocks: The method for documents with blocks.
        method_for_vectors: The method for another encoder than the one that ``method`` was trained on.
    """

    method: str = "topic"
    size: int = 150
    max_tokens: int = 200
    min_tokens: int = 64
    max_by_meaning: int = 512
    min_by_meaning: int = 64
    max_by_topic: int = 1024
    piece: int = 200
    topic: int = 250
    short: int = 50
    method_for_blocks: str = "structure"
    method_for_vectors: str = "pic"


@dataclass(frozen=True)
class Bm25:
    """The parameters of BM25: how soon a repeated term stops to count, and how much a long chunk loses."""

    k1: float = 0.9
    b: float = 0.4


@dataclass(frozen=True)
class Search:
    """The hits of a search and their ranking.

    bench/retrieval/retrieval_defaults.py chose the weights on SQuAD.

    Attributes:
        k: The number of hits of a query.
        rerank_depth: The number of hits that a reranker orders again.
        evaluation_depth: The same number in an evaluation, which asks many questions.
        mode: The scores that count.
        fusion: The way in which they are combined.
        bm25_weight: The weight of BM25 as a share of its bound, compared with 1 for the cosine.
        chunk_vector_weight: The share of the chunk's own vector in an index of both kinds, compared with its best
            sentence.
        document_weight: The weight of a document's score in addition to its chunk's.
    """

    k: int = 5
    rerank_depth: int = 50
    evaluation_depth: int = 20
    mode: Literal["hybrid"] = "hybrid"
    fusion: Literal["score"] = "score"
    bm25_weight: float = 1.5
    chunk_vector_weight: float = 0.5
    document_weight: float = 0.0


@dataclass(frozen=True)
class Contexts:
    """The defaults of the column ``context`` of chunks.

    Attributes:
        characters: The most characters of a context.
        ends: The number of chunks at both ends of a document that a summary is made of.
        around: The number of chunks around a chunk that its context is made of.
    """

    characters: int = 250
    ends: int = 10
    around: int = 4


@dataclass(frozen=True)
class Client:
    """The defaults of the client of an LLM.

    Times are in seconds.

    Attributes:
        concurrency: The number of calls at a time.
        retries: The number of attempts after the first.
        connect: The time limit for the connection.
        first_byte: The time limit until the next bytes of the response.
        whole: The time limit of an attempt.
    """

    concurrency: int = 8
    retries: int = 4
    connect: float = 10.0
    first_byte: float = 120.0
    whole: float = 300.0


@dataclass(frozen=True)
class Bytes:
    """The most bytes that readers take of a file that is one document, or of one row, line, page or block."""

    text: int = 512 << 20
    pages: int = 512 << 20
    html: int = 128 << 20
    markdown_block: int = 32 << 20
    json: int = 256 << 20
    csv_row: int = 64 << 20
    wiki_page: int = 64 << 20


CHUNKS, BM25, SEARCH, CONTEXTS, CLIENT, BYTES = Chunks(), Bm25(), Search(), Contexts(), Client(), Bytes()
