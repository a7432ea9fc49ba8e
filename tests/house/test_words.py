"""The words of docstrings, help, errors and documentation follow the style guide."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: First words that leave a docstring's first line without a verb or a noun.
HEADLESS = re.compile(r"(What|Of|How|Whether|Which|Where|As|From|That|Those|These|By|If|Who|When)\b")
#: Words that have a better one: next to, and, compared with; after; again; compared with; depends on; useful; as many.
WORDS = re.compile(
    r"\b(beside|behind|anew|held against|hangs? on|of (?:no )?use\b|so many|lie in each other|atoms?|scraps?)\b", re.I
)
#: Ordinary senses of such words.
ORDINARY = re.compile(
    r"Method of use|so many more|an? (model|LLM|endpoint)[\w ]* behind an endpoint|[Mm]odels behind an endpoint|"
    r"behind one interface"
)
#: Names of parameters and of fields that docstrings list.
NAMED = re.compile(r"(?m)^\s*(beside|behind): |\bbehind=\d+")
BARE = re.compile(r"(?<![\w.\])])\.\d+\b(?!\.\d)")
#: Words of a sentence at most. Lists whose items are parts of one sentence are longer, so items count alone.
LONGEST = 40


def files(*ends: str) -> list[Path]:
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("no checkout of git")
    return [ROOT / name for name in found.stdout.splitlines() if name.endswith(ends) and (ROOT / name).exists()]


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, docstring) of a module and all in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if documented and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of errors that are raised and of help texts."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            arguments = node.exc.args
        elif isinstance(node, ast.Call):
            arguments = [each.value for each in node.keywords if each.arg == "help"]
        else:
            continue
        for argument in arguments:
            if text := " ".join(strings(argument)):
                yield node.lineno, text


def strings(node: ast.AST) -> Iterator[str]:
    """Yield the texts of an expression, without format specifications such as ``.80``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name != "format_spec":
                yield from strings(child)


def prose(text: str) -> str:
    """Return a text without code, links' targets and tables."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"(?s)::\n\n( +)\S.*?(?=\n\n\S|\Z)", "", text)  # literal blocks
    text = re.sub(r"``[^`]*``|`[^`]*`", "X", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"(?m)^\s*(>>>|\.\.\.|\|).*$", "", text)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, items of lists and arguments of a text."""
    for part in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) |\n\s*(?=[\w, *]+: )", prose(text)):
        yield from re.split(r"(?<=[.!?:;])\s+", " ".join(part.split()))


def faults(where: str, text: str) -> list[str]:
    plain = ORDINARY.sub("", NAMED.sub("", prose(text)))
    found = [f"{where}: {each.group(0)}" for each in WORDS.finditer(plain)]
    found += [f"{where}: write 0{each.group(0)}" for each in BARE.finditer(plain)]
    for sentence in sentences(text):
        if len(re.findall(r"(?!X\b)[A-Za-z][\w'-]*", sentence)) > LONGEST:
            found.append(f"{where}: {sentence[:80]}... is over {LONGEST} words")
    return found


def test_no_docstring_begins_without_a_head() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in files(".py")
        for line, text in docstrings(path)
        if HEADLESS.match(text)
    ]
    assert not found


def test_docstrings_have_plain_words_and_short_sentences() -> None:
    package = [path for path in files(".py") if path.relative_to(ROOT).parts[0] in ("pychunk", "training")]
    assert package
    assert not [
        fault
        for path in package
        for line, text in docstrings(path)
        for fault in faults(f"{path.relative_to(ROOT)}:{line}", text)
    ]


def test_help_and_errors_have_plain_words() -> None:
    package = [path for path in files(".py") if path.relative_to(ROOT).parts[0] == "pychunk"]
    assert not [
        fault
        for path in package
        for line, text in messages(path)
        for fault in faults(f"{path.relative_to(ROOT)}:{line}", text)
    ]


def test_pages_have_plain_words_and_short_sentences() -> None:
    pages = [
        path for path in files(".md") if path.parent == ROOT / "docs" or path.name in ("README.md", "CONTRIBUTING.md")
    ]
    assert pages
    assert not [fault for path in pages for fault in faults(path.name, path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The table beside the text.", "beside"),
        ("It costs .5 s.", "write 0.5"),
        ("A chunk of under 50 characters is a scrap.", "scrap"),
        ("Word " * 41 + ".", "over 40 words"),
    ],
)
def test_faults_are_found(text: str, fault: str) -> None:
    assert any(fault in each for each in faults("here", text))
    assert not faults("here", "It costs 0.5 s. The reader skips `beside` and `.5`.")
