"""Questions about sections of articles: an article's title and a heading ask for the section under that heading.

The searched text does not contain the heading itself, but a mark in its place. A search must therefore find the section
by its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._engine.data.blocks import Blocks
from ..evaluation.datasets import lines_with_headings

#: The mark that replaces each heading.
MARK = "§"
#: The fewest words of a section that can answer a question.
LEAST_WORDS = 40
#: Headings that many articles have, and that do not describe a section.
COMMON = frozenset({"see also", "references", "external links", "notes", "further reading", "bibliography", "sources"})


@dataclass(frozen=True)
class Question:
    """A question with the section that answers it: characters [start, end) of a document, without the heading."""

    text: str
    document: int
    start: int
    end: int


@dataclass(frozen=True)
class Sections:
    """Documents with their blocks, and questions about their sections."""

    documents: list[str]
    blocks: Blocks
    questions: list[Question]


def section_questions(titles: Sequence[str], texts: Sequence[str], count: int = 0, seed: int = 0) -> Sections:
    r"""Make questions about articles as WikiExtractor writes them, at most ``count``, drawn with ``seed``; 0 makes all.

    Example:
        >>> text = "Ada lived.\nLife.\n" + "She was born in London. " * 10
        >>> made = section_questions(["Ada Lovelace"], [text])
        >>> made.questions[0].text, made.documents[0][: made.questions[0].start]
        ('Ada Lovelace: Life', 'Ada lived.\n\n§\n\n')
    """
    documents: list[str] = []
    blocks: list[list[tuple[str, int, int, int]]] = []
    questions: list[Question] = []
    for number, (title, text) in enumerate(zip(titles, texts, strict=True)):
        at, parts, own = 0, list[str](), list[tuple[str, int, int, int]]()
        sections: list[tuple[str, int, int]] = []  # heading, first and last character of the text under it
        for _, line, heading in lines_with_headings(text):
            shown = MARK if heading else line.strip()
            own.append(("heading" if heading else "paragraph", int(heading), at, at + len(shown)))
            if heading:
                sections.append((line.rstrip("."), -1, -1))
            elif sections:
                name, start, _ = sections[-1]
                sections[-1] = name, at if start < 0 else start, at + len(shown)
            parts.append(shown)
            at += len(shown) + 2
        document = "\n\n".join(parts)
        documents.append(document)
        blocks.append(own)
        questions += [
            Question(f"{title}: {name}", number, start, end)
            for name, start, end in sections
            if start >= 0 and name.lower() not in COMMON and len(document[start:end].split()) >= LEAST_WORDS
        ]
    if count and count < len(questions):
        drawn = np.random.default_rng(seed).choice(len(questions), count, replace=False)
        questions = [questions[i] for i in np.sort(drawn)]
    return Sections(documents, Blocks.of(blocks), questions)
