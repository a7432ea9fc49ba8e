"""Mypy and pyright on users' code: the Python of README and of all pages, and misspelt calls."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from doc_blocks import blocks

ROOT = Path(__file__).resolve().parents[2]

if importlib.util.find_spec("mypy") is None:
    pytest.skip("mypy is not installed (extra dev)", allow_module_level=True)


pytestmark = pytest.mark.slow  # mypy reads all of pychunk


CHECKERS = ("mypy", "pyright")


def checked(text: str, folder: Path, others: Sequence[str] = (), checker: str = "mypy") -> tuple[int, str]:
    """Return the status and the output of a type checker on ``use.py``, which gets this text, and on other files."""
    (folder / "use.py").write_text(text, encoding="utf-8")
    if checker == "mypy":
        # The cache is shared, so that the other runs reuse what the first run read.
        options = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", f"--cache-dir={folder.parent}/m"]
        command = [sys.executable, "-m", "mypy", *options, "use.py", *others]
    else:
        if importlib.util.find_spec("basedpyright") is None:
            pytest.skip("basedpyright is not installed (extra dev)")
        # The rules of pyright itself: packages that the pages use may be missing.
        rules = {"typeCheckingMode": "standard", "reportMissingImports": False, "extraPaths": [str(ROOT)]}
        (folder / "pyrightconfig.json").write_text(json.dumps(rules), encoding="utf-8")
        command = [sys.executable, "-m", "basedpyright", "-p", ".", "--pythonpath", sys.executable]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    out = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return out.returncode, out.stdout + out.stderr


@pytest.mark.parametrize("checker", [pytest.param("mypy", marks=pytest.mark.long), "pyright"])
def test_the_python_of_readme_and_all_pages_passes(checker: str, tmp_path: Path) -> None:
    names = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        found = [block for block in blocks(page) if block.language == "python"]
        # Blocks that need different packages may give one name to different things, such as Document.
        for need in dict.fromkeys(block.needs for block in found):
            names.append("_".join(["page", *page.stem.split("-"), *need.split()]) + ".py")
            # Some pages use one name for several things, one after the other.
            texts = ["# mypy: allow-redefinition", *(block.text for block in found if block.needs in ("", need)), ""]
            (tmp_path / names[-1]).write_text("\n\n".join(texts), encoding="utf-8")
    assert len(names) > 20
    status, said = checked("", tmp_path, names, checker)
    assert status == 0, said


def test_hits_are_typed_by_what_was_asked_for_and_misspelt_names_are_found(tmp_path: Path) -> None:
    text = """import pychunk


def use(index: pychunk.Index) -> None:
    for hit in index.search(["a"])[0]:
        print(hit.start, hit.text)
    for found in index.search_documents(["a"])[0]:
        print(found.document_id, found.score, found.hits[0].text)
"""
    status, said = checked(text, tmp_path)
    assert status == 0, said
    wrong = text.replace("hit.start", "hit.begin").replace("found.hits[0].text", "found.text")
    wrong += '    index.search(["a"], n=3)\n'
    status, said = checked(wrong, tmp_path)
    assert status == 1
    assert 'has no attribute "begin"' in said
    assert '"DocumentHits" has no attribute "text"' in said
    assert 'Unexpected keyword argument "n"' in said


def test_names_that_load_late_are_seen(tmp_path: Path) -> None:
    text = "import pychunk\nreveal_type(pychunk.io.open_source)\nreveal_type(pychunk.Index)\npychunk.segmnt\n"
    _, said = checked(text, tmp_path)
    assert "pychunk.io.source.Source" in said
    assert "pychunk.index.index.Index" in said
    assert 'Module has no attribute "segmnt"' in said


def test_searches_of_chunks_and_of_documents_have_the_same_arguments() -> None:
    tree = ast.parse((ROOT / "pychunk" / "index" / "index.py").read_text(encoding="utf-8"))
    names = ("search", "search_documents")
    every = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name in names]
    assert sorted(each.name for each in every) == sorted(names)
    assert all(arg.annotation is not None for arg in (*every[0].args.args[1:], *every[0].args.kwonlyargs))
    assert ast.unparse(every[0].args) == ast.unparse(every[1].args)  # names, types and defaults


#: Calls with one mistake each: a misspelt method, option, literal or name, or a wrong type.
MISTAKES = """pychunk.segment("One.", "recursiv")
pychunk.segment("One.", "fixed", siez=3)
pychunk.segment("One.", "fixed", size="3")
pychunk.segment("One.", "fixed", unit="word")
pychunk.segment("One.", max_token=3)
pychunk.segment("One.", max_tokens="none")
pychunk.segment("One.", overlap=0.5)
pychunk.segment("One.", vectors="sentences")
pychunk.segment("One.", vectors=pychunk.Vectors("chunks"))
pychunk.segment("One.", columns={"title": "headline"})
pychunk.segment("One.", metadata_columns=3)
pychunk.segment("One.", on_error="ignore")
pychunk.segment("One.", placement=pychunk.Placement(thread=2))
pychunk.segment("One.", placement=pychunk.Placement(runtime="onnx"))
pychunk.segment("One.", "pic", summary="title_")
pychunk.segment("One.", "structure", within="topics")
pychunk.segment("One.", keep_together="no")
pychunk.Segmenter("nsq")
pychunk.segment("One.").text
pychunk.segment_levels("One.", pooling="tokens")
pychunk.segmnt("One.")
for chunk in pychunk.segment("One."): chunk.begin
pychunk.Index.create("i", bm25="letters")
pychunk.Index.open("i").search("One?", mode="dens")
pychunk.Index.open("i").search("One?", expansion="sections")
pychunk.Index.open("i").search("One?", rerank="features")
pychunk.index.Ranking(fusion="ranks")
"""


@pytest.mark.parametrize("checker", CHECKERS)
def test_each_mistake_is_found(checker: str, tmp_path: Path) -> None:
    status, said = checked("import pychunk\n" + MISTAKES, tmp_path, checker=checker)
    assert status == 1
    found = {int(number) for number in re.findall(r"use\.py:(\d+):.* error", said)}
    lines = MISTAKES.splitlines()
    assert len(lines) >= 20
    assert not [line for number, line in enumerate(lines, 2) if number not in found]
