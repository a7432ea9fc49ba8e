"""The segmentation methods, each a small class in its own file that checks its options and says what it needs."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .autochunker import Autochunker
from .base import Method
from .cluster import Cluster
from .fixed import Fixed
from .llm_semantic import LlmSemantic
from .lumber import Lumber
from .nsp import Nsp
from .page import Page
from .paragraph import Paragraph
from .pic import Pic
from .precomputed import Precomputed
from .proposition import Proposition
from .recursive import Recursive
from .semantic import Semantic
from .sentence import Sentence
from .structure import Structure
from .topic import Topic

METHODS: dict[str, type[Method]] = {
    "pic": Pic,
    "semantic": Semantic,
    "cluster": Cluster,
    "fixed": Fixed,
    "recursive": Recursive,
    "structure": Structure,
    "sentence": Sentence,
    "paragraph": Paragraph,
    "page": Page,
    "nsp": Nsp,
    "topic": Topic,
    "precomputed": Precomputed,
    "autochunker": Autochunker,
    "llm_semantic": LlmSemantic,
    "lumber": Lumber,
    "proposition": Proposition,
}

#: The keyword options that every method has, with their defaults.
SHARED: dict[str, Any] = {"keep_together": "auto", "unwrap_lines": "auto", "tokenizer": None}

_ROLES = (
    *("titles", "summaries", "sentence_spans", "sentence_vectors", "token_counts"),
    *("page_starts", "blocks", "removed", "cuts"),
)
_ENCODER = "pass encoder=, or vectors of your own as columns={'sentence_vectors': ...}"
_THRESHOLD = (
    "pass threshold= to method 'semantic', such as ('percentile', 5) of its cosines for percentile 95 of distances"
)

#: The advice of the error for each of these keywords, which no method has but callers may try: keys of ``columns``,
#: arguments of a call, keywords of earlier versions, and keywords of other packages.
REPLACEMENTS: dict[str, str] = {
    "text": "pass columns={'text': ...} with the name of the column that holds the text",
    "column": "pass columns={'text': ...} with the name of the column that holds the text",
    **{
        role: f"pass columns={{{role!r}: ...}} with the name of a column, or with one value for each document"
        for role in _ROLES
    },
    **{
        name: f"pass {name}= to segment(), or to a call of the Segmenter"
        for name in ("columns", "ids", "metadata_columns", "progress")
    },
    "keep": "pass metadata_columns= with the columns that every chunk repeats",
    "atoms": "pass keep_together=",
    "wrap": "pass unwrap_lines=",
    **{
        name: f"pass placement=pychunk.Placement({name}=...)"
        for name in ("device", "threads", "runtime", "precision", "cache")
    },
    "vector_encoder": "pass vectors=pychunk.Vectors('chunk', ...) with the encoder of the vectors",
    "levels": "call pychunk.segment_levels(batch, [...])",
    "pooling": "call pychunk.segment_levels(batch, [...], pooling=...)",
    "chunk_size": "pass max_tokens= for the longest chunk, or method='fixed' with size= for chunks of one size",
    "max_chunk_size": "pass max_tokens=",
    "min_chunk_size": "pass min_tokens=",
    "chunk_overlap": "pass overlap=",
    "length_function": "pass tokenizer= with the function, or unit='words' or unit='characters'",
    "tokenizer_name": "pass tokenizer=",
    "tokenizer_or_token_counter": "pass tokenizer=",
    "embeddings": _ENCODER,
    "embed_model": _ENCODER,
    "embedding_model": _ENCODER,
    "breakpoint_threshold_type": _THRESHOLD,
    "breakpoint_threshold_amount": _THRESHOLD,
    "breakpoint_percentile_threshold": _THRESHOLD,
}


def option_names(method: str) -> list[str]:
    """Return the names of the options that a method takes in addition to the shared ones."""
    made: Any = METHODS[method]
    return list(_parameters(made))


@functools.cache
def _parameters(made: Any) -> tuple[str, ...]:
    """Return the parameters of a method, cached.

    For every option, commands look up the methods that have it, and reading one signature takes 0.05 ms.
    """
    return tuple(inspect.signature(made).parameters)


def make_method(name: str | Method, options: dict[str, Any], common: tuple[str, ...] = ()) -> Method:
    """Return the method of a name with its options.

    Args:
        name: The name of a method, or a method, which is returned unchanged.
        options: The method's own options by name.
        common: Names of the options that every method has, which the caller handles.

    Raises:
        ValueError: The name or an option is unknown. The message lists the choices, or says what to write instead.
    """
    # This check comes before the others. If the caller names no method and one option exists in no method,
    # ``method_for`` returns the default method. The check below would then reject valid options of other methods first.
    for option in options:
        if option in REPLACEMENTS:
            raise ValueError(f"no method has an option {option!r}: {REPLACEMENTS[option]}")
    if isinstance(name, Method):
        if options:
            raise ValueError(f"{name!r} is a finished method, which takes no further options; got {', '.join(options)}")
        return name
    if not isinstance(name, str) or name not in METHODS:
        from .._util.suggestions import did_you_mean  # imported here because only an error needs it

        if name == "given":
            raise ValueError("the method 'given' is called 'precomputed': pass method='precomputed'")
        raise ValueError(f"unknown method {name!r}; choose one of {', '.join(METHODS)}{did_you_mean(name, METHODS)}")
    known = option_names(name)
    for option in options:
        if option not in known:
            choices = f"its options are {', '.join(known)}" if known else "it has no options of its own"
            shared = f"; the options of every method are {', '.join(common)}" if common else ""
            raise ValueError(
                f"method {name!r} has no option {option!r}; {choices}{shared}{_meant(option, known, common)}"
            )
    return METHODS[name](**options)


def _meant(option: str, known: list[str], common: tuple[str, ...]) -> str:
    """Return a hint with the known name nearest to an unknown option, or "" if no name is near.

    If only other methods have an option of the near name, the hint names these methods. If the near name is in
    ``REPLACEMENTS``, so that no method has it, the hint says what to write instead.
    """
    import difflib

    owners = {each: [repr(m) for m in METHODS if each in option_names(m)] for m in METHODS for each in option_names(m)}
    near = difflib.get_close_matches(option, dict.fromkeys([*known, *common, *owners, *REPLACEMENTS]), 1)
    if not near:
        return ""
    if near[0] in REPLACEMENTS:
        return f"; did you mean {near[0]!r}? Then {REPLACEMENTS[near[0]]}"
    if near[0] in known or near[0] in common:
        return f"; did you mean {near[0]!r}?"
    *others, last = owners[near[0]]
    of = f"{', '.join(others)} and {last}" if others else last
    return (
        f"; it is an option of {of}"
        if near[0] == option
        else f"; did you mean {near[0]!r}, which is an option of {of}?"
    )


__all__ = ["METHODS", "REPLACEMENTS", "SHARED", "Method", "make_method", "option_names"]
