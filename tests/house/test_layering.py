"""Imports point in one direction, and `import pychunk` loads no optional package."""

import ast
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "pychunk"
CORE = PACKAGE.parent / "csrc"
#: Folders of the native core: each includes only files of itself and of earlier ones.
CORE_ORDER = (
    "common",
    "compression",
    "tables",
    "text",
    "tokens",
    "tokens/byte_pair",
    "tokens/sentencepiece",
    "vectors",
    "bert",
)
CORE_ORDER += (
    "document",
    "parsing",
    "parsing/html",
    "parsing/wiki",
    "methods",
    "segment",
    "search",
    "duplicates",
    "python",
    "cuda",
)
#: The most file names, not counting their endings, that a folder of the core holds.
MOST_NAMES = 20

#: Parts of the package: each imports only from itself and from earlier ones, including types and lazy imports. A part
#: is a module, a folder, or the modules of a folder without an entry of their own. The package's `__init__` may import
#: all.
ORDER = [
    "defaults",
    "_util",
    "telemetry",
    "_engine.data",
    "_engine.arrow",
    "_engine.native",
    "_engine.threads",
    "async_calls",
    "_engine.device",
    "cuda",
    "_engine.reference.text",
    "_engine.reference.search",
    "_engine.reference.parsing",
    "_engine.reference",
    "_engine.engine",
    "tokenizers",
    "methods",
    "encoders.files.model_dir",
    "encoders.files.bert_graph",
    "encoders.files.bert_weights",
    "encoders.runtime",
    "encoders",
    "encoders.files",
    "encoders.registry",
    "parsing.pdf",
    "parsing.html",
    "parsing",
    "inputs",
    "features",
    "vectors",
    "io.document_batches",
    "io.decompression",
    "io.wiki",
    "io.formats",
    "io",
    "reader",
    "chunks",
    "llm",
    "methods.method_options",
    "augmentation",
    "llm_methods",
    "option_checks",
    "placement",
    "editing",
    "segmenter",
    "levels",
    "api",
    "embedding",
    "tokenization",
    "duplicates",
    "index.files",
    "index.lexical",
    "index.dense",
    "index.store",
    "index.argument_checks",
    "index.search.hits",
    "index.options",
    "index.scoring",
    "index.levels",
    "index.search",
    "index.rerank",
    "index.planners",
    "index",
    "answers",
    "ingest",
    "service",
    "client",
    "view",
    "integrations",
    "evaluation.measures",
    "evaluation.datasets",
    "evaluation.custom",
    "evaluation.peers",
    "evaluation.systems",
    "evaluation.reports",
    "evaluation.judges",
    "evaluation",
    "training",
    "benchmark",
    "cli.shared",
    "cli",
    "__main__",
]
#: The most modules that a folder of the package holds.
MOST_MODULES = 20
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
    "haystack",
    "langchain_core",
    "langchain_text_splitters",
    "llama_index",
    "chonkie",
    "daft",
    "datasets",
    "duckdb",
    "pypdfium2",
    "tree_sitter",
    "httpx2",
    "opentelemetry",
}
#: Adapters that are classes of another package: importing one asks for that package.
SUBCLASSES = {
    "langchain": {"langchain_core", "langchain_text_splitters"},
    "langchain_embeddings": {"langchain_core"},
    "langchain_loader": {"langchain_core"},
    "langchain_reranker": {"langchain_core"},
    "langchain_store": {"langchain_core"},
    "llama_index": {"llama_index"},
    "llama_index_embedding": {"llama_index"},
    "llama_index_reader": {"llama_index"},
    "llama_index_retriever": {"llama_index"},
    "llama_index_store": {"llama_index"},
    "haystack": {"haystack"},
    "chonkie": {"chonkie"},
}


def name_of(file: Path) -> str:
    """Return the dotted name of a module below pychunk, or "" for the package itself."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def place_of(name: str) -> int:
    """Return the place in ORDER of the longest part that holds a module."""
    parts = [part for part in ORDER if name == part or name.startswith(part + ".")]
    assert parts, f"give {name} a place in ORDER"
    return ORDER.index(max(parts, key=len))


@functools.cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


@functools.cache
def statements(file: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Return the imports of a file, and whether each runs when the file is imported."""
    found = []

    def look(node: ast.AST, eager: bool) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, (ast.Import, ast.ImportFrom)):
                found.append((each, eager))
            elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) or (
                isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"
            ):
                look(each, False)
            elif isinstance(each, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                look(each, eager)  # expressions hold no import

    look(tree(file), True)
    return found


def imports(file: Path, *, eager: bool) -> list[str]:
    """Return the absolute names of a file's imports; with `eager`, only of those that run when it is imported."""
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
    """Return modules of pychunk that a file imports, by their names below it."""
    found = set()
    for node, _ in statements(file):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            folder = ["pychunk", *file.relative_to(PACKAGE).parts[:-1]]
            base = ".".join([*folder[: len(folder) - node.level + 1], *filter(None, [node.module])])
            base = base if node.level else node.module or ""
            names = [f"{base}.{alias.name}" for alias in node.names]
        for name in names:
            if name.split(".")[0] == "pychunk":
                below = name.partition(".")[2]
                found.add(below if below in NAMES else below.rpartition(".")[0])
    return found - {"", "_core", "_cuda"}


FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = {name_of(file) for file in FILES}


def test_imports_point_one_way() -> None:
    for file in FILES:
        own = name_of(file)
        for target in targets(file) if own else ():
            assert place_of(target) <= place_of(own), f"{own} must not import {target}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_the_reference_is_chosen_in_one_place(file: Path) -> None:
    own, reference = name_of(file), "_engine.reference"
    if own != "_engine.engine" and not own.startswith(reference):
        assert not [target for target in targets(file) if target.startswith(reference)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_nothing_imports_what_is_not_in_the_wheel(file: Path) -> None:
    assert not {name.split(".")[0] for name in imports(file, eager=False)} & {"training", "bench", "tests"}


def test_every_part_is_there_and_no_folder_holds_too_many() -> None:
    assert len(set(ORDER)) == len(ORDER)
    assert set(ORDER) <= NAMES
    for folder in {file.parent for file in (*FILES, *(PACKAGE.parent / "training").rglob("*.py"))}:
        names = [file.name for file in folder.glob("*.py") if file.name != "__init__.py"]
        assert len(names) <= MOST_MODULES, f"{folder.relative_to(PACKAGE.parent)} holds {len(names)} modules: divide it"


def test_modules_that_are_named_in_strings_are_there() -> None:
    for file in FILES:
        if "LazyModule(" not in file.read_text() and "by_name(" not in file.read_text():
            continue
        for node in ast.walk(tree(file)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("LazyModule", "by_name")
            ):
                name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
                assert name is None or name.removeprefix("pychunk.") in NAMES, f"{name_of(file)} names {name}"


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


def test_optional_packages_are_imported_lazily() -> None:
    for file in FILES:
        eager = {name.split(".")[0] for name in imports(file, eager=True)}
        own = SUBCLASSES[file.stem] if file.parent.name == "integrations" and file.stem in SUBCLASSES else set()
        assert not eager & OPTIONAL - own, name_of(file)


def test_importing_pychunk_loads_no_optional_package() -> None:
    code = f"import sys, pychunk; print(sorted({OPTIONAL | {'typer', 'rich'}!r} & set(sys.modules)))"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=os.sep, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"
