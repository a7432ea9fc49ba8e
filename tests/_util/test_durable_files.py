"""Files stay open no longer than the code that writes them runs."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pychunk._util import durable_files
from pychunk.ingest.direct_file import DirectFile

HANDLES = Path("/proc/self/fd")

pytestmark = pytest.mark.skipif(not HANDLES.is_dir(), reason="no /proc here to count open files in")


@pytest.mark.parametrize("use", [durable_files.flush, lambda path: durable_files.opened(path, os.O_RDONLY).__enter__()])
def test_ctrl_c_as_a_folder_opens_leaves_nothing_open(
    use: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def interrupted(*given: Any) -> int:
        handle = real(*given)
        signal.raise_signal(signal.SIGINT)
        return handle

    before = len(os.listdir(HANDLES))
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(os, "open", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            use(tmp_path)
    finally:
        monkeypatch.undo()
        signal.signal(signal.SIGINT, kept)
    assert len(os.listdir(HANDLES)) == before


@pytest.mark.parametrize("kind", [durable_files.BufferedFile, DirectFile])
def test_a_file_that_is_nobodys_is_closed(kind: Callable[[Path], object], tmp_path: Path) -> None:
    before = len(os.listdir(HANDLES))
    file = kind(tmp_path / "file")
    assert len(os.listdir(HANDLES)) == before + 1
    del file
    assert len(os.listdir(HANDLES)) == before
