"""The options that requests may set, and the Segmenters that have them."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import msgspec

from ..inputs.document_columns import DocumentColumns
from ..methods.method_options import MethodOptions
from ..placement import Placement
from ..segmenter import Segmenter
from .request_error import RequestError

if TYPE_CHECKING:
    from .settings import Settings

#: The options that name files, models or services, or that change no chunk. Requests may not set them.
WITHHELD = {"llm", "model", "placement", "summaries_out", "cache"}
SHARED = ("method", "encoder", "max_tokens", "min_tokens", "overlap", "vectors", "augment", "on_error")
NAMES = (*SHARED, *sorted(set(MethodOptions.__annotations__) - WITHHELD))
#: The most bytes of a request's options. Workers keep the last 256 different ones with their Segmenters.
MOST_BYTES = 10_000
#: The methods that ask a language model for each document.
LLM_METHODS = ("autochunker", "llm_semantic", "lumber", "proposition")
#: The facts about documents that requests may pass. The text has its own field.
ROLES = tuple(sorted(set(DocumentColumns.__annotations__) - {"text"}))
#: The sources of contexts that read nothing but the document.
CONTEXTS = ("title", "path", "head", "summary", "neighbours")


def checked_options(options: dict[str, Any], settings: Settings) -> bytes:
    """Return the options as JSON with sorted names, which is equal for equal options.

    Raises:
        RequestError: An option is unknown or withheld, or names an encoder, a tokenizer or a method that the service
            does not offer.
    """
    for name, value in options.items():
        path = f"$.options.{name}"
        if name not in NAMES:
            raise RequestError(422, f"unknown option {name!r:.80}; choose from {', '.join(NAMES)}", path)
        if name in ("encoder", "tokenizer") and value is not None:
            offered = settings.encoders if name == "encoder" else settings.tokenizers
            if value not in offered:
                said = ", ".join(offered) or "none"
                raise RequestError(422, f"this service offers the {name}s {said}; got {value!r:.80}", path)
        if value in LLM_METHODS and name == "method":
            raise RequestError(422, f"method {value!r} asks a language model, which this service does not offer", path)
        if value == "llm":
            raise RequestError(422, f"{name}='llm' asks a language model, which this service does not offer", path)
        if name == "augment":
            sources = value if isinstance(value, list) else [value]
            if not all(isinstance(each, str) and each.partition(":")[0] in CONTEXTS for each in sources):
                raise RequestError(422, f"augment must be of {', '.join(CONTEXTS)}; got {value!r:.80}", path)
    try:
        found = msgspec.json.encode(options, order="sorted")
    except UnicodeEncodeError as error:
        raise RequestError(422, f"an option is not valid Unicode: {error.reason}", "$.options") from None
    if len(found) > MOST_BYTES:
        raise RequestError(422, f"options must have at most {MOST_BYTES} bytes; got {len(found)}", "$.options")
    return found


@functools.lru_cache(maxsize=256)
def segmenter_of(options: bytes, threads: int) -> Segmenter:
    """Return a Segmenter with options that :func:`checked_options` returned.

    Raises:
        RequestError: An option's value is wrong; the message names the choices.
    """
    said: dict[str, Any] = {
        name: tuple(value) if name == "threshold" and isinstance(value, list) else value
        for name, value in json.loads(options).items()
    }
    try:
        return Segmenter(**said, placement=Placement(threads=threads))
    except (ValueError, TypeError, OverflowError) as error:
        raise RequestError(422, str(error), "$.options") from None
    except ImportError as error:
        raise RequestError(501, str(error), "$.options") from None


def query_options(query: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the options in the parameters of a URL. Each value is JSON, or else a string.

    >>> query_options([("method", "fixed"), ("size", "100"), ("keep_together", "false")])
    {'method': 'fixed', 'size': 100, 'keep_together': False}
    """
    return {name: _value(value) for name, value in query}


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
