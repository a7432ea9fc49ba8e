"""The class Encoder: an encoder of the caller's own, such as a model of another package or the client of a service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import flat_text
from .._engine.data.tokens import Tokens
from . import static_encoder

I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]
Report = Callable[[int, int], None]


class Encoder:
    """An encoder of your own, for ``encoder=`` of every method that reads vectors, for ``vectors=`` and for an index.

    Args:
        source: An object with a method ``encode(list[str])``, such as a SentenceTransformer or a model of model2vec, or
            a function. It returns one vector for each text, float[n, d]. If the object also has the methods
            ``encode_document`` and ``encode_query``, they encode passages and questions.
        name: A name for the model and its version. Vectors of encoders with equal names are taken to be comparable.
        batch: The most texts of a call.

    Limits count the tokens of the static encoder, unless you pass ``tokenizer=``. Vectors are scaled to unit length.

    Raises:
        ValueError: The name is empty.
        TypeError: The source is neither a function nor an object with a method ``encode``.

    Example:
        >>> import numpy as np
        >>> import pychunk
        >>> def letters(texts: list[str]) -> np.ndarray:
        ...     return np.array([[text.count(c) for c in "aeiou"] for text in texts])
        >>> chunks = pychunk.segment("Cats purr. Dogs bark.", "pic", encoder=pychunk.Encoder(letters, "vowels:1"))
        >>> chunks.metadata["encoder"]
        'vowels:1'
    """

    #: The engine cannot compute this encoder itself.
    in_engine: ClassVar[Literal[False]] = False
    #: No result is in doubt.
    in_doubt: ClassVar[None] = None

    def __init__(self, source: Any, name: str, *, batch: int = 1024) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(
                f"name must say which model and version this is, such as 'all-mpnet-base-v2:1'; got {name!r:.80}"
            )
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise ValueError(f"batch must be a whole number of at least 1; got {batch!r:.80}")
        self.name, self.batch, self._source = name, batch, source
        passages = getattr(source, "encode_document", None) or getattr(source, "encode", None)
        passages = passages or (source if callable(source) else None)
        if passages is None:
            raise TypeError(
                f"source must be a function of a list of str, or an object with a method encode; got {source!r:.80}"
            )
        self._passages: Callable[[list[str]], Any] = passages
        self._questions: Callable[[list[str]], Any] = getattr(source, "encode_query", None) or passages
        self._dim: int | None = None

    def __repr__(self) -> str:
        return f"Encoder({self._source!r:.60}, {self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoder) and (self.name, self._source) == (other.name, other._source)

    def __hash__(self) -> int:
        return hash((self.name, id(self._source)))

    @property
    def fingerprint(self) -> str:
        """The name of the encoder."""
        return self.name

    @property
    def tokenizer(self) -> static_encoder.StaticEncoder:
        """The tokenizer that counts tokens, which is that of the static encoder."""
        return static_encoder.load()

    @property
    def tokenizer_name(self) -> str:
        """The name of the tokenizer with a hash of its vocabulary."""
        return self.tokenizer.tokenizer_name

    @property
    def running(self) -> tuple[str, str]:
        """The runtime and the precision, for metadata."""
        return "python", "fp32"

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector, found by encoding one word."""
        if self._dim is None:
            self._run(self._passages, ["word"])
        assert self._dim is not None
        return self._dim

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int | None = None) -> Tokens:
        """Return the tokens of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``, by the static encoder."""
        return self.tokenizer.tokens_of(text, bounds, threads)

    def encode(self, texts: Sequence[str] | pa.Array, **options: Any) -> F32:
        """Return unit vectors float32[n, dim] of n texts. A blank text has the zero vector."""
        array = texts if isinstance(texts, pa.Array) else pa.array(list(texts), pa.large_string())
        return self.encode_spans(*flat_text(array.cast(pa.large_string())), **options)

    def encode_queries(self, texts: Sequence[str] | pa.Array, **options: Any) -> F32:
        """Return unit vectors of questions, by the method ``encode_query`` of the source if it has one."""
        asked = texts.to_pylist() if isinstance(texts, pa.Array) else list(texts)
        return self._vectors(self._questions, asked, None)

    def encode_spans(
        self, text: npt.NDArray[np.uint8], bounds: I64, *, threads: int | None = None, report: Report | None = None
    ) -> F32:
        """Return unit vectors of the consecutive spans ``text[bounds[i]:bounds[i + 1]]`` of UTF-8, float32[n, dim].

        The source gets the spans without white space at their ends. It decides how many threads it uses.
        """
        data = text.tobytes()
        spans = [data[a:b].decode().strip() for a, b in pairwise(bounds.tolist())]
        return self._vectors(self._passages, spans, report)

    def _vectors(self, encode: Callable[[list[str]], Any], texts: list[str], report: Report | None) -> F32:
        there = [row for row, text in enumerate(texts) if text.strip()]
        out = np.zeros((len(texts), self.dim), np.float32)
        for begin in range(0, len(there), self.batch):
            rows = there[begin : begin + self.batch]
            out[rows] = self._run(encode, [texts[row] for row in rows])
            if report is not None:
                report(min(begin + self.batch, len(there)), len(there))
        return native.normalized_rows(out)[0]

    def _run(self, encode: Callable[[list[str]], Any], texts: list[str]) -> F32:
        """Return the vectors of at most ``batch`` texts, checked."""
        try:
            made = encode(texts)
        except Exception as error:
            raise RuntimeError(
                f"encoder {self.name!r} failed for a batch whose first text begins with {texts[0]!r:.80} "
                f"({type(error).__name__}: {error}); make it encode every text"
            ) from error
        try:
            found = np.asarray(made, np.float32)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"encoder {self.name!r} must return an array of numbers, float[n, d]; got {made!r:.80} ({error})"
            ) from None
        wanted = f"[{len(texts)}, {self._dim or 'd'}]"
        is_matrix = found.ndim == 2 and len(found) == len(texts) and found.shape[1] > 0
        if not is_matrix or self._dim not in (None, found.shape[1]):
            raise ValueError(
                f"encoder {self.name!r} must return one vector for each text, all of one width, float{wanted}; got the "
                f"shape {list(found.shape)}"
            )
        self._dim = found.shape[1]
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise ValueError(
                f"encoder {self.name!r} must return finite numbers; got {found[row].tolist()!s:.60} for the text "
                f"{texts[row]!r:.80}"
            )
        return found
