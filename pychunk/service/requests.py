"""The bodies of requests and answers in JSON, from which the OpenAPI description is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec

Format = Literal["text", "markdown", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
#: The most characters of a document's id, which each of its chunks repeats.
LONGEST_ID = 256


class Document(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A document of a request.

    ``columns`` has facts about the document by role, such as ``titles`` or ``page_starts``; see pychunk.segment.
    """

    text: str
    id: Annotated[str, msgspec.Meta(max_length=LONGEST_ID)] | None = None
    columns: dict[str, Any] = {}


class SegmentRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The documents to segment, and the options with which to segment them."""

    documents: list[str | Document]
    options: dict[str, Any] = {}
    format: Format = "text"


class RowFailure(msgspec.Struct):
    """A document that ``on_error="skip"`` left out, with the reason."""

    document: int
    reason: str


class SegmentedDocument(msgspec.Struct):
    """The chunks of one document. Each has the columns of the table that pychunk.segment returns."""

    id: str | None
    chunks: list[dict[str, Any]]


class SegmentAnswer(msgspec.Struct):
    """The documents in the order of the request, and those that were left out."""

    documents: list[SegmentedDocument]
    errors: list[RowFailure]
    metadata: dict[str, Any]


class TextsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Texts to split into sentences."""

    texts: list[str]


class Spans(msgspec.Struct):
    """The sentences of a text, as pairs of the characters at which each begins and ends."""

    sentences: list[list[tuple[int, int]]]


class TokenizeRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Texts to tokenise. With ``count`` the answer has only the number of tokens of each."""

    texts: list[str]
    tokenizer: str
    count: bool = False


class TokenizeAnswer(msgspec.Struct, omit_defaults=True):
    """The number of tokens of each text; without ``count``, also the ids and the first and last bytes of the tokens."""

    counts: list[int]
    ids: list[list[int]] | None = None
    start_byte: list[list[int]] | None = None
    end_byte: list[list[int]] | None = None


class EmbeddingsRequest(msgspec.Struct):
    """Texts to embed, in the shape of OpenAI's endpoint. Fields that are unknown are ignored, as clients send some."""

    input: str | list[str]
    model: str = "static"
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    task: Literal["passage", "query"] = "passage"


class RerankRequest(msgspec.Struct):
    """Texts to sort by their relevance for a question, in the shape of Text Embeddings Inference.

    Scores are between 0 and 1, or with ``raw_scores`` the logits of the model. Fields that are unknown are ignored, as
    clients send some.
    """

    query: str
    texts: Annotated[list[str], msgspec.Meta(min_length=1)]
    raw_scores: bool = False
    return_text: bool = False


class RankedText(msgspec.Struct, omit_defaults=True):
    """A text's place in the request, and its score."""

    index: int
    score: float
    text: str | None = None


class SearchRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Questions to an index that the service was started with."""

    index: str
    queries: list[str]
    k: int = 5
    mode: Literal["hybrid", "dense", "sparse"] = "hybrid"
    where: str | None = None


class SearchAnswer(msgspec.Struct):
    """The hits of each question, the best first."""

    hits: list[list[dict[str, Any]]]
