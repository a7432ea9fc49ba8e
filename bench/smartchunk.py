"""Levels of documents and planners that choose among them (`--help` of each part says more).

python bench/smartchunk.py breadth --save bench/results/smartchunk.json
python bench/smartchunk.py compressor --save bench/results/compressor.json
python bench/smartchunk.py costs --save bench/results/levels_costs.json
"""

from __future__ import annotations

import argparse

import smartchunk_breadth
import smartchunk_compressor
import smartchunk_costs

PARTS = {"breadth": smartchunk_breadth, "compressor": smartchunk_compressor, "costs": smartchunk_costs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name, module in PARTS.items():
        module.add_arguments(parts.add_parser(name, description=module.__doc__))
    options = parser.parse_args()
    PARTS[options.part].main(options)


if __name__ == "__main__":
    main()
