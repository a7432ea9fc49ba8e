"""The method ``precomputed``: cuts that the caller passes."""

from .base import Method


class Precomputed(Method):
    """A method that begins chunks at the sentences that the column ``cuts`` lists for each document.

    Use it for cuts that were decided outside of pychunk. Cuts number the sentences of
    :func:`pychunk.split_sentences`, or of the column ``sentence_spans``, from 0. Then pychunk applies the budget and
    the overlap and makes the table, as with any method. Without ``max_tokens`` there is no limit. By default
    ``keep_together=`` is off, so no cut is moved.
    """

    name = "precomputed"
    needs = frozenset({"cuts"})
    auto_keep_together = False  # The caller's cuts stay as they are.

    @property
    def wants(self) -> frozenset[str]:
        """The values that the caller must pass for each document, which are "cuts"."""
        return frozenset({"cuts"})
