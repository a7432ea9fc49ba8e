"""The checks of the options that every method has.

Each message names the choices.
"""

from __future__ import annotations

from typing import Any

from ._engine.data.plan import Plan
from .encoders.runtime.placement import ModelPlacement
from .methods.base import check_whole


def check_unwrap_lines(unwrap_lines: Any) -> str | bool:
    """Return the option ``unwrap_lines``, or raise ValueError."""
    if isinstance(unwrap_lines, bool) or (isinstance(unwrap_lines, str) and unwrap_lines == "auto"):
        return unwrap_lines
    raise ValueError(f"unwrap_lines must be 'auto', True or False; got {unwrap_lines!r:.80}")


def check_max_tokens(value: Any, auto: int) -> int:
    """Return the most tokens of a chunk, 0 for no limit, or raise ValueError.

    ``auto`` is the method's value, which replaces "auto".
    """
    if value == "auto":
        return auto
    return 0 if value is None else check_whole("max_tokens", value, least=1)


def check_min_tokens(value: Any, auto: int, max_tokens: int) -> int:
    """Return the fewest tokens of a chunk, or raise ValueError.

    ``auto`` is the method's value. It, or half of ``max_tokens`` if that is less, replaces "auto".
    """
    if value == "auto":
        return min(auto, max_tokens // 2) if max_tokens else auto
    return check_whole("min_tokens", value, least=0)


def check_budget(plan: Plan, special: int = 0) -> None:
    """Raise ValueError if the plan's limits, overlap and separators contradict each other.

    ``special`` is the number of special tokens in each chunk.
    """
    tokens = plan.unit == "tokens"
    for name, limit in {
        "max_tokens": (plan.traits.sized or tokens) * plan.max_tokens,
        "size": tokens * plan.size,
    }.items():
        if limit and limit <= special:
            raise ValueError(f"{name} must be more than the {special} special tokens of tokenizer=; got {limit}")
    if plan.max_tokens and plan.min_tokens > plan.max_tokens:
        raise ValueError(f"min_tokens must be at most max_tokens ({plan.max_tokens}); got {plan.min_tokens}")
    bound = (plan.size if plan.traits.sized else 0) or plan.max_tokens
    if bound and plan.overlap >= bound - special * tokens:
        less = f", less {special} special tokens" if special and tokens else ""
        raise ValueError(f"overlap must be less than the longest chunk ({bound}{less}); got {plan.overlap}")
    if plan.cuts_text and plan.keep_together:
        raise ValueError("keep_together= cannot be combined with separators=, which also cut inside sentences")
    if plan.cuts_text and plan.min_tokens:
        raise ValueError(
            f"min_tokens= cannot be combined with separators=: {plan.method!r} then itself joins short pieces "
            "up to size"
        )


def check_backend(placement: ModelPlacement, backend: str) -> None:
    """Raise ValueError if the caller asks the reference backend to run on a GPU."""
    if placement.device is not None and backend == "reference":
        raise ValueError("PYCHUNK_BACKEND=reference runs on the CPU; pass no GPU as placement, or unset the variable")
