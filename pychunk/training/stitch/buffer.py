"""Questions that neither rollouts nor hints have solved, kept until there are enough to imitate an expert on them."""

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
        """One more."""
        self.held.append((prompt, trace))

    @property
    def full(self) -> bool:
        """Whether it holds as many as it is fitted at."""
        return len(self.held) >= self.size

    def take(self) -> list[tuple[Tokens, Tokens]]:
        """All that it holds, which it then holds no longer."""
        taken, self.held = self.held, []
        return taken
