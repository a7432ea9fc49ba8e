"""The command `serve`: a real server under load, with slow and broken clients, and its end."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import pychunk

pytest.importorskip("granian")
pytest.importorskip("msgspec")
pytest.importorskip("httpx2")

from pychunk.client import Client

pytestmark = pytest.mark.slow


TEXTS = ["Cats purr. Dogs bark at night.", "Ein Satz. Noch ein Satz mit Ümläuten.", "One two. " * 300, ""]


def _request(body, *headers):
    lines = ["POST /v1/segment HTTP/1.1", "Host: a", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def test_answers_equal_segment_with_faulty_clients_beside(served):
    server = served("--workers", "2", "--timeout", "5", "--max-bytes", "1000000")
    ended = threading.Event()

    def faulty(seed):
        chance = random.Random(seed)
        body = json.dumps({"documents": TEXTS}).encode()
        whole = _request(body, "Connection: close")
        while not ended.is_set():
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as own:
                kind = chance.randrange(4)
                if kind == 0:  # a client that goes away in the middle
                    own.sendall(whole[: chance.randrange(1, len(whole))])
                elif kind == 1:  # one that does not read
                    own.sendall(whole)
                elif kind == 2:
                    own.sendall(bytes(chance.randrange(256) for _ in range(200)))
                else:
                    own.sendall(_request(body[: chance.randrange(len(body))], "Connection: close"))
                    own.recv(100)

    def good(seed):
        chance = random.Random(seed)
        with Client(server.url) as client:
            for _ in range(15):
                texts = chance.choices(TEXTS, k=chance.randint(1, 5))
                ids = [str(number) for number in range(len(texts))] if chance.random() < 0.5 else None
                options = chance.choice([{}, {"method": "sentence"}, {"method": "fixed", "size": 20, "overlap": 4}])
                found = client.segment(texts, ids=ids, **options)
                assert found.table.equals(pychunk.segment(texts, ids=ids, **options).table)

    with ThreadPoolExecutor(10) as pool:
        beside = [pool.submit(faulty, seed) for seed in range(3)]
        tasks = [pool.submit(good, seed) for seed in range(6)]
        for task in tasks:
            task.result()
        ended.set()
        for task in beside:
            task.result()


def test_a_signal_ends_it_after_all_that_it_began(served, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server = served()
    body = json.dumps({"documents": ["One two three. " * 100_000]}).encode()
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(server.raw, _request(body, "Connection: close")) for _ in range(4)]
        while "pychunk_requests_total" not in server.raw(
            "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        ):
            time.sleep(0.01)
        time.sleep(0.2)
        server.stop()
        found = [answer.result() for answer in answers]
    for answer in found:  # either not begun, or whole
        assert answer == "" or (answer.startswith("HTTP/1.1 200") and json.loads(answer.partition("\r\n\r\n")[2]))
    assert any(found)
    assert server.process.returncode in (0, -signal.SIGTERM)
    assert not list(tmp_path.glob("pychunk-serve-*"))


def test_slow_clients_lose_their_own_place_only(served):
    server = served("--timeout", "1")
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    for own in slow:
        own.sendall(
            b"POST /v1/segment HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        )
    with Client(server.url) as client:
        assert client.segment("Cats purr.").texts == ["Cats purr."]
    for own in slow:
        own.settimeout(60)
        assert own.recv(100).startswith(b"HTTP/1.1 504")
        own.close()


def test_a_body_over_the_limit_is_refused_before_it_is_read(served):
    server = served("--max-bytes", "1000")
    with socket.create_connection(("127.0.0.1", server.port)) as own:
        own.sendall(b"POST /v1/segment HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000000\r\n\r\n{")
        own.settimeout(60)
        assert own.recv(100).startswith(b"HTTP/1.1 413")


def test_wrong_arguments_are_said(tmp_path):
    def said(*arguments):
        command = [sys.executable, "-m", "pychunk", "serve", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONSAFEPATH": "1"})

    assert "--index takes NAME=PATH; got 'docs.idx'" in said("--index", "docs.idx").stderr
    empty = tmp_path / "keys"
    empty.write_text("")
    assert "has no key" in said("--api-key-file", str(empty)).stderr
