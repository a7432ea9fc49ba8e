"""Requests that are written for chonkie's server."""

import pytest

pytest.importorskip("msgspec")

from service_calls import called


def test_chonkie_requests(settings):
    text = "Cats purr. " * 40
    one, many, meaning, gpt2, up = called(
        settings,
        (
            "POST",
            "/v1/chunk/recursive",
            {"json": {"text": text, "chunk_size": 60, "tokenizer": "character", "lang": "en"}},
        ),
        ("POST", "/v1/chunk/sentence", {"json": {"text": [text, "Hi."], "chunk_size": 20}}),
        ("POST", "/v1/chunk/semantic", {"json": {"text": text, "chunk_size": 50, "threshold": 0.8}}),
        ("POST", "/v1/chunk/recursive", {"json": {"text": text, "tokenizer_or_token_counter": "gpt2"}}),
        ("GET", "/", {}),
    )
    for chunks, document in [(one.json(), text), *zip(many.json(), [text, "Hi."]), (meaning.json(), text)]:
        assert chunks
        assert all(document[each["start_index"] : each["end_index"]] == each["text"] for each in chunks)
    assert max(len(each["text"]) for each in one.json()) <= 60
    assert max(each["token_count"] for each in many.json()[0]) <= 20
    assert all(each["token_count"] == len(each["text"]) for each in one.json())
    assert gpt2.status_code == 422
    assert "start it with --tokenizer NAME" in gpt2.json()["error"]["message"]
    assert up.status_code == 200
