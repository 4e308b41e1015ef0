"""Evaluates positions with a .nnue file by the arithmetic of networks-arithmetic.md; feature block `all`.

    python3 nnue.py NETWORK FEN...        or FENs on standard input, one a line; needs numpy and Python 3.11
"""
import sys, tomllib
import numpy as np

QA, QB, SCALE, LIMIT = 255, 64, 400, 30999
PLAIN = dict(layers=[], views=2, activation="screlu", mirror=False, king_buckets="none", output_buckets=1,
             output_by="pieces", psqt=False, white_view=False, layer_activations=None, skip_neuron=False,
             first_layer_bits=16, wdl_head=False)
CODE = {c: n for n, c in enumerate("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")}
MAPS = {"none": "0" * 64, "five": "00111100" + "22333322" * 2 + "4" * 40}

def load(path):
    data = open(path, "rb").read()
    end = 16 + int.from_bytes(data[12:16], "little")
    header = tomllib.loads(data[16:end].decode())
    assert data[:8] == b"PATZNNUE" and header["features"] == "all", "not a .nnue file of the feature block `all`"
    net = PLAIN | header.get("shape", {"hidden": int(header["architecture"].split("->")[1].split(")")[0])})
    usual = "screlu" if net["activation"] == "pairwise" else net["activation"]
    net["layer_activations"] = net["layer_activations"] or [usual] * len(net["layers"])
    halfka = [s // 8 * 4 + s % 4 if net["mirror"] else s for s in range(64)]
    name, hidden, outputs = net["king_buckets"], net["hidden"], net["output_buckets"]
    net["map"] = halfka if name == "halfka" else [CODE[c] for c in MAPS.get(name, name).replace(" ", "")]
    rows = 768 * (1 + max(b for s, b in enumerate(net["map"]) if not net["mirror"] or s % 8 < 4))
    numbers = iter(np.frombuffer(data[end:], "<i2").astype(np.int64))
    take = lambda *size: np.fromiter(numbers, np.int64, int(np.prod(size))).reshape(size)
    net["features"], net["bias"] = take(rows, hidden), take(hidden)
    net["values"] = take(rows, outputs) if net["psqt"] else np.zeros((rows, outputs), np.int64)
    passed = [(n - (net["skip_neuron"] and i == 0)) * (1 + (a == "dual"))
              for i, (n, a) in enumerate(zip(net["layers"], net["layer_activations"]))]
    inputs = [net["views"] * hidden // (1 + (net["activation"] == "pairwise"))] + passed
    weights = [[take(o, i) for i, o in zip(inputs, net["layers"] + [3 if net["wdl_head"] else 1])] for _ in range(outputs)]
    net["dense"] = [[(w, take(len(w))) for w in layers] for layers in weights]
    net["k"] = take(1)[0] / 256 if net["wdl_head"] else None
    return net

def toward_zero(a, b):
    return np.sign(a) * (np.abs(a) // b)

def evaluate(net, fen):
    placement, turn = fen.split()[:2]
    ranks = "".join("." * int(c) if c.isdigit() else c for c in placement).split("/")
    pieces = [(c, 8 * (7 - r) + f) for r, rank in enumerate(ranks) for f, c in enumerate(rank) if c != "."]
    sums, skip, count, buckets = [], 0, len(pieces), net["output_buckets"]
    phase = sum({"n": 1, "b": 1, "r": 2, "q": 4}.get(c.lower(), 0) for c, _ in pieces)
    by = {"pieces": min((count - 2) // -(-32 // buckets), buckets - 1), "phase": min(phase, 24) * buckets // 25}
    table = net["output_by"][min(count, 32):][:1]  # of 33 characters, unless it is one of the two names
    bucket = by[net["output_by"]] if net["output_by"] in by else min(CODE[table], buckets - 1)
    own = "w" if net["white_view"] else turn
    for side in [own, "b" if own == "w" else "w"][:net["views"]]:
        order, turned = ("PNBRQKpnbrqk", 0) if side == "w" else ("pnbrqkPNBRQK", 56)
        king = next(s for c, s in pieces if c == order[5]) ^ turned
        flip = 7 if net["mirror"] and king % 8 > 3 else 0
        rows = [768 * net["map"][king ^ flip] + 64 * order.index(c) + (s ^ turned ^ flip) for c, s in pieces]
        sums.append((net["features"][rows].sum(0) + net["bias"]).astype(np.int16).astype(np.int64))  # wraps
        skip += int(net["values"][rows].sum(0)[bucket].astype(np.int16)) * (1 if side == own else -1)  # wraps too
    clip, half, one = (lambda x: x.clip(0, QA)), net["hidden"] // 2, QA * QB
    active = {"relu": lambda s: s.clip(0) * QA, "crelu": lambda s: clip(s) * QA, "screlu": lambda s: clip(s) ** 2,
              "pairwise": lambda s: clip(s[:half]) * clip(s[half:])}[net["activation"]]
    x, ((weight, bias), *further) = np.concatenate([active(s) for s in sums]), net["dense"][bucket]
    if net["first_layer_bits"] == 8:
        output = toward_zero(weight @ ((x + 256) // 512) * 512, QA) + bias
    else:
        output = weight @ ((x + QA // 2) // QA) + bias if further or net["k"] else toward_zero(weight @ x, QA) + bias
    direct = output[-1] if net["skip_neuron"] else 0
    output = output[:-1] if net["skip_neuron"] else output
    for kind, (weight, bias) in zip(net["layer_activations"], further):
        c, d = output.clip(0, one), output.clip(-one, one)
        x = {"relu": output.clip(0, 2**32), "crelu": c, "screlu": c * c // one,
             "dual": np.concatenate([d * d // one, c])}[kind]
        output = toward_zero(weight @ x, QB) + bias
    if net["k"]:
        win, draw, loss = np.exp(np.maximum(net["k"] * (output - output.max()) / one, -40))
        output = np.rint(np.log([(2 * win + draw) / (2 * loss + draw)]) / net["k"] * one).astype(np.int64)
    output = output + direct + toward_zero(skip * QB, net["views"])
    return int(toward_zero(output * SCALE, one)[0].clip(-LIMIT, LIMIT)) * (1 if own == turn else -1)

if __name__ == "__main__":
    network = load(sys.argv[1])
    for fen in sys.argv[2:] or sys.stdin:
        print(evaluate(network, fen))
