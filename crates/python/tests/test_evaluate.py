"""Evaluations, compared with `patzer eval`."""

import json

import numpy as np
import pytest

import patzer

FENS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
    "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1",
]


@pytest.mark.parametrize("net", ["default", "default-hce", "untuned-hce"])
def test_scores_equal_those_of_the_command(patzer_cli, net):
    scores = patzer.evaluate(net, FENS)
    assert scores.dtype == np.int32
    printed = [json.loads(patzer_cli("eval", "--eval", net, fen, "--json"))["score"] for fen in FENS]
    assert scores.tolist() == printed


def test_a_network_from_a_file_scores_as_the_command(patzer_cli, tmp_path):
    net = tmp_path / "small.nnue"
    patzer_cli("net", "init", "-o", net)
    printed = [json.loads(patzer_cli("eval", "--eval", net, fen, "--json"))["score"] for fen in FENS]
    assert patzer.evaluate(net, FENS).tolist() == printed


def test_a_batch_scores_as_its_fens(positions):
    batch = next(patzer.open(positions[0], columns="score"))
    fens = [batch.fen(i) for i in range(len(batch))]
    assert np.array_equal(patzer.evaluate("default", batch), patzer.evaluate("default", iter(fens)))


def test_errors_name_the_position(tmp_path):
    with pytest.raises(ValueError, match="position 1: "):
        patzer.evaluate("default", [FENS[0], "no position"])
    with pytest.raises(TypeError, match="a list of FENs"):
        patzer.evaluate("default", FENS[0])
    with pytest.raises(FileNotFoundError):
        patzer.evaluate(tmp_path / "no.nnue", FENS)
    assert patzer.evaluate("default", []).shape == (0,)
