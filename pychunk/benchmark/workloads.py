"""The workloads that are timed: methods on corpora, with the answers that they must give."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np


@dataclass(frozen=True)
class Workload:
    """The options of a Segmenter, the corpus on which it is called, and the expected answer.

    Attributes:
        name: The name of the workload.
        purpose: The description for tables.
        corpus: The name of the corpus.
        method: The name of the method.
        options: The options of the method.
        calls: The number of calls that are timed together, so that one timing takes 1 to 3 ms. A busy machine
            interrupts longer timings, and caches are cold after each interruption. With timings of 10 to 25 ms, the
            same code measured 7 to 17 % slower when seven other processes waited for two cores.
        answer: The hash of the right spans, the same on every machine; empty if results may differ between CPUs.
        chunks: The fewest and the most chunks of a right answer, if there is no hash.
        unit: ``MB/s``, or ``ms`` a call if latency matters.
    """

    name: str
    purpose: str
    corpus: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)
    calls: int = 1
    answer: str = ""
    chunks: tuple[int, int] = (0, 0)
    unit: str = "MB/s"

    def prepare(self, texts: list[str]) -> Callable[[], Any]:
        """Return a function that calls the Segmenter once on the corpus and returns its ChunkBatch.

        Raises:
            ImportError: The method needs an extra that is not installed.
        """
        import pyarrow as pa

        import pychunk

        # Versions before the class Placement have a keyword for the threads.
        one = {"placement": pychunk.Placement(threads=1)} if hasattr(pychunk, "Placement") else {"threads": 1}
        segmenter = pychunk.Segmenter(cast(Any, self.method), **one, **self.options)
        # Tiny and single documents are Python strings, as in a service; large batches are Arrow, as in a pipeline.
        batch = pa.array(texts, pa.large_string()) if self.corpus in ("articles", "few") else texts
        return lambda: segmenter(batch)

    def definition(self, texts: list[str]) -> str:
        """Return a hash of what is timed; figures with another definition cannot be compared."""
        timed = repr((self.method, sorted(self.options.items()), self.calls, texts))
        return hashlib.sha256(timed.encode()).hexdigest()[:16]

    def check(self, found: Any, texts: list[str]) -> str:
        """Check an answer and return its hash.

        Raises:
            ValueError: The answer lacks a property that the workload requires.
        """
        spans = spans_of(found)
        if not self.answer:
            check_tiling(spans, texts)
            fewest, most = self.chunks
            if not fewest <= len(spans) <= most:
                raise ValueError(f"{fewest} to {most} chunks expected; got {len(spans)}")
            return ""
        return hash_of(spans, found)


def spans_of(found: Any) -> np.ndarray[Any, Any]:
    """Return int64[n, 3]: document, start, end in characters."""
    # Versions before the column document_index have the column document.
    document = "document_index" if "document_index" in found.table.column_names else "document"
    return np.stack([found.table.column(name).to_numpy() for name in (document, "start", "end")], axis=1)


def hash_of(spans: np.ndarray[Any, Any], found: Any) -> str:
    """Return 16 hexadecimal digits of a hash of the spans, and of the numbers of sentences if there are any."""
    digest = hashlib.sha256(spans.astype("<i8").tobytes())
    if "sentences" in found.table.column_names:
        counts = [len(each) for each in found.table.column("sentences").to_pylist()]
        digest.update(np.array(counts, dtype="<i8").tobytes())
    return digest.hexdigest()[:16]


def check_tiling(spans: np.ndarray[Any, Any], texts: list[str]) -> None:
    """Check that the spans of every document increase and leave out nothing but white space.

    Raises:
        ValueError: Spans overlap, or leave out text that is not white space.
    """
    for row, text in enumerate(texts):
        end = 0
        for _, start, stop in [*spans[spans[:, 0] == row].tolist(), (row, len(text), len(text))]:
            if start < end or text[end:start].strip():
                raise ValueError(
                    f"document {row} has a gap or an overlap between characters {end} and {start}; its chunks must "
                    "hold all text once"
                )
            end = stop


_TOKENS = {"size": 200, "unit": "tokens"}
_CHARACTERS = {"size": 800, "unit": "characters"}
_DEFAULT = {
    "size": 150,
    "min_tokens": 64,
    "max_tokens": 200,
}  # explicit, because an earlier pychunk had another default

WORKLOADS: dict[str, Workload] = {
    each.name: each
    for each in [
        Workload("sentence", "sentence splitting", "articles", "sentence", calls=2, answer="5f5c7d7cc00d936b"),
        Workload(
            "wordpiece", "WordPiece counting: fixed by tokens", "articles", "fixed", _TOKENS, answer="d48b9396d49ab204"
        ),
        Workload("topic", "the default method", "articles", "topic", _DEFAULT, answer="4e53ffeb2b0cbf3f"),
        Workload("pic", "runs near to and far from the summary", "articles", "pic", answer="74ac72bf2b6d1b44"),
        Workload(
            "pic-vectors",
            "pic, sentence vectors returned",
            "articles",
            "pic",
            {"vectors": "sentence"},
            answer="94e4dd0b3ebe352b",
        ),
        Workload("semantic", "cosine of neighbouring sentences", "articles", "semantic", answer="ae51a450894c30d8"),
        Workload("cluster", "best partition", "articles", "cluster", answer="2a87ee14cce8885d"),
        Workload(
            "recursive-characters",
            "separators, by characters",
            "articles",
            "recursive",
            {**_CHARACTERS, "separators": ["\n\n", "\n", " ", ""]},
            calls=2,
            answer="ba176718f22bdcae",
        ),
        Workload(
            "recursive-tokens",
            "strongest boundaries, by tokens",
            "articles",
            "recursive",
            _TOKENS,
            answer="0e86f1e7a6484bb0",
        ),
        Workload("tiny-documents", "pic on 1,000 sentences, a document each", "tiny", "pic", answer="d1c749f14dd9ea39"),
        Workload("large-document", "pic on one document of 0.2 MB", "large", "pic", answer="5796fb44dff4b3d5"),
        Workload(
            "latency", "pic on one document of 6 kB", "small", "pic", calls=10, unit="ms", answer="4802b50d3d6719bc"
        ),
        Workload(
            "nsp-static",
            "next-sentence prediction from the table",
            "few",
            "nsp",
            {"encoder": "static"},
            answer="1502f192530b6ad1",
        ),
        Workload("nsp", "next-sentence prediction, shipped model", "leaflet", "nsp", chunks=(1, 3), unit="ms"),
    ]
}
