"""Arrays of an index: a failure of Python's parser is not reported as damage of their files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pychunk.index.files import arrays


@pytest.mark.parametrize("failures", [1, 3])
def test_a_header_is_read_again_if_the_parser_fails(
    failures: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npy"
    arrays.save_array(path, np.arange(5))
    left, load = (
        [SystemError("AST constructor recursion depth mismatch")] * failures,
        np.lib.format.read_array_header_1_0,
    )

    def failing(*given: Any, **options: Any) -> Any:
        if left:
            raise left.pop()
        return load(*given, **options)

    monkeypatch.setattr(np.lib.format, "read_array_header_1_0", failing)
    assert arrays.mapped(path).tolist() == [0, 1, 2, 3, 4]
    left += [SystemError("of another kind")] * 100
    with pytest.raises(SystemError, match="of another kind"):
        arrays.mapped(path)


def test_a_file_that_holds_no_array_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr': '<i8', ")
    with pytest.raises(ValueError, match=r"a\.npy is damaged"):
        arrays.mapped(path)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint16", "int64"])
def test_an_array_is_that_of_numpy(dtype: str, tmp_path: Path) -> None:
    for number, array in enumerate([np.arange(7, dtype=dtype), np.empty(0, dtype), np.arange(6, dtype=dtype)[:, None]]):
        path = tmp_path / f"{number}.npy"
        arrays.save_array(path, array)
        found = arrays.mapped(path)
        assert found.dtype == array.dtype
        assert np.array_equal(found, np.load(path))
        assert np.array_equal(arrays.mapped(path, np.fromfile(path, np.uint8)), array)
        assert not found.flags.writeable


def test_a_file_of_another_length_or_of_objects_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    arrays.save_array(path, np.arange(5))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match=r"a\.npy is damaged"):
        arrays.mapped(path)
    np.save(path, np.array([None]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"it holds object"):
        arrays.mapped(path)
