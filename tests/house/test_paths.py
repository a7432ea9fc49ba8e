"""Every path in documents and comments exists."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"(?<![\w/.-])((?:pychunk|csrc|tests|bench|docs|training)/[\w/.-]*[a-zA-Z0-9])(?![\w{*]|\.\w*{)")
#: Placeholders for a name, and inputs of tests.
MADE_UP = {"bench/results/NAME.json", "pychunk/methods/NAME.py", "bench/x.py", "docs/pump.md"}
#: Files that name former paths, and paths below pychunk/.
UNREAD = {"CHANGELOG.md", "tests/house/modules_without_tests.txt"}
ENDINGS = (".md", ".py", ".cc", ".h", ".inc", ".cu", ".cuh", ".txt", ".toml", ".pyi", ".sh")


def test_every_path_that_is_named_is_there() -> None:
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("no checkout of git")
    files = [name for name in found.stdout.splitlines() if name.endswith(ENDINGS)]
    told = [name for name in files if name not in UNREAD and not name.startswith("bench/results/")]
    missing = [
        f"{name}: {path}"
        for name in told
        for path in NAMED.findall((ROOT / name).read_text(encoding="utf-8"))
        if path not in MADE_UP and not (ROOT / path).exists()
    ]
    assert told
    assert not missing, missing
