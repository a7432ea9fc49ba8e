"""The class Tokenizer: a tokenizer with a name, and with what a model reads in addition to a chunk's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tokenizer:
    """A tokenizer for ``tokenizer=``, and what a model reads in addition to the text of a chunk.

    A model such as BERT reads ``[CLS]`` before and ``[SEP]`` after each text. With ``special=2``, the limits
    ``max_tokens``, ``min_tokens`` and ``size`` and the column ``tokens`` include these tokens. With ``render=True``,
    they include what :meth:`pychunk.Chunk.render` adds, too.

    Args:
        source: Anything that ``tokenizer=`` accepts, such as ``"o200k_base"``, a path or a function.
        name: The name in the metadata of chunks. A function has no hash, so give one with a version, such as
            ``"mine:1"``. Default: the source's own name.
        special: The number of special tokens that the model adds to each text: 2 for BERT and XLM-R, 1 for Llama, 0
            for the embeddings of OpenAI.
        render: Whether the tokens of a chunk are those of ``chunk.render()``: the headings above its text, the header
            of a table that it continues, and the marks that open and close code. A chunk that is over the limit only
            with them is cut into about equal parts.

    Raises:
        ValueError: ``special`` is not a whole number of at least 0, the name is empty, or ``render`` is not a bool.

    Example:
        >>> import pychunk
        >>> words = pychunk.Tokenizer(lambda text: len(text.split()), "words:1", special=2)
        >>> found = pychunk.segment("One two three. Four five six.", "fixed", size=5, tokenizer=words)
        >>> found.texts, found.table["tokens"].to_pylist(), found.metadata["tokenizer"]
        (['One two three.', 'Four five six.'], [5, 5], 'words:1 + 2 special')
    """

    source: Any
    name: str | None = None
    special: int = 0
    render: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.special, bool) or not isinstance(self.special, int) or self.special < 0:
            raise ValueError(
                f"special must be the number of special tokens that the model adds to each text, such as 2; got "
                f"{self.special!r:.80}"
            )
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise ValueError(f"name must be a name such as 'mine:1', or None; got {self.name!r:.80}")
        if not isinstance(self.render, bool):
            raise ValueError(f"render must be True or False; got {self.render!r:.80}")
