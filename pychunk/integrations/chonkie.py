"""A chonkie chunker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from chonkie.chunker.base import BaseChunker
    from chonkie.pipeline import chunker
    from chonkie.types import Chunk
except ImportError:
    raise ImportError("integrations.chonkie needs chonkie: pip install chonkie") from None

from ..chunks.batch import Chunk as OwnChunk
from ..io.markup import Markup
from ..methods.method_options import MethodName
from ..segmenter import Segmenter
from .document_metadata import parsed

#: A limit that no chunk reaches. It is set because tokens are counted only if there is a limit.
NO_LIMIT = 2**31 - 1


@chunker("pychunk")
class PychunkChunker(BaseChunker):
    """A chonkie chunker that cuts a list of texts in one native call.

    A pipeline calls it with ``chunk_with("pychunk")``. ``token_count`` counts pychunk's tokens (WordPiece). With
    ``vectors="chunk"`` a chunk has its ``embedding``.

    Args:
        method, **options: The arguments of :class:`pychunk.Segmenter`. In a pipeline, pass the options as one
            dictionary: ``chunk_with("pychunk", method="fixed", options={"size": 100, "unit": "words"})``.
        markup: ``"markdown"``, ``"html"`` or ``"auto"``: the texts are parsed as this markup, so that headings, tables
            and lists decide where chunks end. See :func:`pychunk.parse`. Default: texts are plain text.

    Example:
        >>> [(chunk.text, chunk.start_index, chunk.end_index) for chunk in PychunkChunker("sentence")("One. Two.")]
        [('One.', 0, 4), ('Two.', 5, 9)]
    """

    def __init__(
        self,
        method: MethodName | None = None,
        *,
        markup: Markup | None = None,
        options: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        more = {**(options or {}), **more}
        self._markup = more.pop("markup", markup)
        made = Segmenter(method, **more)
        self.segmenter = made if made.plan.max_tokens else Segmenter(method, **{**more, "max_tokens": NO_LIMIT})
        encoder = {name: more[name] for name in ("encoder", "placement", "tokenizer") if name in more}
        if method == "nsp" and encoder.get("encoder") not in ("multilingual", "auto"):
            encoder.pop("encoder", None)  # Method sentence, below, cannot use a cross-encoder, which reads pairs.
        self._counter = Segmenter("sentence", max_tokens=NO_LIMIT, **encoder)
        super().__init__(self._count)

    def _count(self, text: str) -> int:
        """Return the number of tokens of a text, so that chonkie's ``tokenizer`` counts as ``token_count`` does."""
        spans = [[(0, len(text))] if text.strip() else []]
        found = self._counter([text], columns={"sentence_spans": spans}).table["tokens"].to_pylist()
        return int(sum(found))

    def __repr__(self) -> str:
        return f"PychunkChunker({self.segmenter.method.name!r})"

    def chunk(self, text: str) -> list[Chunk]:
        """Return the chunks of a text."""
        return self.chunk_batch([text])[0]

    def chunk_batch(self, texts: Sequence[str], show_progress: bool = False) -> list[list[Chunk]]:
        """Return the chunks of each text."""
        found = self.segmenter(parsed(list(texts), self._markup), progress=show_progress).by_document()
        return [[_converted(chunk) for chunk in chunks] for chunks in found]


def _converted(chunk: OwnChunk) -> Chunk:
    return Chunk(
        text=chunk.text,
        start_index=chunk.start,
        end_index=chunk.end,
        token_count=chunk.tokens,
        embedding=chunk.vector,
    )
