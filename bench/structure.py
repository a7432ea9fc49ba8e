"""Documents with structure, beside other packages (`--help` of each part says more).

python bench/structure.py extraction --save bench/results/extraction.json
python bench/structure.py sections --save bench/results/sections.json
python bench/structure.py within --save bench/results/within.json
python bench/structure.py tenets --save bench/results/tenets.json
python bench/structure.py thresholds --save bench/results/thresholds.json
python bench/structure.py manuals --save bench/results/manuals.json
"""

from __future__ import annotations

import argparse

import structure_extraction
import structure_manuals
import structure_sections
import structure_tenets
import structure_thresholds
import structure_within

PARTS = {
    "extraction": structure_extraction,
    "sections": structure_sections,
    "within": structure_within,
    "tenets": structure_tenets,
    "thresholds": structure_thresholds,
    "manuals": structure_manuals,
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
