"""A corpus cut by an LLM continues after a kill, a stop or a full disk to the same bytes, and pays nothing twice."""

import functools
import json
import os
import random
import signal
import sqlite3
import time
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from command_line import invoke
from llm_server import Server

pytest.importorskip("httpx2")

from pychunk.ingest import IngestError, dead_letters, ingest, run
from pychunk.llm import LLM, cache

KEY = "sk-test-0123456789abcdef"
#: The calls at the same time, a client's default.
CONCURRENCY = 8


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"PYCHUNK_LLM_{name}", raising=False)


def corpus(folder: Path, documents: int, files: int = 1) -> Path:
    (folder / "in").mkdir()
    rows = [
        json.dumps({"id": str(at), "text": f"Document {at} begins. It goes on. Accept cookies. It ends."})
        for at in range(documents)
    ]
    for part in range(files):
        (folder / "in" / f"{part:03}.jsonl").write_text("\n".join(rows[part::files]) + "\n")
    return folder / "in"


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}


def flags(server: Server) -> list[str]:
    return ["--llm-url", server.url, "--llm-model", "test"]


@pytest.mark.parametrize(
    ("method", "kills"),
    [
        ("autochunker", 2),
        pytest.param("autochunker", 30, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param("proposition", 4, marks=pytest.mark.slow),
    ],
)
def test_a_killed_ingest_goes_on_and_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, kills: int
) -> None:
    """Kills come at random moments: at the start, between calls, while a shard is written, near the end."""
    monkeypatch.setenv("PYCHUNK_LLM_KEY", KEY)
    monkeypatch.setattr(run, "open_source", functools.partial(run.open_source, batch_bytes=1 << 11))
    documents = 60 * kills + 60
    source = corpus(tmp_path, documents)
    chosen = random.Random(kills)
    killed = begun = 0
    with Server("slow", delay=0.02, key=KEY) as server:

        def cut(out: str) -> None:
            with LLM(server.url, "test") as llm:
                ingest(source, tmp_path / out, method=method, ids="id", llm=llm, shard_bytes=1000, resume=True)

        while killed < kills:
            asked, late = server.counts["calls"], time.monotonic() + 5
            child = os.fork()
            if child == 0:
                try:
                    cut("out")
                finally:
                    os._exit(0)
            calls, seconds = chosen.randrange(0, 60), chosen.uniform(0, 0.05)
            while server.counts["calls"] < asked + calls and time.monotonic() < late:
                time.sleep(0.001)
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
            killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            begun += bool(list((tmp_path / "out").glob("*.parquet")))
            if server.counts["answers"] >= documents:
                break
        time.sleep(0.1)  # answers that were under way
        cut("out")
        asked = server.counts["calls"]
        assert killed >= kills // 2
        assert documents <= asked <= documents + CONCURRENCY * killed
        assert len({body["messages"][-1]["content"] for body in server.bodies}) == documents
        cut("whole")
        assert server.counts["calls"] == asked, "all answers are in the cache"
    assert begun > 0 or kills < 30, "no shard was whole at any kill"
    assert content(tmp_path / "out") == content(tmp_path / "whole")
    assert len(list((tmp_path / "out").glob("*.parquet"))) > 2
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


@pytest.mark.slow
@pytest.mark.parametrize("method", ["autochunker", "proposition"])
def test_max_cost_ends_an_ingest_that_goes_on(tmp_path: Path, method: str) -> None:
    source, out = corpus(tmp_path, 60), tmp_path / "out"
    with Server("slow", delay=0.005) as server:
        command = ["ingest", str(source), "-o", str(out), "-m", method, *flags(server)]
        done = invoke([*command, "--llm-price", "1000,1000", "--max-cost", "5"])
        assert done.exit_code == 1
        assert "max_cost=5.0 is reached" in done.stderr
        assert "--resume" in done.stderr
        spent = float(done.stderr.split(", cost ")[1].split()[0])
        first = server.counts["calls"]
        assert 0 < first < 60
        assert 5 <= spent < 5 + CONCURRENCY * spent / first + 0.1, "calls under way"
        # the endpoint and the price may differ
        done = invoke([*command, "--resume", "--llm-price", "1,1", "--max-cost", "7"])
        assert done.exit_code == 0, done.output
        assert server.counts["calls"] == 60
        assert f"{60 - first} calls, {first} cached" in done.stderr
        invoke(["ingest", str(source), "-o", str(tmp_path / "whole"), *command[4:]])
        assert server.counts["calls"] == 60
    assert content(out) == content(tmp_path / "whole")


@pytest.mark.slow
def test_a_full_disk_under_the_cache_ends_an_ingest_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = corpus(tmp_path, 150)
    opened = cache.Cache._opened

    def small(self: cache.Cache) -> sqlite3.Connection:
        found = opened(self)
        found.execute("PRAGMA max_page_count = 6")
        return found

    with Server() as server, LLM(server.url, "test") as llm, LLM(server.url, "test") as again:
        with monkeypatch.context() as patched:
            patched.setattr(cache.Cache, "_opened", small)
            with pytest.raises(IngestError, match=r"llm\.sqlite.*database or disk is full.*--resume"):
                ingest(source, tmp_path / "out", method="autochunker", llm=llm)
        paid = server.counts["calls"]
        assert CONCURRENCY < paid < 150
        ingest(source, tmp_path / "out", method="autochunker", llm=again, resume=True)
        assert 150 <= server.counts["calls"] <= 150 + CONCURRENCY


def test_a_locked_cache_ends_an_ingest_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_PATIENCE", 0.05)
    source = corpus(tmp_path, 20)
    with Server() as server, LLM(server.url, "test") as llm, LLM(server.url, "test") as again:
        llm.ask("anything")
        other = sqlite3.connect(cache.default_path(), isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(IngestError, match=r"llm\.sqlite.*locked.*--resume"):
            ingest(source, tmp_path / "out", method="autochunker", llm=llm)
        other.close()
        assert ingest(source, tmp_path / "out", method="autochunker", llm=again, resume=True).documents == 20
        assert server.counts["kind autochunker"] <= 20 + CONCURRENCY


def test_no_endpoint_is_said_before_anything_is_written(tmp_path: Path) -> None:
    source = corpus(tmp_path, 3)
    done = invoke(["ingest", str(source), "-o", str(tmp_path / "out"), "-m", "lumber"])
    assert done.exit_code == 2
    assert "PYCHUNK_LLM_URL" in done.stderr
    assert not (tmp_path / "out").exists()
    with Server(key=KEY) as server:
        done = invoke(["ingest", str(source), "-o", str(tmp_path / "out"), "-m", "lumber", *flags(server)])
        assert done.exit_code == 1
        assert "PYCHUNK_LLM_KEY" in done.stderr
        assert not list((tmp_path / "out").glob("*.parquet"))


@pytest.mark.slow
def test_a_dry_run_writes_nothing_and_predicts(tmp_path: Path) -> None:
    source = corpus(tmp_path, 40)
    with Server() as server:
        command = ["ingest", str(source), "-m", "autochunker", *flags(server), "-o", str(tmp_path / "out")]
        done = invoke([*command, "--limit", "30", "--dry-run"])
        assert done.exit_code == 0, done.output
        assert "nothing was asked; it would take at most 30 calls, 0 cached" in done.stderr
        assert not (tmp_path / "out").exists()
        assert not (tmp_path / "cache" / "llm.sqlite").exists() or server.counts["calls"] == 0
        assert invoke([*command, "--limit", "30"]).exit_code == 0
        assert server.counts["calls"] == 30
        done = invoke(
            ["ingest", str(source), "-m", "autochunker", *flags(server), "-o", str(tmp_path / "b"), "--dry-run"]
        )
        assert "at most 10 calls, 30 cached" in done.stderr
        command = ["ingest", str(source), "-m", "sentence", "--augment", "summary:llm", *flags(server)]
        done = invoke([*command, "-o", str(tmp_path / "c"), "--dry-run"])
        assert "nothing was asked; it would take at most 40 calls" in done.stderr
        assert not (tmp_path / "c").exists()


def test_windows_without_an_answer_are_dead_letters_of_documents_that_are_whole(tmp_path: Path) -> None:
    source, out = corpus(tmp_path, 10), tmp_path / "out"
    with Server("refusal,always") as server:
        done = invoke(["ingest", str(source), "-o", str(out), "-m", "autochunker", *flags(server)])
        assert done.exit_code == 0, done.output
        assert "10 of 10 without a usable answer (100 %)" in done.stderr
        told = [json.loads(line) for line in (out / dead_letters.NAME).read_text().splitlines()]
        assert [each["position"] for each in told] == [f"document {row}" for row in range(10)]
        assert "window 1 of 1 is cut by recursive: the model refused" in told[0]["reason"]
        assert ds.dataset(out).count_rows() >= 10
        done = invoke(
            ["ingest", str(source), "-o", str(tmp_path / "b"), "-m", "autochunker", "--strict", *flags(server)]
        )
        assert done.exit_code == 1


def test_an_index_by_a_model(tmp_path: Path) -> None:
    source, index = corpus(tmp_path, 30), tmp_path / "a.idx"
    with Server() as server:
        command = ["index", str(source), "-o", str(index), "--ids", "id", "-m", "autochunker", *flags(server)]
        done = invoke([*command, "--dry-run"])
        assert done.exit_code == 0, done.output
        assert "it would take at most 30 calls" in done.stderr
        assert not index.exists()
        done = invoke([*command, "--llm-price", "1000,1000", "--max-cost", "2"])
        assert done.exit_code == 2
        assert "max_cost=2.0 is reached" in done.stderr
        assert not index.exists()
        assert invoke(command).exit_code == 0
        assert server.counts["calls"] == 30
        # text indexed with one price is not cut again with another
        done = invoke([*command, "--llm-price", "1,1"])
        assert "30 kept" in done.output
        assert server.counts["calls"] == 30
        assert "0 calls, 0 cached" in done.stderr
    done = invoke(["index", "--verify", str(index), "--dry-run"])
    assert "--dry-run" in done.stderr
    assert done.exit_code == 2
    done = invoke(["index", str(source), "-o", str(index), "--ids", "id", "--max-cost", "2"])
    assert "--max-cost needs an option that asks an LLM" in done.stderr


def test_an_evaluation_with_a_model(tmp_path: Path) -> None:
    rows = [
        {"question": f"What is number {at}?", "answers": [f"thing {at}"], "document": f"Number {at} is thing {at}. So."}
        for at in range(6)
    ]
    data = tmp_path / "questions.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)))

    def answer(kind: str, units: object, body: dict[str, object]) -> "str | None":
        if kind != "relevance":
            return None
        question, passage = body["messages"][-1]["content"].split("\n\nPassage: ")
        return "yes" if question.split()[-1].strip("?") in passage.split() else "no"

    with Server(answer=answer) as server:
        command = ["eval", str(data), "-m", "autochunker", "--mode", "sparse", "--rerank", "logprob", *flags(server)]
        done = invoke([*command, "--dry-run"])
        assert done.exit_code == 0, done.output
        assert "nothing was asked" in done.stderr
        assert done.stdout == ""
        assert server.counts["calls"] == 0
        done = invoke([*command, "--rerank", "listwise", "--json", str(tmp_path / "out.json")])
        assert done.exit_code == 0, done.output
        assert server.counts["kind autochunker"] == 6
        assert 6 <= server.counts["kind relevance"] <= 36
        assert server.counts["kind listwise"] <= 6
        found = json.loads((tmp_path / "out.json").read_text())
        assert "rerank=logprob" in json.dumps(found)
        assert "rerank=listwise" in json.dumps(found)
        command = ["eval", str(data), "-m", "sentence", "--mode", "sparse", "--rewrite", "multi", *flags(server)]
        done = invoke([*command, "--augment", "context:llm"])
        assert done.exit_code == 0, done.output
        assert "augment=context:llm" in done.stdout
        assert "rewrite=multi" in done.stdout
        assert server.counts["kind multi"] == 6
        assert server.counts["kind chunk_context"] >= 6
    done = invoke(["eval", str(data), "-m", "sentence", "--max-cost", "1"])
    assert "--rerank logprob or listwise" in done.stderr


def test_the_key_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    source = corpus(tmp_path, 12)
    monkeypatch.setenv("PYCHUNK_LLM_KEY", KEY)
    shown = []
    with Server(key=KEY) as server:
        command = ["ingest", str(source), "-o", str(tmp_path / "out"), "-m", "pic:summary=llm,summaries_out=true"]
        shown.append(invoke([*command, *flags(server)]))
        command = ["ingest", str(source), "-o", str(tmp_path / "cut"), "-m", "autochunker", *flags(server)]
        shown.append(invoke(command))
        monkeypatch.setenv("PYCHUNK_LLM_KEY", "wrong" + KEY)
        shown.append(invoke(["ingest", str(source), "-o", str(tmp_path / "no"), "-m", "lumber", *flags(server)]))
    assert [done.exit_code for done in shown] == [0, 0, 1]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {".parquet", ".sqlite", ".json", ".jsonl"} <= {file.suffix for file in files}
    for text in [*(file.read_bytes() for file in files), caplog.text.encode(), str(shown).encode()]:
        assert KEY.encode() not in text
