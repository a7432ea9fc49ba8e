"""The service under load, compared with chonkie's server and with a FastAPI endpoint around ``segment()``.

Servers and ``wrk``, the client, share the machine. Every answer of pychunk's service is checked once before the load.

    python bench/service/load.py
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk.client import ARROW, Client

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

CHARACTERS = 5_000
ARROW_BYTES, LARGE_BYTES = 8 << 20, 30_000_000
FASTAPI = """
import pychunk
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()


class Request(BaseModel):
    documents: list[str]


@app.post("/v1/segment")
def segment(request: Request):
    return [chunk for chunk in pychunk.segment(request.documents).to_list()]
"""
#: chonkie's server with the rules of its library, as it would fetch the same rules from a network for each worker.
CHONKIE = """
from chonkie.types import RecursiveRules

RecursiveRules.from_recipe = classmethod(lambda rules, *arguments, **more: rules())
from chonkie.api.main import app
"""
SCRIPT = """
local bodies = {{}}
for line in io.lines("{bodies}") do bodies[#bodies + 1] = line end
local at = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  at = at % #bodies + 1
  return wrk.format(nil, "{path}", nil, bodies[at])
end
"""
TIMES = re.compile(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s|m) *$", re.MULTILINE)
UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
#: The most seconds until a server is ready.
START = 120


@contextlib.contextmanager
def running(command: list[str], folder: Path, path: str) -> Iterator[str]:
    """Start a server, wait until it answers ``path``, and yield its URL. ``{port}`` in the command becomes a port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen([each.format(port=port) for each in command], cwd=folder, stdout=log, stderr=log)
    try:
        until = time.monotonic() + START
        while True:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{command} does not answer: {(folder / 'server.log').read_text()}")
            with contextlib.suppress(httpx2.TransportError):
                if httpx2.get(url + path).status_code == 200:
                    break
            time.sleep(0.1)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def load(url: str, path: str, bodies: list[str], connections: int, seconds: int, folder: Path) -> dict[str, float]:
    """Return the requests a second, and the median and 99th percentile of their times in ms."""
    (folder / "bodies").write_text("\n".join(bodies) + "\n")
    (folder / "wrk.lua").write_text(SCRIPT.format(bodies=folder / "bodies", path=path))
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(folder / "wrk.lua"), url]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in said, said
    times = {percent: float(value) * UNITS[unit] for percent, value, unit in TIMES.findall(said)}
    found = re.search(r"Requests/sec:\s+([\d.]+)", said)
    assert found, said
    assert set(times) == {"50", "99"}, said
    return {"requests a second": float(found[1]), "p50, ms": times["50"], "p99, ms": times["99"]}


def delay_of_health(url: str, body: bytes) -> float:
    """Return the longest time of ``/health`` in ms while the service works on one large body."""
    sender = threading.Thread(
        target=lambda: httpx2.post(
            f"{url}/v1/segment", content=body, headers={"Content-Type": "application/json"}, timeout=600
        ).raise_for_status()
    )
    worst = 0.0
    with httpx2.Client(base_url=url, timeout=600) as client:
        client.get("/health")
        sender.start()
        while sender.is_alive():
            began = time.perf_counter()
            client.get("/health").raise_for_status()
            worst = max(worst, time.perf_counter() - began)
            time.sleep(0.001)
    return worst * 1000


def arrow_share(url: str, table: pa.Table, rounds: int) -> dict[str, float]:
    """Return the rates in MB/s of an Arrow body and of the same call in memory, with one thread, and their ratio."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    segmenter = pychunk.Segmenter(placement=pychunk.Placement(threads=1))
    memory, service = [], []
    with httpx2.Client(base_url=url, timeout=600, headers={"Content-Type": ARROW, "Accept": ARROW}) as client:
        for _ in range(rounds):
            began = time.perf_counter()
            own = segmenter(table).table
            memory.append(time.perf_counter() - began)
            began = time.perf_counter()
            answer = client.post("/v1/segment", content=sink.getvalue())
            found = pa.ipc.open_stream(answer.content).read_all()
            service.append(time.perf_counter() - began)
            assert found.equals(own)
    size = sum(len(text.encode()) for text in table.column("text").to_pylist()) / 1e6
    rates = size / min(memory), size / min(service)
    return {"in memory, MB/s": rates[0], "Arrow body, MB/s": rates[1], "share": rates[1] / rates[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    rows = pq.read_table(options.data / "wiki" / "articles.parquet", columns=["text"]).column("text").to_pylist()
    texts = [text[:CHARACTERS] for text in rows if len(text) >= CHARACTERS][:200]
    ours = [json.dumps({"documents": [text]}) for text in texts]
    chonkie = [json.dumps({"text": text, "chunk_size": 512, "tokenizer": "character"}) for text in texts]
    python = sys.executable
    servers = {
        "pychunk serve": (
            [python, "-m", "pychunk", "serve", "--port", "{port}", "--workers", str(options.workers)],
            "/ready",
            "/v1/segment",
            ours,
        ),
        "pychunk serve, chonkie's route": (
            [python, "-m", "pychunk", "serve", "--port", "{port}", "--workers", str(options.workers)],
            "/ready",
            "/v1/chunk/recursive",
            chonkie,
        ),
        "FastAPI around segment()": (
            [python, "-m", "uvicorn", "plain:app", "--port", "{port}", "--workers", str(options.workers)],
            "/docs",
            "/v1/segment",
            ours,
        ),
        "chonkie's server, recursive": (
            [python, "-m", "uvicorn", "peer:app", "--port", "{port}", "--workers", str(options.workers)],
            "/health",
            "/v1/chunk/recursive",
            chonkie,
        ),
    }
    needs = {"FastAPI around segment()": ("fastapi", "uvicorn"), "chonkie's server, recursive": ("chonkie", "uvicorn")}
    found: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plain.py").write_text(FASTAPI)
        (folder / "peer.py").write_text(CHONKIE)
        for _ in range(options.rounds):
            for server, (command, ready, path, bodies) in servers.items():
                if missing := [each for each in needs.get(server, ()) if not importlib.util.find_spec(each)]:
                    print(f"{server}: skipped, because {', '.join(missing)} is not installed", file=sys.stderr)
                    continue
                with running(command, folder, ready) as url:
                    if server == "pychunk serve" and not facts:
                        with Client(url) as client:
                            for text in texts[:20]:
                                assert client.segment(text).table.equals(pychunk.segment(text).table)
                        table = pa.table({"text": (rows * 2)[: _count(rows)]})
                        facts = arrow_share(url, table, options.rounds)
                        large = json.dumps({"documents": ["\n\n".join(rows)[:LARGE_BYTES]]}).encode()
                        facts |= {"/health during 30 MB, ms": delay_of_health(url, large)}
                        print(facts, flush=True)
                    for connections in (1, 64):
                        load(url, path, bodies, connections, 1, folder)
                        row = load(url, path, bodies, connections, options.seconds, folder)
                        found.append({"server": server, "connections": connections, **row})
                        print(found[-1], flush=True)
    best: dict[tuple[str, int], dict[str, Any]] = {}
    for row in found:  # the round with the median rate
        own = [each for each in found if (each["server"], each["connections"]) == (row["server"], row["connections"])]
        own.sort(key=lambda each: each["requests a second"])
        best[row["server"], row["connections"]] = own[len(own) // 2]
    if options.save:
        about = (
            f"One document of {CHARACTERS:,} characters a request; {options.workers} workers; servers and client on "
            f"one machine; the median of {options.rounds} rounds of {options.seconds} seconds."
        )
        packages = ("granian", "msgspec", "fastapi", "uvicorn", "chonkie")
        record.save(options.save, "Service", {**facts, "rows": list(best.values())}, about=about, packages=packages)


def _count(rows: list[str]) -> int:
    """Return the number of rows with about ARROW_BYTES of text."""
    size = 0
    for count, text in enumerate(rows * 2):
        size += len(text.encode())
        if size >= ARROW_BYTES:
            return count + 1
    return 2 * len(rows)


if __name__ == "__main__":
    main()
