"""Models in packages of their own: found, checked, and if they cannot be used, an error with the command that helps."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pychunk
from pychunk._util.checksums import sha256
from pychunk.encoders.files import model_dir, model_packages
from pychunk.encoders.files.model_packages import NSP, PACKAGES, ModelPackage, folder

ROOT = Path(__file__).resolve().parents[2]
TINY = ModelPackage("tiny", "pychunk-tiny", "1.2.3", "")
EXTRA = f'"{model_packages.DISTRIBUTION}[tiny]"'


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Forget the places of packages, which a process looks up once."""
    model_packages._place.cache_clear()
    yield
    model_packages._place.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of packages, first on the path of Python, with a pychunk that a package index had."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(model_packages, "ROOT", tmp_path)
    metadata(tmp_path, "pychunk-native", "0.1.0")
    return tmp_path


def metadata(site: Path, name: str, version: str, **files: str) -> None:
    place = site / f"{name.replace('-', '_')}-{version}.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    for file, text in files.items():
        (place / file.replace("__", ".")).write_text(text)


def installed(site: Path, version: str = TINY.version) -> ModelPackage:
    """Install a package with a copy of the cross-encoder's facts and a model of a few bytes."""
    model = site / "pychunk_tiny" / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    facts = json.loads((ROOT / NSP.checkout / "pychunk_nsp" / "model" / "pychunk.json").read_text(encoding="utf-8"))
    for name in ("model", "tokenizer"):
        (model / facts[name]).write_text(name)
        facts[f"{name}_sha256"] = sha256(model / facts[name])
    (model / "pychunk.json").write_text(json.dumps(facts))
    metadata(site, "pychunk-tiny", version, entry_points__txt="[pychunk.models]\ntiny = pychunk_tiny\n")
    return ModelPackage("tiny", "pychunk-tiny", TINY.version, sha256(model / "pychunk.json"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_what_pychunk_records_is_what_the_checkout_has(package: ModelPackage) -> None:
    project = (ROOT / package.checkout / "pyproject.toml").read_text(encoding="utf-8")
    module = package.distribution.replace("-", "_")
    assert f'\nname = "{package.distribution}"\nversion = "{package.version}"\n' in project
    assert f'[project.entry-points."{model_packages.GROUP}"]\n{package.name} = "{module}"\n' in project
    extra = rf'\n{package.name} = \[("pychunk-native\[onnx\]", )?"{package.distribution}=={package.version}"\]\n'
    assert re.search(extra, (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    facts = ROOT / package.checkout / module / "model" / package.facts
    assert sha256(facts) == package.sha256, f"record this one in pychunk/encoders/files/model_packages.py: {facts}"


def test_no_file_of_more_than_10_megabytes_is_in_pychunks_own_wheel() -> None:
    sizes = {file: file.stat().st_size for file in (ROOT / "pychunk" / "models").rglob("*.*")}
    assert sizes
    assert max(sizes.values()) < 10e6


def test_a_package_is_found_by_its_entry_point(site: Path) -> None:
    path = folder(installed(site))
    assert path == site / "pychunk_tiny" / "model"
    assert model_dir.read(path, "pairs").name == "pychunk-nsp-en"
    assert "pychunk_tiny" not in sys.modules  # finding it runs none of its code


def test_a_checkout_has_its_own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_packages, "ROOT", tmp_path)
    shutil.copytree(ROOT / NSP.checkout, tmp_path / NSP.checkout)
    (tmp_path / "pyproject.toml").touch()
    assert folder(NSP) == tmp_path / NSP.checkout / "pychunk_nsp" / "model"
    with pytest.raises(ValueError, match=r"is damaged: .*; git -C .* checkout -- data/pychunk-nsp$"):
        folder(ModelPackage(NSP.name, NSP.distribution, NSP.version, "0" * 64))


@pytest.mark.parametrize(
    ("url", "command"),
    [
        (None, f"pip install {EXTRA}"),
        ("https://example.org/pychunk.whl", f"pip install {EXTRA}"),
        ("file:///some%20wheels/pychunk.whl", f"pip install --find-links '/some wheels' {EXTRA}"),
        ("checkout", "pip install '{site}/a checkout/data/pychunk-tiny'"),
    ],
)
def test_a_missing_package_is_an_error_with_the_command_that_installs_it(
    site: Path, url: str | None, command: str
) -> None:
    if url == "checkout":
        (site / "a checkout" / "data" / "pychunk-tiny").mkdir(parents=True)
        url = f"file://{site}/a%20checkout"
    if url is not None:
        (site / "pychunk_native-0.1.0.dist-info" / "direct_url.json").write_text(json.dumps({"url": url}))
    with pytest.raises(ImportError) as caught:
        folder(TINY)
    wanted = command.format(site=site)
    assert str(caught.value) == f"the model 'tiny' is in the package pychunk-tiny, which is not installed; {wanted}"
    again = model_packages.remedy(TINY)
    assert again.startswith("pip install --force-reinstall --no-deps ")
    assert again.endswith(("pychunk-tiny==1.2.3", "data/pychunk-tiny'"))


def test_another_version_is_an_error_with_both_and_the_command(site: Path) -> None:
    package = installed(site, "2.0")
    message = (
        "the model 'tiny' must be of pychunk-tiny 1.2.3, but 2.0 is installed; "
        "pip install --force-reinstall --no-deps pychunk-tiny==1.2.3"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        folder(package)


@pytest.mark.parametrize("file", ["pychunk.json", "model.onnx", "vocab.txt"])
@pytest.mark.parametrize("state", ["missing", "damaged"])
def test_damage_is_an_error_with_the_file_and_the_command(site: Path, file: str, state: str) -> None:
    package = installed(site)
    path = site / "pychunk_tiny" / "model" / file
    path.unlink() if state == "missing" else path.write_text(path.read_text() + " ")
    remedy = model_packages.remedy(package)
    assert remedy == "pip install --force-reinstall --no-deps pychunk-tiny==1.2.3"
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is {state}.*; {re.escape(remedy)}$"):
        model_dir.read(folder(package), "pairs", remedy)


@pytest.mark.slow
def test_the_method_says_what_installs_its_model(site: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(site)])  # metadata of nothing else
        with pytest.raises(
            ImportError, match=r'pychunk-nsp, which is not installed; pip install "pychunk-native\[nsp\]"'
        ):
            pychunk.segment("Cats purr. Dogs bark.", "nsp")
    assert pychunk.segment("Cats purr. Dogs bark.", "nsp", encoder="static").texts
