"""Documents that tests of `pychunk index` and `pychunk search` write, and runs of the commands."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from command_line import invoke

DOCUMENTS = {
    "cats": "Cats purr when they are content. Kittens are blind at birth.",
    "rivers": "The Rhine rises in Switzerland. It reaches the sea in the Netherlands.",
}


def run(*arguments: object) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: object) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == 2, done.output
    return done.output


def written(path: Path) -> Path:
    """Write :data:`DOCUMENTS` as a table."""
    pq.write_table(pa.table({"id": list(DOCUMENTS), "text": list(DOCUMENTS.values())}), path)
    return path
