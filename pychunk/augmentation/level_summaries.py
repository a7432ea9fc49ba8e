"""Summaries of the nodes of a hierarchy, by a model: what a section or a document is about, beside its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .chunk_documents import Document
from .llm_contexts import LLMTextSource, Notes

if TYPE_CHECKING:
    from ..llm import LLM, Request

#: Longest node that is shown whole, in characters, some 8,000 tokens; of a longer one its beginning and its end.
SHOWN = 32_000
#: The column that says at which levels a node is, and the one that nobody has summarised.
_LEVELS, _FINEST = "levels", "sentence"


class LevelSummary(LLMTextSource):
    """What each node of some levels is about, by a model that reads the node; one call a node, cached.

    For :func:`pychunk.augment` of :meth:`pychunk.Hierarchy.chunks`. A node that is at several levels is asked about
    once, and one that is a single sentence not at all; nodes of other levels have the empty context. Where a call has
    no answer of use after its retries the node's beginning stands in, and ``errors`` says so.

    Args:
        llm: the client; None: by the environment (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        levels: whose nodes; None: all but sentences.
        characters: longest summary.

    Raises:
        ValueError: no endpoint is named, ``characters`` out of range, an empty list of levels; when it is called,
            chunks without the column ``levels``, or a level that no chunk of them is at.

    Example:
        >>> import pychunk
        >>> from pychunk.llm import LLM
        >>> llm = LLM("http://127.0.0.1:8099/v1", "test", cache=False, dry_run=True)
        >>> text = "Cats\\n\\nThey purr. They sleep.\\n\\nDogs\\n\\nThey bark."
        >>> found = pychunk.segment(text, levels=["section", "document"])
        >>> chunks = pychunk.augment(found.chunks(), LevelSummary(llm, levels=["section", "document"]))
        >>> llm.account.total.calls  # two sections and the document
        3

    Source: summaries of the nodes of a tree are those of Sarthi et al., RAPTOR (2024), and of SmartChunk; the prompt is
    ours, and vectors stay those of the text.
    """

    name, task, instead = "levels:llm", "level_summary", "its beginning"
    usual: ClassVar[dict[str, int]] = {"characters": 400}

    def __init__(self, llm: LLM | None = None, *, levels: Sequence[Any] | None = None, characters: int = 400) -> None:
        if levels is not None and (isinstance(levels, str) or not levels):
            raise ValueError(f"levels must be a list of levels, such as ['section']; got {levels!r}")
        self.levels = None if levels is None else [str(level) for level in levels]
        super().__init__(llm, characters, window=1)

    @property
    def options(self) -> dict[str, int]:
        """By name."""
        return {"characters": self.characters}

    @property
    def facts(self) -> dict[str, object]:
        """What contexts depend on besides the text and the options."""
        return {**super().facts, "levels": self.levels}

    def contexts(self, documents: Sequence[Document]) -> tuple[list[list[str]], Notes]:
        """As of :class:`~.llm_contexts.Asked`.

        Raises:
            ValueError: chunks that are no nodes of these levels; nothing is asked then.
        """
        known: set[str] = set()
        for document in documents:
            if _LEVELS not in document.chunks.column_names:
                raise ValueError("levels:llm is for the chunks of a hierarchy: these have no column levels")
            known.update(name for own in document.chunks[_LEVELS].to_pylist() for name in own)
        unknown = sorted(set(self.levels or ()) - known)
        if unknown and documents:
            raise ValueError(f"levels:llm: no chunk is at level {unknown[0]}; there are {', '.join(sorted(known))}")
        return super().contexts(documents)

    def _rows(self, document: Document) -> list[int]:
        """The chunks that are asked about."""
        wanted = None if self.levels is None else set(self.levels)
        return [
            row
            for row, own in enumerate(document.chunks[_LEVELS].to_pylist())
            if _FINEST not in own and (wanted is None or wanted & set(own))
        ]

    def _asks(self, document: Document) -> list[Request]:
        return [self._asked(_shown(document.texts[row])) for row in self._rows(document)]

    def _without(self, documents: Sequence[Document]) -> list[list[str]]:
        from ..llm.plain_text import plain

        return [[plain(each.texts[row], self.characters) for row in self._rows(each)] for each in documents]

    def _spread(self, found: list[str], document: Document) -> list[str]:
        out = np.full(len(document.texts), "", object)
        out[self._rows(document)] = found
        return list(out)


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]}\n…\n{text[-SHOWN // 2 :]}"
