"""What every method is, and the checks that their options share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ..plan import Plan

UNITS = ("tokens", "words", "characters")


class Method:
    """Base of the methods. ``plan(shared)`` returns the shared plan with the method's own options filled in."""

    name: ClassVar[str]
    #: What ``max_tokens="auto"`` means: 512, BERT's longest input, where nothing else bounds a chunk; 0 is none.
    auto_max_tokens: ClassVar[int] = 0
    #: Whether ``fit(sample)`` can set its threshold.
    fitted_threshold: ClassVar[bool] = False

    def plan(self, shared: Plan) -> Plan:
        return shared.with_(method=self.name)

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({options})"


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
    return str(value)


def check_whole(name: str, value: Any, *, least: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}")
    return int(value)


def check_number(name: str, value: Any, *, low: float = float("-inf"), high: float = float("inf")) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number; got {value!r}") from None
    if not low <= number <= high:
        between = "finite" if (low, high) == (float("-inf"), float("inf")) else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} must be {between}; got {value!r}")
    return number
