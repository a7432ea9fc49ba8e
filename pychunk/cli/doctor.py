"""The command `doctor`, which checks an installation and says what is missing from it."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
import platform
import re
import resource
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
from ..encoders import registry
from ..encoders.files import model_dir
from .shared.console import sized
from .shared.errors import readable_errors

DISTRIBUTION = "pychunk-native"
#: What each extra is for. Extras for the development of pychunk are not listed.
EXTRAS = {
    "docs": "reading HTML and PDF",
    "index": "stems of words, graphs of vectors",
    "onnx": "transformers",
    "vocabularies": "counting tokens of OpenAI's models",
    "llm": "calls of an LLM",
    "io": "files at other URLs than S3, GCS and HDFS",
    "7z": "reading .7z",
    "torch": "transformers in torch, also on a GPU",
    "gpu": "transformers in ONNX Runtime on a GPU",
    "openvino": "transformers in OpenVINO",
    "export": "exporting transformers that are no BERT",
    "train": "training",
    "ray": "Ray Data",
    "spark": "Spark",
}
#: The names to import, for packages whose names differ from them.
MODULES = {"faiss-cpu": "faiss", "PyStemmer": "Stemmer", "onnxruntime-gpu": "onnxruntime", "bpe-openai": "bpe_openai"}
MODULES |= {"pyyaml": "yaml", "ray": "ray.data", "sentence-transformers": "sentence_transformers"}
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
    yield Check("memory", True, _memory())
    cuda = facts["cuda"]
    yield Check("cuda", None if cuda["why"] else True, cuda["why"] or ", ".join(cuda["devices"]))
    yield from _packages()
    yield from _models()
    yield _self_test()


def _origin() -> str:
    """Return how pychunk was installed."""
    folder = Path(__file__).resolve().parents[1]
    try:
        found = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return f"from the folder {folder}, not installed"
    url = json.loads(found.read_text("direct_url.json") or "{}").get("url", "")
    return f"installed from {url or 'a package index'}"


def _memory() -> str:
    """Return the memory that this process may use, and what limits it."""
    known = {"the machine": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        known["ulimit -v"] = limit
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            known["the control group"] = int(Path(file).read_text(encoding="ascii"))
        except (OSError, ValueError):  # There is no control group, or it says "max".
            continue
    least = min(known, key=lambda name: known[name])
    return f"{sized(known[least])}, by {least}"


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
            # As pychunk is installed, pip takes the packages of its extra from there, and no index need have pychunk.
            wanted = f'"{DISTRIBUTION}[{extra}]"' if extra else " ".join(missing)
            works = None if extra else False
            yield Check(part, works, f"{told}{', '.join(missing)} not installed", f"pip install {wanted}")
        else:
            yield Check(part, True, told + found)


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
        return ""


def _import_error(package: str) -> str:
    """Return the error of importing an installed package, or "".

    Only small packages are imported: torch alone would take seconds.
    """
    if package in ("torch", "transformers", "ray", "pyspark", "openvino", "sentence-transformers", "pandas"):
        return ""
    try:
        importlib.import_module(MODULES.get(package, package.replace("-", "_")))
    except Exception as error:  # An import may raise anything.
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def _models() -> Iterator[Check]:
    """Yield the shipped models, checked by the checksums of the installation, and those in the cache, by their own."""
    try:
        files = metadata.distribution(DISTRIBUTION).files or []
    except metadata.PackageNotFoundError:
        files = []
    shipped = [file for file in files if file.parts[:2] == ("pychunk", "models") and file.hash]
    bad = [str(file.locate()) for file in shipped if not _same(file)]
    if bad:
        yield Check("shipped models", False, f"damaged or missing: {', '.join(bad)}", _again())
    else:
        size = sum(file.size or 0 for file in shipped)
        yield Check("shipped models", True, f"{len(shipped)} files, {sized(size)}" if shipped else "not checked")
    for name in registry.cached_names():
        path = model_dir.cached(name)
        try:
            yield Check(f"model {name}", True, f"{model_dir.read(path).task}, {path}")
        except ValueError as error:
            yield Check(f"model {name}", False, str(error), f"pychunk model get {name}")


def _same(file: metadata.PackagePath) -> bool:
    """Return whether a file of the installation has the hash that the installation noted."""
    try:
        found = hashlib.sha256(Path(str(file.locate())).read_bytes()).digest()
    except OSError:
        return False
    return file.hash is not None and base64.urlsafe_b64encode(found).rstrip(b"=").decode() == file.hash.value


def _again() -> str:
    """Return the command that installs pychunk again, from where it came."""
    url = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}").get("url", "")
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
