"""Packages whose modules load late."""

import subprocess
import sys

import pychunk.integrations

PROGRAM = """
import sys, pychunk.integrations as package
assert {"chonkie", "langchain", "llama_index", "ray", "spark"} <= set(dir(package))
assert not [name for name in sys.modules if name.startswith("pychunk.integrations.")]
"""


def test_a_package_lists_modules_that_are_not_loaded() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
    assert not [name for name in dir(pychunk.integrations) if name.startswith("_")]
