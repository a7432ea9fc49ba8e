"""The command `doctor`, which checks an installation and says what is missing from it."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import json
import os
import platform
import re
import shlex
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

import typer

from .._engine import engine
from .._util import memory
from .._util.checksums import check, sha256
from .._util.model_facts import read_facts
from ..encoders import registry, static_encoder
from ..encoders.files import model_dir, model_packages
from ..encoders.files.model_packages import DISTRIBUTION, direct_url
from ..encoders.runtime.sessions import switch_telemetry_off
from .shared.console import sized
from .shared.errors import readable_errors

#: What each extra is for. Extras for the development of pychunk are not listed.
EXTRAS = {
    "docs": "reading HTML and PDF",
    "office": "reading files of Office",
    "ocr": "reading scanned pages and images",
    "code": "reading source code by its definitions",
    "index": "stems of words in an index",
    "hnsw": "graphs of vectors in an index",
    "onnx": "transformers",
    "multilingual": "the encoder multilingual",
    "nsp": "the default model of the method nsp",
    "vocabularies": "counting tokens of OpenAI's models",
    "llm": "calls of an LLM",
    "serve": "the HTTP service and its client",
    "io": "files at other URLs than S3, GCS and HDFS",
    "7z": "reading .7z",
    "torch": "transformers in torch, also on a GPU",
    "gpu": "transformers in ONNX Runtime and FAISS on a GPU, in place of hnsw",
    "openvino": "transformers in OpenVINO",
    "export": "exporting transformers that are no BERT",
    "train": "training",
    "ray": "Ray Data",
    "spark": "Spark",
}
#: The names to import, for packages whose names differ from them.
MODULES = {
    "faiss-cpu": "faiss",
    "faiss-gpu": "faiss",
    "PyStemmer": "Stemmer",
    "onnxruntime-gpu": "onnxruntime",
    "bpe-openai": "bpe_openai",
}
MODULES |= {
    "python-pptx": "pptx",
    "python-calamine": "python_calamine",
    "pyyaml": "yaml",
    "ray": "ray.data",
    "sentence-transformers": "sentence_transformers",
}
#: A text, and for each method its options, and where its chunks begin and end.
TEXT = (
    "# Cats\n\nDr. Katz feeds two cats. They purr and sleep a lot. Cats catch mice.\n\n# Stars\n\nStars burn "
    "hydrogen. Their light travels for years.\n"
)
SPANS: dict[str, tuple[dict[str, Any], list[tuple[int, int]]]] = {
    "sentence": ({}, [(0, 32), (33, 59), (60, 76), (78, 107), (108, 138)]),
    "structure": ({"size": 12}, [(0, 32), (33, 76), (78, 138)]),
    "pic": ({"min_tokens": 1}, [(0, 76), (78, 138)]),
}


@dataclass(frozen=True)
class Check:
    """A line of the report: the part of the installation, whether it works, what was found, and what mends it.

    ``works`` is None for a part that is optional and not installed.
    """

    part: str
    works: bool | None
    found: str
    remedy: str = ""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check this installation: what runs on what, what is missing, and what installs it.

    The command runs for about a second. Its status is 1 if something that is installed does not work.
    """
    with readable_errors("interrupted"):
        checks = list(checks_of())
    broken = [check for check in checks if check.works is False]
    if as_json:
        print(json.dumps({"works": not broken, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        width = max(len(check.part) for check in checks)
        for check in checks:
            mark = {True: "ok     ", False: "BROKEN ", None: "-      "}[check.works]
            print(f"{mark}{check.part:<{width}}  {check.found}")
            if check.remedy:
                print(f"{'':7}{'':<{width}}  {check.remedy}")
    raise typer.Exit(1 if broken else 0)


def checks_of() -> Iterator[Check]:
    """Yield all checks, in the order of the report."""
    facts = engine.backend()
    yield Check("pychunk", True, f"{facts['version'] or 'without a version'}, {_origin()}")
    yield Check("python", True, f"{platform.python_version()} on {platform.platform()}")
    yield Check("core", True, f"{facts['backend']}, {facts['isa']} (this CPU has {', '.join(facts['isas'])})")
    yield Check("threads", True, f"{facts['threads']}, of {os.cpu_count()} CPUs")
    yield Check("memory", True, f"{sized(memory.limit()[0])}, by {memory.limit()[1]}")
    cuda = facts["cuda"]
    yield Check("cuda", None if cuda["why"] else True, cuda["why"] or ", ".join(cuda["devices"]))
    yield from _packages()
    yield from _models()
    yield _self_test()


def _origin() -> str:
    """Return how pychunk was installed."""
    folder = Path(__file__).resolve().parents[1]
    url = direct_url(DISTRIBUTION)
    if url is None:
        return f"from the folder {folder}, not installed"
    return f"installed from {url or 'a package index or a folder of wheels'}"


def _packages() -> Iterator[Check]:
    """Yield the required packages and the extras: whether all packages of each are installed and can be imported."""
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        yield Check("extras", None, "unknown, because pychunk is not installed: pip install . in its checkout")
        return
    for extra in ("", *EXTRAS):
        names = list(dict.fromkeys(_requirements(lines, extra)))
        states = {name: _version(name) for name in names}
        found = ", ".join(f"{name} {state}" for name, state in states.items() if state)
        missing = [name for name, state in states.items() if not state]
        broken = {name: error for name in names if states[name] and (error := _import_error(name))}
        part = f"extra {extra}" if extra else "packages"
        told = f"{EXTRAS[extra]}: " if extra else ""
        if broken:
            errors = "; ".join(f"{name}: {error}" for name, error in broken.items())
            again = f"pip install --force-reinstall {' '.join(broken)}"
            yield Check(part, False, f"{told}cannot import {errors}", again)
        elif missing:
            works = None if extra else False
            yield Check(part, works, f"{told}{', '.join(missing)} not installed", _installs(extra, names, missing))
        else:
            yield Check(part, True, told + found)


def _installs(extra: str, names: list[str], missing: list[str]) -> str:
    """Return the command that installs the missing ones of an extra's packages.

    As pychunk is installed, pip takes the packages of its extra from there, and no index need have pychunk. The package
    of a model comes from where pychunk came, which need not be an index either.
    """
    model = next((each for each in model_packages.PACKAGES if each.distribution in names), None)
    if model is not None and model.distribution in missing:
        return model_packages.remedy(model, missing=True)
    return f"pip install {' '.join(missing)}" if model or not extra else f'pip install "{DISTRIBUTION}[{extra}]"'


def _requirements(lines: list[str], extra: str) -> Iterator[str]:
    """Yield the names of the packages that an extra needs, also by way of other extras; "" is no extra."""
    for line in _lines_of(lines, extra):
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        if name == DISTRIBUTION:
            for other in line.partition("[")[2].partition("]")[0].split(","):
                yield from _requirements(lines, other)
        else:
            yield name


def _lines_of(lines: list[str], extra: str) -> list[str]:
    parts = [line.partition(";") for line in lines]
    own = f'extra == "{extra}"'
    marked = [(line.strip(), marker.replace("'", '"')) for line, _, marker in parts]
    return [line for line, marker in marked if (own in marker if extra else "extra ==" not in marker)]


def _version(package: str) -> str:
    """Return the version of a package, or "" if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return next(
            (each.version for each in model_packages.PACKAGES if each.distribution == package and each.here), ""
        )


def _import_error(package: str) -> str:
    """Return the error of importing an installed package, or "".

    Only small packages are imported: torch alone would take seconds. Packages of models have no code.
    """
    if any(each.distribution == package for each in model_packages.PACKAGES):
        return ""
    if package in ("torch", "transformers", "ray", "pyspark", "openvino", "sentence-transformers", "pandas"):
        return ""
    if package.startswith("onnxruntime"):
        switch_telemetry_off()
    try:
        importlib.import_module(MODULES.get(package, package.replace("-", "_")))
    except Exception as error:  # An import may raise anything.
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def _models() -> Iterator[Check]:
    """Yield the shipped models, of packages and of the cache, each checked by its checksums."""
    files: list[metadata.PackagePath] = []
    why = "not checked, because pychunk is not installed"
    with contextlib.suppress(metadata.PackageNotFoundError):
        files = metadata.distribution(DISTRIBUTION).files or []
        why = "not checked, because an editable installation has no checksums of them"
    shipped = [file for file in files if file.parts[:2] == ("pychunk", "models") and file.hash]
    bad = [str(file.locate()) for file in shipped if not _same(file)]
    if bad:
        yield Check("shipped models", False, f"damaged or missing: {', '.join(bad)}", _again())
    else:
        size = sum(file.size or 0 for file in shipped)
        found = f"{len(shipped)} files, {sized(size)}" if shipped else why
        yield Check("shipped models", bool(shipped) or None, found)
    for file in sorted(static_encoder.SHIPPED.rglob("*.np[yz]")):
        yield _shipped(file)
    for package in model_packages.PACKAGES:
        yield _package(package)
    for name in registry.cached_names():
        path = model_dir.cached(name)
        try:
            facts = model_dir.read(path)
            yield Check(f"model {name}", True, f"{facts.task}, {path}, SHA-256 {facts.model_sha256[:16]}")
        except ValueError as error:
            yield Check(f"model {name}", False, str(error), f"pychunk model get {name}")


def _shipped(weights: Path) -> Check:
    """Check the weights of a shipped model against the checksum in its facts, which are next to them."""
    own = weights.parent == static_encoder.SHIPPED
    part = f"model {weights.stem if own else weights.parent.name}"
    try:
        facts = read_facts(weights.with_suffix(".json"), _again())
        check(weights, facts.get("weights_sha256") or facts.get("table_sha256", ""), _again())
    except (OSError, ValueError) as error:
        return Check(part, False, str(error).rpartition("; ")[0] or str(error), _again())
    return Check(part, True, f"shipped, {sized(weights.stat().st_size)}, SHA-256 {sha256(weights)[:16]}")


def _package(package: model_packages.ModelPackage) -> Check:
    """Check the model of a package."""
    try:
        weights, digest = model_packages.weights(package)
    except (ImportError, ValueError) as error:
        found, _, remedy = str(error).rpartition("; ")
        return Check(f"model {package.name}", None if isinstance(error, ImportError) else False, found, remedy)
    size = sized(weights.stat().st_size)
    found = f"{package.distribution} {package.version}, {size}, SHA-256 {digest[:16]}"
    return Check(f"model {package.name}", True, found)


def _same(file: metadata.PackagePath) -> bool:
    """Return whether a file of the installation has the hash that the installation noted."""
    try:
        found = hashlib.sha256(Path(str(file.locate())).read_bytes()).digest()
    except OSError:
        return False
    return file.hash is not None and base64.urlsafe_b64encode(found).rstrip(b"=").decode() == file.hash.value


def _again() -> str:
    """Return the command that mends pychunk's own files, from where they came."""
    url = direct_url(DISTRIBUTION)
    if url is None:
        return f"git -C {shlex.quote(str(model_packages.ROOT))} checkout -- pychunk"
    source = unquote(urlsplit(url).path) if url.startswith("file:") else url or DISTRIBUTION
    return f"pip install --force-reinstall --no-deps {shlex.quote(source)}"


def _self_test() -> Check:
    """Cut a text by three methods, and compare the chunks with the right ones."""
    from ..api import segment

    begun = time.perf_counter()
    wrong = []
    for method, (options, spans) in SPANS.items():
        found = [(chunk.start, chunk.end) for chunk in segment(TEXT, **{"method": method, **options})]
        if found != spans:
            wrong.append(f"{method} cuts at {found}, not at {spans}")
    if wrong:
        return Check("self-test", False, "; ".join(wrong), "report this, with the output of pychunk doctor --json")
    return Check("self-test", True, f"{len(SPANS)} methods in {1000 * (time.perf_counter() - begun):.0f} ms")
