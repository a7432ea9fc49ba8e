"""Cut where the caller says."""

from .base import Method


class Precomputed(Method):
    """Chunks begin at the sentences that ``cuts=`` lists for each document: what was decided outside pychunk.

    Sentences are those of :func:`pychunk.sentences`, or of ``sentence_spans=``. A budget, overlap and the table come
    after, as with any method; without ``max_tokens`` there is no limit. ``atoms=`` is off
    unless it is asked for: no cut is moved.
    """

    name = "given"
    needs = frozenset({"cuts"})

    @property
    def auto_atoms(self) -> bool:
        return False

    @property
    def wants(self) -> frozenset[str]:
        return frozenset({"cuts"})
