"""Queries rewritten by a model: what ``Index.search(rewrite=...)`` takes as ``"hyde"`` and ``"multi"``."""

from __future__ import annotations

from collections.abc import Sequence

from .client import LLM
from .default_client import DefaultClient
from .errors import LLMError
from .json_schemas import TEXT, list_of, object_of
from .messages import Request, Response
from .plain_text import plain
from .prompts import load
from .repair import AnswerError, once_more, texts

#: Longest passage and longest query that are searched by, in characters; longest answers, in tokens.
PASSAGE, QUERY = 1000, 300
_PASSAGE_TOKENS, _QUERY_TOKENS = 256, 64
_SCHEMA = object_of(queries=list_of(TEXT))

#: A query with what else it is searched by, each with its weight; or why there is nothing else.
Rewritten = list[tuple[str, float]] | Exception


class _LLMQueries(DefaultClient):
    """What both have: a client, and how much the texts that it writes count."""

    batched = True

    def __init__(self, llm: LLM | None, weight: float) -> None:
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
            raise ValueError(f"weight must be a number above 0; got {weight!r}")
        super().__init__(llm)
        self.weight = float(weight)


class Hyde(_LLMQueries):
    """Searches by the query and by a passage that would answer it, which a model writes: one call a query.

    The passage need not be true: it has the words and the meaning of one that is. What is cut off at its end, or is
    longer than 1,000 characters, counts as far as it goes.

    Args:
        llm: the client; None: by the environment (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        weight: of the passage beside the query's 1.

    Raises:
        ValueError: no endpoint is named, or the weight is out of range.

    Source: Gao et al., Precise Zero-Shot Dense Retrieval without Relevance Labels (2022).

    Example:
        >>> rewrite = Hyde(LLM("http://127.0.0.1:8099/v1", "test", dry_run=True, cache=False))
        >>> rewrite(["Why do cats purr?"]), rewrite.llm.account.total.calls
        ([[('Why do cats purr?', 1.0)]], 1)
    """

    def __init__(self, llm: LLM | None = None, *, weight: float = 1.0) -> None:
        super().__init__(llm, weight)
        self.__name__ = "hyde"

    def __call__(self, queries: Sequence[str]) -> list[Rewritten]:
        """Of each query what it is searched by, or why there was no passage."""
        prompt = load("hyde")
        asks = [
            Request(
                " ".join(query.split()),
                prompt.system,
                stage="rewrite",
                version=prompt.version,
                max_tokens=_PASSAGE_TOKENS,
            )
            for query in queries
        ]
        out: list[Rewritten] = []
        for query, reply in zip(queries, self.replies(asks), strict=True):
            passage = "" if reply.fault and reply.finish != "length" else plain(reply.text, PASSAGE)
            if passage:
                out.append([(query, 1.0), (passage, self.weight)])
            else:
                out.append(_without(query, reply, self.llm))
        return out


class MultiQuery(_LLMQueries):
    """Searches by the query and by others that a model writes for it, each with a part of ``weight``: one call a query.

    An answer of no use is asked for once more with its fault named.

    Args:
        llm: the client; None: by the environment (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        n: other queries, at most; a model may give fewer.
        weight: of all of them together beside the query's 1.

    Raises:
        ValueError: no endpoint is named, or a number is out of range.

    Example:
        >>> MultiQuery(LLM("http://127.0.0.1:8099/v1", "test", dry_run=True, cache=False), n=4).n
        4
    """

    def __init__(self, llm: LLM | None = None, *, n: int = 3, weight: float = 1.0) -> None:
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 32:
            raise ValueError(f"n must be a whole number from 1 to 32; got {n!r}")
        super().__init__(llm, weight)
        self.n, self.__name__ = n, "multi"

    def __call__(self, queries: Sequence[str]) -> list[Rewritten]:
        """Of each query what it is searched by, or why there were no others."""
        found = [
            self._read(query, reply)
            for query, reply in zip(queries, self.replies([self._ask(query) for query in queries]), strict=True)
        ]
        again = [place for place, each in enumerate(found) if isinstance(each, AnswerError)]
        asks = [self._ask(queries[place], str(found[place])) for place in again]
        for place, reply in zip(again, self.replies(asks) if asks else [], strict=True):
            found[place] = self._read(queries[place], reply)
        return found

    def _ask(self, query: str, fault: str = "") -> Request:
        prompt = load("multi")
        return Request(
            f"{once_more(fault)}Number: {self.n}\nQuestion: {' '.join(query.split())}",
            prompt.system,
            stage="rewrite",
            version=prompt.version,
            schema=_SCHEMA,
            max_tokens=32 + _QUERY_TOKENS * self.n,
        )

    def _read(self, query: str, reply: Response) -> Rewritten:
        if reply.fault:
            return _without(query, reply, self.llm)
        try:
            found = texts(reply.text, "queries", QUERY)
        except AnswerError as fault:
            return fault
        others = [each for each in found if each.casefold() != plain(query, QUERY).casefold()][: self.n]
        if not others:
            return AnswerError("it repeated the question")
        return [(query, 1.0), *((each, self.weight / len(others)) for each in others)]


def _without(query: str, reply: Response, llm: LLM) -> Rewritten:
    """Why there is nothing beside the query; the query alone where nothing was asked, for a count of what would be."""
    if llm.dry_run:
        return [(query, 1.0)]
    return LLMError(reply.error) if reply.error else AnswerError(reply.fault or "the answer held no text")
