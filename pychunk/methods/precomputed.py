"""The method ``given``: cuts that the caller passes."""

from .base import Method


class Precomputed(Method):
    """A method that begins chunks at the sentences that ``cuts=`` lists for each document.

    Use it for cuts that were decided outside of pychunk. Sentences are those of :func:`pychunk.sentences`, or of
    ``sentence_spans=``. Budget, overlap and table come after, as with any method. Without ``max_tokens`` there is no
    limit. By default ``atoms=`` is off, so no cut is moved.
    """

    name = "given"
    needs = frozenset({"cuts"})

    @property
    def auto_atoms(self) -> bool:
        return False

    @property
    def wants(self) -> frozenset[str]:
        return frozenset({"cuts"})
