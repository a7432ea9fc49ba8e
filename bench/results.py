"""Writes docs/results.md from the files in bench/results: every table with its command, commit, versions and machine.

python bench/results.py
python bench/results.py --check      status 1 where the page is not what the files say
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "results.md"
ABOUT = ("title", "about", "command", "commit", "versions", "encoder", "machine", "day")
MISSING = "not recorded"
VERSION = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
#: Keys that only hold others together: no column's name needs them.
SILENT = {"modes", "measures"}

HEAD = """# Results

Every figure that these pages quote, with the command that prints it. The page is written by `python bench/results.py`
from the files in [bench/results](../bench/results); what a file does not say is "not recorded", and a file of another
version of pychunk names both. Brackets hold 95 %
intervals. Where a command names no data, it reads the folder in `PYCHUNK_DATA`.
"""


def page(files: Iterable[Path]) -> str:
    """The page that the files make."""
    found = [(file, json.loads(file.read_text(encoding="utf-8"))) for file in sorted(files)]
    contents = "\n".join(f"- [{facts['title']}](#{anchor(facts['title'])})" for _, facts in found)
    return "\n".join([HEAD, contents + "\n", *(section(file, facts) for file, facts in found)])


def anchor(title: str) -> str:
    """As GitHub links a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def section(file: Path, facts: Mapping[str, Any]) -> str:
    """One file: how it came to be, then its figures."""
    versions = ", ".join(f"{name} {version}" for name, version in (facts.get("versions") or {}).items())
    measured = (facts.get("versions") or {}).get("pychunk", VERSION)
    lines = [
        f"## {facts['title']}\n",
        *([facts["about"] + "\n"] if facts.get("about") else []),
        f"- Command: `{facts['command']}`" if facts.get("command") else f"- Command: {MISSING}",
        f"- Commit: {facts.get('commit') or MISSING}; day: {facts.get('day') or MISSING}",
        f"- Versions: {versions or MISSING}",
        *([f"- Measured with pychunk {measured}; this is {VERSION}"] if measured != VERSION else []),
        f"- Encoder: {MISSING if facts.get('encoder') is None else facts['encoder'] or 'none'}",
        f"- Machine: {facts.get('machine') or MISSING}",
        f"- File: [{file.name}](../bench/results/{file.name})",
    ]
    figures = {key: value for key, value in facts.items() if key not in ABOUT}
    single = {key: value for key, value in figures.items() if not isinstance(value, (list, dict))}
    if single:
        lines.append("- " + "; ".join(f"{name}: {written(value)}" for name, value in single.items()))
    for key, value in figures.items():
        if value == []:
            continue
        if is_rows(value):
            heading = [] if key == "rows" else [f"\n### {key}"]
            lines += [*heading, "", *table(value)]
        elif isinstance(value, dict):
            cells = flat(value)
            lines += [f"\n### {key}", "", *table([{"what": name, "value": cell} for name, cell in cells.items()])]
    return "\n".join(lines) + "\n"


def is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def is_interval(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"mean", "low", "high"}


def flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Dictionaries in dictionaries as one: their keys are joined; intervals stay whole."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict) and not is_interval(value):
            found |= flat(value, before if key in SILENT else f"{before}{key} ")
        else:
            found[before + key] = value
    return found


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Rows of a Markdown table; a column for every key that a row has, text to the left, the rest to the right."""
    cells = [flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in cells for name in row))
    text = {name for name in names if any(isinstance(row.get(name), str) for row in cells)}
    yield "| " + " | ".join(names) + " |"
    yield "| " + " | ".join("---" if name in text else "---:" for name in names) + " |"
    for row in cells:
        yield "| " + " | ".join(written(row[name]) if name in row else "" for name in names) + " |"


def written(value: Any) -> str:
    """A value as readers write it."""
    if is_interval(value):
        return f"{written(value['mean'])} ({written(value['low'])} to {written(value['high'])})"
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**9 else str(value)
    if isinstance(value, float):
        tiny = value and abs(value) < 1e-3
        digits = ".1e" if tiny else ".3f" if abs(value) < 10 else ".1f" if abs(value) < 1000 else ",.0f"
        return str(value) if len(str(value)) <= 6 else f"{value:{digits}}"  # as it was written, if so short
    if isinstance(value, list):
        return ", ".join(map(written, value))
    return str(value).replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare; write nothing")
    options = parser.parse_args()
    text = page(FILES.glob("*.json"))
    if not options.check:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
        return
    there = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if there != text:
        differences = difflib.unified_diff(
            there.splitlines(), text.splitlines(), "docs/results.md", "bench/results", n=0
        )
        print("\n".join([*list(differences)[:20], "docs/results.md is stale: python bench/results.py"]))
        sys.exit(1)


if __name__ == "__main__":
    main()
