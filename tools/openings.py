#!/usr/bin/env python3
"""Makes crates/match/src/pgn/openings.tsv.zst from the tables of lichess-org/chess-openings (CC0).

Usage: tools/openings.py FOLDER, which holds a.tsv to e.tsv. Lines are sorted by their moves, and a number at their
begin says how many of the moves are those of the line before: `3\tC20\tKing's Pawn Game\tNf3 Nc6`.
"""

import pathlib
import re
import subprocess
import sys

TARGET = pathlib.Path(__file__).parent.parent / "crates/match/src/pgn/openings.tsv.zst"


def rows(folder):
    for volume in "abcde":
        lines = (folder / f"{volume}.tsv").read_text(encoding="utf-8").splitlines()
        for line in lines[1:]:
            eco, name, moves = line.split("\t")
            yield re.sub(r"\d+\.+\s*", "", moves).split(), eco, name


def main():
    text, before = [], []
    for moves, eco, name in sorted(rows(pathlib.Path(sys.argv[1]))):
        shared = next((i for i, (a, b) in enumerate(zip(moves, before)) if a != b), min(len(moves), len(before)))
        text.append(f"{shared}\t{eco}\t{name}\t{' '.join(moves[shared:])}\n")
        before = moves
    command = ["zstd", "-19", "--ultra", "-22", "-q", "-f", "-o", str(TARGET)]
    subprocess.run(command, input="".join(text).encode(), check=True)


main()
