"""What every method is, and the checks that their options share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._engine import native
from .._engine.data.cuts import Cuts
from .._engine.data.features import Features
from .._engine.data.method_results import MethodResult
from .._engine.data.plan import Plan, Traits
from .._engine.data.ragged import Ragged
from .._engine.data.request import Request

if TYPE_CHECKING:
    import numpy.typing as npt

UNITS = ("tokens", "words", "characters")


class Method:
    """Decides where documents are cut.

    A native method writes its options into a plan, and the engine cuts in the same call in which it splits, encodes and
    builds the table (csrc/methods/methods.cc). One in Python overrides :meth:`cuts`, which gets what ``needs`` names.

    Example:
        >>> from pychunk import Cuts, Features, Method, segment
        >>> class Pairs(Method):
        ...     name = "pairs"
        ...     def cuts(self, features: Features) -> Cuts:
        ...         counts = features.given("sentences").counts
        ...         return Cuts.of([list(range(0, count, 2)) for count in counts])
        >>> segment("One. Two. Three.", Pairs(), atoms=False).texts  # which keeps cuts at headings and scraps, too
        ['One. Two.', 'Three.']
    """

    name: ClassVar[str]
    #: Whether ``fit(sample)`` can set its threshold.
    fitted_threshold: ClassVar[bool] = False
    #: Features that its cuts are made of, besides sentences: "tokens", "vectors", "pairs", "summaries"; or "cuts".
    needs: ClassVar[frozenset[str] | set[str]] = frozenset()
    #: What a chunk's score is the mean of: "sentences", "pairs" or nothing.
    scores: ClassVar[str] = ""
    #: Why it cuts, in the column ``cut``: "score", "sentence", "paragraph", "page", "size" or "given".
    reason: ClassVar[str] = "given"
    #: Whether it has a ``size`` in a ``unit`` of its own, which no chunk exceeds.
    sized: ClassVar[bool] = False
    #: Whether its chunks are as long as they are: atoms stay whole, and a short chunk joins no other.
    keeps_short: ClassVar[bool] = False
    #: Whether the table says which pages a chunk lies on.
    pages: ClassVar[bool] = False
    #: Whether it cuts by headings and keeps atoms itself, and the table holds their tree.
    outline: ClassVar[bool] = False
    #: Whether it may leave out text, and say what did not go as it should; see :meth:`decided`.
    removes: ClassVar[bool] = False

    @property
    def traits(self) -> Traits:
        """What the stages around it ask of it."""
        return Traits(frozenset(self.needs), self.scores, self.reason, self.sized, self.pages, self.outline)

    @property
    def auto_max_tokens(self) -> int:
        """What ``max_tokens="auto"`` means: 512, BERT's longest input, where nothing else bounds a chunk; 0 is none."""
        return 0

    @property
    def auto_min_tokens(self) -> int:
        """What ``min_tokens="auto"`` means."""
        return 0

    @property
    def auto_atoms(self) -> bool:
        """What ``atoms="auto"`` means."""
        return True

    @property
    def is_native(self) -> bool:
        """Whether the engine cuts by it in its own call."""
        return type(self).cuts is Method.cuts

    @property
    def wants(self) -> frozenset[str]:
        """Return what must be said of each document, such as "titles"; see ``pychunk/inputs/document_columns.py``."""
        return frozenset()

    @property
    def has_kernel(self) -> bool:
        """Whether a GPU computes all that it cuts by; else vectors come back and the CPU computes the rest."""
        return False

    def plan(self, shared: Plan) -> Plan:
        """The shared plan with the method's name and options filled in."""
        return shared.with_(method=self.name, traits=self.traits)

    def cuts(self, features: Features) -> Cuts:
        """First sentences of the chunks of each document, before they are fitted to a budget.

        Of a native method: as the engine decides, from features that are there.
        """
        return native.cuts(Request(features, self.plan(Plan(self.name, max_tokens=self.auto_max_tokens))))

    def decided(self, features: Features) -> MethodResult:
        """The cuts, and for a method that ``removes`` what it leaves out."""
        return MethodResult(self.cuts(features))

    @property
    def facts(self) -> dict[str, Any]:
        """What else than the plan its cuts depend on, for the table's metadata."""
        return {}

    @property
    def score_name(self) -> str:
        """What a score is, in words, for a reader of :meth:`pychunk.Segmenter.scores`."""
        return "score"

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        """What the method holds against a threshold, and the threshold of each document, float64[k]; NaN: it has none.

        ``scores`` are one a sentence or a pair of neighbours, as its cuts have them; ``plan`` holds its options.
        """
        return scores, np.full(scores.documents, np.nan)

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in vars(self).items() if key[0] != "_")
        return f"{type(self).__name__}({options})"


#: Far over any text, and sums of two such numbers are still of 64 bits.
MOST = 2**62


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
    return str(value)


def check_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return value


def check_whole(name: str, value: Any, *, least: int, most: int = MOST) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {_shown(value)}")
    if value.__index__() > most:
        raise ValueError(f"{name} must be a whole number of at most {most}; got {_shown(value)}")
    return int(value)


def check_number(name: str, value: Any, *, low: float = float("-inf"), high: float = float("inf")) -> float:
    try:
        number = float("nan") if isinstance(value, (bool, str, bytes)) else float(value)
    except (TypeError, ValueError):
        number = float("nan")
    except OverflowError:
        number = float("inf")
    if number != number:
        raise ValueError(f"{name} must be a number; got {_shown(value)}")
    if not (low <= number <= high and math.isfinite(number)):
        between = "finite" if (low, high) == (float("-inf"), float("inf")) else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} must be {between}; got {_shown(value)}")
    return number


def check_threshold(threshold: Any, ranges: dict[str, tuple[float, float]]) -> tuple[str, float]:
    """(kind, value) of a number, which is of the kind ``value``, or of a pair; ``ranges`` are those of the kinds."""
    if not isinstance(threshold, (tuple, list)):
        low, high = ranges["value"]
        return "value", check_number("threshold", threshold, low=low, high=high)
    if len(threshold) != 2:
        raise ValueError(f"threshold must be a number or a pair such as ('percentile', 20); got {threshold!r}")
    kind = check_choice("threshold[0]", threshold[0], tuple(ranges))
    low, high = ranges[kind]
    return kind, check_number(f"threshold {kind!r}", threshold[1], low=low, high=high)


def _shown(value: Any) -> str:
    """As an error shows it: Python refuses to write numbers of over some 4,000 digits."""
    if isinstance(value, int) and abs(value) >= 2**80:
        return f"a number of {value.bit_length()} bits"
    return repr(value)
