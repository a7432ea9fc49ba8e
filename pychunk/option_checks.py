"""The checks of the options that every method has.

Each message names the choices.
"""

from __future__ import annotations

from typing import Any

from ._engine.data.plan import Plan
from .encoders.runtime.placement import Placement
from .methods.base import check_whole


def check_wrap(wrap: Any) -> str | bool:
    if isinstance(wrap, bool) or (isinstance(wrap, str) and wrap == "auto"):
        return wrap
    raise ValueError(f"wrap must be 'auto', True or False; got {wrap!r}")


def check_max_tokens(value: Any, auto: int) -> int:
    if value == "auto":
        return auto
    return 0 if value is None else check_whole("max_tokens", value, least=1)


def check_min_tokens(value: Any, auto: int, max_tokens: int) -> int:
    if value == "auto":
        return min(auto, max_tokens // 2) if max_tokens else auto
    return check_whole("min_tokens", value, least=0)


def check_budget(plan: Plan) -> None:
    if plan.max_tokens and plan.min_tokens > plan.max_tokens:
        raise ValueError(f"min_tokens must be at most max_tokens ({plan.max_tokens}); got {plan.min_tokens}")
    bound = (plan.size if plan.traits.sized else 0) or plan.max_tokens
    if bound and plan.overlap >= bound:
        raise ValueError(f"overlap must be less than the longest chunk ({bound}); got {plan.overlap}")
    if plan.cuts_text and plan.atoms:
        raise ValueError("atoms= is for chunks of sentences; got separators=, which cut any text")
    if plan.cuts_text and plan.min_tokens:
        raise ValueError(
            f"min_tokens does not apply to {plan.method!r} with separators: its pieces are joined up to size already"
        )


def check_backend(placement: Placement, backend: str) -> None:
    if placement.device is not None and backend == "reference":
        raise ValueError("PYCHUNK_BACKEND=reference runs on the CPU; leave out device=, or the variable")
