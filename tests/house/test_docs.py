"""The documentation's examples work: its blocks run as written, its links lead somewhere, its extras exist."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import READ, RUN, blocks

from pychunk.tokenizers import published

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
#: Pages with blocks, and the requirements of some blocks besides pychunk and its extras for tests.
CASES = [
    pytest.param(page, need, id=f"{page.stem}-{need}"[:40])
    for page in PAGES
    for need in sorted({block.needs for block in blocks(page) if block.language in RUN and not block.why})
]


#: Pages whose blocks people run again in the same folder.
TWICE = ("README", "retrieval")


@pytest.mark.slow
@pytest.mark.parametrize(("page", "need"), CASES)
def test_blocks_run_as_written(
    page: Path, need: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYCHUNK_", "PYTEST_"))}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment["PYCHUNK_CACHE"] = str(tmp_path / "cache")
    if need == "minilm":
        environment["PYCHUNK_CACHE"] = str(request.getfixturevalue("minilm").parents[1])
    elif need == "bpe_openai":
        data = Path(pytest.importorskip(need).__file__).parent / "data"
        monkeypatch.setenv("PYCHUNK_CACHE", environment["PYCHUNK_CACHE"])
        published.get("o200k_base", data)
    elif need and importlib.util.find_spec(need) is None:
        pytest.skip(f"{need} is not installed")
    if need == "psycopg":
        environment |= request.getfixturevalue("postgres")
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copy(ROOT / "README.md", folder)
    command = [
        sys.executable,
        str(ROOT / "tests" / "helpers" / "doc_blocks.py"),
        str(page),
        *(["--with", need] if need else []),
    ]
    for _ in range(2 if page.stem in TWICE else 1):
        out = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        assert out.returncode == 0, out.stdout[-3000:] + out.stderr[-3000:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_block_escapes(page: Path) -> None:
    fences = page.read_text(encoding="utf-8").count("\n```")
    found = blocks(page)
    assert fences == 2 * len(found), "a block is not closed, or its fence is indented"
    for block in found:
        assert block.language in (*RUN, *READ), f"{page.name}:{block.line}: {block.language!r}"


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives its headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(there), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_pages_name_exist(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for name in re.findall(r"`((?:pychunk|csrc|tests|bench|cmake|docs|training)(?:/[\w.]+)+)`", text):
        assert (ROOT / name).exists() or "NAME" in name, f"{page.name}: {name}"


def test_the_page_on_chunks_has_every_column() -> None:
    from pychunk._engine.data.columns import COLUMNS

    text = (ROOT / "docs" / "chunks.md").read_text(encoding="utf-8")
    table = text.partition("| column | what |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == {column.name for column in COLUMNS}


def test_rows_that_ci_runs_are_the_ones_marked_so() -> None:
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("CI's script is in the repository alone")
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    marked = re.findall(r"^\| (.*) \| `.*` \| CI \|$", table, re.MULTILINE)
    called = re.findall(r'^ *row(?:_in_time)? "([^"$]+)"', script.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(marked) == len(called) > 5
    for name in called:
        assert [row.startswith(name) for row in marked].count(True) == 1, name


def test_extras_that_pages_name_exist() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = set(re.findall(r"^(\w+) = \[", project.partition("[project.optional-dependencies]")[2], re.MULTILINE))
    named = 0
    for page in PAGES:
        for names in re.findall(r'(?:pychunk-native|"\.)\[([\w,]+)\]"', page.read_text(encoding="utf-8")):
            named += 1
            assert set(names.split(",")) <= extras, f"{page.name}: [{names}]"
    assert named
