"""A buffer of questions that neither rollouts nor hints solved, until there are enough to imitate an expert on them."""

from __future__ import annotations

from .tasks import Tokens


class ImitationBuffer:
    """Prompts with the traces of experts.

    Example:
        >>> buffer = ImitationBuffer(2)
        >>> buffer.add((1, 2), (3,))
        >>> buffer.full
        False
        >>> buffer.add((4,), (5, 6))
        >>> buffer.take(), buffer.full
        ([((1, 2), (3,)), ((4,), (5, 6))], False)
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.held: list[tuple[Tokens, Tokens]] = []

    def add(self, prompt: Tokens, trace: Tokens) -> None:
        """Add a prompt and its trace."""
        self.held.append((prompt, trace))

    @property
    def full(self) -> bool:
        """True once the buffer holds enough pairs to be fitted."""
        return len(self.held) >= self.size

    def take(self) -> list[tuple[Tokens, Tokens]]:
        """Return all pairs, and empty the buffer."""
        taken, self.held = self.held, []
        return taken
