"""What rows of an evaluation cost: columns of the table, and what a model that was asked took."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

from ...llm.account import Account, Counts

Row = Mapping[str, Any]

DASH = "–"


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def numbers(values: Any) -> bool:
    """Whether there are values and all are numbers."""
    return bool(values) and all(map(is_number, values))


def number(value: Any, form: str) -> str:
    """As it is shown; a dash where it is none."""
    return f"{value:{form}}" if is_number(value) else DASH


def size(value: Any) -> str:
    """Bytes in a unit that leaves few digits."""
    if not is_number(value):
        return DASH
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"


#: Columns of the cost table and how their values are written.
COSTS: dict[str, Callable[[Any], str]] = {
    "words a chunk": lambda value: number(value, ".0f"),
    "chunk seconds": lambda value: number(value, ".2f"),
    "encoder tokens": lambda value: number(value, ","),
    "index seconds": lambda value: number(value, ".2f"),
    "index bytes": size,
    "words in top 5": lambda value: number(value, ".0f"),
    "ms a plan": lambda value: number(value, ".2f"),
    "ms a question": lambda value: number(value, ".2f"),
    "LLM tokens": lambda value: number(value, ","),
    "LLM cost": lambda value: number(value, ".4f"),
    "LLM tokens a question": lambda value: number(value, ".0f"),
    "LLM cost of 1,000 questions": lambda value: number(value, ".4f"),
}
#: Those of few rows, shown where a row has them: of planning, and of a model that is asked.
RARE = {"ms a plan", "LLM tokens", "LLM cost", "LLM tokens a question", "LLM cost of 1,000 questions"}


def columns(rows: Sequence[Row]) -> dict[str, Callable[[Any], str]]:
    """The columns of a table of these rows, and how their values are written.

    Example:
        >>> list(columns([{"cost": {"words a chunk": 80.0}}, {"cost": {"ms a plan": 0.3}}]))[-2:]
        ['ms a plan', 'ms a question']
    """
    return {
        name: shown
        for name, shown in COSTS.items()
        if name not in RARE or any(is_number(of(row, name)) for row in rows)
    }


def of(row: Row, name: str) -> Any:
    """A row's cost; None where it has no such."""
    return (row.get("cost") or {}).get(name)


class LLMUsage:
    """What a model was asked since it was last looked at.

    Args:
        account: of the client; None: nothing is asked.

    Example:
        >>> account = Account(price=(3.0, 15.0))
        >>> spent = LLMUsage(account)
        >>> account.settle("chunk", Counts(calls=1, tokens_in=1000, tokens_out=100))
        >>> spent.take().cost, spent.take().cost
        (0.0045, 0.0)
    """

    def __init__(self, account: Account | None = None) -> None:
        self.account = account
        self._before = Counts() if account is None else account.total

    def take(self) -> Counts:
        """Calls, tokens and cost since the last time."""
        if self.account is None:
            return Counts()
        now = self.account.total
        found, self._before = now.less(self._before), now
        return found

    def costs(self, made: Counts, asked: Counts, questions: int) -> dict[str, float]:
        """Of a row: what chunks and index took, and its questions; nothing where no model was asked.

        Tokens are those in and out of paid answers: what the cache knew costs nothing.
        """
        if self.account is None:
            return {}
        found: dict[str, float] = {
            "LLM tokens": made.tokens_in + made.tokens_out,
            "LLM tokens a question": (asked.tokens_in + asked.tokens_out) / max(1, questions),
        }
        if self.account.price is not None:
            found |= {"LLM cost": made.cost, "LLM cost of 1,000 questions": 1000 * asked.cost / max(1, questions)}
        return found
