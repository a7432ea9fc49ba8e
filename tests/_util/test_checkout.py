"""Python started in a checkout, whose source folder comes first on its path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest

import pychunk
from pychunk import _core

README = Path(__file__).resolve().parents[2] / "README.md"
BUILT = f"build/cp-linux/_core{EXTENSION_SUFFIXES[0]}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder as `pip install .` leaves it: sources, and the build folder with the extension."""
    package = Path(str(pychunk.__file__)).parent
    shutil.copytree(package, tmp_path / "pychunk", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "csrc" / "text").mkdir(parents=True)
    (tmp_path / "csrc" / "text" / "text.cc").touch()
    (tmp_path / BUILT).parent.mkdir(parents=True)
    shutil.copy(str(_core.__file__), tmp_path / BUILT)
    (tmp_path / BUILT).with_name("install_manifest.txt").touch()
    return tmp_path


def started(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Start Python in that folder, with this environment's packages but not its editable installs, which come first."""
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), str(Path(np.__file__).parents[1])}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )  # fmt: skip


@pytest.mark.slow
def test_the_readmes_first_example_runs_in_the_checkout_where_its_first_command_ran(checkout: Path) -> None:
    example = README.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    done = started(checkout, example + "\nprint(pychunk.__file__, len(chunks))")
    assert done.returncode == 0, done.stderr
    assert f"{checkout}/pychunk/__init__.py" in done.stdout
    assert "0 0 " in done.stdout


@pytest.mark.slow
def test_processes_that_are_started_there_find_the_extension_too(checkout: Path) -> None:
    code = """
if __name__ == "__main__":
    import concurrent.futures, multiprocessing, pychunk
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(pychunk.segment, "Cats purr. Dogs bark.", "sentence").result().texts)
"""
    (checkout / "use.py").write_text(code)
    done = started(checkout, "import runpy; runpy.run_path('use.py', run_name='__main__')")
    assert done.stdout == "['Cats purr.', 'Dogs bark.']\n", done.stderr


@pytest.mark.slow
def test_sources_that_are_newer_than_the_build_are_told(checkout: Path) -> None:
    later = (checkout / BUILT).with_name("install_manifest.txt").stat().st_mtime + 10
    os.utime(checkout / "csrc" / "text" / "text.cc", (later, later))
    done = started(checkout, "import pychunk")
    assert f"{checkout}/csrc/text/text.cc is newer than the extension built in" in done.stderr
    assert f"install {checkout} again, or run Python in another folder" in done.stderr
    os.utime((checkout / BUILT).with_name("install_manifest.txt"), (later + 1, later + 1))  # installed a second time
    assert started(checkout, "import pychunk").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("built", ["nothing", "for another Python"])
def test_a_checkout_without_a_build_says_how_to_make_one(checkout: Path, built: str) -> None:
    if built == "nothing":
        shutil.rmtree(checkout / "build")
    else:
        (checkout / BUILT).rename(checkout / "build" / "cp-linux" / "_core.cpython-27-x86_64-linux-gnu.so")
    said = started(checkout, "import pychunk").stderr
    assert "extension cannot be loaded" in said
    assert "build the extension there with `pip install .`, or run Python in another folder" in said
