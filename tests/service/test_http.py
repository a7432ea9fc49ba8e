"""Requests: their parameters, types and bodies."""

import asyncio
from types import SimpleNamespace

import pytest

pytest.importorskip("msgspec")

from service_calls import Protocol

from pychunk.service.http import Answer, Request
from pychunk.service.request_error import RequestError


def request(query="", parts=(), **headers):
    said = {name.replace("_", "-"): value for name, value in headers.items()}
    scope = SimpleNamespace(method="POST", path="/v1/segment", query_string=query, headers=said)
    return Request(scope, Protocol(list(parts)))


def test_parameters_and_the_type_are_decoded():
    found = request("method=fixed&size=&ids=%C3%A4+b&ids=c", content_type=" Application/JSON; charset=utf-8")
    assert found.parameters == [("method", "fixed"), ("size", ""), ("ids", "ä b"), ("ids", "c")]
    assert (found.kind, request().kind, request().parameters) == ("application/json", "", [])


def test_a_body_is_read_whole_or_refused():
    assert asyncio.run(request(parts=[b"ab", b"c"]).body(3)) == b"abc"
    assert asyncio.run(request(parts=[b"abc"], content_length="3", content_encoding="identity").body(3)) == b"abc"
    for wrong in (request(parts=[b"ab", b"cd"]), request(content_length="4")):
        with pytest.raises(RequestError, match="at most 3 bytes") as refused:
            asyncio.run(wrong.body(3))
        assert (refused.value.status, refused.value.headers) == (413, {"Connection": "close"})
    with pytest.raises(RequestError, match="must not be compressed") as refused:
        asyncio.run(request(content_encoding="gzip").body(3))
    assert refused.value.status == 415


def test_an_answer_has_its_type_and_the_requests_id():
    protocol = Protocol([])
    Answer(b"x", "text/plain", 429, {"Retry-After": "1"}).send(protocol, "a1")
    found = protocol.response
    assert (found.status_code, found.content) == (429, b"x")
    assert found.headers == {"content-type": "text/plain", "x-request-id": "a1", "retry-after": "1"}
