"""The base class of all methods, and the checks that their options share."""

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
    """A rule that decides where documents are cut.

    A native method writes its options into a plan. The engine then cuts in the call in which it also splits, encodes
    and builds the table (csrc/methods/methods.cc). A method in Python overrides :meth:`cuts`, which receives the
    features that ``needs`` names.

    Example:
        >>> from pychunk import Cuts, Features, Method, segment
        >>> class Pairs(Method):
        ...     name = "pairs"
        ...     def cuts(self, features: Features) -> Cuts:
        ...         counts = features.given("sentences").counts
        ...         return Cuts.of([list(range(0, count, 2)) for count in counts])
        >>> segment("One. Two. Three.", Pairs(), keep_together=False).texts  # keeps every cut
        ['One. Two.', 'Three.']
    """

    name: ClassVar[str]
    #: True if ``fit(sample)`` can set the method's threshold.
    fitted_threshold: ClassVar[bool] = False
    #: The features that the method cuts by, in addition to sentences: "tokens", "vectors", "topics", "pairs",
    #: "summaries" or "cuts".
    needs: ClassVar[frozenset[str] | set[str]] = frozenset()
    #: The scores that are averaged into a chunk's score: "sentences" for one score per sentence, "pairs" for one per
    #: pair of neighbouring sentences, "" for none.
    scores: ClassVar[str] = ""
    #: The method's value in the column ``end_reason``: "score", "sentence", "paragraph", "page", "size" or "given".
    reason: ClassVar[str] = "given"
    #: True if the method has the options ``size`` and ``unit``, and no chunk may be longer than this size.
    sized: ClassVar[bool] = False
    #: True if ``keep_together`` only moves cuts that would separate text which belongs together. For other methods it
    #: also cuts before headings, and joins chunks of less than 50 characters with a neighbour.
    keeps_short: ClassVar[bool] = False
    #: True if the table has columns with the pages of each chunk.
    pages: ClassVar[bool] = False
    #: True if the method cuts by headings and keeps text together itself, and the table holds the tree of headings.
    outline: ClassVar[bool] = False
    #: True if the method may remove text and report problems; see :meth:`decided`.
    removes: ClassVar[bool] = False
    #: The value of ``max_tokens="auto"``, which is 0 for no limit. It is 512, the longest input of BERT, for methods
    #: that have no other limit.
    auto_max_tokens: int = 0
    #: The value of ``min_tokens="auto"``.
    auto_min_tokens: int = 0
    #: The value of ``keep_together="auto"``.
    auto_keep_together: bool = True

    @property
    def traits(self) -> Traits:
        """The requirements of the method, which the other stages of the engine read."""
        return Traits(frozenset(self.needs), self.scores, self.reason, self.sized, self.pages, self.outline)

    @property
    def is_native(self) -> bool:
        """Return whether the engine cuts by the method in its own call."""
        return type(self).cuts is Method.cuts

    @property
    def wants(self) -> frozenset[str]:
        """The values that the caller must pass for each document, such as "titles".

        See ``pychunk/inputs/document_columns.py``.
        """
        return frozenset()

    @property
    def has_kernel(self) -> bool:
        """Return whether a GPU computes everything that the method cuts by.

        Otherwise the GPU returns the vectors and the CPU computes the rest.
        """
        return False

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the method's name and options filled in."""
        return shared.with_(method=self.name, traits=self.traits)

    def cuts(self, features: Features) -> Cuts:
        """Return the first sentence of each chunk of each document, before chunks are fitted to a budget.

        For a native method, the engine computes the cuts from ``features``.
        """
        return native.cuts(Request(features, self.plan(Plan(self.name, max_tokens=self.auto_max_tokens))))

    def decided(self, features: Features) -> MethodResult:
        """Return the cuts and, for a method that ``removes`` text, the removed spans."""
        return MethodResult(self.cuts(features))

    @property
    def facts(self) -> dict[str, Any]:
        """The facts, in addition to the plan, that determine the cuts; they go into the table's metadata."""
        return {}

    @property
    def score_name(self) -> str:
        """The meaning of a score in words, for readers of :meth:`pychunk.Segmenter.scores`."""
        return "score"

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        """Return the values that the method compares with a threshold, and the threshold of each document.

        Args:
            scores: One score for each sentence, or for each pair of neighbouring sentences, from the method's cuts.
            plan: The plan with the method's options.

        Returns:
            The values, and the thresholds of the k documents, float64[k]. A document without a threshold has NaN.
        """
        return scores, np.full(scores.documents, np.nan)

    def __repr__(self) -> str:
        # Attributes with a value in the class, such as auto_max_tokens, are no options.
        names = [key for key in vars(self) if key[0] != "_" and not hasattr(type(self), key)]
        options = ", ".join(f"{key}={getattr(self, key)!r}" for key in names)
        return f"{type(self).__name__}({options})"


#: The largest whole number that an option takes. No text has as many characters, and the sum of two such numbers still
#: fits 64 bits.
MOST = 2**62


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return an option that must be one of the choices, or raise ValueError."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r:.80}")
    return str(value)


def check_flag(name: str, value: Any) -> bool:
    """Return an option that must be True or False, or raise ValueError."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False; got {value!r:.80}")
    return value


def check_whole(name: str, value: Any, *, least: int, most: int = MOST) -> int:
    """Return an option that must be a whole number from ``least`` to ``most``, or raise ValueError."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {_shown(value)}")
    if value.__index__() > most:
        raise ValueError(f"{name} must be a whole number of at most {most}; got {_shown(value)}")
    return int(value)


def check_number(name: str, value: Any, *, low: float = float("-inf"), high: float = float("inf")) -> float:
    """Return an option that must be a finite number from ``low`` to ``high``, or raise ValueError."""
    try:
        number = float("nan") if isinstance(value, (bool, str, bytes)) else float(value)
    except (TypeError, ValueError):
        number = float("nan")
    except OverflowError:
        number = float("inf")
    if number != number:
        raise ValueError(f"{name} must be a number; got {_shown(value)}")
    if not (low <= number <= high and math.isfinite(number)):
        between = f"from {low:g} to {high:g}"
        if (low, high) == (float("-inf"), float("inf")):
            between = "finite" if isinstance(value, float) else "finite as a 64-bit float"
        raise ValueError(f"{name} must be {between}; got {_shown(value)}")
    return number


def check_threshold(threshold: Any, ranges: dict[str, tuple[float, float]]) -> tuple[str, float]:
    """Return the kind and the number of a threshold.

    Args:
        threshold: A number, which is of the kind ``value``, or a pair of a kind and a number.
        ranges: The lowest and the highest number of each kind.
    """
    if not isinstance(threshold, (tuple, list)):
        low, high = ranges["value"]
        return "value", check_number("threshold", threshold, low=low, high=high)
    if len(threshold) != 2:
        raise ValueError(f"threshold must be a number or a pair such as ('percentile', 20); got {threshold!r:.80}")
    kind = check_choice("threshold[0]", threshold[0], tuple(ranges))
    low, high = ranges[kind]
    return kind, check_number(f"threshold {kind!r}", threshold[1], low=low, high=high)


def _shown(value: Any) -> str:
    """Return a value as an error shows it.

    A very large number is shown by its bits, because Python refuses to print numbers of over some 4,000 digits.
    """
    if isinstance(value, int) and abs(value) >= 2**80:
        return f"a number of {value.bit_length()} bits"
    return f"{value!r:.80}"
