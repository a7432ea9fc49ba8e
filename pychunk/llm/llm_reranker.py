"""The rerankers that ask an LLM. ``pychunk.index.Rerank`` takes them as functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from ..chunks.render import as_read
from .account import Counts
from .client import LLM
from .default_client import DefaultClient
from .grouping import shown
from .json_schemas import WHOLE, list_of, object_of
from .messages import Request, Response
from .prompts import load
from .repair import once_more, order, read_or_fault

#: The number of candidates requested for the first token of an answer: the most that endpoints commonly give.
_CANDIDATES = 20
_SCHEMA = object_of(order=list_of(WHOLE))


class HasText(Protocol):
    """The part of a hit that a reranker needs. It reads :meth:`pychunk.Hit.render` if the document has a tree."""

    @property
    def text(self) -> str:
        """The text of the hit."""
        ...


class Logprob(DefaultClient):
    """A reranker that scores each hit by how certain an LLM is that the hit answers the query.

    The score is sigmoid(log p(yes) - log p(no)). There is one call for each hit. p(yes) and p(no) are probabilities of
    the answer's first token. If yes or no is not among the candidates for this token, it counts as likely as the least
    likely candidate.

    Args:
        llm: The client, or None for the one that the environment names (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        votes: The number of calls for each hit, at temperature 1, for an endpoint without log-probabilities. The score
            is then the share of answers that are yes. 0 uses log-probabilities.

    Raises:
        ValueError: The endpoint gives no log-probabilities, and ``votes`` is 0. The error is raised after the first
            call.

    Example:
        >>> rerank = Logprob(LLM("http://127.0.0.1:8099/v1", "test"))
        >>> rerank.__name__
        'logprob'
    """

    def __init__(self, llm: LLM | None = None, *, votes: int = 0) -> None:
        if isinstance(votes, bool) or not isinstance(votes, int) or not 0 <= votes <= 100:
            raise ValueError(f"votes must be a whole number from 0 to 100; got {votes!r:.80}")
        super().__init__(llm)
        self.votes, self.__name__ = votes, "logprob"

    def __call__(self, queries: Sequence[str], hits: Sequence[Sequence[HasText]]) -> list[list[float]]:
        """Return scores from 0 to 1, or NaN for a call without an answer."""
        pairs = [(query, as_read(hit)) for query, own in zip(queries, hits, strict=True) for hit in own]
        if self.llm.dry_run:
            self.replies(self._votes(pairs) if self.votes else self._asks(pairs))
            return [[0.0] * len(own) for own in hits]
        scores = iter(self._by_votes(pairs) if self.votes else self._by_logprobs(pairs))
        return [[next(scores) for _ in own] for own in hits]

    def _by_logprobs(self, pairs: list[tuple[str, str]]) -> list[float]:
        asks = self._asks(pairs)
        replies = self.replies(asks[:1])  # a single call shows whether log-probabilities are missing
        if replies and not replies[0].error and replies[0].logprobs is None:
            raise ValueError(
                f"{self.llm.url}, model {self.llm.model!r}, gives no log-probabilities: pass votes=5 to ask five "
                "times for each hit, or use the reranker Listwise"
            )
        replies += self.replies(asks[1:])
        return [sureness(reply) for reply in replies]

    def _by_votes(self, pairs: list[tuple[str, str]]) -> list[float]:
        replies = iter(self.replies(self._votes(pairs)))
        out = []
        for _ in pairs:
            words = [_word(reply.text) for reply in (next(replies) for _ in range(self.votes))]
            said = [word == "yes" for word in words if word in ("yes", "no")]
            out.append(sum(said) / len(said) if said else math.nan)
        return out

    def _asks(self, pairs: list[tuple[str, str]]) -> list[Request]:
        return [self._ask(*pair, logprobs=_CANDIDATES) for pair in pairs]

    def _votes(self, pairs: list[tuple[str, str]]) -> list[Request]:
        voted = [{"temperature": 1.0, "seed": seed} for seed in range(self.votes)]
        return [self._ask(*pair, parameters=each) for pair in pairs for each in voted]

    def _ask(self, query: str, text: str, **more: object) -> Request:
        prompt = load("relevance")
        user = f"Question: {shown(query)}\n\nPassage: {shown(text)}"
        longest = 1 if "logprobs" in more else 4
        made = Request(user, prompt.system, stage="rerank", version=prompt.version, max_tokens=longest)
        return Request(**{**vars(made), **more})


class Listwise(DefaultClient):
    """A reranker that asks an LLM to order windows of hits, beginning with the window of the last hits.

    A window holds ``window`` hits, and the next one begins ``step`` hits earlier. Windows overlap if ``step`` is below
    ``window``, so that a good hit can rise from the end to the front. The requests of all queries for the same window
    are sent together. In an answer, repeated numbers and numbers without a hit are ignored. Hits that the answer does
    not name follow in their previous order. After an unusable answer, the LLM is asked once more with the fault named.
    If that answer is unusable, too, the hits of the window keep their order.

    Source: Sun et al., Is ChatGPT Good at Search? (2023).
    """

    def __init__(self, llm: LLM | None = None, *, window: int = 20, step: int = 10) -> None:
        for name, value, least in (("window", window, 2), ("step", step, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r:.80}")
        if step > window:
            raise ValueError(
                f"step must be at most window={window}, or hits between two windows are in no request; got {step}"
            )
        super().__init__(llm)
        self.window, self.step, self.__name__ = window, step, "listwise"

    def __call__(self, queries: Sequence[str], hits: Sequence[Sequence[HasText]]) -> list[list[float]]:
        """Return scores that decrease by 1 from hit to hit in the new order."""
        orders = [list(range(len(own))) for own in hits]
        ends = [len(own) for own in hits]
        while active := [row for row, end in enumerate(ends) if end > 1]:
            spans = [(row, max(0, ends[row] - self.window), ends[row]) for row in active]
            windows = [(queries[row], [as_read(hits[row][at]) for at in orders[row][a:b]]) for row, a, b in spans]
            for (row, a, b), found in zip(spans, self._ordered(windows), strict=True):
                orders[row][a:b] = [orders[row][a + at] for at in found]
                ends[row] = 0 if a == 0 else b - self.step
        out = [[0.0] * len(own) for own in hits]
        for scores, own in zip(out, orders, strict=True):
            for rank, at in enumerate(own):
                scores[at] = float(len(own) - rank)
        return out

    def _ordered(self, windows: list[tuple[str, list[str]]]) -> list[list[int]]:
        replies = self.replies([self._ask(*each) for each in windows])
        found = [_order(reply, len(texts)) for reply, (_, texts) in zip(replies, windows, strict=True)]
        again = [place for place, each in enumerate(found) if isinstance(each, str) and not self.llm.dry_run]
        replies = self.replies([self._ask(*windows[place], fault=str(found[place])) for place in again])
        for place, reply in zip(again, replies, strict=True):
            found[place] = _order(reply, len(windows[place][1]))
        if not self.llm.dry_run:
            fell_back = sum(isinstance(each, str) for each in found)
            self.llm.account.settle("rerank", Counts(asked=len(found), fell_back=fell_back))
        return [
            list(range(len(texts))) if isinstance(each, str) else each
            for each, (_, texts) in zip(found, windows, strict=True)
        ]

    def _ask(self, query: str, texts: Sequence[str], *, fault: str = "") -> Request:
        prompt = load("listwise")
        lines = [f"[{number}] {shown(text)}" for number, text in enumerate(texts, 1)]
        user = f"{once_more(fault)}Question: {shown(query)}\n\n" + "\n".join(lines)
        longest = 32 + 6 * len(texts)
        return Request(user, prompt.system, stage="rerank", version=prompt.version, schema=_SCHEMA, max_tokens=longest)


def sureness(reply: Response) -> float:
    """Return sigmoid(log p(yes) - log p(no)) of an answer's first token, NaN if it has neither word or no answer.

    Example:
        >>> round(sureness(Response("yes", logprobs=({" Yes": -0.1, "no": -2.4, "YES": -4.0},))), 3)
        0.911
    """
    if reply.error or reply.logprobs is None:
        return math.nan
    first = reply.logprobs[0]
    likely: dict[str, list[float]] = {"yes": [], "no": []}
    for token, logprob in first.items():
        if _word(token) in likely and not math.isnan(logprob):
            likely[_word(token)].append(logprob)
    if not (likely["yes"] or likely["no"]):
        return math.nan
    least = min(first.values())
    yes, no = (_sum(likely[word]) if likely[word] else least for word in ("yes", "no"))
    difference = max(-700.0, min(700.0, yes - no))  # exp() overflows beyond this
    return 1 / (1 + math.exp(-difference))


def _sum(logprobs: list[float]) -> float:
    """Return the logarithm of the sum of the probabilities that these logarithms stand for."""
    most = max(logprobs)
    return most if math.isinf(most) else most + math.log(sum(math.exp(each - most) for each in logprobs))


def _word(token: str) -> str:
    return token.strip().strip(".,!*\"'").lower()


def _order(reply: Response, count: int) -> list[int] | str:
    """Return the indices of the hits in their new order, or the fault of the answer."""
    return read_or_fault(reply, lambda text: order(text, count))
