"""The mean of multilingual tables: its rows, and the tables that it refuses."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pychunk.encoders.files import model_packages
from training.multilingual import average

try:
    PATH = model_packages.folder(model_packages.MULTILINGUAL)
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)


def folder(path: Path, table: np.ndarray, **facts: object) -> Path:
    """Write a table of the shipped pieces, without its checksum."""
    path.mkdir()
    shutil.copy(PATH / "tokenizer.json", path)
    np.save(path / "static.npy", table)
    said = json.loads((PATH / "static.json").read_text())
    said |= {"table_sha256": average.sha256(path / "static.npy"), "contrast": {"command": path.name, "texts": 1}}
    (path / "static.json").write_text(json.dumps(said | facts))
    return path


def test_the_mean_does_not_depend_on_the_lengths_of_tables() -> None:
    random = np.random.default_rng(0)
    one, other = (random.integers(-60, 60, (40, 8)).astype(np.int8) for _ in range(2))
    found = average.mean([one, other])
    np.testing.assert_allclose(found, average.mean([2 * one, other]), atol=1e-6)
    np.testing.assert_allclose(found, average.mean([other, one]), atol=1e-6)
    lengths = np.linalg.norm(average.mean([one]), axis=1)
    assert np.median(lengths) == pytest.approx(1)


def test_tables_of_one_start_are_averaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = {"sentences": 1, "teacher": {}, "translations": {}}
    monkeypatch.setattr(average, "measure", lambda *_: measured)
    articles = [{"en": [f"Number {at}."], "de": [f"Nummer {at}."]} for at in range(9)]
    (tmp_path / "parallel.jsonl").write_text("".join(json.dumps(each) + "\n" for each in articles))
    table = np.load(PATH / "static.npy")
    turned = np.roll(table, 1, axis=1)
    one, other = folder(tmp_path / "one", table), folder(tmp_path / "other", turned, sources={"more": ["place", "CC0"]})
    options = ["--texts", str(tmp_path), "--out", str(tmp_path / "mean")]
    assert average.main([str(one), str(other), *options]) == 0
    found = np.load(tmp_path / "mean" / "static.npy").astype(np.float64)
    wanted = average.mean([table, turned])
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
    cosines = (found * wanted).sum(axis=1)[lengths > 0] / lengths[lengths > 0]
    assert np.median(cosines) > 0.99
    facts = json.loads((tmp_path / "mean" / "static.json").read_text())
    assert facts["contrast"] == {"averaged": [{"command": name, "texts": 1} for name in ("one", "other")], **measured}
    assert facts["sources"]["more"] == ["place", "CC0"]
    third = folder(tmp_path / "third", table, command="another start")
    with pytest.raises(SystemExit):
        average.main([str(one), str(third), *options])
