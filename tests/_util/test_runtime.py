"""The environment of the native core: threads that cannot start, forks, interrupts, the interpreter's end.

Each case runs in a process of its own, with the limits that it needs.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from scripts import run_script

import pychunk
from pychunk._util.durable_files import write_text

TEXTS = "texts = ['Cats purr when content. Dogs bark at night. The sun is a star. ' * 40] * 2000"


# ---- threads ----


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root alone may become another user")
def test_a_limit_on_processes_leaves_the_threads_there_are() -> None:
    out = run_script(f"""
        import os, resource, pychunk
        {TEXTS}
        expected = pychunk.segment(texts, "sentence", placement=pychunk.Placement(threads=1)).table
        os.setuid(65534)
        resource.setrlimit(resource.RLIMIT_NPROC, (4, 4))
        for _ in range(5):
            assert pychunk.segment(texts, "sentence", placement=pychunk.Placement(threads=16)).table.equals(expected)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        assert pychunk.segment(texts, "sentence", placement=pychunk.Placement(threads=64)).table.equals(expected)
        print("right")
    """)
    assert out == "right\n"


FAILING_START = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
typedef int start(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static int started;
  const char* allowed = getenv("THREADS_ALLOWED");
  if (allowed && started++ >= atoi(allowed)) return EAGAIN;
  return ((start*)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, argument);
}
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="preloads a library as Linux does")
def test_threads_that_cannot_be_started_are_done_without(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "start.c").write_text(FAILING_START)
    library = tmp_path / "start.so"
    subprocess.run([compiler, "-shared", "-fPIC", tmp_path / "start.c", "-o", library, "-ldl"], check=True)
    for allowed in (0, 1, 3):
        out = run_script(
            f"""
            import os, pychunk
            {TEXTS}
            def table_by(threads):
                return pychunk.segment(texts, "sentence", placement=pychunk.Placement(threads=threads)).table
            table_by(1)  # Arrow has started its own threads by now
            os.environ["THREADS_ALLOWED"] = "{allowed}"
            before = len(os.listdir("/proc/self/task"))
            tables = [table_by(threads) for threads in (16, 16, 1, 5, 200)]
            assert all(table.equals(tables[2]) for table in tables)
            print(len(os.listdir("/proc/self/task")) - before)
            """,
            LD_PRELOAD=str(library),
        )
        assert int(out) <= allowed  # one above the number of CPUs may have ended


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_threads_beyond_the_cpus_end_when_they_are_idle() -> None:
    run_script(f"""
        import os, time, pychunk
        {TEXTS}
        def threads(): return len(os.listdir("/proc/self/task"))
        pychunk.segment(texts, "sentence", placement=pychunk.Placement(threads=1))
        before = threads()
        pychunk.segment(texts, "sentence", placement=pychunk.Placement(threads=300))
        assert threads() > before + 20, threads()
        deadline = time.monotonic() + 30
        while threads() > before + os.cpu_count() and time.monotonic() < deadline: time.sleep(0.1)
        assert threads() <= before + os.cpu_count(), threads()
        pychunk.segment(texts, "sentence", placement=pychunk.Placement(threads=300))
    """)


@pytest.mark.parametrize("threads", [0, -1, 1025, 2**31, 2**70, True, 1.0, "2"])
def test_threads_are_a_number_from_1_to_1024(threads: object) -> None:
    with pytest.raises(ValueError, match=r"threads must be a whole number of at (least 1|most 1024); got"):
        pychunk.Segmenter("sentence", placement=pychunk.Placement(threads=threads))


# ---- forks ----


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_threads_segment_leaves_a_child_that_works() -> None:
    """Documents over 4 MB use array blocks that are kept; in 1 of 13 children their list stayed locked."""
    run_script(
        """
        import os, signal, threading, pychunk
        doc = ["Cats purr and dogs bark at night. " * 180000]
        segmenter = pychunk.Segmenter("recursive", size=100, placement=pychunk.Placement(threads=1))
        segmenter(doc)
        going = True
        def work():
            while going: segmenter(doc)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for _ in range(25):
            child = os.fork()
            if child == 0:
                signal.alarm(120)
                segmenter(doc[0][:10_000_000])
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if status != 0: break
        going = False
        for thread in threads: thread.join()
        assert status == 0, status
        """,
        timeout=180,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_a_pdf_that_another_thread_reads() -> None:
    pytest.importorskip("pypdfium2")
    assert (
        run_script("""
        import os, signal, threading
        from pychunk.parsing.pdf import pdf_document as file
        reads = threading.Event()
        def work():
            with file._LOCK:
                reads.set()
                left.wait(0.5)
        left, thread = threading.Event(), threading.Thread(target=work)
        thread.start()
        assert reads.wait(30)
        child = os.fork()
        if child == 0:
            signal.alarm(120)
            try:
                file.read_pdf(b"%PDF-1.4 none")
            except file.PdfError:
                os._exit(0)
        print(os.waitpid(child, 0)[1])
    """)
        == "0\n"
    )


LOCKED = """
    import os, signal, sys, time
    from pathlib import Path
    from pychunk._util.folder_lock import FolderLock
    path = Path({path!r})
    def free():
        other = FolderLock(path)
        found = other.take()
        other.release()
        return found
    def forked(work):
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            try:
                work()
                os._exit(0)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
        return child
    def ended(child):
        assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "script",
    [
        # a living child does not hold what its parent has released
        """
    lock = FolderLock(path); assert lock.take()
    child = forked(lambda: time.sleep(30))
    assert not free(); lock.release(); assert free()
    os.kill(child, signal.SIGKILL)
        """,
        # a child does not hold its parent's lock, and can neither release nor take it
        """
    lock = FolderLock(path); assert lock.take()
    def work():
        assert not lock.held and not free()
        lock.release()
        assert not lock.take() and not lock.held
    ended(forked(work))
    assert lock.held and not free()
    lock.release(); assert free()
        """,
        # a killed process leaves no lock to its child
        """
    read, write = os.pipe()
    def parent():
        lock = FolderLock(path); assert lock.take()
        def child():
            os.write(write, os.getpid().to_bytes(4, "little"))
            time.sleep(20)
        forked(child)
        time.sleep(20)
    doomed = forked(parent)
    orphan = int.from_bytes(os.read(read, 4), "little")  # from itself: its fork is behind it
    assert not free()
    os.kill(doomed, signal.SIGKILL); os.waitpid(doomed, 0)
    assert free()
    os.kill(orphan, signal.SIGKILL)
        """,
    ],
    ids=["the parent lets go", "the child lets go", "the parent is killed"],
)
def test_a_forked_process_has_nothing_to_do_with_its_parents_lock(script: str, tmp_path: Path) -> None:
    run_script(textwrap.dedent(LOCKED.format(path=str(tmp_path / "lock"))) + textwrap.dedent(script))


@pytest.mark.slow
def test_a_daemon_thread_inside_a_call_does_not_crash_the_end() -> None:
    run_script("""
        import threading, time, pychunk
        segmenter = pychunk.Segmenter("pic", placement=pychunk.Placement(threads=1))
        texts = ["Cats purr. Dogs bark. " * 400] * 300
        def work():
            while True: segmenter(texts)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
    """)


# ---- memory ----


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc; glibc keeps what other allocators give back")
def test_memory_of_a_huge_output_goes_back_when_it_is_dropped() -> None:
    run_script(
        """
        import os, pychunk
        def resident(): return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        segmenter = pychunk.Segmenter("sentence", vectors="sentence", placement=pychunk.Placement(threads=2))
        texts = ["Cats purr when content. Dogs bark at night. The sun is a star. " * 40] * 9000
        segmenter(texts[:100])
        before = resident()
        out = segmenter(texts)
        assert out.table.nbytes > 1_000_000_000, out.table.nbytes
        del out
        kept = resident() - before  # large blocks of up to 256 MB among them
        assert kept < 500_000_000, kept  # 1.0 GB where nothing is done about it
        """,
        timeout=300,
    )


# ---- killed processes ----


def test_what_killed_writers_of_an_output_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    script = f"""
        import os, signal
        from pathlib import Path
        from pychunk._util.durable_files import whole_file
        with whole_file(Path({str(tmp_path / "out.parquet")!r})) as file:
            file.write(b"half"), file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False, timeout=60)
    (left,) = tmp_path.iterdir()
    gone = left.name.split(".")[-2]
    others = [f".other.parquet.{gone}.part", f".out.parquet.{os.getppid()}.part", f".out.parquet.{gone}.part.txt"]
    for name in others:
        (tmp_path / name).write_bytes(b"another's")
    write_text(tmp_path / "out.parquet", "whole")
    assert not left.exists()
    with left.open("wb") as elsewhere:  # like a process of another machine with the same number
        fcntl.flock(elsewhere, fcntl.LOCK_SH)
        write_text(tmp_path / "out.parquet", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, left.name, "out.parquet"])


# ---- interrupts ----

INTERRUPTED = """
    import os, signal, threading, time, pychunk
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are born without
    sentence = "Cats purr when they are content and dogs bark at night. The sun is a star, and it is near. "
    segmenter = pychunk.Segmenter({method}, **{options}, placement=pychunk.Placement(threads={threads}))
    segmenter("Cats purr. Dogs bark.")  # imports pandas, as Arrow does: that drops a Ctrl-C
    def interrupt():
        time.sleep({wait})
        global sent
        sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)
    text = {text}
    threading.Thread(target=interrupt).start()
    try:
        segmenter.{call}(text)
    except KeyboardInterrupt:
        took = time.process_time() - sent  # others' work on the machine is none of ours
        assert took < 2.5, took  # 0.1 to 0.3 s a thread
        assert len(pychunk.segment("Cats purr. Dogs bark.", "sentence", placement=pychunk.Placement(threads=2))) == 2
    else:
        raise AssertionError("it was done before it could be interrupted")
"""


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("method", "options", "text", "call"),
    [
        ("pic", {}, "sentence * 1_200_000", "__call__"),  # 110 MB, some 4 s
        ("pic", {}, "'été chaud ' * 10_000_000", "__call__"),  # one sentence
        ("pic", {}, "[sentence * 20] * 80_000", "__call__"),
        ("cluster", {"max_tokens": 10_000}, "sentence * 100_000", "__call__"),
        ("semantic", {"window": 1_000_000}, "sentence * 200_000", "__call__"),
        ("semantic", {"window": 1000}, "[sentence * 100_000] * 2", "fit"),
        ("recursive", {"size": 100}, "('中文没有空格' * 10 + ' ') * 1_000_000", "__call__"),
        ("recursive", {"size": 100}, "'中文没有空格' * 10_000_000", "__call__"),  # one run of words
        ("sentence", {"vectors": "sentence"}, "sentence * 300_000", "__call__"),
    ],
)
def test_ctrl_c_ends_a_long_call_at_once(
    method: str, options: dict[str, object], text: str, call: str, threads: int
) -> None:
    wait = 0.3 if method == "sentence" else 1  # the others take longer than its 1.5 s
    script = INTERRUPTED.format(method=repr(method), options=options, threads=threads, text=text, call=call, wait=wait)
    run_script(script, timeout=120)


@pytest.mark.slow
def test_ctrl_c_ends_clusters_of_a_huge_window() -> None:
    text = "sentence * 20_000"
    run_script(
        INTERRUPTED.format(
            method="'cluster'", options={"max_tokens": 10_000}, threads=2, text=text, call="__call__", wait=0.5
        )
    )


@pytest.mark.slow
def test_a_handler_that_segments_in_the_middle_of_a_call_changes_nothing() -> None:
    run_script("""
        import signal, pychunk
        sentence = "Cats purr when they are content and dogs bark at night. The sun is a star, and it is near. "
        segmenter = pychunk.Segmenter("cluster", max_tokens=2000, placement=pychunk.Placement(threads=1))
        text = sentence * 40_000  # some 0.8 s; signals are looked for every 0.1
        expected, other = segmenter(text).table, segmenter("Dogs bark. Cats purr.").table
        found = []
        signal.signal(signal.SIGALRM, lambda *_: found.append(segmenter("Dogs bark. Cats purr.").table.equals(other)))
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        assert segmenter(text).table.equals(expected)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert found and all(found), found
    """)


# ---- Python itself ----


@pytest.mark.slow
def test_free_threaded_python_is_refused() -> None:
    run_script("""
        import sys
        sys._is_gil_enabled = lambda: False
        try:
            import pychunk
        except ImportError as error:
            assert "free-threaded" in str(error), error
        else:
            raise AssertionError("it was imported")
    """)
