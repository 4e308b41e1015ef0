#!/usr/bin/env python3
"""A factorial experiment: the Elo of many switches of a search at once, from matches between random settings of all.

    tools/factorial.py --patzer target/release/patzer --out FOLDER --batches 400 --games 8 --limit "--nodes 2000" \\
        null-move:null_depth=1000 killers:killers=0 killers*counters

Both sides of a batch of games have each switch off or on by lot. The effects come from a logistic regression of the
score on the differences of the two sides: a factor NAME:PARAMETER=VALUE,... counts 1 where the technique is on, and NAME*NAME
1 where both are, which is their interaction. Errors are 95 % and take the spread of the batches for what it is.

Each batch is a match of its own, whose result stays in FOLDER: a run that was stopped goes on, and --batches may grow. At
fixed nodes, all of it follows from --seed. docs/studies/search.md has the method.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import sys

ELO = 400 / math.log(10)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patzer", default="patzer", help="the program")
    parser.add_argument("--engine", default="default", help="cmd= of both sides, with args= if it needs any")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder of the batches")
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--games", type=int, default=8, help="games of a batch, an even number")
    parser.add_argument("--limit", default="--nodes 2000", help="options of each match")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("factors", nargs="+", metavar="FACTOR", help="NAME:PARAMETER=VALUE[,...] or NAME*NAME")
    return parser.parse_args()


def parsed(factors):
    """The switches, each with the options that turn it off, and the terms: a tuple of switches each."""
    switches = dict(factor.split(":", 1) for factor in factors if ":" in factor)
    terms = [tuple(factor.split(":")[0].split("*")) for factor in factors]
    unknown = [name for term in terms for name in term if name not in switches]
    if unknown or len(set(terms)) < len(factors):
        sys.exit(f"factorial: {', '.join(unknown) or 'a factor'} {'is no switch' if unknown else 'is given twice'}")
    return switches, terms


def drawn(switches, seed, batch):
    """Settings of both sides: the switches that are on."""
    lots = random.Random(f"{seed} {batch}")
    return [{name for name in switches if lots.getrandbits(1)} for _ in range(2)]


def play(options, switches, batch, sides):
    """The score of a batch for the first side, from 0 to 1."""
    result = options.out / f"batch-{options.seed}-{batch:05}.json"
    if not result.exists():
        line = [options.patzer, "match"]
        for name, on in zip("ab", sides):
            off = [f"option.{text}" for key, value in switches.items() if key not in on for text in value.split(",")]
            line += ["--engine", " ".join([f"cmd={options.engine}", f"name={name}", *off])]
        pgn = result.with_suffix(".pgn")
        line += [*options.limit.split(), "--games", str(options.games), "--seed", str(batch), "--resume"]
        line += ["-o", str(pgn), "--json", "-q"]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"factorial: batch {batch} failed: {done.stderr.strip()}")
        part = result.with_suffix(".part")
        part.write_text(done.stdout)
        part.rename(result)
    found = json.loads(result.read_text())
    games = found["wins"] + found["draws"] + found["losses"]
    if games != options.games:
        sys.exit(f"factorial: {result} has {games} games, not {options.games}; name another folder with --out")
    return (found["wins"] + 0.5 * found["draws"]) / games


def solve(matrix, vectors):
    """Solves a symmetric system for several right-hand sides by Gauss and Jordan; None if it is singular."""
    size = len(matrix)
    rows = [list(row) + [vector[at] for vector in vectors] for at, row in enumerate(matrix)]
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        if abs(rows[pivot][at]) < 1e-9:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for row in range(size):
            if row != at and rows[row][at]:
                factor = rows[row][at]
                rows[row] = [value - factor * own for value, own in zip(rows[row], rows[at])]
    return [[rows[at][size + column] for at in range(size)] for column in range(len(vectors))]


def fit(differences, scores, games):
    """Effects in Elo with the half widths of their 95 % intervals, by logistic regression (Fisher scoring); the variance
    is Pearson's, over that of independent games without draws. None if the batches do not tell the effects apart."""
    size = len(differences[0])
    effects = [0.0] * size
    for _ in range(50):
        expected = [1 / (1 + math.exp(-sum(e * d for e, d in zip(effects, row)))) for row in differences]
        weights = [games * p * (1 - p) for p in expected]
        matrix = [[sum(w * row[i] * row[j] for w, row in zip(weights, differences)) for j in range(size)]
                  for i in range(size)]
        slope = [sum(games * (s - p) * row[i] for s, p, row in zip(scores, expected, differences))
                 for i in range(size)]
        unit = [[float(i == j) for j in range(size)] for i in range(size)]
        solved = solve(matrix, [slope] + unit)
        if solved is None:
            return None
        effects = [effect + step for effect, step in zip(effects, solved[0])]
        if max(map(abs, solved[0])) < 1e-10:
            break
    pearson = sum(games * (s - p) ** 2 / (p * (1 - p)) for s, p in zip(scores, expected))
    spread = pearson / max(len(scores) - size, 1)
    errors = [1.96 * math.sqrt(max(solved[1 + i][i], 0) * spread) for i in range(size)]
    return [(ELO * effect, ELO * error) for effect, error in zip(effects, errors)]


def main():
    options = arguments()
    switches, terms = parsed(options.factors)
    options.out.mkdir(parents=True, exist_ok=True)
    differences, scores = [], []
    for batch in range(1, options.batches + 1):
        sides = drawn(switches, options.seed, batch)
        holds = [[all(name in on for name in term) for term in terms] for on in sides]
        differences.append([int(a) - int(b) for a, b in zip(*holds)])
        scores.append(play(options, switches, batch, sides))
        if sys.stderr.isatty():
            print(f"\r{batch} of {options.batches} batches", end="", file=sys.stderr, flush=True)
    effects = fit(differences, scores, options.games)
    if effects is None:
        sys.exit("factorial: the batches do not tell the factors apart; play more")
    print("| factor | turned off by | Elo |\n|---|---|---|")
    for term, (effect, error) in sorted(zip(terms, effects), key=lambda row: -row[1][0]):
        off = f"`{switches[term[0]]}`" if len(term) == 1 else "both on, beyond the sum of the two"
        print(f"| {' × '.join(term).replace('-', ' ')} | {off} | {effect:+.1f} ± {error:.1f} |")
    print(f"\n{options.batches} batches of {options.games} games.")


if __name__ == "__main__":
    main()
