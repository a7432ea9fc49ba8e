"""The errors of calls to an endpoint, none of which holds a key."""

from __future__ import annotations


class LLMError(OSError):
    """The endpoint cannot be reached, refuses the key, lacks the model, or fails repeatedly.

    You can start the run again, because the cache holds every answer that arrived before the error.
    """


class LimitReachedError(LLMError):
    """One of the limits ``max_calls``, ``max_tokens`` and ``max_cost`` is reached.

    Calls that were under way have ended, and their answers are in the cache.
    """
