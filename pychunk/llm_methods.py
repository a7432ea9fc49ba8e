"""The client of a method that asks a model, handed to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .methods import make_method
from .methods.llm_base import FALLBACKS, LLMMethod
from .methods.proposition import Proposition

if TYPE_CHECKING:
    from .augmentation.llm_contexts import LLMPropositionSource
    from .llm import LLM

#: What cuts where a model gives no answer of use: in characters, as many as 200 tokens, as it is handed no tokenizer.
_INSTEAD = {"size": 800, "unit": "characters"}


def hand_model(method: Any) -> LLM:
    """Hands a method that asks a model its client, by the environment where it names none, and what cuts without it.

    Raises:
        TypeError: its ``llm`` is no client. ValueError: it names none, and neither does the environment.
    """
    from .llm.default_client import DefaultClient
    from .llm.grouping import Grouper

    llm = DefaultClient(method.llm).llm
    if isinstance(method, LLMMethod):
        method.hand(Grouper(llm, method.name), {name: make_method(name, dict(_INSTEAD)) for name in FALLBACKS})
    else:
        from .llm.llm_summaries import Summariser

        method.hand(Summariser(llm))
    return llm


def propositions_of(method: Proposition) -> LLMPropositionSource:
    """The way in which its chunks come by contexts."""
    from .augmentation.llm_contexts import LLMPropositionSource

    return LLMPropositionSource(method.llm, window_tokens=method.window_tokens, strict=method.strict)
