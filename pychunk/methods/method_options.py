"""The options of methods with their types, which type checkers and editors read for ``segment(**options)``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from ..llm import LLM

MethodName = Literal[
    "topic",
    "pic",
    "semantic",
    "cluster",
    "nsp",
    "fixed",
    "recursive",
    "structure",
    "sentence",
    "paragraph",
    "page",
    "precomputed",
    "autochunker",
    "llm_semantic",
    "lumber",
    "proposition",
]


class MethodOptions(TypedDict, total=False):
    """The keyword options of :func:`pychunk.segment` that belong to methods; docs/methods.md explains each.

    Every method has the first three options. Each other option belongs to some methods only.
    """

    keep_together: bool | Literal["auto"]
    unwrap_lines: bool | Literal["auto"]
    tokenizer: Any
    summary: Literal["extractive", "mean", "lead", "title", "given", "llm", "sentence", "random"]
    k: float
    summaries_out: bool
    threshold: float | tuple[str, float] | Literal["mean", "gradient"] | None
    window: int
    unit: Literal["tokens", "words", "characters"]
    size: int | None
    balance: bool
    separators: Sequence[str] | None
    within: Literal["size", "topic", "semantic", "nsp"]
    model: str | Path | None
    llm: LLM | None
    window_tokens: int
    overlap_units: int
    fallback: Literal["auto", "recursive", "structure", "topic"]
    strict: bool
