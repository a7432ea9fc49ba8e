"""Summaries that an LLM writes of the nodes of a hierarchy, such as sections and whole documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .chunk_documents import Document
from .llm_contexts import LLMTextSource, Notes

if TYPE_CHECKING:
    from ..llm import LLM, Request

#: The longest node that the LLM sees as a whole, in characters (some 8,000 tokens). If a node is longer, the LLM sees
#: its beginning and its end.
SHOWN = 32_000
#: The column with the levels of a node, and the level that has no summaries.
_LEVELS, _FINEST = "levels", "sentence"


class LevelSummary(LLMTextSource):
    r"""A source of contexts: an LLM summarizes each node of the chosen levels, in one call that is cached.

    Use it with :func:`pychunk.augment` on :meth:`pychunk.Hierarchy.chunks`. A node that is at several levels takes one
    call, and a node that is a single sentence takes none. Nodes of other levels have an empty context. If a call gives
    no usable answer after its retries, the beginning of the node replaces the summary, and ``errors`` says so.

    Args:
        llm: The client. None: the one that the environment describes (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        levels: The levels whose nodes get summaries. None: all but sentences.
        characters: The most characters of a summary.

    Raises:
        ValueError: No endpoint is named, ``characters`` is out of range, or the list of levels is empty. A call raises
            for chunks without the column ``levels``, and for a level at which there is no chunk.

    Example:
        >>> import pychunk
        >>> from pychunk.llm import LLM
        >>> llm = LLM("http://127.0.0.1:8099/v1", "test", cache=False, dry_run=True)
        >>> text = "Cats\n\nThey purr. They sleep.\n\nDogs\n\nThey bark."
        >>> found = pychunk.segment_levels(text, ["section", "document"])
        >>> chunks = pychunk.augment(found.chunks(), LevelSummary(llm, levels=["section", "document"]))
        >>> llm.account.total.calls  # two sections and the document
        3

    Summaries of the nodes of a tree were proposed by Sarthi et al., RAPTOR (2024), and by SmartChunk. The prompt comes
    from neither. In an index with an encoder, a summary counts in BM25 and in the vector of its node.
    """

    name, task, instead = "levels:llm", "level_summary", "its beginning"
    usual: ClassVar[dict[str, int]] = {"characters": 400}

    def __init__(self, llm: LLM | None = None, *, levels: Sequence[Any] | None = None, characters: int = 400) -> None:
        if levels is not None and (isinstance(levels, str) or not levels):
            raise ValueError(f"levels must be a list of levels, such as ['section']; got {levels!r:.80}")
        self.levels = None if levels is None else [str(level) for level in levels]
        super().__init__(llm, characters, window=1)

    @property
    def options(self) -> dict[str, int]:
        """The options by name."""
        return {"characters": self.characters}

    @property
    def facts(self) -> dict[str, object]:
        """The facts that contexts depend on in addition to the text and the options."""
        return {**super().facts, "levels": self.levels}

    def contexts(self, documents: Sequence[Document]) -> tuple[list[list[str]], Notes]:
        """Return the contexts and notes, as :class:`~.llm_contexts.LLMTextSource` does.

        Raises:
            ValueError: The chunks are not nodes of these levels. In that case the LLM is not asked.
        """
        known: set[str] = set()
        for document in documents:
            if _LEVELS not in document.chunks.column_names:
                raise ValueError(
                    "levels:llm takes the chunks of a hierarchy, but these have no column 'levels': pass "
                    "Hierarchy.chunks()"
                )
            known.update(name for own in document.chunks[_LEVELS].to_pylist() for name in own)
        unknown = sorted(set(self.levels or ()) - known)
        if unknown and documents:
            raise ValueError(f"levels:llm: no chunk is at level {unknown[0]}; name one of {', '.join(sorted(known))}")
        return super().contexts(documents)

    def _rows(self, document: Document) -> list[int]:
        """Return the rows of the chunks that are summarized."""
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
