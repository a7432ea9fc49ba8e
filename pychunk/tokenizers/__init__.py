"""Tokenizers of language models, implemented natively, with ids equal to those of each model's own library."""


class NotNativeError(ValueError):
    """A valid tokenizer file needs a step that the native core does not implement; another package may run it."""


class Additions:
    """The tokens of a chunk in addition to those of its text. See :class:`.Tokenizer`."""

    special: int = 0
    render: bool = False
