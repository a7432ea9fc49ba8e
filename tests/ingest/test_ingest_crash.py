"""After a kill at any moment, a run continues to the same bytes; surviving processes write nothing."""

import ast
import bz2
import importlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from amounts import amounts
from corpora import WORDS, contents, sentences, wiki
from fuzz.writes import Case, FailingDisk, small_disk

from pychunk.ingest import IngestError, ingest
from pychunk.io import DeadLetter, open_source
from pychunk.io.page_workers import _finished, _pool

LARGE = 200_000_000

# Small batches give a corpus of a few MB many shards.
COMMAND = """
import functools, sys
import pychunk
from pychunk.ingest import ingest, run
if __name__ == "__main__":
    run.open_source = functools.partial(run.open_source, batch_bytes=1 << 15)
    workers = int(sys.argv[3])
    options = {"vectors": "chunk", "summaries_out": True, "workers": workers, "placement": pychunk.Placement(threads=1)}
    ingest(sys.argv[1], sys.argv[2], shard_bytes=1 << 16, resume=True, **options)
"""


# The command line does the same.
PROGRAM = """
import functools
from pychunk.cli.main import app
from pychunk.ingest import run
if __name__ == "__main__":
    run.open_source = functools.partial(run.open_source, batch_bytes=1 << 18)
    app()
"""


def start(folder: Path, path: Path, out: Path, workers: int = 1) -> "subprocess.Popen[bytes]":
    script = folder / "command.py"
    script.write_text(COMMAND)
    return subprocess.Popen([sys.executable, str(script), str(path), str(out), str(workers)], cwd=folder)


def killed(
    begin: Callable[[Path], "subprocess.Popen[bytes]"], folder: Path, drawn: random.Random, kills: int
) -> dict[str, bytes]:
    """Kill runs at random moments of their work, and continue each until it is done, to the same bytes.

    ``begin`` starts one in a process that writes to the given folder. Returns the output of an undisturbed run.
    """
    begun = time.monotonic()
    assert begin(folder / "whole").wait() == 0
    period = time.monotonic() - begun
    wanted = contents(folder / "whole")
    done = turn = 0
    while done < kills:
        turn += 1
        out = folder / f"out{turn}"  # a new folder: a run into a finished one would end before it can be killed
        while True:  # killed repeatedly, until it is done
            child = begin(out)
            try:
                child.wait(drawn.uniform(0.3, 1.0) * period if done < kills else None)
            except subprocess.TimeoutExpired:
                while child.poll() is None and not out.exists():  # a kill before the work would show nothing
                    time.sleep(0.005)
                child.send_signal(signal.SIGKILL)
                child.wait()
                held = contents(out)
                done += b'"complete": true' not in held.get("_manifest.json", b"")
                for name in held:
                    if Path(name).name.startswith("part"):  # a named file is complete
                        assert held[name] == wanted[name]
                continue
            assert child.returncode == 0
            break
        assert contents(out) == wanted
    return wanted


@pytest.mark.slow
@pytest.mark.parametrize("kills", amounts(1, 5))
def test_killed_at_some_moments_the_bytes_are_the_same(tmp_path: Path, kills: int) -> None:
    drawn = random.Random(11)
    path = tmp_path / "in.jsonl"
    lines = []
    for i in range(3000):
        text = sentences(drawn, drawn.randint(1, 80))
        lines.append("broken\n" if i % 97 == 5 else f'{{"id": "d{i}", "text": "{text}"}}\n')
    path.write_text("".join(lines))
    wanted = killed(lambda out: start(tmp_path, path, out), tmp_path, drawn, kills)
    assert len(wanted) > 30
    assert wanted["_dead_letters.jsonl"].count(b"\n") == 31


@pytest.mark.slow
@pytest.mark.parametrize("kills", amounts(1, 10))
def test_killed_over_pages_and_leaflets_the_bytes_are_the_same(data: Path, tmp_path: Path, kills: int) -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    pytest.importorskip("pypdfium2", reason="needs pypdfium2: the extra docs")
    from pdf_texts import running_pages
    from pdfs import made

    pages = sorted(data.glob("article_extraction/html/*.html.gz"))
    leaflets = sorted(data.glob("unlp2026/**/*.pdf"))
    if not pages or not leaflets:
        pytest.skip(f"neither pages nor leaflets in {data}")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for path in [*pages, *leaflets]:
        shutil.copy(path, mixed / path.name)
    (mixed / "journal.pdf").write_bytes(made(running_pages(5)))  # leaflets have no headers
    (mixed / "a page.html.gz").write_bytes(pages[0].read_bytes()[:-1000])
    (mixed / "truncated.pdf").write_bytes(leaflets[0].read_bytes()[:20_000])
    (mixed / "empty.pdf").write_bytes(b"")
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)

    def begin(out: Path) -> "subprocess.Popen[bytes]":
        command = [sys.executable, str(script), "ingest", str(mixed), "-o", str(out), "--resume", "--quiet"]
        return subprocess.Popen(
            [*command, "--compression", "none,shard_size=0.1", "--placement", "threads=2"], cwd=tmp_path
        )

    wanted = killed(begin, tmp_path, random.Random(17), kills)
    letters = [json.loads(line) for line in wanted["_dead_letters.jsonl"].splitlines()]
    assert {Path(each["source"]).name for each in letters} == {"a page.html.gz", "truncated.pdf", "empty.pdf"}
    found = {name: ds.dataset(tmp_path / "whole" / name).to_table() for name in ("", "_removed")}
    ids = set(found[""]["document_id"].to_pylist()) | set(found["_removed"]["document_id"].to_pylist())
    assert len(ids) == len(pages) + len(leaflets) + 1
    assert {"navigation", "running_head"} <= set(found["_removed"]["reason"].to_pylist())
    assert sum(name.startswith("_removed/") for name in wanted) == sum(name.startswith("part-") for name in wanted) > 10


#: Some shards, each with dead letters, and one with many row groups.
CORPORA: list[dict[str, Any]] = [
    {"documents": 120, "shard_bytes": 9000, "compression": "none", "vectors": None},
    {"documents": 300, "shard_bytes": 60_000, "compression": "zstd", "vectors": "chunk"},
    {"documents": 120, "shard_bytes": 9000, "compression": "none", "vectors": None, "summaries": True},
    {"documents": 120, "shard_bytes": 9000, "compression": "none", "vectors": None, "removed": True},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", CORPORA)
@pytest.mark.parametrize("kills", amounts(8, 50))
def test_killed_at_any_write_it_goes_on_to_the_same_bytes(
    disk: FailingDisk, options: dict[str, Any], kills: int
) -> None:
    for i in range(kills):
        calls = disk.check(Case("ingest", options, "kill", (i + 0.5) / kills, half=i % 2 == 0))
    assert calls > 40


#: Shards of which each loses and gains rows.
UPDATE: dict[str, Any] = {"documents": 120, "shard_bytes": 9000, "vectors": "chunk"}


@pytest.mark.slow
@pytest.mark.parametrize("kills", amounts(10, 100))
def test_killed_at_any_write_an_update_leaves_the_state_before_or_after_and_goes_on(
    disk: FailingDisk, kills: int
) -> None:
    for i in range(kills):
        calls = disk.check(Case("update", UPDATE, "kill", (i + 0.5) / kills, half=i % 2 == 0))
    assert calls > 40


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["full", "broken", "short", "interrupt"])
@pytest.mark.parametrize("faults", amounts(4, 20))
def test_a_failing_disk_and_ctrl_c_cost_an_update_nothing_but_the_time(
    disk: FailingDisk, fault: str, faults: int
) -> None:
    for i in range(faults):
        disk.check(Case("update", UPDATE, fault, (i + 0.5) / faults))


@pytest.mark.slow
@pytest.mark.parametrize("step", amounts(7, 1))
def test_a_disk_that_is_full_at_any_write_costs_nothing_but_the_time(disk: FailingDisk, step: int) -> None:
    call, calls = 0, 1
    while call < calls:
        calls = disk.check(Case("ingest", CORPORA[2], "full", (call + 0.5) / calls, half=call % 2 == 0))
        call += step
    assert calls > 40


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["broken", "short", "interrupt"])
@pytest.mark.parametrize("faults", amounts(5, 20))
def test_a_broken_disk_and_ctrl_c_cost_nothing_but_the_time(disk: FailingDisk, fault: str, faults: int) -> None:
    for i in range(faults):
        disk.check(Case("ingest", CORPORA[i % 3], fault, (i + 0.5) / faults))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="children are found in /proc")
def test_workers_end_with_the_run_and_the_lock_is_free(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress(wiki(4000)))
    child = start(tmp_path, path, tmp_path / "out", workers=2)
    while not list(tmp_path.glob("out/part-*")):
        time.sleep(0.02)
        assert child.poll() is None
    workers = children(child.pid)
    assert len(workers) >= 2
    child.send_signal(signal.SIGKILL)
    child.wait()
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    ended = time.monotonic() + 10
    while any(alive(worker) for worker in workers):
        assert time.monotonic() < ended, "a worker outlived the run"
        time.sleep(0.02)
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert start(tmp_path, path, tmp_path / "out", workers=2).wait() == 0
    assert start(tmp_path, path, tmp_path / "alone", workers=1).wait() == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")


# Processes are spawned, and import this script, so that its changes also apply to them.
KILLER = """
import os, sys
from pychunk.io import open_source
from pychunk.io.wiki import mediawiki
document = mediawiki._document
def killing(page, wanted):
    if b"KILL" in page.data:
        os._exit(9)
    return document(page, wanted)
mediawiki._document = killing
def main():
    letters = []
    source = open_source(sys.argv[1], workers=2, batch_bytes=100_000, dead_letters=letters.append)
    print([id for batch in source for id in batch.table["id"].to_pylist()])
    print([(letter.position, letter.reason) for letter in letters])
"""


@pytest.mark.slow
def test_a_page_that_kills_the_process_that_cleans_it_is_a_letter(tmp_path: Path) -> None:
    dump = wiki(300)
    for number in (20, 250):
        at = dump.index(f"<id>{number}</id>".encode())
        at = dump.index(b"<text", at)
        at = dump.index(b">", at) + 1
        dump = dump[:at] + b"KILL" + dump[at:]
    path = tmp_path / "dump.xml"
    path.write_bytes(dump)
    script = tmp_path / "script.py"
    script.write_text(KILLER + 'if __name__ == "__main__":\n    main()\n')
    done = subprocess.run([sys.executable, script, path], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.stderr == ""
    found, letters = (ast.literal_eval(line) for line in done.stdout.splitlines())
    with_redirects = [row for batch in open_source(str(path)) for row in batch.table["id"].to_pylist()]
    assert found == [each for each in with_redirects if each not in ("20", "250")]
    assert len(found) == len(with_redirects) - 2
    places = [dump.rindex(b"<page>", 0, dump.index(f"<id>{number}</id>".encode())) for number in (20, 250)]
    reason = "the process that cleaned the page was killed, twice: out of memory?"
    assert letters == [(f"byte {place} of the XML", reason) for place in places]


@pytest.mark.slow
def test_processes_that_cannot_begin_are_one_error(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(wiki(10))
    script = tmp_path / "script.py"
    script.write_text(KILLER + "main()\n")
    done = subprocess.run([sys.executable, script, path], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("OSError: the processes that clean pages end as soon as they start")
    assert 'if __name__ == "__main__":' in last


@pytest.mark.slow
def test_killed_workers_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(wiki(4000))
    expected = [batch.table for batch in open_source(str(path), batch_bytes=100_000)]
    letters: list[DeadLetter] = []
    found, kills = [], 0
    for batch in open_source(str(path), batch_bytes=100_000, workers=2, dead_letters=letters.append):
        found.append(batch.table)
        if len(found) % 20 == 1 and kills < 3:
            for process in multiprocessing.active_children():
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
    assert kills
    assert (found, letters) == (expected, [])


TORN = """
import os, signal, sys
def torn():
    frame = sys._getframe()
    while frame.f_code.co_name != "_process_worker":
        frame = frame.f_back
    os.write(frame.f_locals["result_queue"]._writer.fileno(), (1000).to_bytes(4, "big") + b"part")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_worker_that_dies_in_the_middle_of_its_result_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torn_result.py").write_text(TORN)
    monkeypatch.syspath_prepend(tmp_path)
    with _pool(1) as pool, pytest.raises(BrokenProcessPool):
        _finished(pool.submit(importlib.import_module("torn_result").torn), pool)


def children(parent: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()] + [
        int(each)
        for task in os.listdir(f"/proc/{parent}/task")
        if int(task) != parent
        for each in Path(f"/proc/{parent}/task/{task}/children").read_text().split()
    ]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("txt", 24),
        ("parquet", 4),
        *(pytest.param(*each, marks=pytest.mark.long) for each in (("parquet", 24), ("txt", 8))),
    ],
)
def test_a_document_of_200_megabytes(tmp_path: Path, ending: str, words: int) -> None:
    # Sentences of 120 bytes, as in prose, of 45 and of 22: 9 million of them.
    drawn = random.Random(1)
    text = " ".join(" ".join(drawn.choices(WORDS, k=words)).capitalize() + "." for _ in range(8000))
    text = (text + "\n\n") * (LARGE // len(text) + 1)
    path = tmp_path / f"large.{ending}"
    if ending == "txt":
        path.write_text(text)
    else:
        pq.write_table(pa.table({"id": ["large"], "text": pa.array([text], pa.large_string())}), path)
    # Not ru_maxrss, which in a new process starts at the peak of its parent; other tests of this run take 6 GB.
    code = (
        "import sys; from pychunk.ingest import ingest; "
        "r = ingest(sys.argv[1], 'out'); "
        "peak = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')); "
        "print(r.documents, r.text_bytes, peak)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    documents, size, peak = map(int, done.stdout.split())
    assert (documents, size) == (1, len(text.encode()))
    # The peak is under 1 GB with all other memory, and 12 times the document.
    assert peak * 1024 < 1_000_000_000 + 12 * size
    times = peak * 1024 / size
    print(f"{ending}, {words} words a sentence: peak {peak * 1024 / 1e6:,.0f} MB, {times:.1f} times the document")
    end = 0
    for batch in ds.dataset(tmp_path / "out").to_batches(columns=["start", "end", "text"]):
        for row in batch.slice(0, 50).to_pylist():
            assert text[row["start"] : row["end"]] == row["text"]
        end = batch["end"][-1].as_py()
    assert end > 0.999 * len(text)


@pytest.mark.slow
def test_a_small_disk_that_is_made_larger(tmp_path: Path) -> None:
    drawn = random.Random(3)
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"id": "d{i}", "text": "{sentences(drawn, 40)}"}}\n' for i in range(1000)))
    with small_disk(tmp_path / "disk", 1500) as enlarge:
        options: dict[str, Any] = {"shard_bytes": 300_000, "vectors": "chunk"}
        with pytest.raises(IngestError, match=r"No space left on device.*--resume"):
            ingest(path, tmp_path / "disk" / "out", **options)
        enlarge()
        ingest(path, tmp_path / "disk" / "out", resume=True, **options)
        ingest(path, tmp_path / "whole", **options)
        assert contents(tmp_path / "disk" / "out") == contents(tmp_path / "whole")
