"""The errors of calls to an endpoint, none of which holds a key."""

from __future__ import annotations


class LLMError(OSError):
    """An error of an endpoint that is not there, refuses the key, lacks the model, or fails repeatedly.

    You can start the run again, because the cache holds every answer up to the error.
    """


class LimitReachedError(LLMError):
    """An error that reports that ``max_calls``, ``max_tokens`` or ``max_cost`` is spent.

    Calls that were under way have ended, and their answers are in the cache.
    """
