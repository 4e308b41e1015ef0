"""Leaves, compared with `patzer label`."""

import signal
import threading

import chess
import numpy as np
import pytest

import patzer


@pytest.mark.parametrize("flags, named", [([], {}), (["--nodes", 50], {"nodes": 50}), (["--depth", 1], {"depth": 1})])
def test_leaves_are_those_of_the_command(positions, patzer_cli, tmp_path, flags, named):
    some, out = tmp_path / "some.parquet", tmp_path / "out.parquet"
    patzer_cli("data", "merge", positions[0], "--sample", 300, "-o", some)
    patzer_cli("label", some, *flags, "-o", out)
    batch, labelled = next(patzer.open(some)), next(patzer.open(out))
    fens, scores = patzer.label(batch, **named)
    assert np.array_equal(np.ma.getmaskarray(scores), np.ma.getmaskarray(labelled["leaf_score"]))
    assert np.ma.allequal(scores, labelled["leaf_score"])
    for fen, black in zip(fens, labelled["leaf_stm"]):
        assert (fen is None) == (black is np.ma.masked)
        assert fen is None or (chess.Board(fen).turn == chess.BLACK) == black
    again = patzer.label([batch.fen(i) for i in range(len(batch))], **named)
    assert again[0] == fens and np.ma.allequal(again[1], scores)


def test_a_capture_is_played_out():
    (leaf, stalemate), scores = patzer.label(["4k3/8/8/3p4/4P3/8/8/4K3 w - - 3 9", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"])
    assert leaf == "4k3/8/8/3P4/8/8/8/4K3 b - - 0 1"
    assert scores[0] < 0 and scores[0] == patzer.evaluate("default-hce", [leaf])[0]
    assert stalemate is None and scores[1] is np.ma.masked


@pytest.mark.parametrize("net", ["default", "default-hce", "untuned-hce"])
def test_a_leaf_has_the_evaluation_that_found_it(net):
    leaves, scores = patzer.label(["r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"], net)
    assert scores[0] == patzer.evaluate(net, leaves)[0]


def test_wrong_arguments_are_exceptions():
    with pytest.raises(ValueError, match="depth, 1 to 64, or nodes"):
        patzer.label([], depth=1, nodes=1)
    with pytest.raises(ValueError, match="depth, 1 to 64, or nodes"):
        patzer.label([], depth=65)
    with pytest.raises(ValueError, match="position 1: "):
        patzer.label(["4k3/8/8/8/8/8/8/4K3 w - - 0 1", "9/8"])
    with pytest.raises(TypeError, match="list of FENs"):
        patzer.label("4k3/8/8/8/8/8/8/4K3 w - - 0 1")


def test_ctrl_c_ends_a_search():
    # A shell starts what runs in the background without it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        patzer.label(["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"] * 100_000, depth=6)
