#!/usr/bin/env python3
"""Keeps the inputs of a fuzzing run that add most to the committed corpus: best_inputs.py TARGET [FILES] [BYTES]

`make fuzz` has built the target and left target/fuzz-corpus/TARGET. Chosen are at most FILES inputs [8] of BYTES together
[4000], one after the other, each the one with the most new edges for the square root of its size.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def features(target: str, run: Path, kept: Path) -> dict[Path, set[int]]:
    """Edges by input. libFuzzer's file of a merge names the inputs, then lists the features of each: eight an edge."""
    (binary,) = (Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "fuzz").glob(f"*/release/{target}")
    with tempfile.TemporaryDirectory() as folder:
        control, merged = Path(folder, "control"), Path(folder, "merged")
        merged.mkdir()
        arguments = ["-set_cover_merge=1", f"-merge_control_file={control}", merged, run, kept]
        environment = os.environ | {"RAYON_NUM_THREADS": "1", "ASAN_OPTIONS": "detect_odr_violation=0"}
        subprocess.run([binary, *arguments], check=True, capture_output=True, env=environment)
        lines = control.read_text().splitlines()
    count = int(lines[0])
    names = [Path(line) for line in lines[2 : 2 + count]]
    edges: dict[Path, set[int]] = {name: set() for name in names}
    for line in lines[2 + count :]:
        kind, *numbers = line.split()
        if kind == "FT":
            edges[names[int(numbers[0])]].update(int(number) >> 3 for number in numbers[1:])
    return edges


def main() -> None:
    target, most, left = sys.argv[1], int((sys.argv[2:] + ["8"])[0]), int((sys.argv[3:] + ["4000"])[0])
    run, kept = ROOT / "target/fuzz-corpus" / target, ROOT / "fuzz/corpus" / target
    edges = features(target, run, kept)
    reached = set().union(*(edges[name] for name in edges if name.parent == kept))
    before, chosen = len(reached), []
    sizes = {name: name.stat().st_size for name in edges if name.parent == run}
    while len(chosen) < most:
        worth = {name: len(edges[name] - reached) / size**0.5 for name, size in sizes.items() if 0 < size <= left}
        best = max(worth, key=worth.get, default=None)
        if best is None or worth[best] == 0:
            break
        reached |= edges[best]
        left -= sizes[best]
        chosen.append(best)
    if chosen:
        subprocess.run([ROOT / "tools/keep-input.sh", target, *chosen], check=True)
    total = len(set().union(*edges.values()))
    print(f"{target}: {len(chosen)} inputs; edges {before} before, {len(reached)} now, {total} in the run")


if __name__ == "__main__":
    main()
