"""The ways to retrieve chunks in an evaluation: the indexed context, the search mode, query rewriting and reranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from ..augmentation.augment import How
from ..defaults import SEARCH
from ..index.options import Rerank, Rewrite, Stage
from ..index.rerank.rerankers import Function
from ..index.search.query_rewriting import Choice
from .datasets import Question


@dataclass(frozen=True)
class Strategy:
    """One way to retrieve chunks.

    Attributes:
        mode: ``"hybrid"``, ``"dense"`` or ``"sparse"``, as in :meth:`pychunk.Index.search`.
        recipe: Whether each chunk's text is encoded as a whole, as in most pipelines, and not by its sentences.
        augment: What :func:`pychunk.augment` writes into the column ``context``, None for no context.
        document_weight: The argument of :class:`pychunk.index.Ranking`.
        rewrite, rerank: The names or functions for the stages :class:`pychunk.index.Rewrite` and
            :class:`pychunk.index.Rerank`, or None. ``rewrite="options"`` adds the options of a multiple-choice question
            to the query.
        depth: The number of hits that ``rerank`` orders again. With ``rerank``, a search returns this number of hits,
            or 20 if this number is smaller.

    Example:
        >>> str(Strategy("sparse", augment="head", document_weight=1.0))
        'sparse, augment=head, document_weight=1'
    """

    mode: str = SEARCH.mode
    recipe: bool = False
    augment: How | None = None
    document_weight: float = SEARCH.document_weight
    rewrite: str | Callable[..., Any] | None = None
    rerank: str | Function | None = None
    depth: int = SEARCH.evaluation_depth

    def __str__(self) -> str:
        name = next(name for name, own in STRATEGIES.items() if (own.mode, own.recipe) == (self.mode, self.recipe))
        said: dict[str, Any] = {"augment": self.augment, "document_weight": self.document_weight or None}
        said |= {"rewrite": self.rewrite, "rerank": self.rerank}
        return ", ".join([name, *(f"{key}={_plain(value)}" for key, value in said.items() if value is not None)])

    @property
    def stages(self) -> list[Stage]:
        """The rewriting and the reranking of a search."""
        # One failed request to a model must not cost the figures of all questions.
        on_error: Literal["raise", "skip"] = "skip" if callable(self.rewrite) else "raise"
        found: list[Stage] = [] if self.rewrite is None else [Rewrite(self.rewrite, on_error)]
        return found if self.rerank is None else [*found, Rerank(self.rerank, self.depth, on_error)]

    def queries(self, questions: Sequence[Question]) -> list[Any]:
        """Return the queries: the questions, with their options if the strategy uses these.

        Raises:
            ValueError: ``rewrite="options"`` and a question has no options.
        """
        if self.rewrite != "options":
            return [each.text for each in questions]
        lacking = next((number for number, each in enumerate(questions) if not each.options), None)
        if lacking is not None:
            raise ValueError(
                f"rewrite='options' needs multiple-choice questions, but question {lacking} has no options; leave it "
                "out, or use a dataset with options, such as UNLP's leaflets"
            )
        return [Choice(each.text, each.options) for each in questions]


#: The strategies that have a name.
STRATEGIES = {
    "hybrid": Strategy("hybrid"),
    "dense": Strategy("dense"),
    "sparse": Strategy("sparse"),
    "recipe": Strategy("dense", recipe=True),
    "recipe+bm25": Strategy("hybrid", recipe=True),
}


def named(how: str | Strategy) -> Strategy:
    """Return a strategy unchanged, or the one of :data:`STRATEGIES` with this name.

    Raises:
        ValueError: There is no strategy of this name.
    """
    if isinstance(how, Strategy):
        return how
    if how not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}; got {how!r}")
    return STRATEGIES[how]


def combined(modes: Sequence[str], **choices: Sequence[Any]) -> list[Strategy]:
    """Return a strategy for every combination of modes and choices, in their order.

    Example:
        >>> [str(each) for each in combined(["sparse"], augment=[None, "head"], document_weight=[0.0])]
        ['sparse', 'sparse, augment=head']
    """
    return [
        replace(named(mode), **dict(zip(choices, values, strict=True)))
        for mode, *values in product(modes, *choices.values())
    ]


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(getattr(value, "__name__", value))
