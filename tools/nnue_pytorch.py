#!/usr/bin/env python3
"""Compares a step of training with nnue-pytorch: nnue_pytorch.py CHECKOUT PATZER POSITIONS FOLDER

CHECKOUT is one of official-stockfish/nnue-pytorch, PATZER the program, POSITIONS lines `FEN | score | result` without mates
(`patzer data convert DATA --format epd --dialect pipe`), of which the first 2,048 are taken. FOLDER has to be new. Loss, layers
and feature transformer are nnue-pytorch's own modules in 64-bit floats, without quantisation; rows, buckets and targets are
read here. patzer's gradient is the difference of its weights before and after a step of gradient descent. Needs PyTorch,
NumPy, and what nnue-pytorch imports: chess, tyro, torchmetrics, lightning, schedulefree, numba.
"""

import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

CHECKOUT, PATZER, POSITIONS, FOLDER = (Path(argument).resolve() for argument in sys.argv[1:])
sys.path.insert(0, str(CHECKOUT))
from model.config import LossParams  # noqa: E402
from model.modules.config import LayerStacksConfig  # noqa: E402
from model.modules.feature_transformer.double_ft_functions import double_feature_transform  # noqa: E402
from model.modules.layer_stacks import LayerStacks  # noqa: E402
from model.nnue import calculate_sf_loss  # noqa: E402
from model.quantize import QuantizationConfig, QuantizationManager  # noqa: E402

HIDDEN, FIRST, SECOND, BUCKETS, COUNT, RATE = 32, 8, 16, 8, 2048, 10
# Neurons of the first further layer that pass on values; the last one skips.
PASSING = FIRST - 1
K, OUTPUT_K, SCORE_OFFSET, OUTPUT_OFFSET, POWER, ASYMMETRY, WDL = 2.7, 2.4, 120, 90, 2.5, 0.2, 0.3
KING_BUCKETS = "00111100" + "22333322" * 2 + "4" * 40
RECIPE = f"""
features = "all"
hidden = {HIDDEN}
layers = [{FIRST}, {SECOND}]
activation = "pairwise"
layer_activations = ["dual", "dual"]
skip_neuron = true
mirror = true
king_buckets = "{KING_BUCKETS}"
output_buckets = {BUCKETS}
psqt = true
k = {K}
power = {POWER}
wdl = {WDL}
batch = {COUNT}
warmup = 0
forward = "f32"
keep = "last"
"""
STEP = f"""
start = "start.nnue"
optimiser = "sgd"
momentum = 0
schedule = "constant"
learning_rate = {RATE}
output_k = {OUTPUT_K}
score_offset = {SCORE_OFFSET}
output_offset = {OUTPUT_OFFSET}
asymmetry = {ASYMMETRY}
"""


def tune(name: str, epochs: int, recipe: str) -> None:
    Path(FOLDER, f"{name}.toml").write_text(recipe + f"epochs = {epochs}\n")
    command = [PATZER, "tune", "positions.txt", "--no-resolve", "--validation-data", "held_out.txt", "--device", "cpu"]
    command += ["--recipe", f"{name}.toml", "-o", f"{name}.nnue", "--run", name, "--floats", f"{name}.safetensors", "-q"]
    subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)


def floats(name: str) -> dict[str, torch.Tensor]:
    data = Path(FOLDER, f"{name}.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__")

    def tensor(entry: dict) -> torch.Tensor:
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        return torch.tensor(np.frombuffer(data[start:end], "<f4").reshape(entry["shape"]).astype(np.float64))

    return {name: tensor(entry) for name, entry in header.items()}


def rows(pieces: list[tuple[str, int]], side: str) -> list[int]:
    """Active rows of a perspective, filled up to 32 by -1."""
    order, turned = ("PNBRQKpnbrqk", 0) if side == "w" else ("pnbrqkPNBRQK", 56)
    king = next(square for piece, square in pieces if piece == order[5]) ^ turned
    flip = 7 if king % 8 > 3 else 0
    base = 768 * int(KING_BUCKETS[king ^ flip])
    active = [base + 64 * order.index(piece) + (square ^ turned ^ flip) for piece, square in pieces]
    return active + [-1] * (32 - len(active))


def batch(lines: list[str]) -> tuple[torch.Tensor, ...]:
    ours, white, black, buckets, scores, results = [], [], [], [], [], []
    for line in lines:
        fen, score, result = (field.strip() for field in line.split("|"))
        placement, turn = fen.split()[:2]
        ranks = "".join("." * int(c) if c.isdigit() else c for c in placement).split("/")
        pieces = [(c, 8 * (7 - r) + f) for r, rank in enumerate(ranks) for f, c in enumerate(rank) if c != "."]
        white.append(rows(pieces, "w"))
        black.append(rows(pieces, "b"))
        is_white = turn == "w"
        ours.append([float(is_white)])
        buckets.append((len(pieces) - 2) // 4)
        scores.append([float(score) * (1 if is_white else -1)])
        results.append([float(result) if is_white else 1 - float(result)])
    indices = [torch.tensor(white, dtype=torch.int32), torch.tensor(black, dtype=torch.int32), torch.tensor(buckets)]
    return torch.tensor(ours), *indices, torch.tensor(scores), torch.tensor(results)


def loss_and_gradients(weights: dict[str, torch.Tensor], lines: list[str]) -> tuple[float, dict[str, torch.Tensor]]:
    one = QuantizationConfig(400, ft_quantized_one=256, ft_quantized_max=256, hidden_quantized_one=128, hidden_quantized_max=128)
    quantisation = QuantizationManager(one)
    table = torch.cat([weights["l0w"], weights["psqt"]], 1).requires_grad_()
    bias = torch.cat([weights["l0b"], torch.zeros(BUCKETS)]).requires_grad_()
    # What nnue-pytorch subtracts from the skip neuron is a further neuron, 0 here; its output also reads the first layer: 0.
    layers = LayerStacks(BUCKETS, LayerStacksConfig(L1=HIDDEN, L2=FIRST + 1, L3=SECOND), quantisation)
    passed = [*range(PASSING), *range(FIRST + 1, FIRST + 1 + PASSING)]
    first, second, last = layers.l1.linear, layers.l2.linear, layers.output.linear
    # Parameter, its shape by bucket, and the part that patzer has.
    parts = {
        "l1w": (first.weight, (BUCKETS, FIRST + 1, -1), np.s_[:, :FIRST]),
        "l1b": (first.bias, (BUCKETS, -1), np.s_[:, :FIRST]),
        "l2w": (second.weight, (BUCKETS, SECOND, -1), np.s_[..., passed]),
        "l2b": (second.bias, (BUCKETS, -1), np.s_[:]),
        "l3w": (last.weight, (BUCKETS, 1, -1), np.s_[..., 2 * (FIRST + 1) :]),
        "l3b": (last.bias, (BUCKETS, 1), np.s_[:]),
    }
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter.zero_()
        for name, (parameter, shape, part) in parts.items():
            parameter.view(shape)[part] = weights[name]
    ours, white, black, buckets, scores, results = batch(lines)
    hidden, own, other = double_feature_transform(
        ours, 1 - ours, white, black, buckets, table, bias, quantisation.max_ft_activation, HIDDEN, backend="torch"
    )
    hidden = hidden * quantisation.l0_correction_factor
    output = layers(hidden, buckets, False, False) + (own - other) * (ours - 0.5)
    scaling = dict(in_scaling=400 / OUTPUT_K, out_scaling=400 / K, in_offset=OUTPUT_OFFSET, out_offset=SCORE_OFFSET)
    parameters = LossParams(**scaling, pow_exp=POWER, qp_asymmetry=ASYMMETRY)
    loss = calculate_sf_loss(output * 400, scores, results, parameters, 1 - WDL)
    loss.backward()
    gradients = {"l0w": table.grad[:, :HIDDEN], "l0b": bias.grad[:HIDDEN], "psqt": table.grad[:, HIDDEN:]}
    gradients |= {name: parameter.grad.view(shape)[part] for name, (parameter, shape, part) in parts.items()}
    return loss.item(), gradients


def main() -> None:
    torch.set_default_dtype(torch.float64)
    FOLDER.mkdir()
    with POSITIONS.open() as file:
        lines = [line for _, line in zip(range(COUNT), file)]
    Path(FOLDER, "positions.txt").write_text("".join(lines))
    # As long a text for the losses after an epoch; the training data itself is refused.
    Path(FOLDER, "held_out.txt").write_text("".join(reversed(lines)))
    tune("start", 30, RECIPE)
    # After one step no sum lies on an edge of the activation, where rounded weights put some.
    tune("one", 1, RECIPE + STEP)
    tune("two", 2, RECIPE + STEP)
    before, after = floats("one"), floats("two")
    loss, gradients = loss_and_gradients(before, lines)
    patzer = float(Path(FOLDER, "two/log.csv").read_text().split()[2].split(",")[1])
    print(f"loss {loss:.9f}, patzer's {patzer:.9f}")
    print("tensor: largest gradient, largest difference, norm of the differences by that of the gradient")
    for name, gradient in gradients.items():
        difference = (before[name] - after[name]) / RATE - gradient
        share = difference.norm() / gradient.norm()
        print(f"{name:4} {gradient.abs().max():.1e} {difference.abs().max():.1e} {share:.1e}")


main()
