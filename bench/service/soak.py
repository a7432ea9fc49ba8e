"""The memory of the service over half an hour of mixed requests, faulty clients and overload.

Every answer is compared with that of ``pychunk.segment``. Once a minute more requests arrive than may wait, and some
must be refused with the status 429. The slope of the workers' memory after a third of the time must be within twice its
standard error of 0, and its growth below 5 MB.

    python bench/service/soak.py --minutes 30
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pyarrow.parquet as pq

import pychunk
from pychunk.client import Client

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from bench.service.load import running

#: The seconds between two readings of memory, and the most MB that it may grow in the last two thirds.
EVERY, MOST_GROWTH = 5.0, 5.0
#: The requests that a worker lets wait, and those of a burst.
QUEUE, BURST = 20, 300
#: The characters of a document of a burst. With 30,000 a fast machine answers as quickly as the clients ask.
BURST_TEXT = 300_000
OPTIONS: list[dict[str, Any]] = [
    {},
    {"method": "sentence"},
    {"method": "fixed", "size": 100, "overlap": 10},
    {"method": "structure"},
    {"method": "pic", "vectors": "chunk"},
]


def memory(process: int) -> float:
    """Return the resident memory of a process and its descendants in MB."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = {process}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    total = 0
    for each in found:
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{each}/statm").read_text().split()[1])
    return total * os.sysconf("SC_PAGE_SIZE") / 1e6


def good(url: str, texts: list[str], ended: threading.Event, seed: int, counts: Counter[str]) -> None:
    """Send requests, and compare each answer with that of the library."""
    chance = random.Random(seed)
    with Client(url, retries=20) as client, httpx2.Client(base_url=url, timeout=60) as plain:
        while not ended.is_set():
            documents = chance.choices(texts, k=chance.choice([1, 1, 1, 5, 40]))
            options = chance.choice(OPTIONS)
            own = pychunk.segment(documents, **options)
            if chance.random() < 0.5:
                assert client.segment(documents, **options).table.equals(own.table)
            else:
                answer = plain.post("/v1/segment", json={"documents": documents, "options": options})
                if answer.status_code == 429:
                    counts["refused"] += 1
                    continue
                found = [[chunk["text_id"] for chunk in each["chunks"]] for each in answer.json()["documents"]]
                assert found == [[chunk.text_id for chunk in each] for each in own.by_document()]
            counts["answered"] += 1


def faulty(url: str, texts: list[str], ended: threading.Event, seed: int, counts: Counter[str]) -> None:
    """Send broken and incomplete requests, and leave before the answers."""
    chance = random.Random(seed)
    port = int(url.rpartition(":")[2])
    while not ended.is_set():
        body = json.dumps({"documents": chance.choices(texts, k=20)}).encode()
        whole = b"POST /v1/segment HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=20) as own:
            kind = chance.randrange(4)
            if kind == 0:
                own.sendall(whole[: chance.randrange(1, len(whole))])
                time.sleep(chance.random())
            elif kind == 1:
                own.sendall(whole)
            elif kind == 2:
                own.sendall(bytes(chance.randrange(256) for _ in range(2000)))
            else:
                damaged = bytearray(whole)
                damaged[chance.randrange(100, len(damaged))] = chance.randrange(256)
                own.sendall(damaged)
                own.recv(1000)
        counts["faulty"] += 1


def burst(url: str, text: str) -> Counter[int]:
    """Return how many of many requests at the same time got each status."""
    with httpx2.Client(base_url=url, timeout=120, limits=httpx2.Limits(max_connections=BURST)) as client:

        def status(_: int) -> int:
            return int(client.post("/v1/segment", json={"documents": [text]}).status_code)

        with ThreadPoolExecutor(BURST) as pool:
            return Counter(pool.map(status, range(BURST)))


def slope(minutes: list[float], values: list[float]) -> tuple[float, float]:
    """Return the slope of values over time, and its standard error from means of a minute, which differ by chance."""
    x, y = np.array(minutes), np.array(values)
    at = np.unique(x.astype(int))
    means = np.array([[x[x.astype(int) == each].mean(), y[x.astype(int) == each].mean()] for each in at])
    (rise, base), spread = np.polyfit(means[:, 0], means[:, 1], 1), np.ptp(means[:, 0])
    left = means[:, 1] - rise * means[:, 0] - base
    error = np.sqrt((left**2).sum() / max(1, len(left) - 2) / ((means[:, 0] - means[:, 0].mean()) ** 2).sum())
    assert spread > 0, "too short: pass more --minutes"
    return float(rise), float(error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    rows = pq.read_table(options.data / "wiki" / "articles.parquet", columns=["text"]).column("text").to_pylist()
    longest = "\n".join(rows[:200])[:BURST_TEXT]
    texts = [row[:size] for row, size in zip(rows[:200], [300, 3000, 30_000] * 67, strict=False)]
    command = [sys.executable, "-m", "pychunk", "serve", "--port", "{port}", "--workers", "2"]
    command += ["--queue", str(QUEUE), "--timeout", "20", "--max-bytes", "4000000"]
    ended, counts = threading.Event(), Counter[str]()
    readings: list[tuple[float, float]] = []
    bursts: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder, running(command, Path(folder), "/ready") as url:
        server = next(each for each in os.listdir("/proc") if each.isdigit() and _serves(each, url))
        with ThreadPoolExecutor(6) as pool:
            works: list[Callable[..., None]] = [good] * 4 + [faulty] * 2
            tasks = [pool.submit(work, url, texts, ended, seed, counts) for seed, work in enumerate(works)]
            began, minute = time.monotonic(), 0
            try:
                while (now := (time.monotonic() - began) / 60) < options.minutes:
                    assert not any(task.done() for task in tasks), [task.exception() for task in tasks if task.done()]
                    readings.append((now, memory(int(server))))
                    if int(now) > minute:
                        minute = int(now)
                        bursts += burst(url, longest)
                        print(
                            f"{minute} min: {readings[-1][1]:.1f} MB, {dict(counts)}, bursts {dict(bursts)}", flush=True
                        )
                    time.sleep(EVERY)
            finally:
                ended.set()
        for task in tasks:
            task.result()
        with Client(url) as client:
            assert client.segment(texts[0]).table.equals(pychunk.segment(texts[0]).table)
    late = [(at, value) for at, value in readings if at >= options.minutes / 3]
    rise, error = slope([at for at, _ in late], [value for _, value in late])
    growth = rise * (late[-1][0] - late[0][0])
    found = {
        "minutes": options.minutes,
        "answered": counts["answered"],
        "faulty clients": counts["faulty"],
        "statuses of bursts": {str(status): count for status, count in sorted(bursts.items())},
        "memory at the end, MB": late[-1][1],
        "slope, MB a minute": rise,
        "standard error": error,
        "growth in the last two thirds, MB": growth,
    }
    print(json.dumps(found, indent=1))
    assert set(bursts) <= {200, 429}, bursts
    assert min(bursts[429], bursts[200]) > 0, bursts
    assert growth < MOST_GROWTH, f"memory grew by {growth:.1f} MB"
    assert rise <= 2 * error, f"memory grew by {rise:.3f} MB a minute; the error is {error:.3f}"
    if options.save:
        record.save(options.save, "Service for half an hour", found, about=str(__doc__).split("\n\n")[1])


def _serves(process: str, url: str) -> bool:
    with contextlib.suppress(OSError):
        said = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        return b"serve" in said and url.rpartition(":")[2].encode() in said
    return False


if __name__ == "__main__":
    main()
