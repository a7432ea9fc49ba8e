"""A request's sentences and their tokens, computed once for all users outside the engine."""

from __future__ import annotations

from .._engine import native
from .._engine.data.models import TokenTable
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


def with_token_counts(request: Request, words: TokenTable) -> Request:
    """Return the request with the number of tokens of each sentence, by its counter or else by the tokenizer ``words``.

    The request already has sentences.
    """
    features = request.features
    if request.counter is None:
        return with_tokens(request, words.tokens_of(features.text, features.bounds, request.threads), words)
    counts = native.count_tokens(request.counter, features.text, features.bounds)
    return request.with_(token_counts=Ragged(counts, features.doc_offsets), exact_counts=True)


def with_tokens(request: Request, tokens: Tokens, words: TokenTable) -> Request:
    """Return the request with the tokens of its sentences, which the tokenizer ``words`` of the request made.

    Counts that the caller passed stay, and then the ids are left out.
    """
    if request.features.token_counts is not None:
        return request
    own: object = request.counter
    if own is not None and own is not words:
        return with_token_counts(request, words)
    counts = Ragged(tokens.counts, request.features.doc_offsets)
    ids = Ragged(tokens.ids, tokens.offsets) if request.table is not None else None
    return request.with_(token_counts=counts, token_ids=ids, exact_counts=True)
