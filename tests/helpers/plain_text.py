"""Plain text, the methods that cut it, and the check that their chunks tile it."""

from __future__ import annotations

from typing import Any

import pychunk

#: Every method but ``precomputed``; those that cut by meaning also without their minimum length: they cut most then.
METHODS: list[tuple[str, dict[str, Any]]] = [
    ("sentence", {}),
    ("paragraph", {}),
    ("page", {}),
    ("fixed", {"size": 60}),
    ("fixed", {"size": 60, "balance": True}),
    ("recursive", {"size": 60}),
    ("recursive", {"size": 300, "unit": "characters", "balance": True}),
    ("semantic", {}),
    ("semantic", {"min_tokens": 0, "threshold": 1.0}),
    ("cluster", {"max_tokens": 80}),
    ("pic", {}),
    ("pic", {"min_tokens": 0}),
    ("nsp", {"encoder": "static"}),
]
PROSE = [
    "Cats purr when they are content, and they sleep for most of the day. Dogs bark at night when strangers pass by.",
    "The sun is a star that burns hydrogen in its core. It will do so for another five billion years, all in all.",
    "Rivers carry silt from the mountains to the sea. Where they slow down the silt settles, and a delta grows there.",
    "Chess is played on a board of sixty-four squares. Each player begins with sixteen pieces of six different kinds.",
]


def check_tiling(text: str, chunks: list[pychunk.Chunk]) -> None:
    """Check that nothing is lost, repeated or changed."""
    end = 0
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text == chunk.text.strip() != ""
        assert text[end : chunk.start].strip() == ""
        assert chunk.start >= end
        end = chunk.end
    assert text[end:].strip() == ""
