"""A generator of docs/results.md and docs/results from the files in bench/results, one page for each folder of bench.

Every table has its command, commit, versions and machine.

    python bench/results.py
    python bench/results.py --check      status 1 if a page differs from the files
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
DOCS = ROOT / "docs"
#: The folders of commands that name none.
FOLDERS = {
    "pychunk eval": "retrieval",
    "pytest -m slow tests/ingest": "ingestion",
    "python -m tests.fuzz": "regression",
}
ABOUT = ("title", "about", "command", "commit", "versions", "encoder", "machine", "day")
MISSING = "not recorded"
VERSION = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
#: Keys that only group others, and are dropped from columns' names.
SILENT = {"modes", "measures"}

HEAD = """# Results

All figures that the documentation quotes, each with the command that prints it, on one page for each folder of
[bench](../bench/README.md). `python bench/results.py` writes these pages from the files in
[bench/results](../bench/results). If a file lacks a fact, such as its commit, the page says "not recorded". If figures
were measured with another version of pychunk, the page names that version and the present one. Brackets hold 95 %
intervals. If a command names no data, it reads the folder that `PYCHUNK_DATA` names.
"""


def pages(files: Iterable[Path]) -> dict[str, str]:
    """Return the pages made from the files, by their paths in docs: the list of all figures, then a page a folder."""
    folders: dict[str, list[tuple[Path, dict[str, Any]]]] = {}
    for file in sorted(files):
        facts = json.loads(file.read_text(encoding="utf-8"))
        folders.setdefault(folder_of(facts["command"]), []).append((file, facts))
    made = {"results.md": HEAD}
    for folder, found in sorted(folders.items()):
        titles = [(facts["title"], anchor(facts["title"])) for _, facts in found]
        listed = "\n".join(f"- [{title}](results/{folder}.md#{link})" for title, link in titles)
        made["results.md"] += f"\n## {folder}\n\n{listed}\n"
        head = (
            f"# Results: {folder}\n\n[All results](../results.md). What is measured, and by which commands: "
            f"[bench/{folder}](../../bench/{folder}/README.md).\n"
        )
        contents = "\n".join(f"- [{title}](#{link})" for title, link in titles)
        made[f"results/{folder}.md"] = "\n".join([head, contents + "\n", *(section(*each) for each in found)])
    return made


def folder_of(command: str) -> str:
    """Return the folder of bench that a command runs, or belongs to."""
    named = re.match(r"python bench/(\w+)/", command)
    return named[1] if named else next(folder for begin, folder in FOLDERS.items() if command.startswith(begin))


def anchor(title: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def section(file: Path, facts: Mapping[str, Any]) -> str:
    """Return the text of one file: how it was made, then its figures."""
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
        f"- File: [{file.name}](../../bench/results/{file.name})",
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
    """Return nested dictionaries as one, with joined keys; intervals stay whole."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict) and not is_interval(value):
            found |= flat(value, before if key in SILENT else f"{before}{key} ")
        else:
            found[before + key] = value
    return found


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield rows of a Markdown table, with a column for every key; text is aligned left, the rest right."""
    cells = [flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in cells for name in row))
    text = {name for name in names if any(isinstance(row.get(name), str) for row in cells)}
    yield "| " + " | ".join(names) + " |"
    yield "| " + " | ".join("---" if name in text else "---:" for name in names) + " |"
    for row in cells:
        yield "| " + " | ".join(written(row[name]) if name in row else "" for name in names) + " |"


def written(value: Any) -> str:
    """Return a value as text for readers."""
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
        return str(value) if len(str(value)) <= 6 else f"{value:{digits}}"  # a short number stays as it was written
    if isinstance(value, list):
        return ", ".join(map(written, value))
    return str(value).replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare; write nothing")
    options = parser.parse_args()
    made = pages(FILES.glob("*.json"))
    there = {path.relative_to(DOCS).as_posix(): path for path in (DOCS / "results.md", *DOCS.glob("results/*.md"))}
    if not options.check:
        (DOCS / "results").mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (DOCS / name).write_text(text, encoding="utf-8")
        for name in there.keys() - made.keys():
            there[name].unlink()
        return
    differences: list[str] = []
    for name in sorted(made.keys() | there.keys()):
        old = there[name].read_text(encoding="utf-8") if name in there and there[name].exists() else ""
        lines = old.splitlines(), made.get(name, "").splitlines()
        differences += difflib.unified_diff(*lines, f"docs/{name}", "bench/results", n=0)
    if differences:
        print("\n".join([*differences[:20], "docs/results is stale: python bench/results.py"]))
        sys.exit(1)


if __name__ == "__main__":
    main()
