"""The defaults of pychunk. Signatures, help texts and the evaluation all read them here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Chunks:
    """The default method, and the lengths of chunks in tokens that ``"auto"`` means.

    bench/retrieval/defaults.py chose the first four values on questions with known answers; see docs/evaluation.md.

    Attributes:
        method: The method if the caller names none.
        size: The mean length that this method aims at: some 110 English words.
        max_tokens: The most tokens of a chunk by this method.
        min_tokens: The fewest tokens of a chunk by this method.
        max_by_meaning: The most tokens for methods that cut by meaning; 512 is BERT's longest input.
        min_by_meaning: The fewest tokens for these methods.
        max_by_topic: The most tokens for ``topic`` if the caller names it. On validation articles, compared with no
            limit, a limit of 1,024 made F1 no worse and Pk worse by 0.002. A limit of 512 made F1 worse by 0.000 and Pk
            by 0.025.
        piece: The size for the methods that cut by length, ``fixed`` and ``recursive``, in their unit.
        topic: The size for ``topic`` if the caller names it.
        short: The number of characters below which a chunk says too little to be found or read by itself.
        method_for_blocks: The method for documents with blocks.
        method_for_vectors: The method for any other encoder than the one on which ``method`` was trained.
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
    """The parameters of BM25: how soon further occurrences of a term stop counting (k1), and the cost of length (b)."""

    k1: float = 0.9
    b: float = 0.4


@dataclass(frozen=True)
class Search:
    """The defaults of a search: the number of hits and their ranking.

    bench/retrieval/retrieval_defaults.py chose the weights on SQuAD.

    Attributes:
        k: The number of hits of a query.
        rerank_depth: The number of hits that a reranker orders again.
        evaluation_depth: The number of hits that a reranker orders again in an evaluation, which asks many questions.
        mode: The scores by which chunks are ranked: hybrid is by vectors and by terms.
        fusion: How these two scores are combined.
        bm25_weight: The weight of a chunk's BM25 score, after its division by the highest BM25 score that the query
            allows. The cosine has weight 1.
        chunk_vector_weight: The weight of the cosine to the chunk's own vector, in an index that has vectors of chunks
            and of sentences. The cosine to the chunk's best sentence has 1 minus this weight.
        document_weight: The weight with which the document's score is added to the score of its chunk.
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

    bench/retrieval/context_weights.py chose ``weight``, with the static encoder. It is the highest weight at which
    dense search gets no lower with any source on two sets of questions that need no context. The table shows paired
    differences from dense search without contexts. "Head", "near" and "sum." are contexts of the sources ``"head"``,
    ``"neighbours"`` and ``"summary"``, and "path" is the heading above a chunk. The first two columns are recall in
    1,000 words on 3,000 questions about sections of Wikipedia (validation), whose headings are not in the text. The
    next three are strict Hits@5 on SQuAD v2 dev, and the last three recall@5 on chunking evaluation:

    ====== ====== ====== ====== ====== ====== ====== ====== ======
    weight head   path   head   near   sum.   head   near   sum.
    ====== ====== ====== ====== ====== ====== ====== ====== ======
    0       0.496  0.496  0.865  0.865  0.865  0.740  0.740  0.740
    0.1    +0.027 +0.090 +0.003 +0.005 +0.003 +0.002 -0.010 +0.002
    0.2    +0.045 +0.165 +0.006 +0.007 +0.005 +0.011 -0.005 +0.011
    0.3    +0.061 +0.223 +0.006 +0.005 +0.005 +0.017 +0.006 +0.011
    0.5    +0.086 +0.294 +0.003 -0.006 +0.005 +0.026 +0.026 +0.015
    0.8    +0.110 +0.322 -0.008 -0.041 -0.004 +0.042 -0.026 +0.011
    ====== ====== ====== ====== ====== ====== ====== ====== ======

    On the test split, recall rises by 0.054 (0.047 to 0.062) with ``"head"`` and by 0.224 (0.212 to 0.236) with
    ``"path"``.

    Attributes:
        characters: The most characters of a context.
        ends: The number of chunks, half of them at either end of a document, from which a summary is made.
        around: The number of chunks, half of them on either side of a chunk, from which the chunk's context is made.
        weight: The weight of the vector of a context in the vectors of its chunk, relative to that of the text.
    """

    characters: int = 250
    ends: int = 10
    around: int = 4
    weight: float = 0.3


@dataclass(frozen=True)
class Client:
    """The defaults of the client of an LLM.

    Times are in seconds.

    Attributes:
        concurrency: The most calls at a time.
        retries: The most attempts after the first one.
        connect: The time limit until the connection is open.
        first_byte: The time limit until the first, or the next, bytes of the response arrive.
        whole: The time limit of one attempt in total.
    """

    concurrency: int = 8
    retries: int = 4
    connect: float = 10.0
    first_byte: float = 120.0
    whole: float = 300.0


@dataclass(frozen=True)
class Bytes:
    """The most bytes that readers accept for one document, by kind of file, or for one row, line, page or block."""

    text: int = 512 << 20
    pages: int = 512 << 20
    html: int = 128 << 20
    markdown_block: int = 32 << 20
    json: int = 256 << 20
    csv_row: int = 64 << 20
    wiki_page: int = 64 << 20


CHUNKS, BM25, SEARCH, CONTEXTS, CLIENT, BYTES = Chunks(), Bm25(), Search(), Contexts(), Client(), Bytes()
