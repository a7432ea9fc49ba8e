"""The connection of methods that ask an LLM with its client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .methods import make_method
from .methods.llm_base import FALLBACKS, LLMMethod
from .methods.proposition import Proposition

if TYPE_CHECKING:
    from .augmentation.llm_contexts import LLMPropositionSource
    from .llm import LLM

#: The options of the fallback if an LLM gives no usable answer. The fallback gets no tokenizer, so its size is that of
#: 200 tokens in characters.
_INSTEAD = {"size": 800, "unit": "characters"}


def hand_model(method: Any) -> LLM:
    """Give a method that asks an LLM its client, by default from the environment, and the fallback without an answer.

    Raises:
        TypeError: Its ``llm`` is no client.
        ValueError: It names no client, and neither does the environment.
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
