"""Query rewriting by an LLM. In ``pychunk.index.Rewrite`` its names are ``"hyde"`` and ``"multi"``."""

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

#: The longest passage and the longest added query that a search uses, in characters. The line below has the limits on
#: their answers, in tokens.
PASSAGE, QUERY = 1000, 300
_PASSAGE_TOKENS, _QUERY_TOKENS = 256, 64
_SCHEMA = object_of(queries=list_of(TEXT))

#: The query and the texts to add to it, each with its weight, or the error because of which nothing is added.
Rewritten = list[tuple[str, float]] | Exception


class _LLMQueries(DefaultClient):
    """A base class with the client and the weight of the texts that the LLM writes."""

    batched = True

    def __init__(self, llm: LLM | None, weight: float) -> None:
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
            raise ValueError(f"weight must be a finite number above 0; got {weight!r:.80}")
        super().__init__(llm)
        self.weight = float(weight)


class Hyde(_LLMQueries):
    """A query rewriting that adds a passage that would answer the query. An LLM writes it in one call.

    The passage need not be true, because its words and meaning resemble those of a true passage. A passage that was cut
    off at the token limit is used, too. Only the first 1,000 characters of a passage are used.

    Args:
        llm: The client, or None for the one that the environment names (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        weight: The weight of the passage, relative to 1 for the query.

    Raises:
        ValueError: No endpoint is named, or the weight is out of range.

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
        """Return for each query the texts to search by, or the error because of which there is no passage."""
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
    """A query rewriting that adds other queries, which an LLM writes. They share ``weight`` equally.

    There is one call for each query. After an unusable answer, the LLM is asked once more with the fault named.

    Args:
        llm: The client, or None for the one that the environment names (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        n: The most queries to add. An LLM may write fewer.
        weight: The weight of the added queries together, relative to 1 for the query.

    Raises:
        ValueError: No endpoint is named, or a number is out of range.

    Example:
        >>> MultiQuery(LLM("http://127.0.0.1:8099/v1", "test", dry_run=True, cache=False), n=4).n
        4
    """

    def __init__(self, llm: LLM | None = None, *, n: int = 3, weight: float = 1.0) -> None:
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 32:
            raise ValueError(f"n must be an int from 1 to 32; got {n!r:.80}")
        super().__init__(llm, weight)
        self.n, self.__name__ = n, "multi"

    def __call__(self, queries: Sequence[str]) -> list[Rewritten]:
        """Return for each query the texts to search by, or the error because of which there are no added queries."""
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
    """Return the error because of which nothing is added, or in a dry run the query alone."""
    if llm.dry_run:
        return [(query, 1.0)]
    return LLMError(reply.error) if reply.error else AnswerError(reply.fault or "the answer held no text")
