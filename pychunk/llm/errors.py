"""What goes wrong between here and an endpoint; nothing of it holds a key."""

from __future__ import annotations


class LLMError(OSError):
    """The endpoint is not there, refuses the key, knows no such model, or fails again and again.

    A run that ends so can be started again: every answer up to it is in the cache.
    """


class LimitReachedError(LLMError):
    """``max_calls``, ``max_tokens`` or ``max_cost`` is spent; calls that were under way have ended and are cached."""
