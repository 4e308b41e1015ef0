#!/usr/bin/env python3
"""Writes the traces of a small evaluation: material, piece-square tables, bishop pair, tempo.

In: positions with results from White's side, in any notation that patzer writes: `FEN [0.5]`, `FEN "1-0"`,
`FEN c9 "1-0";`, `FEN | 35 | 0.5`, `FEN | 35 | 0.5 | 17`. Out: lines of traces.

    python3 write_traces.py < positions.epd > traces.txt
    patzer tune traces traces.txt --terms terms.toml -o weights.hpp
"""

import re
import sys

# A FEN of four to six fields, then the result, behind a score or not.
LINE = re.compile(r'((?:\S+\s+){3}\S+(?:\s+\d+\s+\d+)?)\s[^"|[]*(?:["[]|\|([^|]*)\|)\s*([-/.\d]+)(?:\s*\|\s*(\d+))?')

PIECES = "PNBRQK"
PHASE = {"N": 1, "B": 1, "R": 2, "Q": 4}
MATERIAL, PSQT, BISHOP_PAIR, TEMPO = 0, 5, 389, 390


def trace(fen):
    """The phase, and how often each entry counts: White's count minus Black's."""
    board, turn = fen.split()[:2]
    counts, phase, bishops = {}, 0, [0, 0]

    def add(index, sign, count=1):
        counts[index] = counts.get(index, 0) + sign * count

    for row, rank in enumerate(board.split("/")):
        file = 0
        for letter in rank:
            if letter.isdigit():
                file += int(letter)
                continue
            white = letter.isupper()
            sign, piece = (1 if white else -1), PIECES.index(letter.upper())
            # a1 is 0. Black's squares are seen from Black's side.
            square = (7 - row if white else row) * 8 + file
            if piece < 5:
                add(MATERIAL + piece, sign)
            add(PSQT + 64 * piece + square, sign)
            phase += PHASE.get(letter.upper(), 0)
            bishops[white] += letter.upper() == "B"
            file += 1
    add(BISHOP_PAIR, 1, (bishops[1] >= 2) - (bishops[0] >= 2))
    add(TEMPO, 1 if turn == "w" else -1)
    return phase, counts


for number, line in enumerate(sys.stdin, 1):
    if not line.strip() or line.startswith("#"):
        continue
    found = LINE.match(line)
    if not found:
        sys.exit(f'line {number}: no position with a result, such as [0.5], "1-0" or | 35 | 0.5')
    fen, score, result, game = found.groups()
    phase, counts = trace(fen)
    facts = [f"game={game}"] if game else []
    facts += [f"score={score.strip()}"] if score and score.strip() else []
    pairs = (f"{index}:{count}" for index, count in sorted(counts.items()) if count)
    print(result, phase, *facts, *pairs)
