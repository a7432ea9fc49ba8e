"""Requests and answers over RSGI, the interface through which granian calls the service."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from .request_error import RequestError

JSON, LINES, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"
#: The encodings of a body that change nothing.
_PLAIN = {"", "identity"}


class Request:
    """A request.

    Args:
        scope: The method, path, parameters and headers, as RSGI has them.
        protocol: RSGI's object that reads the body.

    Attributes:
        method: The method, such as ``"POST"``.
        path: The path of the URL.
        headers: The headers; ``headers.get(name)`` takes names in lower case.
    """

    def __init__(self, scope: Any, protocol: Any) -> None:
        self.method: str = scope.method
        self.path: str = scope.path
        self.headers: Any = scope.headers
        self._query: str = scope.query_string
        self._protocol = protocol

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The parameters of the URL, decoded."""
        return parse_qsl(self._query, keep_blank_values=True) if self._query else []

    @property
    def kind(self) -> str:
        """The type of the body, in lower case and without its parameters."""
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    async def body(self, most: int) -> bytes:
        """Return the body.

        Raises:
            RequestError: The body is larger than ``most`` bytes, which is found before it is read if the request says
                its length, or it is compressed.
        """
        too_large = (
            f"the body must have at most {most} bytes: send fewer documents, or start the service with --max-bytes"
        )
        declared = self.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > most:
            raise RequestError(413, too_large, Connection="close")
        if self.headers.get("content-encoding", "") not in _PLAIN:
            raise RequestError(415, "the body must not be compressed: leave out Content-Encoding")
        if declared.isdigit():
            return bytes(await self._protocol())
        parts, size = [], 0
        async for part in self._protocol:
            size += len(part)
            if size > most:
                raise RequestError(413, too_large, Connection="close")
            parts.append(part)
        return b"".join(parts)

    def gone(self) -> Awaitable[None]:
        """Return what ends if the client disconnects. The body must have been read."""
        ends: Awaitable[None] = self._protocol.client_disconnect()
        return ends


@dataclass
class Answer:
    """An answer.

    Attributes:
        body: The bytes of the body.
        kind: The type of the body.
        status: The HTTP status.
        headers: Further headers.
    """

    body: bytes
    kind: str = JSON
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, protocol: Any, request: str) -> None:
        """Send the answer to the request of this id."""
        headers = [("content-type", self.kind), ("x-request-id", request)]
        headers += [(name.lower(), value) for name, value in self.headers.items()]
        protocol.response_bytes(self.status, headers, self.body)
