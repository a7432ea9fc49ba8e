"""A runner of the shell and Python blocks of one documentation page, in order, in the current folder.

    python tests/helpers/doc_blocks.py docs/methods.md
    python tests/helpers/doc_blocks.py docs/integrations.md --with duckdb

Python blocks of a page share their names; a shell block is a bash -euo pipefail of its own. A comment above a block
says if it cannot run: ``<!-- not run: why -->`` never, ``<!-- needs: NAME -->`` only with --with NAME.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

#: Languages of blocks that run, and of those that are only for reading.
RUN, READ = ("sh", "python"), ("text", "json", "yaml", "cpp", "cmake")
_BLOCK = re.compile(
    r"^(?:<!-- (?P<marker>[^\n]*?) -->\n)?```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A fenced block; ``needs`` names its requirement, ``why`` is the reason that it never runs."""

    line: int
    language: str
    text: str
    needs: str = ""
    why: str = ""


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    whole = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(whole):
        name, _, said = (match["marker"] or "").partition(": ")
        line = whole.count("\n", 0, match.start("text")) + 1
        why = said if name == "not run" else "CI runs it as written" if name == "test command" else ""
        needs = said if name == "needs" else ""
        found.append(Block(line, match["language"], match["text"], needs, why))
    return found


def wanted(page: Path, given: set[str]) -> list[Block]:
    """Return those that run with these requirements."""
    return [
        block
        for block in blocks(page)
        if block.language in RUN and not block.why and (not block.needs or block.needs in given)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--with", dest="given", action="append", default=[], metavar="NAME", help="what is there")
    options = parser.parse_args()
    names: dict[str, object] = {"__name__": "__main__"}
    for block in wanted(options.page, set(options.given)):
        place = f"{options.page.name}:{block.line}"
        print(f"== {place}", flush=True)
        if block.language == "python":
            # The code gets as many line breaks before it as the page has, so that a traceback names the page's line.
            exec(compile("\n" * (block.line - 1) + block.text, str(options.page), "exec"), names)
        elif status := subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], check=False).returncode:
            print(f"{place} ended with status {status}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
