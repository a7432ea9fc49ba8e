"""The OpenAPI description of the service, made from the types of its requests and answers."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from .. import __version__
from . import requests
from .http import ARROW, JSON, LINES
from .uploads import FORM

_BODIES = {
    "/v1/segment": ("Segment documents.", requests.SegmentRequest, requests.SegmentAnswer),
    "/v1/sentences": ("Split texts into sentences.", requests.TextsRequest, requests.Spans),
    "/v1/tokenize": ("Tokenise texts, or count their tokens.", requests.TokenizeRequest, requests.TokenizeAnswer),
    "/v1/embeddings": ("Embed texts.", requests.EmbeddingsRequest, dict[str, Any]),
    "/v1/rerank": ("Sort texts by relevance.", requests.RerankRequest, list[requests.RankedText]),
    "/v1/search": ("Search an index.", requests.SearchRequest, requests.SearchAnswer),
}
_ERRORS = {
    "401": "No key, or a wrong one.",
    "413": "The body or the number of documents is over the limit.",
    "415": "The body's type is unknown.",
    "422": "The body is invalid; `error.path` says where.",
    "429": "Too many requests wait.",
    "503": "The models are not loaded.",
    "504": "The request took too long.",
}


@functools.cache
def description() -> dict[str, Any]:
    """Return the description as OpenAPI 3.1."""
    types = [kind for _, *kinds in _BODIES.values() for kind in kinds]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    found = iter(schemas)
    paths: dict[str, Any] = {}
    for path, (about, _, _) in _BODIES.items():
        asked, answer = next(found), next(found)
        paths[path] = {"post": _operation(path, about, asked, answer)}
    for path, about in {
        "/health": "Whether the process answers.",
        "/ready": "Whether the models are loaded.",
        "/version": "The version of pychunk.",
    }.items():
        paths[path] = {"get": {"summary": about, "responses": {"200": _content("The answer.", {"type": "object"})}}}
    paths["/ready"]["get"]["responses"]["503"] = _content("The reason why not.", {"type": "object"})
    components["Failure"] = {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("message", "path", "request")},
                "required": ["message", "request"],
            }
        },
        "required": ["error"],
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "pychunk", "version": __version__},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"key": []}],
    }


def _operation(path: str, about: str, asked: Any, answer: Any) -> dict[str, Any]:
    content = {JSON: {"schema": asked}}
    answers = {JSON: {"schema": answer}}
    if path == "/v1/segment":
        binary = {"schema": {"type": "string", "format": "binary"}}
        content |= {LINES: binary, ARROW: binary}
        answers |= {LINES: binary, ARROW: binary}
        content |= {
            FORM: {"schema": {"type": "object", "additionalProperties": {"type": "string", "format": "binary"}}}
        }
    failure = {"$ref": "#/components/schemas/Failure"}
    return {
        "summary": about,
        "operationId": path.rpartition("/")[2],
        "requestBody": {"required": True, "content": content},
        "responses": {
            "200": {"description": "The answer.", "content": answers},
            **{status: _content(text, failure) for status, text in _ERRORS.items()},
        },
    }


def _content(about: str, schema: Any) -> dict[str, Any]:
    return {"description": about, "content": {JSON: {"schema": schema}}}
