"""The account of calls, tokens and cost by stage, and the limits of a run."""

from __future__ import annotations

import math
import threading
from dataclasses import asdict, dataclass, field
from typing import Any

from .errors import LimitReachedError


@dataclass
class Counts:
    """The counts of one stage or of all stages.

    Attributes:
        calls: The number of answers that the endpoint charged for.
        attempts: The number of requests that were sent, including those without an answer.
        cached: The number of answers from the cache.
        retries: The number of attempts after the first one of each call.
        failed: The number of calls without an answer after all retries.
        tokens_in, tokens_out: The tokens of paid answers, as the endpoint counted them or else as estimated. Tokens of
            unusable responses count only if the endpoint counted them.
        seconds: The sum over paid calls of the time from the first attempt to the answer, also of calls that ran in
            parallel.
        cost: The cost of these tokens at the account's price, 0 without a price.
        asked: The number of tasks of a stage: windows of units, documents to summarize, or lists to order.
        fell_back: The number of these tasks that had no usable answer, even after a second request if the stage makes
            one.
    """

    calls: int = 0
    cached: int = 0
    retries: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    asked: int = 0
    fell_back: int = 0
    attempts: int = 0

    def add(self, other: Counts) -> None:
        """Add the counts of ``other`` to these counts."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def less(self, other: Counts) -> Counts:
        """Return these counts minus the counts of ``other``, an earlier copy."""
        return Counts(**{name: value - getattr(other, name) for name, value in vars(self).items()})


@dataclass(frozen=True)
class Limits:
    """The limits of a run on attempts, tokens in and out, and cost, each None for no limit."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None


@dataclass
class Account:
    """An account that adds up calls, and refuses a call beyond a limit.

    Threads can share it. ``price`` is the price of a million input tokens and of a million output tokens.

    Example:
        >>> account = Account(Limits(calls=1), price=(3.0, 15.0))
        >>> account.book(); account.settle("chunk", Counts(calls=1, tokens_in=1000, tokens_out=100))
        >>> account.total.cost, account.line()
        (0.0045, '1 call, 0 cached, 1,000 tokens in, 100 out, cost 0.0045')
        >>> account.book()
        Traceback (most recent call last):
        pychunk.llm.errors.LimitReachedError: max_calls=1 is reached: ...
    """

    limits: Limits = Limits()
    price: tuple[float, float] | None = None
    stages: dict[str, Counts] = field(default_factory=dict)
    _booked: int = 0
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    @property
    def total(self) -> Counts:
        """The counts of all stages together."""
        out = Counts()
        with self._lock:
            for counts in self.stages.values():
                out.add(counts)
        return out

    def book(self) -> None:
        """Count an attempt at a call before it is sent, or raise an error if a limit is reached.

        The account counts attempts as they begin, so their limit is exact. It counts tokens and cost as calls end, so
        these limits can be exceeded by the calls under way.

        Raises:
            LimitReachedError: A limit forbids the attempt. The message names the limit.
        """
        total = self.total
        spent = total.tokens_in + total.tokens_out
        with self._lock:
            for name, limit, so_far in (
                ("max_calls", self.limits.calls, self._booked),
                ("max_tokens", self.limits.tokens, spent),
                ("max_cost", self.limits.cost, total.cost),
            ):
                if limit is not None and so_far >= limit:
                    raise LimitReachedError(
                        f"{name}={limit} is reached: raise the limit and start the run again; answers so far come "
                        "from the cache, unless it is off (cache=False)"
                    )
            self._booked += 1

    def settle(self, stage: str, counts: Counts) -> None:
        """Add the counts of a call that has ended, or that the cache replaced."""
        if self.price is not None:
            counts.cost = self.cost(counts.tokens_in, counts.tokens_out)
        with self._lock:
            self.stages.setdefault(stage, Counts()).add(counts)

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of input and output tokens, 0 without a price."""
        into, out = self.price or (0.0, 0.0)
        return round((tokens_in * into + tokens_out * out) / 1e6, 12)

    def copy(self) -> dict[str, Counts]:
        """Return a copy of the current counts by stage."""
        with self._lock:
            return {stage: Counts(**asdict(counts)) for stage, counts in self.stages.items()}

    def since(self, before: dict[str, Counts]) -> dict[str, dict[str, float]]:
        """Return the counts by stage since ``before``, an earlier :meth:`copy`, without stages that did nothing."""
        found = {stage: counts.less(before.get(stage, Counts())) for stage, counts in self.copy().items()}
        return {stage: asdict(counts) for stage, counts in found.items() if any(vars(counts).values())}

    def line(self) -> str:
        """Return the totals as a line of text for the end of a run."""
        total = self.total
        parts = [f"{total.calls:,} call{'' if total.calls == 1 else 's'}", f"{total.cached:,} cached"]
        parts += [f"{total.attempts:,} attempts"] if total.attempts > total.calls else []
        parts += [f"{count:,} {name}" for name in ("retries", "failed") if (count := getattr(total, name))]
        parts += [f"{total.tokens_in:,} tokens in", f"{total.tokens_out:,} out"]
        parts += [f"cost {total.cost:.4f}"] if self.price is not None else []
        share = 100 * total.fell_back / max(1, total.asked)
        told = f"{total.fell_back:,} of {total.asked:,} without a usable answer ({share:.3g} %)"
        return ", ".join([*parts, *([told] if total.fell_back else [])])


def check_limits(calls: Any, tokens: Any, cost: Any, price: Any) -> tuple[Limits, tuple[float, float] | None]:
    """Return the limits and the price, and raise ValueError for an invalid number or a cost limit without a price."""
    for name, value in (("max_calls", calls), ("max_tokens", tokens)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise ValueError(f"{name} must be a whole number of at least 0, or None; got {value!r:.80}")
    if cost is not None and not is_amount(cost):
        raise ValueError(f"max_cost must be a number of at least 0, or None; got {cost!r:.80}")
    if price is not None:
        if not (isinstance(price, (tuple, list)) and len(price) == 2 and all(map(is_amount, price))):
            raise ValueError(
                "price must be two numbers of at least 0 (for a million tokens in, for a million tokens out); got "
                f"{price!r:.80}"
            )
        price = float(price[0]), float(price[1])
    if cost is not None and price is None:
        raise ValueError("max_cost needs a price: pass price=(for a million tokens in, for a million tokens out)")
    return Limits(calls, tokens, cost), price


def is_amount(value: Any) -> bool:
    """Return whether a value is a finite number of at least 0."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def parsed_price(text: str | None, max_cost: float | None = None) -> tuple[float, float] | None:
    """Return the two numbers of the option ``--llm-price``, or None without it.

    Raises:
        ValueError: The text is not two numbers with a comma, or there is none, and ``--max-cost`` needs it.
    """
    if text is None:
        if max_cost is not None:
            raise ValueError(
                "--max-cost needs --llm-price IN,OUT, the price of a million input and a million output tokens"
            )
        return None
    try:
        into, out = map(float, text.split(","))
    except ValueError:
        raise ValueError(f"--llm-price must be two numbers with a comma, such as 0.5,1.5; got {text!r}") from None
    return into, out
