"""Calls of the service in this process, and the answers that they should have."""

import asyncio
import json
from types import SimpleNamespace

import msgspec
import numpy as np

import pychunk
from pychunk.service import segmentation
from pychunk.service.app import Application

TEXTS = [
    "Cats purr. Dogs bark loudly at night. Both sleep a lot.",
    "",
    "Die Katze schnurrt. Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "日本語の文です。これも文です。",
    "# Stars\n\nStars burn hydrogen. Their light travels for years.\n\n## Dust\n\nDust drifts.",
    "One two three. " * 200,
]
OPTIONS = [
    {},
    {"method": "sentence"},
    {"method": "fixed", "size": 5, "unit": "words"},
    {"method": "semantic", "threshold": ["percentile", 20], "min_tokens": 0},
    {"method": "pic", "k": 0.5, "vectors": "chunk"},
    {"method": "structure", "augment": "head"},
]


class Response:
    def __init__(self, status, headers, content):
        self.status_code = status
        self.headers = dict(headers)
        self.content = content

    @property
    def text(self):
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


class Protocol:
    """RSGI's protocol as granian has it: a body of one or several parts, and one answer."""

    def __init__(self, parts):
        self.parts = parts
        self.response = None

    async def __call__(self):
        return b"".join(self.parts)

    async def __aiter__(self):
        for part in self.parts:
            yield part

    async def client_disconnect(self):
        await asyncio.sleep(1000)

    def response_bytes(self, status, headers, body):
        assert self.response is None
        self.response = Response(status, headers, body)


async def answered(app, method, url, json=None, content=b"", headers=()):
    """Return the response to a request. ``content`` is the body, or a list of the parts of one of unknown length."""
    path, _, query = url.partition("?")
    said = {name.lower(): value for name, value in dict(headers).items()}
    if json is not None:
        content = msgspec.json.encode(json)
        said.setdefault("content-type", "application/json")
    parts = content if isinstance(content, list) else [content.encode() if isinstance(content, str) else content]
    if not isinstance(content, list):
        said["content-length"] = str(len(parts[0]))
    protocol = Protocol(parts)
    scope = SimpleNamespace(method=method, path=path, query_string=query, headers=said)
    await app.__rsgi__(scope, protocol)
    return protocol.response


def called(settings, *requests, ready=True):
    """Return the responses to requests, (method, URL, keyword arguments), which are sent at the same time."""

    async def run():
        app = Application(settings)
        app.__rsgi_init__(asyncio.get_running_loop())
        while ready and (await answered(app, "GET", "/ready")).status_code != 200:
            await asyncio.sleep(0.01)
        try:
            return await asyncio.gather(
                *(asyncio.ensure_future(answered(app, method, url, **said)) for method, url, said in requests)
            )
        finally:
            app.__rsgi_del__(asyncio.get_running_loop())

    return asyncio.run(run())


def posted(settings, path, body, **arguments):
    return called(settings, ("POST", path, {"json": body, **arguments}))[0]


def expected(texts, options, ids=None):
    """Return the chunks of documents as the service nests them."""
    said = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    found = []
    for row, text in enumerate(texts):
        rows = pychunk.segment([text], ids=None if ids is None else [ids[row]], **said).table.to_pylist()
        found.append([{name: row[name] for name in row if name not in segmentation.NESTED} for row in rows])
    return json.loads(json.dumps(found))


def chunks_of(response):
    assert response.status_code == 200, response.text
    return [each["chunks"] for each in response.json()["documents"]]


def rounded(chunks):
    """Return chunks with float32 numbers as the nearest double of seven digits, as JSON may round them otherwise."""
    return json.loads(json.dumps(chunks), parse_float=lambda number: round(float(np.float32(number)), 6))
