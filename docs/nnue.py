"""Evaluates positions with a .nnue file by the arithmetic of networks-arithmetic.md; feature block `all`.

    python3 nnue.py NETWORK FEN...        or FENs on standard input, one a line; needs numpy and Python 3.11
"""
import sys
import tomllib

import numpy as np

QA, QB, SCALE, LIMIT = 255, 64, 400, 30999


def load(path):
    data = open(path, "rb").read()
    assert data[:8] == b"PATZNNUE", "not a .nnue file"
    end = 16 + int.from_bytes(data[12:16], "little")
    header = tomllib.loads(data[16:end].decode())
    assert header["features"] == "all", "feature block `all` alone"
    hidden = int(header["architecture"].split("->")[1].split(")")[0])
    shape = header.get("shape") or dict(hidden=hidden, layers=[], views=2, activation="screlu", mirror=False,
                                        king_buckets="none", output_buckets=1, output_by="pieces", psqt=False)
    codes = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    name, mirror = shape["king_buckets"], shape["mirror"]
    name = {"none": "0" * 64, "five": "00111100" + "22333322" * 2 + "4" * 40}.get(name, name).replace(" ", "")
    halfka = [s // 8 * 4 + s % 4 if mirror else s for s in range(64)]
    shape["map"] = halfka if name == "halfka" else [codes.index(code) for code in name]
    kings = 1 + max(b for s, b in enumerate(shape["map"]) if not mirror or s % 8 < 4)
    numbers, at = np.frombuffer(data, "<i2", offset=end).astype(np.int64), 0

    def take(*size):
        nonlocal at
        at += int(np.prod(size))
        return numbers[at - int(np.prod(size)):at].reshape(size)

    h, outputs, rows = shape["hidden"], shape["output_buckets"], 768 * kings
    shape["features"], shape["bias"] = take(rows, h), take(h)
    shape["values"] = take(rows, outputs) if shape["psqt"] else None
    width = h // 2 if shape["activation"] == "pairwise" else h
    sizes = [shape["views"] * width] + shape["layers"] + [1]
    weights = [[take(o, i) for i, o in zip(sizes, sizes[1:])] for _ in range(outputs)]
    shape["dense"] = [[(w, take(len(w))) for w in layers] for layers in weights]
    return shape


def toward_zero(a, b):
    return np.sign(a) * (np.abs(a) // b)


def evaluate(net, fen):
    placement, turn = fen.split()[:2]
    ranks = "".join("." * int(c) if c.isdigit() else c for c in placement).split("/")
    pieces = [(c, 8 * (7 - r) + f) for r, rank in enumerate(ranks) for f, c in enumerate(rank) if c != "."]
    own_first = "PNBRQKpnbrqk" if turn == "w" else "pnbrqkPNBRQK"
    sums, values = [], []
    for view in range(net["views"]):
        order, turned = own_first[6 * view:] + own_first[:6 * view], 0 if (turn == "w") == (view == 0) else 56
        king = next(s for c, s in pieces if c == order[5]) ^ turned
        flip = 7 if net["mirror"] and king % 8 > 3 else 0
        base = 768 * net["map"][king ^ flip]
        rows = [base + 64 * order.index(c) + (s ^ turned ^ flip) for c, s in pieces]
        # Accumulators have 16 bits and wrap.
        sums.append((net["features"][rows].sum(0) + net["bias"]).astype(np.int16).astype(np.int64))
        values.append(0 if net["values"] is None else net["values"][rows].sum(0))
    buckets, count = len(net["dense"]), len(pieces)
    phase = sum({"n": 1, "b": 1, "r": 2, "q": 4}.get(c.lower(), 0) for c, _ in pieces)
    by_pieces = min((count - 2) // -(-32 // buckets), buckets - 1)
    bucket = by_pieces if net["output_by"] == "pieces" else min(phase, 24) * buckets // 25
    clip, kind, half = (lambda x: x.clip(0, QA)), net["activation"], net["hidden"] // 2
    active = {"relu": lambda s: s.clip(0) * QA, "crelu": lambda s: clip(s) * QA, "screlu": lambda s: clip(s) ** 2,
              "pairwise": lambda s: clip(s[:half]) * clip(s[half:])}[kind]
    x, layers = np.concatenate([active(s) for s in sums]), net["dense"][bucket]
    (weight, bias), one = layers[0], QA * QB
    if len(layers) == 1:
        output = toward_zero(weight @ x, QA) + bias
    else:
        output = weight @ ((x + QA // 2) // QA) + bias
    for weight, bias in layers[1:]:
        c = output.clip(0, one)
        x = {"relu": output.clip(0, 2**32), "crelu": c}.get(kind, c * c // one)
        output = toward_zero(weight @ x, QB) + bias
    if net["values"] is not None:
        skip = values[0][bucket] - (values[1][bucket] if net["views"] == 2 else 0)
        output = output + toward_zero(skip * QB, net["views"])
    return int(toward_zero(output * SCALE, one)[0].clip(-LIMIT, LIMIT))


if __name__ == "__main__":
    network = load(sys.argv[1])
    for fen in sys.argv[2:] or sys.stdin:
        print(evaluate(network, fen))
