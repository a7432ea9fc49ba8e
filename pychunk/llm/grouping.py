"""The grouping of units, such as sentences, by an LLM, window by window.

Units are numbered. After an unusable answer, the LLM is asked once more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .account import Counts
from .client import LLM
from .errors import LLMError
from .messages import Request, Response, estimate
from .prompts import load
from .repair import FORMS, Groups, Propositions, once_more, read_or_fault

#: The pattern of endpoints' messages about a request that is longer than the model's context.
_TOO_LONG = re.compile(r"context (length|window|size)|maximum context|too many tokens|(prompt|input) is too long", re.I)
#: The longest unit that the LLM sees in full, in characters. If a unit is longer, the LLM sees its beginning and its
#: end.
SHOWN = 2000


class WindowResult(NamedTuple):
    """The result for one window.

    Attributes:
        groups: The groups or propositions of the window, or None without a usable answer.
        fault: The reason why there is no usable answer, else "".
        ends: Whether asking once more would be useless.
    """

    groups: Groups | Propositions | None
    fault: str = ""
    ends: bool = False


class Grouper:
    """The function that methods call to ask an LLM about windows of units.

    Args:
        llm: The client.
        task: The name of the method, which selects the prompt and the form of the answer.
        language: The language of the prompt.
    """

    def __init__(self, llm: LLM, task: str, language: str = "en") -> None:
        self.llm, self.task = llm, task
        self.prompt, self.form = load(task, language), FORMS[task]

    def __call__(self, windows: Sequence[Sequence[str]]) -> list[WindowResult]:
        """Return the result for each window, which is a list of the texts of its units.

        Raises:
            LLMError: The endpoint is missing, the key is wrong, a limit is reached (see :meth:`LLM.ask_many`), or a
                unit is longer than the model's context.
        """
        asks = [self._ask(units) for units in windows]
        read = [self._read(reply, len(units)) for reply, units in zip(self.llm.ask_many(asks), windows, strict=True)]
        again = [place for place, each in enumerate(read) if each.groups is None and not each.ends]
        again = [] if self.llm.dry_run else again
        second = [self._ask(windows[place], read[place].fault) for place in again]
        for place, reply in zip(again, self.llm.ask_many(second), strict=True):
            read[place] = self._read(reply, len(windows[place]))
        if not self.llm.dry_run:
            fell_back = sum(each.groups is None for each in read)
            self.llm.account.settle(self.task, Counts(asked=len(read), fell_back=fell_back))
        return read

    @property
    def dry_run(self) -> bool:
        """True if the LLM is not asked, so that no window has an answer."""
        return self.llm.dry_run

    @property
    def facts(self) -> dict[str, object]:
        """The model, parameters and prompt on which results depend in addition to the text."""
        return {**self.llm.facts, "prompt": self.prompt.version}

    def _ask(self, units: Sequence[str], fault: str = "") -> Request:
        lines = [f"[{number}] {shown(text)}" for number, text in enumerate(units, 1)]
        longest = 64 + self.form.tokens * len(units) + self.form.again * sum(map(estimate, lines))
        return Request(
            once_more(fault) + "\n".join(lines),
            self.prompt.system,
            stage=self.task,
            version=self.prompt.version,
            schema=self.form.schema,
            max_tokens=longest,
        )

    def _read(self, reply: Response, count: int) -> WindowResult:
        if _TOO_LONG.search(reply.error):
            if count == 1:
                raise LLMError(
                    f"the context window of model {self.llm.model!r} is too short for a single unit of a document: "
                    f"name a model with a longer one (model=, PYCHUNK_LLM_MODEL); {reply.error}"
                )
            return WindowResult(None, f"{reply.error}; lower window_tokens", ends=True)
        found = read_or_fault(reply, lambda text: self.form.read(text, count))
        return WindowResult(None, found) if isinstance(found, str) else WindowResult(found)


def shown(text: str) -> str:
    r"""Return a unit on one line, so that it cannot look like two units. A long one loses its middle.

    >>> shown("a\n[2] b"), len(shown("x" * 9000))
    ('a [2] b', 2003)
    """
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN // 2]} … {line[-SHOWN // 2 :]}"
