"""The package index knows this project as pychunk-native; its ``pychunk`` is another, unrelated package."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "pychunk-native"
#: Folders that are not part of the project: environments, builds, caches, findings of a run.
OTHERS = {"build", "dist", "findings", "node_modules", "__pycache__"}


def own_files() -> Iterator[tuple[Path, str]]:
    for folder, names, files in os.walk(ROOT):
        names[:] = [n for n in names if n not in OTHERS and (n in (".ci", ".github") or not n.startswith("."))]
        for name in files:
            path = Path(folder, name)
            data = path.read_bytes() if path != Path(__file__) and path.stat().st_size < 1 << 20 else b"\0"
            if b"\0" not in data:
                yield path.relative_to(ROOT), data.decode(errors="replace")


def requirements(text: str) -> list[str]:
    """Return requirements of ``pip install`` commands in a text, and all that is written like one with extras."""
    found = re.findall(r"(?<![\w./-])(pychunk(?:-native)?\\?\[[\w,{}-]+\\?\])", text)
    for line in re.findall(r"pip3?\b[^\n]*? install\s+(.*)", text.replace("\\\n", " ")):
        for word in line.split():
            if word in ("&&", "||", "|", ";"):
                break
            found.append(word.strip("`'\"(),.;"))
    return [each.replace("\\", "") for each in found]


def wrong(text: str) -> list[str]:
    return [each for each in requirements(text) if re.match(r"pychunk(?:$|[\[<>=!~@])", each)]


def test_no_text_says_to_install_the_package_of_another_project() -> None:
    seen = 0
    for path, text in own_files():
        assert not wrong(text), f"{path}: {wrong(text)} would install another project; this one is {NAME}"
        seen += sum(each.startswith(NAME) for each in requirements(text))
    assert seen > 20  # the search does find its target


def test_the_search_knows_wrong_advice() -> None:
    for text in (
        "pip install pychunk",
        "say('pip install \"pychunk[onnx]\"')",
        "`pip install -U pychunk`.",
        "python -m pip install -q 'pychunk>=1'",
        'test = ["pychunk[onnx,index]"]',
        "pip install \\\n  pychunk",
    ):
        assert wrong(text), text
    for text in (
        f'pip install "{NAME}[onnx]"',
        'pip install ".[onnx]" && pychunk bench',
        "pip install ./pychunk",
        "pip install --no-deps -e . && import pychunk",
    ):
        assert not wrong(text), text


def test_every_extra_that_is_advised_is_one() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert f'\nname = "{NAME}"\n' in project
    listed = project.split("[project.optional-dependencies]")[1].split("\n[")[0]
    extras = set(re.findall(r"^([\w-]+) = \[", listed, re.MULTILINE))
    assert {"onnx", "index", "test"} <= extras
    for path, text in own_files():
        for advised in re.findall(rf"{NAME}\\?\[([\w,-]+)\\?\]", text):
            assert set(advised.split(",")) <= extras, f"{path}: {advised}"


def test_the_extra_of_benchmarks_asks_for_one_spelling_of_another_extra() -> None:
    """readability-lxml 0.9 spells lxml's extra differently from justext, which pip 23.2.1 cannot resolve."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"readability-lxml<0.9", "justext"' in project
