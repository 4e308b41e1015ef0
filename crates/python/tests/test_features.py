"""Feature indices, compared with python-chess and `patzer net features`."""

import json

import chess
import numpy as np
import pytest

import patzer


def bags(pair, count):
    indices, offsets = pair
    assert indices.dtype == offsets.dtype == np.int32 and len(offsets) == count
    return [set(part.tolist()) for part in np.split(indices, offsets[1:])]


def piece_squares(board, side):
    flip = 0 if side else 56
    return {
        384 * (piece.color != side) + 64 * (piece.piece_type - 1) + (square ^ flip)
        for square, piece in board.piece_map().items()
    }


def test_piece_squares_are_those_of_python_chess(positions):
    batch = next(patzer.open(positions[0]))
    own, theirs = (bags(pair, len(batch)) for pair in batch.features())
    for i in range(0, len(batch), 31):
        board = chess.Board(batch.fen(i))
        assert own[i] == piece_squares(board, board.turn)
        assert theirs[i] == piece_squares(board, not board.turn)


def test_every_block_has_as_many_active_features_as_the_command_counts(positions, patzer_cli):
    batches = list(patzer.open(positions[0]))
    rows = sum(map(len, batches))
    for row in json.loads(patzer_cli("net", "features", positions[0], "--count", 0, "--json"))["blocks"]:
        pairs = [pair for batch in batches for pair in batch.features(row["block"])]
        assert sum(len(indices) for indices, _ in pairs) == round(row["active"] * 2 * rows)
        assert max(indices.max(initial=0) for indices, _ in pairs) < row["features"]


def test_blocks_stand_one_after_another(positions):
    batch = next(patzer.open(positions[0]))
    both, first, second = ([bags(p, len(batch)) for p in batch.features(name)] for name in ("h+all", "all", "h"))
    for side in (0, 1):
        for i in range(0, len(batch), 101):
            assert both[side][i] == first[side][i] | {768 + index for index in second[side][i]}


def test_an_unknown_block_is_an_error(positions):
    with pytest.raises(ValueError, match="none of all, h"):
        next(patzer.open(positions[0])).features("al")
