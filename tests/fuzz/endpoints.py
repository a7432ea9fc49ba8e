"""An LLM endpoint that breaks, lies and sends too much, and the client's handling of its replies.

These properties hold for any reply. An answer is what the endpoint sent in a complete reply, or there is an error
without a key. The client reads and unpacks no more of a reply than the limit. Every request is an attempt in the
account, whose limits hold. Tokens of replies without an answer are counted. The client asks no other address, and the
cache repeats the answer.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import importlib.util
import json
import logging
import random
import re
import socket
import tempfile
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

#: The most that is read of a reply here, and Python's other memory: blocks of sockets, parsers.
MOST, BESIDE = 1 << 16, 4 << 20
#: The total bytes of an endless reply, and those of them that wait in sockets.
ENDLESS, WAITING = 64 << 20, 24 << 20
QUESTION = "What is a chunk?"
KEYS = (
    "sk-0123456789abcdef",
    "EMPTY",
    "e",
    '"',
    "a b  c and more",
    "it's\"a\\key\\n",
    "100%41+key/==",
    "key[0-9]+(x)|y",
)
TEXTS = ("A part of a text.", "", " ", "Żółć 🎉", "\ud800", "\0", "[key]", "x" * 5000)
JUNK: tuple[Any, ...] = (None, True, -1, 0, 2**53, 1e308, "", "7", [], {}, [None], {"a": 1}, "\ud800", [[[[]]]])


class Sent(NamedTuple):
    """A reply; ``{key}`` in its text becomes the request's key.

    Attributes:
        line: The status line.
        headers: The headers other than those of the framing.
        body: The unpacked body, repeated ``times``.
        packing: The compression: "", gzip, zlib, or gzip cut short.
        framing: One of length, chunked, close; or a wrong one: endless, short, long, unequal, bad-length, bad-chunk,
            none (the connection ends).
    """

    line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    times: int
    packing: str
    framing: str

    def arrives(self, key: str) -> bool:
        """Return whether the reply has status 200, and all of its body can be read."""
        if self.packing == "cut" or self.framing not in ("length", "chunked", "close"):
            return False
        if not re.fullmatch(r"HTTP/\d\.\d 200( .*)?", self.line):
            return False
        for name, value in self.headers:
            name = name.replace("{key}", key)
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9a-zA-Z-]+", name) or "\0" in value or len(value) > 1 << 16:
                return False
        encoding = dict(self.headers).get("Content-Encoding", "identity").replace("{key}", key).strip().lower()
        if encoding not in (("gzip", "x-gzip", "deflate") if self.packing else ("identity", "")):
            return False
        return max(map(len, bodies(self, key))) <= MOST

    @property
    def leaves_bytes(self) -> bool:
        """A flag that is True if bytes remain after it, which end the connection before another request is read."""
        return self.framing == "long" or bool(re.match(r"HTTP/\S+ (1..|204|304)", self.line))

    def completion(self, key: str) -> str | None:
        """Return the answer in it, or None if it has none."""
        if not self.arrives(key):
            return None
        try:
            message = json.loads(bodies(self, key)[0])["choices"][0]["message"]
            message.get("refusal")
        except Exception:
            return None
        text = message.get("content")
        return text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""

    def tokens(self, key: str) -> tuple[int, int]:
        """Return the tokens that a reply of status 200 without an answer counts."""
        if not self.arrives(key):
            return 0, 0
        try:
            usage = json.loads(bodies(self, key)[0])["usage"]
            found = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        except Exception:
            return 0, 0
        into, out = (each if type(each) is int and 0 <= each < 2**53 else 0 for each in found)
        return into, out


class Case(NamedTuple):
    """The replies of an endpoint, one after the other, followed by good ones, and the options of the client."""

    replies: tuple[Sent, ...]
    key: str
    retries: int
    max_calls: int | None
    cached: bool


@functools.lru_cache(64)
def bodies(reply: Sent, key: str) -> tuple[bytes, bytes]:
    """Return the body, plain and packed."""
    inside = json.dumps(key)[1:-1] if reply.body.startswith(b"{") else key
    data = reply.body.replace(b"{key}", inside.encode()) * reply.times
    if reply.packing == "zlib":
        return data, zlib.compress(data, 1)
    made = gzip.compress(data, 1, mtime=0) if reply.packing else data
    return data, made[: len(made) // 2] if reply.packing == "cut" else made


class Endpoint:
    """A server of replies on a port of its own; a context manager.

    Attributes:
        paths: The paths of the complete requests.
        sent: The bytes of the body of each reply.
    """

    def __init__(self, replies: tuple[Sent, ...], key: str) -> None:
        self._replies, self._key = replies, key
        self.paths: list[str] = []
        self.sent: list[int] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                while self._answered(connection):
                    pass

    def _answered(self, connection: socket.socket) -> bool:
        """Return whether another request may use the connection."""
        data = b""
        while b"\r\n\r\n" not in data:
            block = connection.recv(1 << 16)
            if not block:
                return False
            data += block
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(1 << 16)
        at = len(self.paths)
        self.paths.append(lines[0].split(" ")[1])
        self.sent.append(0)
        reply = self._replies[at] if at < len(self._replies) else GOOD
        return self._send(connection, reply, at)

    def _send(self, connection: socket.socket, reply: Sent, at: int) -> bool:
        framing = reply.framing
        if framing == "none":
            return False
        _, body = bodies(reply, self._key)
        length = {"short": len(body) + 9, "long": max(0, len(body) - 9)}.get(framing, len(body))
        framed = {
            "chunked": "Transfer-Encoding: chunked\r\n",
            "bad-chunk": "Transfer-Encoding: chunked\r\n",
            "bad-length": f"Content-Length: {self._key}\r\n",
            "unequal": f"Content-Length: {length}\r\nContent-Length: {length + 1}\r\n",
            "close": "",
            "endless": "",
        }.get(framing, f"Content-Length: {length}\r\n")
        headers = "".join(f"{name}: {value}\r\n" for name, value in reply.headers).replace("{key}", self._key)
        line = reply.line.replace("{key}", self._key)
        connection.sendall(f"{line}\r\n{headers}{framed}\r\n".encode("latin-1", "replace"))
        begin, end = b"", b""
        if framing in ("chunked", "bad-chunk"):
            size = self._key if framing == "bad-chunk" else f"{len(body):x}"
            begin, end = (f"{size}\r\n".encode(), b"\r\n0\r\n\r\n") if body else (b"", b"0\r\n\r\n")
        connection.sendall(begin)
        while True:
            left = memoryview(body)
            while left:
                sent = connection.send(left[: 1 << 16])
                self.sent[at] += sent
                left = left[sent:]
            if framing != "endless" or self.sent[at] >= ENDLESS or not body:
                connection.sendall(end)
                return framing in ("length", "chunked") and not reply.leaves_bytes  # else the client waits for more


def completion(text: str, **more: Any) -> bytes:
    """Return the body of a good reply."""
    return json.dumps({"choices": [{"message": {"content": text}}], **more}).encode()


GOOD = Sent("HTTP/1.1 200 OK", (), completion("At last."), 1, "", "length")


@functools.cache
def _import_all() -> None:
    """Ask a good endpoint once: compiling a call's imports takes 9 MB, which does not belong to a reply."""
    from pychunk.llm import LLM

    with Endpoint((), "key") as endpoint, LLM(endpoint.url, "m", "key", cache=False) as llm:
        assert llm.ask(QUESTION).text == "At last."


class Heard(logging.Handler):
    """A log handler that keeps what pychunk logs."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.said += self.format(record)


class Endpoints:
    """The target for endpoints."""

    name = "endpoints"
    timeout = 60.0

    def make(self, rng: random.Random) -> Case:
        replies = tuple(self._reply(rng) for _ in range(rng.choice([1, 1, 2, 3, 5])))
        limit = rng.choice([None, None, 1, 2, 4])
        return Case(replies, rng.choice(KEYS), rng.randrange(5), limit, rng.random() < 0.5)

    def _reply(self, rng: random.Random) -> Sent:
        line = "HTTP/1.1 200 OK"
        if rng.random() < 0.4:
            status = rng.choice(
                [100, 103, 201, 204, 206, 301, 302, 304, 307, 400, 401, 403, 404, 408, 413, 415, 422, 429]
            )
            status = rng.choice([status, rng.choice([500, 501, 503, 599, 600, 999])])
            line = rng.choice(
                [f"HTTP/1.1 {status} No", f"HTTP/1.1 {status} {{key}}", f"HTTP/1.0 {status}", "HTTP/9.9 200 OK"]
            )
            line = rng.choice([line] * 9 + ["{key}", "", "HTTP/1.1 2000 OK", "\0"])
        body = self._body(rng)
        headers: list[tuple[str, str]] = []
        packing = rng.choice(["", "", "", "gzip", "zlib", "cut"])
        if packing or rng.random() < 0.1:
            names = ["gzip"] * 6 + ["GZIP ", "deflate", "br", "gzip, gzip", "identity", "{key}", ""]
            headers.append(("Content-Encoding", rng.choice(names)))
        if rng.random() < 0.2:
            afters = [
                "0",
                "0.001",
                "-1",
                "nan",
                "inf",
                "1e999",
                "soon",
                "{key}",
                "1" * 400,
                "Mon, 01 Jan 0001 00:00:00 GMT",
            ]
            headers.append(("Retry-After", rng.choice([*afters, "Fri, 31 Dec 9999 23:59:59 -2359"])))
        if rng.random() < 0.2:
            headers.append(
                ("Location", rng.choice(["/v1/other", "http://127.0.0.1:9/{key}", "file:///etc/passwd", "\xff"]))
            )
        if rng.random() < 0.1:
            headers.append(
                rng.choice([("X", "y" * (1 << 18)), ("X Y", "{key}"), ("{key}", "z"), ("X", "\0{key}"), ("", "")])
            )
        times = 1
        framing = rng.choice(["length"] * 8 + ["chunked", "chunked", "close", "none", "short", "long"])
        framing = rng.choice([framing] * 6 + ["bad-length", "bad-chunk", "unequal"])
        if rng.random() < 0.1:
            times = max(1, rng.choice([MOST, 1 << 20, 8 << 20]) // max(1, len(body)))
            framing = rng.choice([framing, "endless" if not packing else framing])
        return Sent(line, tuple(headers), body, times, packing, framing)

    def _body(self, rng: random.Random) -> bytes:
        usage = {
            "prompt_tokens": rng.choice([7, 1000, *JUNK]),
            "completion_tokens": rng.choice([7, 1000, *JUNK]),
        }
        text = rng.choice([*TEXTS, "the key is {key}."])
        choice: dict[str, Any] = {"message": {"content": text}}
        for name in ("finish_reason", "logprobs", "index"):
            if rng.random() < 0.3:
                choice[name] = rng.choice([*JUNK, "length", "content_filter", {"content": [rng.choice(JUNK)]}])
        if rng.random() < 0.2:
            choice["message"]["refusal"] = rng.choice([*JUNK, "I know {key}."])
        made: Any = {"choices": [choice], "usage": rng.choice([usage, usage, rng.choice(JUNK)])}
        how = rng.randrange(12)
        if how == 0:
            made["choices"] = rng.choice([*JUNK, [{"message": rng.choice(JUNK)}]])
        elif how == 1:
            made["choices"][0]["message"]["content"] = rng.choice([*JUNK, ["{key}"]])
        elif how == 2:
            error = rng.choice([{"message": "Wrong key {key}, model {key} not found"}, "Bearer {key}", *JUNK])
            made = {"error": error, "usage": usage}
        elif how == 3:
            return rng.choice(
                [b"[" * 20000, b"", b"\0", b"{key}", b"<html>{key}", b"1" * 5000, b"\xff\xfe", rng.randbytes(99)]
            )
        data = json.dumps(made).encode(rng.choice(["utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig"]))
        return data[: rng.randrange(len(data))] if how == 4 else data

    def check(self, case: Case) -> None:
        if not importlib.util.find_spec("httpx2"):
            return
        from pychunk.llm import client, connection

        _import_all()
        heard = Heard()
        logger = logging.getLogger("pychunk")
        logger.addHandler(heard)
        try:
            with (
                tempfile.TemporaryDirectory(prefix="pychunk-fuzz-") as folder,
                mock.patch.object(client, "_FIRST_WAIT", 0.0),
                mock.patch.object(connection, "MAX_REPLY", MOST),
                Endpoint(case.replies, case.key) as endpoint,
            ):
                self._check(case, endpoint, Path(folder) / "c.sqlite", heard)
        finally:
            logger.removeHandler(heard)

    def _check(self, case: Case, endpoint: Endpoint, cache: Path, heard: Heard) -> None:
        from pychunk.llm import LLM, LLMError

        options: dict[str, Any] = {"cache": cache if case.cached else False, "retries": case.retries}
        is_large = any(reply.times > 1 for reply in case.replies)
        with LLM(endpoint.url, "m", case.key, max_calls=case.max_calls, price=(1.0, 1.0), **options) as llm:
            if is_large:
                for each in case.replies:
                    bodies(each, case.key)  # memory that is not the client's
                tracemalloc.start()
            error, reply = "", None
            try:
                reply = llm.ask(QUESTION)
                error = reply.error
            except LLMError as raised:
                error = f"{raised}"
                cause: BaseException | None = raised
                while cause is not None:
                    self._check_said(case, f"{cause} {cause!r} {vars(cause)}")
                    cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
            if is_large:
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert peak < 20 * MOST + BESIDE, f"{peak:,} bytes of memory"
            total = llm.account.total
        self._check_said(case, f"{error} {heard.said} {'' if reply is None else reply.refusal} {llm!r}")
        asked = len(endpoint.paths)
        assert set(endpoint.paths) <= {"/v1/chat/completions"}, endpoint.paths
        is_exact = not any(each.leaves_bytes for each in case.replies[:asked])
        assert asked == total.attempts or (asked < total.attempts and not is_exact), f"{asked}, not {total.attempts}"
        assert case.max_calls is None or asked <= case.max_calls, f"{asked} requests, max_calls={case.max_calls}"
        for at, each in enumerate(case.replies[:asked]):
            most = 0 if each.framing == "endless" else len(bodies(each, case.key)[1])
            assert endpoint.sent[at] <= max(most, WAITING), f"{endpoint.sent[at]:,} bytes were taken"
        answers = [each.completion(case.key) for each in (*case.replies, GOOD)][:asked]
        assert all(each is None for each in answers[:-1]), "it asked again after an answer"
        counted = [each.tokens(case.key) for each, text in zip(case.replies, answers, strict=False) if text is None]
        if reply is None or error:
            assert answers[-1:] in ([], [None]), f"an answer has become {error!r}"
            assert (total.tokens_in, total.tokens_out) == tuple(map(sum, zip(*counted, strict=True))), "tokens are lost"
            return
        assert answers[-1] is not None, f"{reply.text!r} was no answer"
        assert reply.text == answers[-1], f"{reply.text!r} was {answers[-1]!r}"
        assert total.tokens_in >= sum(into for into, _ in counted)
        with LLM(endpoint.url, "m", case.key, max_calls=0, **options) as again:
            if case.cached:
                found = again.ask(QUESTION)
                assert found.cached
                assert (found.text, found.finish, found.refusal) == (reply.text, reply.finish, reply.refusal)

    def _check_said(self, case: Case, said: str) -> None:
        """Check that no message has a key that is long enough to be distinguished from words."""
        for key in {
            case.key,
            json.dumps(case.key)[1:-1],
            repr(case.key)[1:-1],
            case.key.lower(),
            " ".join(case.key.split()),
        }:
            assert len(key) < 8 or key not in said, f"{key!r} is in {said!r}"

    def simpler(self, case: Case) -> Iterator[Case]:
        for at, reply in enumerate(case.replies):
            if len(case.replies) > 1:
                yield case._replace(replies=case.replies[:at] + case.replies[at + 1 :])
            less = [
                reply._replace(headers=reply.headers[:i] + reply.headers[i + 1 :]) for i in range(len(reply.headers))
            ]
            less += [reply._replace(times=1), reply._replace(framing="length"), reply._replace(packing="")]
            less += [reply._replace(line=GOOD.line), reply._replace(body=GOOD.body)]
            less += [reply._replace(body=reply.body[:1]), reply._replace(body=b"")]
            for each in less:
                if each != reply:
                    yield case._replace(replies=(*case.replies[:at], each, *case.replies[at + 1 :]))
        yield from (case._replace(**{name: value}) for name, value in self._plain(case))

    def _plain(self, case: Case) -> list[tuple[str, Any]]:
        plain = {"key": KEYS[0], "retries": 0, "max_calls": None, "cached": False}
        return [(name, value) for name, value in plain.items() if getattr(case, name) != value]

    def test(self, case: Case) -> str:
        return (
            "def test_a_hostile_endpoint() -> None:\n"
            "    from tests.fuzz.endpoints import Case, Sent, target\n\n"
            f"    target.check({case!r})\n"
        )


target = Endpoints()
