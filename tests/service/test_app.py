"""Limits, keys, and readiness of the service."""

import gzip
import time

import pytest

pytest.importorskip("msgspec")

from service_calls import called, posted

from pychunk.service.app import Service
from pychunk.service.settings import Settings, keys_of


def test_limits(settings, tmp_path):
    limited = Settings(counters=settings.counters, max_bytes=1000, max_documents=3)

    large, many, chunked, compressed, kind, none, wrong = called(
        limited,
        ("POST", "/v1/segment", {"json": {"documents": ["x" * 1000]}}),
        ("POST", "/v1/segment", {"json": {"documents": ["x"] * 4}}),
        ("POST", "/v1/segment", {"content": [b"x" * 400] * 10}),
        ("POST", "/v1/segment", {"content": gzip.compress(b"{}"), "headers": {"Content-Encoding": "gzip"}}),
        ("POST", "/v1/segment", {"content": b"a", "headers": {"Content-Type": "text/csv"}}),
        ("GET", "/v2", {}),
        ("GET", "/v1/segment", {}),
    )
    assert (large.status_code, many.status_code, chunked.status_code) == (413, 413, 413)
    assert "at most 1000 bytes" in large.json()["error"]["message"]
    assert "at most 3 documents; got 4" in many.json()["error"]["message"]
    assert (compressed.status_code, kind.status_code) == (415, 415)
    assert (none.status_code, wrong.status_code) == (404, 405)
    assert "/openapi.json" in none.json()["error"]["message"]


def test_keys(settings, tmp_path):
    file = tmp_path / "keys"
    file.write_text("# keys of the service\nfirst\n\nsecond \n")
    locked = Settings(counters=settings.counters, keys=keys_of(file))
    body = {"json": {"documents": ["One."]}}
    responses = called(
        locked,
        ("POST", "/v1/segment", body),
        *(
            ("POST", "/v1/segment", {**body, "headers": {"Authorization": said}})
            for said in ("Bearer first", "bearer second", "Bearer third", "Basic first", "first", "Bearer ")
        ),
        ("GET", "/health", {}),
        ("GET", "/metrics", {}),
    )
    assert [each.status_code for each in responses] == [401, 200, 200, 401, 401, 401, 401, 200, 401]
    assert responses[0].headers["www-authenticate"] == "Bearer"
    file.write_text("# none\n")
    with pytest.raises(ValueError, match="has no key: write one on each line"):
        keys_of(file)


def test_the_service_is_not_ready_if_a_model_does_not_load(settings, tmp_path):
    broken = Settings(counters=settings.counters, indexes={"docs": str(tmp_path / "none.idx")})
    service = Service(broken)
    service.start()
    assert "none.idx" in str(service.unready)
    health, ready, refused = called(
        broken,
        ("GET", "/health", {}),
        ("GET", "/ready", {}),
        ("POST", "/v1/segment", {"json": {"documents": ["One."]}}),
        ready=False,
    )
    assert (health.status_code, ready.status_code, refused.status_code) == (200, 503, 503)
    assert "none.idx" in refused.json()["error"]["message"]


def test_requests_wait_until_the_models_are_loaded(settings, monkeypatch):
    load = Service.load

    def slow(service):
        time.sleep(0.3)
        load(service)

    monkeypatch.setattr(Service, "load", slow)
    body = ("POST", "/v1/segment", {"json": {"documents": ["One."]}})
    early, ready = called(settings, body, ("GET", "/ready", {}), ready=False)
    assert (early.status_code, ready.status_code) == (200, 503)


def test_the_time_of_a_request_is_limited(settings):
    hurried = Settings(counters=settings.counters, timeout=0.001)
    response = posted(hurried, "/v1/segment", {"documents": ["One two three. " * 100_000]})
    assert response.status_code == 504
    assert "took over 0.001 s" in response.json()["error"]["message"]
