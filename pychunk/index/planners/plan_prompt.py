"""The prompt of planners that are language models.

An LLM at an endpoint, the experts whose traces STITCH learns from, and the model that STITCH trains all read the same
text: the question, the levels of the index with their sizes, the word budget, and the first lines of the sections that
a first search found. All answer with a few sentences and the two levels as JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...llm.grouping import shown
from ...llm.lenient_parser import json_in
from ...llm.prompts import Prompt, load
from .planner import WORDS

if TYPE_CHECKING:
    from .planner import Metadata

#: The most places at which an object is looked for, from the end.
_MOST_STARTS = 64
_THOUGHT, _FENCE = re.compile(r"<think>.*?</think>", re.DOTALL), re.compile(r"```\w*")
_JSON_AT_END = re.compile(r"\{[^{}]*\}$")
#: The most characters of the sentences before the levels that are kept as the reason of a plan.
LONGEST_REASON = 300


def system() -> Prompt:
    """Return the system message."""
    return load("plan")


def user(query: str, metadata: Metadata) -> str:
    r"""Return the message with the question and the facts about the index.

    Example:
        >>> from pychunk.index.planners.planner import Metadata
        >>> print(user("Who?", Metadata(("sentence", "document"), (9, 2), words=500, headings=("Cats",))))
        Question: Who?
        <BLANKLINE>
        Levels:
        - sentence: 9
        - document: 2
        <BLANKLINE>
        Words: 500
        <BLANKLINE>
        Sections that a first search found:
        - Cats
    """
    counts = metadata.nodes or (0,) * len(metadata.levels)
    levels = "\n".join(f"- {level}: {count}" for level, count in zip(metadata.levels, counts, strict=True))
    parts = [f"Question: {shown(query)}", f"Levels:\n{levels}", f"Words: {metadata.words or WORDS}"]
    if metadata.headings:
        lines = "\n".join(f"- {shown(line)}" for line in metadata.headings)
        parts.append(f"Sections that a first search found:\n{lines}")
    return "\n\n".join(parts)


def read(text: str, metadata: Metadata) -> tuple[str, str, str]:
    """Return the finest level, the coarsest level and the sentences before them, from a model's answer.

    The last JSON object with both levels counts, because models may name others while they think.

    Raises:
        ValueError: The answer does not name two levels of the index, the finer first.

    Example:
        >>> from pychunk.index.planners.planner import Metadata
        >>> read('It asks for a name. {"low": "sentence", "high": "sentence"}', Metadata(("sentence", "document")))
        ('sentence', 'sentence', 'It asks for a name.')
    """
    levels = list(metadata.levels)
    at = len(text)
    low = high = None
    for _ in range(_MOST_STARTS):
        at = text.rfind("{", 0, at)
        if at < 0:
            break
        found = json_in(text[at:])
        if isinstance(found, dict) and {"low", "high"} <= set(found):
            low, high = found["low"], found["high"]
            break
    if low not in levels or high not in levels or levels.index(low) > levels.index(high):
        raise ValueError(f"the model must name two levels of the index, the finer first; got {text[:80]!r}")
    return low, high, sentences_of(text[:at])[:LONGEST_REASON]


def sentences_of(text: str) -> str:
    r"""Return the sentences of an answer on one line, without thoughts, fences and JSON at its end.

    Example:
        >>> sentences_of('<think>hm</think>It asks for {a name}.\n```json\n{"low": "sentence"}\n```')
        'It asks for {a name}.'
    """
    kept = _THOUGHT.sub(" ", text)
    kept = _FENCE.sub(" ", kept)
    return " ".join(_JSON_AT_END.sub("", kept.rstrip()).split())
