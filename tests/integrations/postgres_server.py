"""A PostgreSQL server with pgvector for tests, from the package pgserver, of which only the files are used.

The package itself starts servers too: as root it adds a user to the machine and opens every folder above the server to
all. Here the files are copied to a folder of their own, and the server runs from there as ``nobody``, since it refuses
root.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def installed() -> Path | None:
    """Return the folder of the package."""
    spec = importlib.util.find_spec("pgserver")
    return Path(spec.origin).parent if spec and spec.origin else None


@contextmanager
def running(package: Path) -> Iterator[dict[str, str]]:
    """Yield the environment by which libpq finds a new, empty server, which listens only on a socket of the folder."""
    # Not tmp_path: for root it is closed to other users, and the path of a socket has at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="pychunk-pg-"))
    user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
    try:
        folder.chmod(0o755)
        shutil.copytree(package / "pginstall", folder / "pgserver" / "pginstall", symlinks=True)
        libraries = package.parent / "pgserver.libs"
        if libraries.is_dir():  # found relative to the programs
            shutil.copytree(libraries, folder / "pgserver.libs")
        own = folder / "own"
        own.mkdir(mode=0o700)
        if user is not None:
            os.chown(own, user.pw_uid, user.pw_gid)

        def call(program: str, *arguments: str) -> None:
            command = [str(folder / "pgserver" / "pginstall" / "bin" / program), "-D", str(own / "data"), *arguments]
            who = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            with open(folder / "said", "w+b") as said:  # the server would keep a pipe open
                done = subprocess.run(command, stdout=said, stderr=said, cwd=folder, timeout=120, check=False, **who)
                said.seek(0)
                assert done.returncode == 0, said.read().decode(errors="replace")

        call("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres")
        call("pg_ctl", "-w", "-t", "60", "-l", str(own / "log"), "-o", f"-h '' -k {own} -F", "start")
        try:
            yield {"PGHOST": str(own), "PGUSER": "postgres", "PGDATABASE": "postgres"}
        finally:
            call("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
