"""How chunks are found in an evaluation: what is indexed beside them, by what they are searched, what orders them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ..augmentation.augment import How
from ..defaults import SEARCH
from ..index.rerank.rerankers import Function
from ..index.search.query_rewriting import Choice
from .datasets import Question


@dataclass(frozen=True)
class Strategy:
    """One way to find chunks.

    Attributes:
        mode: ``"hybrid"``, ``"dense"`` or ``"sparse"``, as of :meth:`pychunk.Index.search`.
        recipe: vectors of each chunk's text encoded as a whole, as most pipelines have it, not of its sentences.
        augment: what makes the column ``context``, as of :func:`pychunk.augment`; None: none.
        document_weight, rewrite, rerank: as of :meth:`pychunk.Index.search`; ``rewrite="options"`` asks with the
            options of a multiple-choice question.
        depth: hits that ``rerank`` orders anew, and then all that are found.

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

    def search(self) -> dict[str, Any]:
        """The keywords of a search that are not those of all."""
        found: dict[str, Any] = {"document_weight": self.document_weight} if self.document_weight else {}
        if self.rewrite is not None:
            found["rewrite"] = self.rewrite
        if callable(self.rewrite):
            found["on_error"] = "skip"  # one refusal is no reason to lose the figures of all
        if self.rerank is not None:
            found |= {"rerank": self.rerank, "depth": self.depth}
        return found

    def queries(self, questions: Sequence[Question]) -> list[Any]:
        """What is searched: the questions, with their options where these are asked, too.

        Raises:
            ValueError: ``rewrite="options"`` and a question without any.
        """
        if self.rewrite != "options":
            return [each.text for each in questions]
        lacking = next((number for number, each in enumerate(questions) if not each.options), None)
        if lacking is not None:
            raise ValueError(
                f"rewrite='options' asks multiple-choice questions, and question {lacking} has no options: leave it "
                "out, or take a dataset that has some, as UNLP's leaflets do"
            )
        return [Choice(each.text, each.options) for each in questions]


#: The ways that need no more than a name.
STRATEGIES = {
    "hybrid": Strategy("hybrid"),
    "dense": Strategy("dense"),
    "sparse": Strategy("sparse"),
    "recipe": Strategy("dense", recipe=True),
    "recipe+bm25": Strategy("hybrid", recipe=True),
}


def named(how: str | Strategy) -> Strategy:
    """A strategy itself, or one of :data:`STRATEGIES`.

    Raises:
        ValueError: another name.
    """
    if isinstance(how, Strategy):
        return how
    if how not in STRATEGIES:
        raise ValueError(f"a strategy is one of {', '.join(STRATEGIES)}; got {how!r}")
    return STRATEGIES[how]


def combined(modes: Sequence[str], **choices: Sequence[Any]) -> list[Strategy]:
    """Every combination, the first mode with the first choices first.

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
