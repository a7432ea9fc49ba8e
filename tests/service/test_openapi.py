"""The OpenAPI description."""

import json

import pytest

pytest.importorskip("msgspec")

from pychunk.service.openapi import description


def test_the_openapi_description_names_all_routes_and_types():
    found = description()
    assert {"/v1/segment", "/v1/embeddings", "/health"} <= set(found["paths"])
    text = json.dumps(found)
    for name in found["components"]["schemas"]:
        assert f"#/components/schemas/{name}" in text or name == "Failure"
    for reference in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert reference in found["components"]["schemas"]
