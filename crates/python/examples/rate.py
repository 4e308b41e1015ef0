"""Measure feature batches as tensors for PyTorch against the Rust loader making the same lists.

    cargo build --release --manifest-path crates/python/Cargo.toml --example loader
    nice -n 19 python crates/python/examples/rate.py FILE target/release/examples/loader [ROUNDS]

Each round runs Python, the loader in file order, the loader with its shuffle, and then the three the other way round.
Printed: positions/s by wall clock and by processor time, medians; and the ratios. RAYON_NUM_THREADS sets the threads.
"""

import os
import statistics
import subprocess
import sys
import time

import torch

import patzer

PASSES = 1
BATCH = 16_384


def python(file):
    positions = features = 0
    for _ in range(PASSES):
        for batch in patzer.open(file, columns=["score", "result"], batch_size=BATCH):
            (own, own_offsets), (theirs, their_offsets) = batch.features("all")
            tensors = [torch.from_numpy(array) for array in (own, own_offsets, theirs, their_offsets)]
            positions += len(tensors[1])
            features += len(tensors[0]) + len(tensors[2])
    return positions, features


def timed(file, loader, how):
    before, wall = os.times(), time.perf_counter()
    if how == "python":
        counts = python(file)
    else:
        out = subprocess.run([loader, file, how, str(PASSES)], check=True, capture_output=True, text=True).stdout
        counts = tuple(map(int, out.split()))
    wall, after = time.perf_counter() - wall, os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    return counts, counts[0] / wall, counts[0] / cpu


def main(file, loader, rounds=3):
    kinds = ["python", "order", "shuffled"]
    rates = {kind: [] for kind in kinds}
    timed(file, loader, "python")
    for _ in range(int(rounds)):
        for kind in kinds + kinds[::-1]:
            counts, *rate = timed(file, loader, kind)
            rates[kind].append(rate)
            print(kind, counts, *(f"{value / 1e6:.2f} M/s" for value in rate), flush=True)
    middle = {kind: [statistics.median(column) for column in zip(*rates[kind])] for kind in kinds}
    for kind in kinds:
        wall, cpu = middle[kind]
        print(f"{kind:9} {wall / 1e6:6.2f} M/s by wall clock, {cpu / 1e6:6.2f} M/s by processor time")
    for kind in kinds[1:]:
        ratios = [python / other for python, other in zip(middle["python"], middle[kind])]
        print(f"python / {kind}: {ratios[0]:.2f} by wall clock, {ratios[1]:.2f} by processor time")


if __name__ == "__main__":
    main(*sys.argv[1:])
