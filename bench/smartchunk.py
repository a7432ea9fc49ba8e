"""Levels of documents and planners that choose among them (`--help` of each part says more).

python bench/smartchunk.py breadth --save bench/results/smartchunk.json
python bench/smartchunk.py compressor --save bench/results/compressor.json
python bench/smartchunk.py costs --save bench/results/levels_costs.json
python bench/smartchunk.py compressor --encoder minilm --limit 240 --save bench/results/compressor_minilm.json
python bench/smartchunk.py levels --save bench/results/levels_added.json
python bench/smartchunk.py trees --questions 1200 --save bench/results/smartchunk_trees.json
python bench/smartchunk.py variants --limit 800 --epochs 5 --save bench/results/compressor_variants.json
"""

from __future__ import annotations

import argparse

import smartchunk_breadth
import smartchunk_compressor
import smartchunk_costs
import smartchunk_levels
import smartchunk_trees
import smartchunk_variants

PARTS = {
    "breadth": smartchunk_breadth,
    "compressor": smartchunk_compressor,
    "costs": smartchunk_costs,
    "levels": smartchunk_levels,
    "trees": smartchunk_trees,
    "variants": smartchunk_variants,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name, module in PARTS.items():
        module.add_arguments(parts.add_parser(name, description=module.__doc__))
    options = parser.parse_args()
    PARTS[options.part].main(options)


if __name__ == "__main__":
    main()
