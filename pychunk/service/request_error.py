"""The answers to requests that cannot be served, each with its HTTP status."""

from __future__ import annotations


class RequestError(Exception):
    """A request that cannot be served.

    Attributes:
        status: The HTTP status.
        message: What is wrong, what was received, and what to do.
        path: The place in the request's body, such as ``$.documents[3]``.
        headers: Further headers of the answer.
    """

    def __init__(self, status: int, message: str, path: str | None = None, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.path = path
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def body(self, request: str) -> dict[str, object]:
        """Return the answer's body. ``request`` is the request's id."""
        said = {"message": self.message, "request": request, **({} if self.path is None else {"path": self.path})}
        # A client's own words in it may be no valid Unicode.
        error = {name: value.encode("utf-8", "replace").decode() for name, value in said.items()}
        return {"error": error}
