"""The functions that connect a method with the client of the LLM that it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .methods import make_method
from .methods.llm_base import FALLBACKS, LLMMethod
from .methods.proposition import Proposition

if TYPE_CHECKING:
    from .augmentation.llm_contexts import LLMPropositionSource
    from .llm import LLM

#: The options of the method that cuts if an LLM gives no usable answer. This fallback has no tokenizer, so its size is
#: in characters: 800 are about 200 tokens.
_INSTEAD = {"size": 800, "unit": "characters"}


def hand_model(method: Any) -> LLM:
    """Give a method its client, by default the one that the environment describes, and its fallbacks.

    Raises:
        TypeError: The method's ``llm`` is not a client.
        ValueError: The method has no ``llm``, and the environment describes no client.
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
    """Return the source of contexts for the chunks of the method ``proposition``."""
    from .augmentation.llm_contexts import LLMPropositionSource

    return LLMPropositionSource(method.llm, window_tokens=method.window_tokens, strict=method.strict)
