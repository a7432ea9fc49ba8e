"""Modules have tests in files of their names; a list that only shrinks names those without."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTED = ROOT / "tests" / "house" / "modules_without_tests.txt"
#: The number of lines from which on a module needs a file of tests.
LONG = 60


def test_modules_have_tests_of_their_names() -> None:
    package = ROOT / "pychunk"
    if not package.is_dir():
        pytest.skip("no checkout")
    tested = {file.stem.removeprefix("test_") for file in (ROOT / "tests").rglob("test_*.py")}
    without = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if file.stem not in tested and len(file.read_text(encoding="utf-8").splitlines()) > LONG
    }
    listed = set(LISTED.read_text(encoding="utf-8").split())
    assert not without - listed, f"write files of tests for {sorted(without - listed)}"
    assert not listed - without, f"take out of {LISTED.name}: {sorted(listed - without)}"
