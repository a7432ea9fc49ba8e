"""Windows of numbered units to groups, or to texts of each: asked, read, asked once more, given up."""

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

#: What endpoints say of a question that is longer than the model's context.
_TOO_LONG = re.compile(r"context (length|window|size)|maximum context|too many tokens|(prompt|input) is too long", re.I)
#: Longest unit that is shown whole, in characters; of a longer one its beginning and its end.
SHOWN = 2000


class WindowResult(NamedTuple):
    """What was decided of a window; ``groups`` is None where no answer was of use, and ``fault`` says why.

    ``ends``: another question would have no better answer.
    """

    groups: Groups | Propositions | None
    fault: str = ""
    ends: bool = False


class Grouper:
    """What methods that ask a model are handed.

    Args:
        llm: the client.
        task: the name of the method, by which its prompt and the form of its answer are known.
        language: of the prompt.
    """

    def __init__(self, llm: LLM, task: str, language: str = "en") -> None:
        self.llm, self.task = llm, task
        self.prompt, self.form = load(task, language), FORMS[task]

    def __call__(self, windows: Sequence[Sequence[str]]) -> list[WindowResult]:
        """Of each window, which is a list of the texts of its units.

        Raises:
            LLMError: no endpoint, a wrong key, a limit, see :meth:`LLM.ask_many`; a unit is longer than the context.
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
        """Whether nothing is asked, and every window is without an answer for that reason."""
        return self.llm.dry_run

    @property
    def facts(self) -> dict[str, object]:
        """What decisions depend on besides the text."""
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
                    f"the context of model {self.llm.model!r} holds not one unit of a document: name one with a longer "
                    f"one (model=, PYCHUNK_LLM_MODEL); {reply.error}"
                )
            return WindowResult(None, f"{reply.error}; lower window_tokens", ends=True)
        found = read_or_fault(reply, lambda text: self.form.read(text, count))
        return WindowResult(None, found) if isinstance(found, str) else WindowResult(found)


def shown(text: str) -> str:
    """A unit on one line, so that no text of a document is taken for another unit; a long one without its middle.

    >>> shown("a\\n[2] b"), len(shown("x" * 9000))
    ('a [2] b', 2003)
    """
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN // 2]} … {line[-SHOWN // 2 :]}"
