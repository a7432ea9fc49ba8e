"""Files have at most 500 lines of code, classes 400, functions 80; longer ones need a reason."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE, CLASS, FUNCTION = 500, 400, 80
_COMMANDS = "its parameters are the command's flags, each with its help"
#: The longer ones, by file or by file and name, with the reason.
LONGER = {
    "csrc/parsing/html/html_walk.cc": "one walk, whose steps share the state of the block, the link and the list",
    "csrc/parsing/html/html_work.cc": "one pass over the bytes that keeps the parser's open elements as it would",
    "csrc/parsing/markdown.cc": "containers hand their lines to the same rules again, so the rules are one class",
    "csrc/python/bindings_segment.cc": "reads one Request, whose parts check each other",
    "csrc/tokens/sentencepiece/piece_encoder.cc": "one pass over a text, whose steps share the word and its spaces",
    "pychunk/view/segmentation_page.js": "the page's one script, which is written into it whole",
    "pychunk/cli/evaluate.py:evaluate": _COMMANDS,
    "pychunk/cli/index.py:index": _COMMANDS,
    "pychunk/cli/ingest.py:command": _COMMANDS,
    "pychunk/cli/search.py:search": _COMMANDS,
    "pychunk/index/index.py": "the class Index",
    "pychunk/index/index.py:Index": "its search has three overloads of 22 options each",
    "pychunk/index/writer.py": "the class IndexWriter",
    "pychunk/index/writer.py:IndexWriter": "its methods share the state of an open part and of what saving makes of it",
    "pychunk/ingest/run.py:ingest": "the function checks, documents and passes on 25 options",
    "pychunk/_engine/native.py": "a function for each of the core's, behind one name",
    "pychunk/_engine/reference/parsing/noise_columns.py:noise_columns": "one column after another",
}
_KINDS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def files(*suffixes: str) -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.splitlines() if name.endswith(suffixes) and (ROOT / name).is_file()]


def lines_of_python(text: str, tree: ast.Module) -> set[int]:
    """Return the numbers of lines with code, without blank lines, comments or docstrings."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, _KINDS) and ast.get_docstring(node, clean=False) is not None:
            found.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return found


def longer_python(file: Path) -> Iterator[str]:
    text, name = file.read_text(encoding="utf-8"), str(file.relative_to(ROOT))
    tree = ast.parse(text)
    spans = [(name, 1, len(text.splitlines()), FILE)]
    for node in ast.walk(tree):
        if isinstance(node, _KINDS[1:]):
            most = CLASS if isinstance(node, ast.ClassDef) else FUNCTION
            spans.append((f"{name}:{node.name}", node.lineno, node.end_lineno or 0, most))
    spans = [span for span in spans if span[2] - span[1] >= span[3]]
    lines = lines_of_python(text, tree) if spans else set()  # few files have this many lines of any kind
    for each, begin, end, most in spans:
        if len(lines.intersection(range(begin, end + 1))) > most:
            yield each


@pytest.mark.slow
def test_nothing_is_longer_without_a_reason() -> None:
    found = {each for file in files(".py") for each in longer_python(file)}
    for file in files(".cc", ".h", ".cu", ".cuh", ".js"):
        text = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        if sum(bool(line.strip()) and not line.strip().startswith("//") for line in text.splitlines()) > FILE:
            found.add(str(file.relative_to(ROOT)))
    assert not found - LONGER.keys(), f"divide, or say why in LONGER: {sorted(found - LONGER.keys())}"
    assert not LONGER.keys() - found, f"take out of LONGER: {sorted(LONGER.keys() - found)}"
