"""The models that are too large for pychunk's own wheel, each a package of its own.

A package of a model declares an entry point in the group ``pychunk.models``. pychunk records the package's version, and
the SHA-256 of the file with the model's facts, which holds those of the model's other files.
"""

from __future__ import annotations

import functools
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..._util.checksums import check
from ..._util.model_facts import read_facts
from .. import static_encoder
from . import model_dir

DISTRIBUTION = "pychunk-native"
GROUP = "pychunk.models"
#: The folder that holds pychunk: the root of a checkout, or site-packages.
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class ModelPackage:
    """A package that holds one model, in its folder ``model``."""

    #: The name of the entry point, and of the extra that installs the package.
    name: str
    distribution: str
    version: str
    #: The SHA-256 of the file with the model's facts.
    sha256: str
    #: The name of this file.
    facts: str = model_dir.FACTS
    task: str = "pairs"
    #: What uses the model.
    use: str = ""

    @property
    def checkout(self) -> Path:
        """The package's folder in a checkout, relative to the root."""
        return Path("data") / self.distribution

    @property
    def here(self) -> bool:
        """True if this pychunk is a checkout that has the package."""
        return (ROOT / "pyproject.toml").is_file() and (ROOT / self.checkout).is_dir()


NSP = ModelPackage(
    "nsp",
    "pychunk-nsp",
    "1.0.0",
    "43e0e3a497f38d65a4d1bcb526b2b8ab1db6a897891e38fb6c22905ce897b191",
    use="method nsp",
)
MULTILINGUAL = ModelPackage(
    "multilingual",
    "pychunk-multilingual",
    "1.2.0",
    "7877857da373177aa7468de4e900c8acf359a7ee2ee0dacc32180aa6c451c803",
    facts=static_encoder.FACTS,
    task="vectors",
    use="encoder multilingual",
)
#: All packages of models.
PACKAGES = (MULTILINGUAL, NSP)


def folder(package: ModelPackage) -> Path:
    """Return the model directory of a package. A checkout has its own copy; elsewhere the package must be installed.

    The check of the file with its facts takes no time; what loads the model checks the other files.

    Raises:
        ImportError: The package is not installed.
        ValueError: It has another version, or the file with its facts is missing or damaged. Both messages end with
            the command that mends it.
    """
    path = _place(package)
    check(path / package.facts, package.sha256, remedy(package))
    return path


def weights(package: ModelPackage) -> tuple[Path, str]:
    """Return the largest file of a package's model, and its SHA-256, after checking all files.

    Raises:
        ImportError: The package is not installed.
        ValueError: A file is missing or damaged. Both messages end with the command that mends it.
    """
    path = folder(package)
    if package.facts == model_dir.FACTS:
        facts = model_dir.read(path, remedy=remedy(package))
        return path / facts.model, facts.model_sha256
    found = read_facts(path / package.facts, remedy(package), ("table", "tokenizer"))
    for name in ("table", "tokenizer"):
        check(path / found[name], found[f"{name}_sha256"], remedy(package))
    return path / found["table"], str(found["table_sha256"])


@functools.cache  # A search through 60 packages takes 0.02 s.
def _place(package: ModelPackage) -> Path:
    if package.here:
        return ROOT / package.checkout / package.distribution.replace("-", "_") / "model"
    from importlib import metadata, util  # imported here because only a model of a package needs them

    for entry in metadata.entry_points(group=GROUP, name=package.name):
        if entry.dist is not None and entry.dist.version != package.version:
            raise ValueError(
                f"the model {package.name!r} must be of {package.distribution} {package.version}, but "
                f"{entry.dist.version} is installed; {remedy(package)}"
            )
        found = util.find_spec(entry.module)
        if found is not None and found.submodule_search_locations:
            return Path(found.submodule_search_locations[0]) / "model"
    raise ImportError(
        f"the model {package.name!r} is in the package {package.distribution}, which is not installed; "
        f"{remedy(package, missing=True)}"
    )


def remedy(package: ModelPackage, missing: bool = False) -> str:
    """Return the command that installs a package, or installs it again, from where pychunk itself came."""
    if (ROOT / "pyproject.toml").is_file():
        return f"git -C {shlex.quote(str(ROOT))} checkout -- {package.checkout}"
    url = direct_url(DISTRIBUTION) or ""
    source = Path(unquote(urlsplit(url).path)) if url.startswith("file:") else None
    pinned = f"{package.distribution}=={package.version}"
    if source is not None and (source / package.checkout).is_dir():
        pinned = extra = shlex.quote(str(source / package.checkout))
    else:
        links = f"--find-links {shlex.quote(str(source.parent))} " if source is not None else ""
        pinned, extra = links + pinned, f'{links}"{DISTRIBUTION}[{package.name}]"'
    return f"pip install {extra}" if missing else f"pip install --force-reinstall --no-deps {pinned}"


def direct_url(distribution: str) -> str | None:
    """Return the URL that a distribution was installed from, "" for a package index, or None if it is not installed."""
    from importlib import metadata

    try:
        text = metadata.distribution(distribution).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    return str(json.loads(text or "{}").get("url", ""))
