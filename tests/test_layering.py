"""Imports point one way, and `import pychunk` loads no optional package."""

import ast
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "pychunk"
CORE = PACKAGE.parent / "csrc"
#: Folders of the native core: each includes of itself and of those before it.
CORE_ORDER = ("common", "text", "tokens", "vectors", "document", "parsing", "parsing/html", "methods", "segment")
CORE_ORDER += ("search", "python", "cuda")
#: Files of one name, whatever they end with, that a folder of the core holds at most.
MOST_NAMES = 20

#: What each part may import of pychunk itself; a part is a file or folder directly below pychunk/.
ALLOWED = {
    "_arrow": set(),
    "data": set(),
    "_native": {"_core", "data", "plumbing"},
    "_device": {"_cuda"},
    "cuda": {"_device"},
    "_reference": {"_native", "data"},
    "documents": {"_native", "_arrow"},
    "given": {"_native", "_arrow", "data", "documents", "parsing"},
    "summaries": {"_arrow", "data"},
    "removed": {"_arrow", "data"},
    "boxes": {"_arrow", "data"},
    "scores": {"_arrow", "data", "methods"},
    "origin": {"_arrow", "documents"},
    "tree": {"data"},
    "chunks": {"_arrow", "data", "documents", "io", "plumbing"},  # io for write(); it knows nothing of chunks
    "encoders": {"_device", "_native", "_arrow", "data", "plumbing"},
    "methods": {"_native", "data"},
    "features": {"_device", "_native", "data", "encoders", "engine", "methods"},
    "parsing": {"_arrow", "_native", "_reference", "data", "engine", "plumbing"},
    "plumbing": set(),
    "engine": {"_device", "_native", "_reference"},
    "llm": {"plumbing"},
    "options": {"data", "encoders", "methods"},
    "augmentation": {"documents", "llm", "_arrow", "_native", "chunks", "plumbing"},
    "clients": {"augmentation", "llm", "methods"},
    "gathered": {"boxes", "chunks", "data", "removed", "summaries"},
    "segmenter": {
        "augmentation",
        "clients",
        "encoders",
        "features",
        "_native",
        "_arrow",
        "chunks",
        "data",
        "documents",
        "engine",
        "methods",
        "options",
        "gathered",
        "given",
        "origin",
        "plumbing",
        "removed",
        "scores",
    },
    "functions": {
        "_native",
        "_arrow",
        "chunks",
        "data",
        "documents",
        "encoders",
        "engine",
        "given",
        "methods",
    }
    | {"options", "plumbing", "segmenter"},
    "levels": {
        "_arrow",
        "_native",
        "chunks",
        "data",
        "documents",
        "encoders",
        "engine",
        "features",
        "given",
        "io",
        "methods",
        "plumbing",
    }
    | {"segmenter"},
    "answers": {"llm", "retrieval"},
    "embedding": {"documents", "encoders", "functions", "plumbing"},
    "retrieval": {"levels", "_arrow", "_native", "data", "encoders", "llm", "plumbing", "segmenter"},
    "integrations": {
        "_native",
        "chunks",
        "documents",
        "embedding",
        "functions",
        "given",
        "plumbing",
        "retrieval",
        "segmenter",
    },
    "io": {"_arrow", "_native", "documents", "parsing", "plumbing"},
    "ingest": {"_arrow", "chunks", "data", "documents", "given", "io", "plumbing", "segmenter"},
    "view": {"chunks", "data", "documents", "methods", "plumbing", "retrieval"},
    "evaluation": {
        "view",
        "_native",
        "answers",
        "augmentation",
        "data",
        "io",
        "encoders",
        "functions",
        "llm",
        "methods",
        "plumbing",
        "retrieval",
        "segmenter",
    },
    "benchmark": {"", "plumbing"},
    "cli": {
        "_arrow",
        "",
        "augmentation",
        "benchmark",
        "chunks",
        "data",
        "documents",
        "encoders",
        "engine",
        "evaluation",
        "given",
        "ingest",
        "llm",
        "io",
        "levels",
        "methods",
        "origin",
        "plumbing",
        "retrieval",
        "segmenter",
        "view",
    },
    "__main__": {"cli", "plumbing"},
    # And by name, when they are asked for: cuda, embedding, evaluation, ingest, integrations, io, levels, retrieval.
    "__init__": {"_native", "chunks", "data", "documents", "engine", "functions", "methods", "plumbing", "segmenter"},
    "training": None,  # anything, and nothing imports it
}
OPTIONAL = {
    "torch",
    "sentence_transformers",
    "tokenizers",
    "onnxruntime",
    "onnx",
    "openvino",
    "safetensors",
    "huggingface_hub",
    "transformers",
    "faiss",
    "pandas",
    "polars",
    "bm25s",
    "fsspec",
    "selectolax",
    "mwparserfromhell",
    "numba",
    "ray",
    "pyspark",
    "langchain_core",
    "langchain_text_splitters",
    "llama_index",
    "chonkie",
    "daft",
    "datasets",
    "duckdb",
    "pypdfium2",
    "httpx2",
}
#: Adapters that are classes of another package: who imports one has asked for that package.
SUBCLASSES = {
    "langchain": {"langchain_core", "langchain_text_splitters"},
    "langchain_embeddings": {"langchain_core"},
    "langchain_store": {"langchain_core"},
    "llama_index": {"llama_index"},
    "llama_index_embedding": {"llama_index"},
    "llama_index_retriever": {"llama_index"},
    "chonkie": {"chonkie"},
}


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def statements(file: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports of a file, but for those that types alone need, and whether each runs when the file is imported."""
    found = []

    def look(node: ast.AST, eager: bool) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, (ast.Import, ast.ImportFrom)):
                found.append((each, eager))
            elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                look(each, False)
            elif isinstance(each, (ast.stmt, ast.ExceptHandler, ast.match_case)) and not (
                isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"
            ):
                look(each, eager)  # expressions hold no import

    look(ast.parse(file.read_text()), True)
    return found


def imports(file: Path, *, eager: bool) -> list[str]:
    """Absolute names of what a file imports; with `eager`, only what runs when the file is imported."""
    folder = ["pychunk", *file.relative_to(PACKAGE).parts[:-1]]
    names = []
    for node, at_once in statements(file):
        if eager and not at_once:
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        else:
            base = ".".join(folder[: len(folder) - node.level + 1] if node.level else [])
            module = ".".join(filter(None, [base, node.module]))
            names += [f"{module}.{alias.name}" for alias in node.names] if module == "pychunk" else [module]
    return names


def targets(file: Path) -> set[str]:
    """Parts of pychunk that a file imports; "" is pychunk itself."""
    parts = {[*name.split("."), ""][1] for name in imports(file, eager=False) if name.split(".")[0] == "pychunk"}
    known = {"_core", "_cuda", *(part_of(each) for each in FILES)} - {"__init__"}
    return {part if part in known else "" for part in parts}


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_one_way(file: Path) -> None:
    part = part_of(file)
    assert part in ALLOWED, f"say in ALLOWED what {part} may import"
    if ALLOWED[part] is None:
        return
    for target in targets(file):
        assert target in ALLOWED[part] or target == part, f"{file.name} must not import pychunk.{target}"


@pytest.mark.parametrize("folder", CORE_ORDER)
def test_includes_point_one_way(folder: str) -> None:
    files = [file for file in (CORE / folder).iterdir() if file.suffix in (".h", ".cc", ".inc", ".cu", ".cuh")]
    allowed = CORE_ORDER[: CORE_ORDER.index(folder) + 1]
    for file in files:
        for target in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            if target == "python_tables.inc":  # made by the build
                continue
            assert (CORE / target).is_file(), f"{file.name} includes {target}: name its folder"
            assert target.rpartition("/")[0] in allowed, f"{folder}/{file.name} must not include {target}"
    names = {file.name.partition(".")[0] for file in files}
    assert len(names) <= MOST_NAMES, f"csrc/{folder} holds {len(names)} names: divide it"


def test_every_folder_of_the_core_has_its_place() -> None:
    found = {str(file.parent.relative_to(CORE)) for file in CORE.rglob("*.h")}
    assert found == set(CORE_ORDER)


def test_every_arrow_is_needed() -> None:
    found: dict[str, set[str]] = {part: set() for part in ALLOWED}
    for file in FILES:
        found[part_of(file)] |= targets(file) - {part_of(file)}
    unused = {part: sorted((arrows or set()) - found[part]) for part, arrows in ALLOWED.items()}
    assert not any(unused.values()), unused


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_optional_packages_are_imported_lazily(file: Path) -> None:
    eager = {name.split(".")[0] for name in imports(file, eager=True)}
    own = SUBCLASSES[file.stem] if part_of(file) == "integrations" and file.stem in SUBCLASSES else set()
    assert not eager & OPTIONAL - own


def test_importing_pychunk_loads_no_optional_package() -> None:
    code = f"import sys, pychunk; print(sorted({OPTIONAL | {'typer', 'rich'}!r} & set(sys.modules)))"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=os.sep, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"
