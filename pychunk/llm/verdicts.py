"""The verdicts of an LLM on chunks. A call shows several numbered chunks, and some may get no verdict."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .client import LLM
from .json_schemas import WHOLE, list_of, object_of, one_of
from .lenient_parser import json_in
from .messages import MESSAGE_TOKENS, Request, Response, estimate
from .prompts import load
from .repair import AnswerError, once_more, read_or_fault

I64 = npt.NDArray[np.int64]

#: The value of a chunk without a verdict.
ABSTAINED = -1
#: The longest chunk that the LLM sees in full, in characters (some 2,000 tokens). If a chunk is longer, the LLM sees
#: its beginning and its end.
SHOWN = 8000
#: The most chunks in one call, and the most tokens of these chunks together.
TOGETHER, WINDOW_TOKENS = 10, 4000
#: The most tokens of an answer: the first number for the JSON around all verdicts, the second for each verdict. They
#: include spaces and line breaks.
_FRAME_TOKENS, _VERDICT_TOKENS = 64, 24
#: The most reasons for calls without a usable answer that are kept in the result.
_REASONS = 5


class VerdictAnswer(NamedTuple):
    """The content of an answer.

    Attributes:
        verdicts: The verdict on each chunk: the index of its word among the possible words, or -1 for none.
        faults: The number of faults of each kind in the answer.
    """

    verdicts: list[int]
    faults: Counter[str]


class Verdicts(NamedTuple):
    """The verdicts on all chunks.

    Attributes:
        values: int64[chunks]: the index of each verdict among the words, -1 for none.
        faults: The counts of faults. ``"missing"``, ``"twice"`` and ``"other word"`` count chunks, ``"unknown id"``
            counts numbers in answers that no chunk has, and ``"no answer"`` counts chunks whose calls had no usable
            answer.
        asked_again: The number of chunks in calls whose first answer was unusable.
        reasons: The distinct reasons why calls had no usable answer even after all repetitions, at most five.
    """

    values: I64
    faults: dict[str, int]
    asked_again: int
    reasons: tuple[str, ...] = ()


class _Call(NamedTuple):
    """The text before the chunks of a call, the rows of the chunks, and the previous answer's fault or ""."""

    about: str
    rows: list[int]
    fault: str


class Judge:
    """A judge that asks an LLM one question about each chunk.

    Args:
        llm: The client.
        task: The name of the prompt.
        words: The possible verdicts, such as ``("no", "yes")``. The value of a verdict is its index.
        stage: The stage under which the account counts the calls.
        language: The language of the prompt.
        together: The most chunks in one call.
        window_tokens: The most tokens of the chunks in one call.

    A call shows each chunk on one line after its number, so that no text of a chunk looks like another chunk. A chunk
    gets no verdict if the answer leaves it out, names it twice, or gives it a word that is not in ``words``. The other
    chunks of the call keep their verdicts. If no answer can be read (a refusal, a truncated answer, no JSON), the judge
    asks once more with the fault named. After that, it asks about each of the chunks alone. One text that a model
    refuses therefore does not cost other chunks their verdicts.
    """

    def __init__(
        self,
        llm: LLM,
        task: str,
        words: Sequence[str] = ("no", "yes"),
        *,
        stage: str = "judge",
        language: str = "en",
        together: int = TOGETHER,
        window_tokens: int = WINDOW_TOKENS,
    ) -> None:
        for name, value, least in (("together", together, 1), ("window_tokens", window_tokens, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r:.80}")
        self.llm, self.words, self.stage = llm, tuple(words), stage
        self.together, self.window_tokens = together, window_tokens
        self.prompt = load(task, language)

    def __call__(self, texts: Sequence[str], *, about: str = "", seed: int | None = 0) -> Verdicts:
        """Return the verdicts on chunks.

        Args:
            texts: The chunks.
            about: A text that each call shows before the chunks, on a line of its own.
            seed: The seed of the random order in which chunks are shown, or None to keep their order.

        Raises:
            LLMError: The endpoint is missing, the key is wrong, or a limit is reached. See :meth:`LLM.ask_many`.
        """
        order = range(len(texts)) if seed is None else np.random.default_rng(seed).permutation(len(texts)).tolist()
        return self.of_windows(len(texts), ((about, each) for each in self.windows(texts, order)), texts)

    def of_windows(self, count: int, windows: Iterable[tuple[str, list[int]]], texts: Sequence[str]) -> Verdicts:
        """Return the verdicts on ``count`` chunks from calls that the caller composes.

        Each of ``windows`` is one call: (text to show before the chunks, rows of the chunks to show).
        """
        values = np.full(count, ABSTAINED, np.int64)
        faults: Counter[str] = Counter()
        first = self._take(((about, rows, "") for about, rows in windows), texts, values, faults)
        asked_again = sum(len(call.rows) for call in first)
        if self.llm.dry_run:
            return Verdicts(values, {}, 0)
        second = self._take(first, texts, values, faults)
        alone = [_Call(call.about, [row], "") for call in second if len(call.rows) > 1 for row in call.rows]
        last = [call for call in second if len(call.rows) == 1] + self._take(alone, texts, values, faults)
        faults["no answer"] += len(last)
        counted = {name: number for name, number in sorted(faults.items()) if number}
        return Verdicts(values, counted, asked_again, tuple(dict.fromkeys(call.fault for call in last))[:_REASONS])

    @property
    def facts(self) -> dict[str, object]:
        """The model, parameters, prompt and call size on which verdicts depend in addition to the text."""
        return {**self.llm.facts, "prompt": self.prompt.version, "together": self.together}

    def windows(self, texts: Sequence[str], order: Iterable[int]) -> Iterator[list[int]]:
        """Yield the rows of the chunks for each call, taken in the order of ``order``."""
        rows: list[int] = []
        tokens = 0
        for row in order:
            own = MESSAGE_TOKENS + estimate(shown(texts[row]))
            if rows and (len(rows) == self.together or tokens + own > self.window_tokens):
                yield rows
                rows, tokens = [], 0
            rows.append(row)
            tokens += own
        if rows:
            yield rows

    def _take(
        self, calls: Iterable[tuple[str, list[int], str]], texts: Sequence[str], values: I64, faults: Counter[str]
    ) -> list[_Call]:
        """Make calls, record verdicts and faults, and return the calls without a usable answer, with their faults.

        Memory grows only with the number of calls without a usable answer.
        """
        waiting: deque[tuple[str, list[int]]] = deque()
        left = []

        def asks() -> Iterator[Request]:
            for about, rows, fault in calls:
                waiting.append((about, rows))
                yield self._ask(about, [texts[row] for row in rows], fault)

        for reply in self.llm.stream(asks()):
            about, rows = waiting.popleft()
            found = self._read(reply, len(rows))
            if isinstance(found, str):
                left.append(_Call(about, rows, found))
            else:
                values[rows] = found.verdicts
                faults.update(found.faults)
        return left

    def _read(self, reply: Response, count: int) -> VerdictAnswer | str:
        return read_or_fault(reply, lambda text: read(text, count, self.words))

    def _ask(self, about: str, texts: Sequence[str], fault: str) -> Request:
        lines = [f"[{number}] {shown(text)}" for number, text in enumerate(texts, 1)]
        before = f"{shown(about)}\n\n" if about else ""
        return Request(
            once_more(fault) + before + "\n".join(lines),
            self.prompt.system,
            stage=self.stage,
            version=self.prompt.version,
            schema=_schema(self.words),
            max_tokens=_FRAME_TOKENS + _VERDICT_TOKENS * len(texts),
        )


def read(text: str, count: int, words: Sequence[str]) -> VerdictAnswer:
    """Return the verdicts in an answer about ``count`` chunks, which are numbered from 1.

    The function is strict. A chunk's number must consist of digits only, and a verdict must be one of ``words``, in
    upper or lower case. The JSON may be in fences or between other words.

    Raises:
        AnswerError: The answer holds no JSON with a list of verdicts, or names no existing chunk.

    Example:
        >>> read('{"verdicts": [{"id": 1, "verdict": "Yes"}, {"id": 2, "verdict": "maybe"}]}', 2, ("no", "yes"))
        VerdictAnswer(verdicts=[1, -1], faults=Counter({'other word': 1}))
    """
    found = json_in(text)
    given = found.get("verdicts") if isinstance(found, dict) else found
    if not isinstance(given, list):
        raise AnswerError('the answer held no JSON with a list "verdicts"')
    numbers = {str(number): number - 1 for number in range(1, count + 1)}
    values = {word: value for value, word in enumerate(words)}
    said: dict[int, list[int]] = {}
    faults: Counter[str] = Counter()
    for each in given:
        item = each if isinstance(each, dict) else {}
        place = numbers.get(_word(item.get("id")))
        if place is None:
            faults["unknown id"] += 1
        else:
            said.setdefault(place, []).append(values.get(_word(item.get("verdict")), ABSTAINED))
    if not said:
        raise AnswerError(f"the answer named no chunk from 1 to {count}")
    out = [ABSTAINED] * count
    for place in range(count):
        own = said.get(place, [])
        if len(own) == 1:
            out[place] = own[0]
        fault = "missing" if not own else "twice" if len(own) > 1 else "other word" if own[0] == ABSTAINED else ""
        faults.update([fault] if fault else [])
    return VerdictAnswer(out, faults)


def shown(text: str) -> str:
    r"""Return a chunk on one line, with a mark for each line break. A long chunk loses its middle.

    >>> shown("a\n\n[2]  b\n"), len(shown("x" * 9000))
    ('a ¶ [2] b', 8003)
    """
    lines = (" ".join(line.split()) for line in text.splitlines())
    line = " ¶ ".join(filter(None, lines))
    return line if len(line) <= SHOWN else f"{line[: SHOWN // 2]} … {line[-SHOWN // 2 :]}"


def _word(value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else value.strip().lower() if isinstance(value, str) else ""


def _schema(words: Sequence[str]) -> dict[str, Any]:
    return object_of(verdicts=list_of(object_of(id=WHOLE, verdict=one_of(words))))
