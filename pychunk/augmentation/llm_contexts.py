"""Contexts that an LLM writes from a document's ends, from the chunks around a chunk, or from a chunk alone.

For the first two, the LLM reads the same chunks as the sources without an LLM, ``summary`` and ``neighbours``. If a
call gives no usable answer after its retries, the text of that source is used. The LLM writes plain text, which is cut
to size. It is added to the chunk's text and does not change it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from ..defaults import CONTEXTS
from . import context_windows, extractive_summary
from .chunk_documents import Document, Documents

if TYPE_CHECKING:
    from ..llm import LLM, Request

#: The notes about calls without an answer: (row of the document, reason).
Notes = list[tuple[int, str]]


class LLMContextSource(ABC):
    """A source that asks an LLM, with a client, a prompt and two numeric options."""

    name = ""
    usual: ClassVar[dict[str, int]] = {}
    #: The name of the prompt, and the words by which a note names what replaces a missing answer.
    task, instead = "", ""

    def __init__(self, llm: LLM | None, characters: int, window: int) -> None:
        from ..llm.default_client import DefaultClient  # imported here because few calls ask an LLM
        from ..llm.prompts import load

        for name, value in zip(self.usual, (characters, window), strict=False):  # A LevelSummary has no window.
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number from 1; got {value!r:.80}")
        self._held = DefaultClient(llm)
        self._prompt = load(self.task)
        self.characters, self.window = characters, window
        other = [f"{name}={value}" for name, value in self.options.items() if value != self.usual[name]]
        self.__name__ = ":".join([self.name, *([",".join(other)] if other else [])])

    @property
    def llm(self) -> LLM:
        """The client."""
        return self._held.llm

    @property
    def options(self) -> dict[str, int]:
        """The numeric options by name, as ``--augment`` takes them."""
        return {"characters": self.characters, "window": self.window}

    @property
    def facts(self) -> dict[str, object]:
        """The facts that contexts depend on in addition to the text and the options."""
        return {**self.llm.facts, "prompt": self._prompt.version}

    def __str__(self) -> str:
        return f"{self.name}:{','.join(f'{name}={value}' for name, value in self.options.items())}"

    def __call__(self, documents: Sequence[Document]) -> list[list[str]]:
        """Return a context for each chunk of each document, as a function of the caller does."""
        return self.contexts(documents)[0]

    @abstractmethod
    def contexts(self, documents: Sequence[Document]) -> tuple[list[list[str]], Notes]:
        """Return the contexts, with a note for each document for which a call gave no usable answer.

        Raises:
            LLMError: There is no endpoint, a wrong key, or a limit is reached; see :meth:`pychunk.llm.LLM.ask_many`.
        """


class LLMTextSource(LLMContextSource):
    """A source in which every answer is a context, and a source without an LLM replaces missing answers."""

    def contexts(self, documents: Sequence[Document]) -> tuple[list[list[str]], Notes]:
        """Return a context for each chunk of each document, from the LLM's answers, and notes on the answers."""
        from ..llm.plain_text import plain

        asks = [self._asks(document) for document in documents]
        replies = iter(self._held.replies([ask for own in asks for ask in own]))
        found: list[list[str]] = []
        faults: list[list[str]] = []
        for own in asks:
            mine = [next(replies) for _ in own]
            # An answer that stopped at its token limit is usable, because answers are cut to ``characters`` anyway.
            usable = [not reply.fault or reply.finish == "length" for reply in mine]
            found.append(
                [plain(reply.text, self.characters) if use else "" for reply, use in zip(mine, usable, strict=True)]
            )
            empty = [reply for reply, text in zip(mine, found[-1], strict=True) if not text]
            faults.append([reply.fault or "the answer held no text" for reply in empty])
        lost = [number for number, own in enumerate(faults) if own]
        others = self._without([documents[number] for number in lost]) if lost else []
        for number, other in zip(lost, others, strict=True):
            found[number] = [own or instead for own, instead in zip(found[number], other, strict=True)]
        notes = [(documents[number].index, self._note(faults[number], len(asks[number]))) for number in lost]
        out = [self._spread(own, document) for own, document in zip(found, documents, strict=True)]
        return out, [] if self.llm.dry_run else notes

    def _note(self, faults: list[str], count: int) -> str:
        some = f" for {len(faults)} of {count} chunks" if count > 1 else ""
        return f"{self.name}: {self.instead} in place of an answer{some}: {faults[0]}"

    def _asked(self, text: str) -> Request:
        from ..llm import Request

        return Request(
            f"At most {self.characters} characters.\n{text}",
            self._prompt.system,
            stage=self.name,
            version=self._prompt.version,
            max_tokens=max(64, self.characters),
        )

    @abstractmethod
    def _asks(self, document: Document) -> list[Request]:
        """Return the requests about a document."""

    @abstractmethod
    def _without(self, documents: Sequence[Document]) -> list[list[str]]:
        """Return a context for each request about each document, from the source without an LLM."""

    @abstractmethod
    def _spread(self, found: list[str], document: Document) -> list[str]:
        """Return one context for each chunk, from one for each request."""


class LLMSummarySource(LLMTextSource):
    """The source ``summary:llm``: an LLM reads a document's first and last chunks, and summarizes it in one call.

    Args:
        llm: The client. None: the one that the environment describes (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        characters: The most characters of a summary.
        window: The number of chunks that the LLM reads, half of them at the beginning and half at the end. A mark
            between them says how many are missing.

    Raises:
        ValueError: No endpoint is named, or a number is out of range.

    Example:
        >>> from pychunk.llm import LLM
        >>> str(LLMSummarySource(LLM("http://127.0.0.1:8099/v1", "test", cache=False), window=6))
        'summary:llm:characters=250,window=6'
    """

    name, task, instead = "summary:llm", "document_context", "its most central sentences"
    usual: ClassVar[dict[str, int]] = {"characters": CONTEXTS.characters, "window": CONTEXTS.ends}

    def __init__(
        self, llm: LLM | None = None, *, characters: int = CONTEXTS.characters, window: int = CONTEXTS.ends
    ) -> None:
        super().__init__(llm, characters, window)

    def _asks(self, document: Document) -> list[Request]:
        head, tail = (int(each[0]) for each in context_windows.ends(np.array([len(document.texts)]), self.window))
        left_out = len(document.texts) - head - tail
        said = [f"[... {left_out} passage{'' if left_out == 1 else 's'} left out ...]"] if left_out else []
        lines = _lines(document.texts)
        return [self._asked("\n".join([*lines(0, head), *said, *lines(len(document.texts) - tail, None)]))]

    def _without(self, documents: Sequence[Document]) -> list[list[str]]:
        return [[each] for each in extractive_summary.summaries(_together(documents), self.characters, self.window)]

    def _spread(self, found: list[str], document: Document) -> list[str]:
        return found * len(document.texts)


class LLMNeighbourSource(LLMTextSource):
    """The source ``context:llm``: in one call, an LLM reads a chunk and its neighbours, and writes a context.

    Args:
        llm: The client. None: the one that the environment describes (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        characters: The most characters of a context.
        window: The number of other chunks that the LLM reads, half of them before the chunk. Near the start or end of a
            document, more of them come from the other side.

    Raises:
        ValueError: No endpoint is named, or a number is out of range.

    Example:
        >>> from pychunk.llm import LLM
        >>> str(LLMNeighbourSource(LLM("http://127.0.0.1:8099/v1", "test", cache=False)))
        'context:llm:characters=250,window=4'
    """

    name, task, instead = "context:llm", "chunk_context", "the most central sentence around it"
    usual: ClassVar[dict[str, int]] = {"characters": CONTEXTS.characters, "window": CONTEXTS.around}

    def __init__(
        self, llm: LLM | None = None, *, characters: int = CONTEXTS.characters, window: int = CONTEXTS.around
    ) -> None:
        super().__init__(llm, characters, window)

    def _asks(self, document: Document) -> list[Request]:
        count = len(document.texts)
        places = np.arange(count)
        first, end = context_windows.around(np.full(count, count), places, self.window)
        lines = _lines(document.texts)
        return [
            self._asked(f"Passage: {place + 1}\n" + "\n".join(lines(begin, until)))
            for place, begin, until in zip(places.tolist(), first.tolist(), end.tolist(), strict=True)
        ]

    def _without(self, documents: Sequence[Document]) -> list[list[str]]:
        found = iter(extractive_summary.neighbours(_together(documents), self.characters, self.window))
        return [[next(found) for _ in document.texts] for document in documents]

    def _spread(self, found: list[str], document: Document) -> list[str]:
        return found


class LLMPropositionSource(LLMContextSource):
    """The source ``propositions:llm``: an LLM writes each fact of a chunk as a sentence that can be understood alone.

    A call shows as many numbered chunks as fit into ``window_tokens``. Before them it shows the last chunk of the
    previous call, so that the LLM can resolve pronouns. Propositions about that chunk come only from the previous call.
    Each proposition names its chunks, and becomes a line of the context of each of them. :func:`pychunk.augment` also
    adds the lines as lists in the column ``propositions``, from which an index makes a vector of each. If an answer is
    not usable, pychunk asks once more and names the error. If the second answer fails too, the chunks of that call have
    no context, and a note says so.

    Args:
        llm: The client. None: the one that the environment describes (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        characters: The most characters of a chunk's context. Propositions that would exceed it are left out as a whole.
        window_tokens: The most tokens of chunks that a call shows. A token is estimated as four characters. A call
            shows at least one chunk.
        strict: Whether a call without a usable answer raises an error.

    Raises:
        ValueError: No endpoint is named, or a number is out of range.

    Example:
        >>> from pychunk.llm import LLM
        >>> str(LLMPropositionSource(LLM("http://127.0.0.1:8099/v1", "test", cache=False)))
        'propositions:llm:characters=2000,window_tokens=1000'
    """

    name, task, instead = "propositions:llm", "proposition", "no context"
    usual: ClassVar[dict[str, int]] = {"characters": 2000, "window_tokens": 1000}

    def __init__(
        self, llm: LLM | None = None, *, characters: int = 2000, window_tokens: int = 1000, strict: bool = False
    ) -> None:
        super().__init__(llm, characters, window_tokens)
        self.strict = strict

    @property
    def options(self) -> dict[str, int]:
        """The limits on a context and on a request's window of chunks."""
        return {"characters": self.characters, "window_tokens": self.window}

    def contexts(self, documents: Sequence[Document]) -> tuple[list[list[str]], Notes]:
        """Return the propositions of each chunk of each document as its context, and notes on the answers."""
        from ..llm.grouping import Grouper
        from ..llm.repair import Propositions

        spans = [context_windows.filled([len(each) for each in own.texts], self.window) for own in documents]
        shown = [
            own.texts[max(0, first - 1) : end]
            for own, parts in zip(documents, spans, strict=True)
            for first, end in parts
        ]
        try:
            answers = iter(Grouper(self.llm, self.task)(shown))
        finally:
            self._held.rest()
        out: list[list[str]] = []
        notes: Notes = []
        for own, parts in zip(documents, spans, strict=True):
            found: list[str] = []
            for number, (first, end) in enumerate(parts, 1):
                answer = next(answers)
                where = f"call {number} of {len(parts)}"
                if isinstance(answer.groups, Propositions):
                    found += [self._fitting(said) for said in answer.groups.said[min(1, first) :]]
                    continue
                found += [""] * (end - first)
                if self.llm.dry_run:
                    continue
                if self.strict:
                    raise ValueError(
                        f"document {own.index}, {where}: {answer.fault}; pass strict=False to go on with {self.instead}"
                    )
                chunks = f"chunk {first}" if end == first + 1 else f"chunks {first} to {end - 1}"
                notes.append((own.index, f"{self.name}: {self.instead} for {chunks} ({where}): {answer.fault}"))
            out.append(found)
        return out, notes

    def _fitting(self, said: list[str]) -> str:
        """Return the propositions of a chunk in their order, as many as fit."""
        kept: list[str] = []
        left = self.characters + 1
        for each in said:
            left -= len(each) + 1
            if left < 0:
                break
            kept.append(each)
        return "\n".join(kept)


#: The sources that ask an LLM, by name.
BY_MODEL: dict[str, type[LLMContextSource]] = {
    each.name: each for each in (LLMSummarySource, LLMNeighbourSource, LLMPropositionSource)
}


def asks_model(how: Any) -> bool:
    """Return whether a source, or one of several, asks an LLM.

    >>> asks_model(["title", "context:llm:window=2"]), asks_model("summary")
    (True, False)
    """
    if isinstance(how, (list, tuple)):
        return any(map(asks_model, how))
    return isinstance(how, LLMContextSource) or (isinstance(how, str) and ":".join(how.split(":")[:2]) in BY_MODEL)


def _lines(texts: list[str]) -> Callable[[int, int | None], list[str]]:
    """Return a function of (first, end) that returns chunks as numbered lines and makes each line once."""
    from ..llm.grouping import shown

    known: dict[int, str] = {}

    def lines(first: int, end: int | None) -> list[str]:
        for place in range(first, len(texts) if end is None else end):
            known.setdefault(place, f"[{place + 1}] {shown(texts[place])}")
        return [known[place] for place in range(first, len(texts) if end is None else end)]

    return lines


def _together(documents: Sequence[Document]) -> Documents:
    """Return the documents with all their chunks in one table."""
    sizes = [document.chunks.num_rows for document in documents]
    return Documents(pa.concat_tables([document.chunks for document in documents]), np.cumsum([0, *sizes]))
