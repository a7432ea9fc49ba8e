"""Forks during an import in another thread: the child does not inherit a lock that it needs."""

from __future__ import annotations

import os

import pytest
from scripts import run_script

IMPORTS = """
    import importlib.machinery, os, signal, sys, threading, pyarrow as pa, pychunk
    begun, forked, outcome = threading.Event(), threading.Event(), []
    class Slow:
        def find_spec(self, name, path, target=None):
            if name == {module!r}:
                spec = importlib.machinery.PathFinder.find_spec(name, path)
                load = spec.loader.exec_module
                def wait_and_load(module):
                    begun.set()
                    outcome.append(forked.wait({seconds}))
                    load(module)
                spec.loader.exec_module = wait_and_load
                return spec
    sys.meta_path.insert(0, Slow())
    def work():
        {work}
    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(30)
    child = os.fork()
    forked.set()
    if child == 0:
        signal.alarm(120)
        {after}
        os._exit(0)
    _, status = os.waitpid(child, 0)
    thread.join()
    print(status, outcome)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("module", ["pandas", "pychunk.inputs.language_warning"])
def test_a_fork_waits_for_what_another_thread_imports_for_pychunk(module: str) -> None:
    """Arrow imports pandas at its first array; the child waited endlessly for the lock of a module."""
    pytest.importorskip("pandas")
    work = "pychunk.segment(pa.array(['Część żółwia śpi. Źrebię też śpi w stajni.']))"
    assert run_script(IMPORTS.format(module=module, seconds=0.5, work=work, after=work)) == "0 [False]\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_arrows_first_array() -> None:
    """Arrow holds a lock of its own until it has read pandas' version, after the import."""
    pytest.importorskip("pandas")
    script = """
        import os, signal, threading, pyarrow as pa, pychunk
        from pyarrow.vendored.version import Version
        begun, forked, outcome, read = threading.Event(), threading.Event(), [], Version.__init__
        def slow(self, text):
            if not begun.is_set():
                begun.set()
                outcome.append(forked.wait(0.5))
            read(self, text)
        Version.__init__ = slow
        def work():
            pychunk.segment(pa.array(["Cats purr."]))
        thread = threading.Thread(target=work)
        thread.start()
        assert begun.wait(30)
        child = os.fork()
        forked.set()
        if child == 0:
            signal.alarm(120)
            work()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        thread.join()
        print(status, outcome)
    """
    assert run_script(script, timeout=240) == "0 [False]\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_does_not_wait_for_other_imports() -> None:
    """A program may run for as long as the import of one of its modules takes."""
    script = IMPORTS.format(module="wave", seconds=30, work="import wave", after="pychunk.segment('A cat. A dog.')")
    assert run_script(script) == "0 [True]\n"
