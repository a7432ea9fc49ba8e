"""A request's sentences and their tokens, computed once for all users outside the engine."""

from __future__ import annotations

from .._engine.data.ragged import Ragged
from .._engine.data.request import Request
from .._engine.data.tokens import Tokens
from .._engine.engine import Engine


def with_sentences(request: Request, engine: Engine) -> Request:
    """Return the request with the sentences and flags that the engine finds, unless it already has both."""
    if request.features.sentences is not None and request.features.flags is not None:
        return request
    sentences, flags = engine.split(request.only_sentences())
    return request.with_(sentences=sentences, flags=flags)


def with_tokens(request: Request, tokens: Tokens) -> Request:
    """Return the request with the tokens that its own tokenizer made of its sentences."""
    counts = Ragged(tokens.counts, request.features.doc_offsets)
    ids = Ragged(tokens.ids, tokens.offsets) if request.table is not None else None
    return request.with_(token_counts=counts, token_ids=ids)
