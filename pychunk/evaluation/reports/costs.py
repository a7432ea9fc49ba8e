"""The costs of rows of an evaluation: the columns of the table, and the usage of a model that was asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

from ...llm.account import Account, Counts

Row = Mapping[str, Any]

DASH = "–"


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether the value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def numbers(values: Any) -> bool:
    """Return whether there are values and all are numbers."""
    return bool(values) and all(map(is_number, values))


def number(value: Any, form: str) -> str:
    """Format a number, or return a dash for anything else."""
    return f"{value:{form}}" if is_number(value) else DASH


def size(value: Any) -> str:
    """Format a number of bytes in a unit that needs few digits."""
    if not is_number(value):
        return DASH
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"


#: The columns of the cost table, with the function that formats their values.
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
#: The columns of planners and models, shown only if a row has them.
RARE = {"ms a plan", "LLM tokens", "LLM cost", "LLM tokens a question", "LLM cost of 1,000 questions"}


def columns(rows: Sequence[Row]) -> dict[str, Callable[[Any], str]]:
    """Return the columns of a table of these rows, with the function that formats their values.

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
    """Return one cost of a row, None if the row does not have it."""
    return (row.get("cost") or {}).get(name)


class LLMUsage:
    """The usage of a model since it was last read.

    Args:
        account: The account of the client; None means that no model is asked.

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
        """Return calls, tokens and cost since the last call of this method."""
        if self.account is None:
            return Counts()
        now = self.account.total
        found, self._before = now.less(self._before), now
        return found

    def costs(self, made: Counts, asked: Counts, questions: int) -> dict[str, float]:
        """Return the costs of a row, for chunks and index and for its questions; empty if no model was asked.

        The tokens are those of paid requests and responses. A cached answer costs nothing.
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
