"""The defaults of pychunk. Signatures, help and evaluation read them here, so that each stands once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chunks:
    """The method if nobody names one, and the lengths of chunks that ``"auto"`` means, in tokens.

    bench/retrieval/defaults.py chose the first four on questions with known answers, see docs/evaluation.md.

    Attributes:
        method: what cuts.
        size: what that method aims at: some 110 English words.
        max_tokens, min_tokens: of its chunks.
        max_by_meaning, min_by_meaning: of methods that cut by meaning; 512 is BERT's longest input.
        max_by_topic: of ``topic`` if it is named. On validation articles 1,024 cost F1 nothing and Pk 0.002, 512
            0.000 and 0.025.
        piece: size of the methods that cut by length, ``fixed`` and ``recursive``, in their unit.
        topic: size of ``topic`` if it is named.
        scrap: characters below which a chunk says too little to be found or read by itself.
        method_for_blocks: what cuts documents with blocks.
        method_for_vectors: what cuts by another encoder than the one that ``method`` was learned on.
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
    scrap: int = 50
    method_for_blocks: str = "structure"
    method_for_vectors: str = "pic"


@dataclass(frozen=True)
class Bm25:
    """The parameters of BM25: how soon a term that repeats counts no more, and what a long chunk loses."""

    k1: float = 0.9
    b: float = 0.4


@dataclass(frozen=True)
class Search:
    """The hits of a search and their ranking; bench/retrieval/retrieval_defaults.py chose the weights on SQuAD.

    Attributes:
        k: hits of a query.
        depth: hits that a reranker orders anew.
        evaluation_depth: the same in an evaluation, which asks many questions.
        mode, fusion: which scores count, and how they are joined.
        weight: of BM25 as a share of its bound, compared with 1 of the cosine.
        blend: share of the best sentence in an index of both vectors, compared with the chunk's own.
        document_weight: of a document's score beside its chunk's.
    """

    k: int = 5
    depth: int = 50
    evaluation_depth: int = 20
    mode: str = "hybrid"
    fusion: str = "score"
    weight: float = 1.5
    blend: float = 0.5
    document_weight: float = 0.0


@dataclass(frozen=True)
class Contexts:
    """The column ``context`` of chunks.

    Attributes:
        characters: of a context.
        ends: chunks from both ends of a document that a summary is made of.
        around: chunks around one that its context is made of.
    """

    characters: int = 250
    ends: int = 10
    around: int = 4


@dataclass(frozen=True)
class Client:
    """The client of a language model; times in seconds.

    Attributes:
        concurrency: calls at a time.
        retries: attempts after the first.
        connect: until the connection stands.
        first_byte: until the next bytes of the answer.
        whole: of an attempt.
    """

    concurrency: int = 8
    retries: int = 4
    connect: float = 10.0
    first_byte: float = 120.0
    whole: float = 300.0


@dataclass(frozen=True)
class Bytes:
    """The most bytes that readers take: of a file that is one document, or of one row, line, page or block."""

    text: int = 512 << 20
    pages: int = 512 << 20
    html: int = 128 << 20
    markdown_block: int = 32 << 20
    json: int = 256 << 20
    csv_row: int = 64 << 20
    wiki_page: int = 64 << 20


CHUNKS, BM25, SEARCH, CONTEXTS, CLIENT, BYTES = Chunks(), Bm25(), Search(), Contexts(), Client(), Bytes()
