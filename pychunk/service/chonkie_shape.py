"""The endpoints of chonkie's server, for clients that are written for it: same requests, same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .http import Answer, Request
from .options import checked_options
from .request_error import RequestError
from .segmentation import CHONKIE, Documents

if TYPE_CHECKING:
    from .app import Service


class ChunkRequest(msgspec.Struct):
    """The texts to chunk. Further fields, which are options of chonkie's own algorithms, change nothing."""

    text: str | list[str]
    chunk_size: int = 512
    tokenizer: str | None = None
    tokenizer_or_token_counter: str | None = None


def chunk_options(kind: str, said: ChunkRequest) -> dict[str, Any]:
    """Return pychunk's options for a request to one of chonkie's chunkers.

    >>> chunk_options("recursive", ChunkRequest("Cats purr.", 100, "character"))
    {'method': 'recursive', 'size': 100, 'unit': 'characters'}
    """
    counter = said.tokenizer_or_token_counter or said.tokenizer
    if kind == "semantic":  # chonkie's threshold is one of its own model's cosines
        return {"method": "semantic", "max_tokens": said.chunk_size, "min_tokens": min(64, said.chunk_size // 2)}
    options: dict[str, Any] = {"method": {"sentence": "fixed", "recursive": "recursive"}[kind], "size": said.chunk_size}
    units = {"character": "characters", "word": "words"}
    if counter in units:
        return {**options, "unit": units[counter]}
    return options if counter is None else {**options, "tokenizer": counter}


async def chunk(service: Service, request: Request) -> Answer:
    """Return chunks as chonkie's chunkers of sentences, recursive rules and meaning do."""
    from . import endpoints

    kind = request.path.rpartition("/")[2]
    said = await endpoints.decoded_body(service, request, ChunkRequest)
    texts = [said.text] if isinstance(said.text, str) else said.text
    try:
        options = checked_options(chunk_options(kind, said), service.settings)
    except RequestError as error:
        if error.path == "$.options.tokenizer":
            error.message += ": start it with --tokenizer NAME"
        raise

    work = Documents(texts, None, {}, "text", options, CHONKIE, isinstance(said.text, str))
    return Answer(await endpoints.segmented(service, request, work))
