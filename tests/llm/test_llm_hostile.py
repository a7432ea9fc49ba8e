"""Endpoints that send too much, bill for empty answers, or share a name with others; short keys."""

import gzip
import html
import json
import logging
import os
import stat
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote, quote_plus

import pytest

pytest.importorskip("httpx2")

from pychunk.llm import LLM, LimitReachedError
from pychunk.llm import client as client_module
from pychunk.llm import connection as wire_module
from pychunk.llm.secret import Secret

#: The status, headers and body of the reply to a request, given the number of earlier ones and its Authorization.
Reply = Callable[[int, str], "tuple[int, dict[str, str], bytes]"]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_FIRST_WAIT", 0.001)


@contextmanager
def endpoint(reply: Reply, *, endless: bytes = b"") -> Iterator[tuple[str, list[int]]]:
    """Yield an endpoint, and the bytes that it sent in each reply; ``endless`` sends until the client stops reading."""
    sent: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Log nothing."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, headers, body = reply(len(sent), self.headers.get("Authorization", ""))
            at = len(sent)
            sent.append(0)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if not endless:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
                sent[at] += len(body)
                while endless and sent[at] < 1 << 30:
                    self.wfile.write(endless)
                    sent[at] += len(endless)
            except OSError:
                self.close_connection = True

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", sent
        server.shutdown()


def completion(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


def says(text: str) -> Reply:
    return lambda _, __: (200, {}, completion(text))


@pytest.mark.parametrize("key", ["ollama", "EMPTY", "e", '"', "x", "sk-0123456789"])
def test_answers_are_what_the_endpoint_sent_whatever_the_key(key: str) -> None:
    text = 'The ollama project serves "models" by sk-0123456789; the EMPTY set.'
    with endpoint(says(text)) as (url, _), LLM(url, "m", key, cache=False, retries=0) as llm:
        assert llm.ask("?").text == text


@pytest.mark.parametrize("key", ["ollama", "e", "model", '"', 'quote"and\\more', "sk-0123456789"])
def test_errors_hide_the_key_and_keep_their_words(key: str) -> None:
    def refused(_: int, authorization: str) -> tuple[int, dict[str, str], bytes]:
        said = f"the model does not exist for {authorization} here"
        return 400, {}, json.dumps({"error": {"message": said}}).encode()

    with endpoint(refused) as (url, _), LLM(url, "m", key, cache=False, retries=0) as llm:
        with pytest.raises(OSError, match="PYCHUNK_LLM_MODEL") as raised:
            llm.ask("?")
        assert "Bearer [key] here" in str(raised.value)
        assert "does not exist for" in str(raised.value)


def test_a_key_is_hidden_before_a_message_is_cut() -> None:
    key = "sk-" + "0123456789" * 4
    for pad in range(200, 310, 7):
        body = json.dumps({"error": {"message": "x" * pad + key}}).encode()
        with (
            endpoint(lambda *_, body=body: (400, {}, body)) as (url, _),
            LLM(url, "m", key, cache=False, retries=0) as llm,
        ):
            assert "sk-0" not in llm.ask("?").error
    with (
        endpoint(lambda *_: (200, {}, b"x" * 70 + key.encode())) as (url, _),
        LLM(url, "m", key, cache=False, retries=0) as llm,
    ):
        assert "sk-0" not in llm.ask("?").error
    assert Secret("e").hide("Every e there") == "Every [key] there"


MARKED = ["MARK-0123456789-MARK", "MARK it's \"a\\key\\n MARK", "MARK  two  spaces  MARK", "MARK<b>&c=%41+MARK"]


@pytest.mark.parametrize("key", MARKED)
@pytest.mark.parametrize("name", ["Content-Encoding", "X Y", "\0", "Content-Length"])
def test_headers_that_repeat_the_key_are_in_no_error(key: str, name: str) -> None:
    with (
        endpoint(lambda *_: (200, {name: key}, completion("Yes."))) as (url, _),
        LLM(url, "m", key, cache=False, retries=0) as llm,
    ):
        error = llm.ask("?").error
    assert error
    assert "MARK" not in error.upper()


@pytest.mark.parametrize("key", MARKED)
def test_a_key_is_hidden_however_a_message_writes_it(key: str) -> None:
    said = [key, repr(key), repr(f"'{key}\"".encode()), json.dumps(key), quote(key), quote_plus(key), html.escape(key)]
    said += [json.dumps(key).replace("<", "\\u003c").replace("&", "\\u0026"), " ".join(key.split())]
    for each in said:
        found = Secret(key).hide(f"of {each}.")
        assert "[key]" in found
        assert "MARK" not in found


@pytest.mark.parametrize("status", [200, 400, 429])
@pytest.mark.parametrize("body", [b"[" * 20_000, b'{"error":' * 20_000, b"1" * 5000])
def test_replies_of_deep_json_are_errors_of_their_question(status: int, body: bytes) -> None:
    with endpoint(lambda *_: (status, {}, body)) as (url, _), LLM(url, "m", cache=False, retries=0) as llm:
        assert body[:20].decode() in llm.ask("?").error


def test_an_address_that_is_wrong_is_named_without_its_password() -> None:
    for url in ("http://me:planted@host:port/v1", "ftp://me:planted@host/v1", "http://host/v1?key=planted"):
        with pytest.raises(ValueError, match="url must") as raised:
            LLM(url, "m")
        assert "planted" not in str(raised.value)


def test_answers_of_one_endpoint_are_never_anothers(tmp_path: Path) -> None:
    cache = tmp_path / "c.sqlite"
    for text in ("answer of a stub", "answer of the real one"):
        with endpoint(says(text)) as (url, sent):
            for cached in (False, True):
                with LLM(url, "gpt", cache=cache) as llm:
                    reply = llm.ask("What?")
                    assert (reply.text, reply.cached) == (text, cached)
            assert len(sent) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_only_its_owner_reads_the_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "c.sqlite"
    before = os.umask(0)
    try:
        with (
            endpoint(says("yes")) as (url, _),
            LLM(url, "m", cache=path) as llm,
        ):
            llm.ask("What?")
            assert {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == dict.fromkeys(
                ("c.sqlite", "c.sqlite-wal", "c.sqlite-shm"), 0o600
            )
            assert not caplog.records or all(record.levelno < logging.WARNING for record in caplog.records)
            path.chmod(0o644)
            with LLM(url, "m", cache=path) as llm:
                assert llm.ask("What?").cached
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"other users could read {path}" in caplog.text


@pytest.mark.parametrize("packed", [False, True])
def test_a_reply_that_goes_on_ends_at_the_limit(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_module, "MAX_REPLY", 1 << 20)
    headers = {"Content-Encoding": "gzip"} if packed else {}
    body = gzip.compress(bytes(64 << 20)) if packed else b""
    endless = b"" if packed else b"x" * 65536
    with (
        endpoint(lambda *_: (200, headers, body), endless=endless) as (url, sent),
        LLM(url, "m", cache=False) as llm,
    ):
        assert "longer than the limit of 1,048,576 bytes" in llm.ask("?").error
    assert len(sent) == 1, "it is not asked for again"
    assert sent[0] < 64 << 20, "buffers of the sockets hold some megabytes"


@pytest.mark.slow
def test_a_gzip_bomb_is_unpacked_to_the_limit_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    class Counted:
        """A decompressor that records the size of its output."""

        def __init__(self, bits: int) -> None:
            self._own = zlib.decompressobj(bits)

        def decompress(self, data: bytes, most: int) -> bytes:
            made.append(len(found := self._own.decompress(data, most)))
            return found

    monkeypatch.setattr(
        wire_module, "zlib", SimpleNamespace(decompressobj=Counted, MAX_WBITS=zlib.MAX_WBITS, error=zlib.error)
    )
    monkeypatch.setattr(wire_module, "MAX_REPLY", 1 << 20)
    body = gzip.compress(bytes(256 << 20))
    with endpoint(lambda *_: (200, {"Content-Encoding": "gzip"}, body)) as (url, _), LLM(url, "m", cache=False) as llm:
        assert "longer than" in llm.ask("?").error
    assert sum(made) == (1 << 20) + 1


def test_replies_in_gzip_are_read_and_others_say_so() -> None:
    good = gzip.compress(completion("Yes."))
    with (
        endpoint(lambda *_: (200, {"Content-Encoding": "gzip"}, good)) as (url, _),
        LLM(url, "m", cache=False, retries=0) as llm,
    ):
        assert llm.ask("?").text == "Yes."
    with (  # the checksum is missing, so that a changed answer would be accepted
        endpoint(lambda *_: (200, {"Content-Encoding": "gzip"}, good[:-8])) as (url, _),
        LLM(url, "m", cache=False, retries=0) as llm,
    ):
        assert "it ends too early" in llm.ask("?").error
    for encoding, told in (("br", "compressed as 'br'"), ("gzip", "cannot be decompressed")):
        with (
            endpoint(lambda *_, named=encoding: (200, {"Content-Encoding": named}, b"xyz")) as (url, _),
            LLM(url, "m", cache=False, retries=0) as llm,
        ):
            assert told in llm.ask("?").error


def test_a_long_error_keeps_its_status() -> None:
    with (
        endpoint(lambda *_: (401, {}, b""), endless=b"no " * 9999) as (url, sent),
        LLM(url, "m", cache=False) as llm,
        pytest.raises(OSError, match="status 401: no no"),
    ):
        llm.ask("?")
    assert sent[0] < 64 << 20


def refused_and_billed(before: int, _: str) -> tuple[int, dict[str, str], bytes]:
    usage = {"prompt_tokens": 1000, "completion_tokens": 1000}
    choices = [{"message": {"content": "At last."}}] if before % 5 == 4 else []
    return 200, {}, json.dumps({"choices": choices, "usage": usage}).encode()


@pytest.mark.parametrize(
    ("limits", "requests"),
    [
        ({"max_calls": 5}, 5),
        ({"max_calls": 3}, 3),
        ({"max_tokens": 3000}, 2),
        ({"max_calls": 5, "max_tokens": 3000}, 2),
        ({"max_cost": 0.003, "price": (1.0, 1.0)}, 2),
    ],
)
def test_limits_count_attempts_and_what_refused_replies_cost(limits: dict[str, float], requests: int) -> None:
    with endpoint(refused_and_billed) as (url, sent), LLM(url, "m", cache=False, concurrency=1, **limits) as llm:
        with pytest.raises(LimitReachedError):
            llm.ask_many(["one?", "two?"])
        total = llm.account.total
        assert len(sent) == total.attempts == requests
        assert (total.tokens_in, total.tokens_out) == (1000 * requests, 1000 * requests)
        assert f"{requests} attempts" in llm.account.line()
