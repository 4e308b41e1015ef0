"""Batches of positions, compared with pyarrow, python-chess and the command line."""

import chess
import numpy as np
import pyarrow
import pyarrow.parquet as pq
import pytest

import patzer
from conftest import ROOT

FORMATS = ["csv", "epd", "plain", "bullet", "vf", "binpack"]


def whole(batches, name):
    return np.ma.concatenate([batch[name] for batch in batches])


def arrow(column):
    """A column of pyarrow as NumPy has it, and which of its cells are empty."""
    if str(column.type) == "fixed_size_binary[24]":
        empty = np.array([cell.as_py() is None for cell in column])
        cells = [cell.as_py() or bytes(24) for cell in column]
        return np.frombuffer(b"".join(cells), np.uint8).reshape(-1, 24), np.repeat(empty[:, None], 24, axis=1)
    empty = column.is_null().to_numpy()
    return column.fill_null(False if str(column.type) == "bool" else 0).to_numpy(), empty


@pytest.mark.parametrize("which", [0, 1])
def test_every_column_equals_what_pyarrow_reads(positions, which):
    reader = patzer.open(positions[which])
    table = pq.read_table(positions[which])
    assert reader.rows == table.num_rows
    assert reader.columns == [name for name in table.column_names if name not in ("fen", "uci")]
    batches = list(reader)
    assert reader.read == table.num_rows
    for name in reader.columns:
        values, empty = arrow(table[name])
        column = whole(batches, name)
        assert column.dtype == values.dtype, name
        assert np.array_equal(np.ma.getmaskarray(column), empty), name
        assert np.array_equal(np.ma.getdata(column)[~empty], values[~empty]), name


def test_fens_and_moves_are_those_of_the_readable_columns(positions):
    table = pq.read_table(positions[0], columns=["fen", "uci"]).to_pydict()
    batches = list(patzer.open(positions[0]))
    assert [batch.fen(i) for batch in batches for i in range(len(batch))] == table["fen"]
    assert [batch.uci(i) or "" for batch in batches for i in range(len(batch))] == table["uci"]


def test_boards_and_moves_are_those_of_python_chess(positions):
    batch = next(patzer.open(positions[0], columns="score"))
    squares = batch["squares"]
    for i in range(0, len(batch), 97):
        board = chess.Board(batch.fen(i))
        assert chess.Move.from_uci(batch.uci(i)) in board.legal_moves
        for square in chess.SQUARES:
            piece = board.piece_at(square)
            code = 0 if piece is None else piece.piece_type * (1 if piece.color else -1)
            assert squares[i, square] == code


@pytest.mark.parametrize("ending", FORMATS)
def test_another_format_gives_what_converting_it_gives(positions, patzer_cli, tmp_path, ending):
    file, back = tmp_path / f"x.{ending}", tmp_path / "back.parquet"
    patzer_cli("data", "convert", positions[0], "-o", file)
    patzer_cli("data", "convert", file, "-o", back)
    batches, same = list(patzer.open(file)), list(patzer.open(back))
    assert len(batches) >= 1
    for name in ["board", "stm", "ep", "result", "score", "move", "squares"]:
        if name in batches[0]:
            assert np.ma.allequal(whole(batches, name), whole(same, name)), name
            left, right = (np.ma.getmaskarray(whole(all, name)) for all in (batches, same))
            assert np.array_equal(left, right), name


def test_filters_keep_what_convert_keeps(positions, patzer_cli, tmp_path):
    kept = tmp_path / "kept.parquet"
    flags = ["--filter", "quiet", "--filter", "unique", "--filter-set", "before_capture.plies=2"]
    patzer_cli("data", "convert", positions[0], *flags, "-o", kept)
    reader = patzer.open(positions[0], ["quiet", "unique"], filter_set="before_capture.plies=2")
    batches, same = list(reader), list(patzer.open(kept))
    assert np.array_equal(whole(batches, "board"), whole(same, "board"))
    assert sum(map(len, batches)) + sum(reader.dropped.values()) == reader.read == reader.rows
    assert reader.dropped["duplicates"] > 0


def test_chosen_columns_are_those_of_the_whole_file(positions):
    names = ["leaf_score", "squares", "score"]
    some, all = next(patzer.open(positions[1], columns=names)), next(patzer.open(positions[1]))
    assert some.keys() == names == list(some.to_dict())
    assert np.ma.allequal(some["leaf_score"], all["leaf_score"])
    assert np.ma.allequal(some["score"], all["score"])
    assert [some.fen(i) for i in (0, 5, -1)] == [all.fen(i) for i in (0, 5, -1)]
    assert some.uci(3) == all.uci(3)


@pytest.mark.parametrize("size", [1, 1000, 16_384, 47_307, 10**9])
def test_batches_of_a_size_are_the_file_in_order(positions, patzer_cli, tmp_path, size):
    file = tmp_path / "x.bullet"
    patzer_cli("data", "convert", positions[0], "-o", file)
    for path in positions[0], file:
        batches = list(patzer.open(path, columns="squares", batch_size=size))
        assert {len(batch) for batch in batches[:-1]} <= {size} and 0 < len(batches[-1]) <= size
        assert np.array_equal(whole(batches, "squares"), whole(patzer.open(path), "squares"))


def test_batches_of_a_size_are_cut_after_filters(positions, tmp_path, patzer_cli):
    file = tmp_path / "x.csv"
    patzer_cli("data", "convert", positions[0], "-o", file)
    reader = patzer.open(file, "unique", batch_size=5000)
    batches, same = list(reader), list(patzer.open(file, "unique"))
    assert [len(batch) for batch in batches] == [5000] * (len(batches) - 1) + [len(batches[-1])]
    assert np.array_equal(whole(batches, "board"), whole(same, "board"))
    assert sum(map(len, batches)) + sum(reader.dropped.values()) == reader.read
    with pytest.raises((ValueError, OverflowError)):
        patzer.open(file, batch_size=0)


def test_a_batch_that_is_kept_stays_as_it_was(positions):
    batches = list(patzer.open(positions[0], batch_size=1000))
    first = batches[0]["board"].copy()
    del batches[1:]
    list(patzer.open(positions[0], batch_size=1000))
    assert np.array_equal(batches[0]["board"], first)


@pytest.mark.parametrize("which", [0, 1])
def test_arrow_batches_are_what_pyarrow_reads(positions, which):
    table = pq.read_table(positions[which])
    batch = next(patzer.open(positions[which]))
    arrow_batch = batch.arrow()
    assert arrow_batch.schema.names == batch.keys()
    for name in batch.keys():
        assert arrow_batch[name].equals(table[name].combine_chunks()), name
    assert pyarrow.record_batch(batch).equals(arrow_batch)


def test_squares_are_a_list_in_arrow(positions):
    batch = next(patzer.open(positions[0], columns=["squares", "score"], batch_size=10))
    assert batch.arrow()["squares"].to_pylist() == batch["squares"].tolist()


def test_an_array_is_its_own_memory(positions):
    batch = next(patzer.open(positions[0]))
    first = batch["result"]
    first[:] = 7
    assert first.flags.writeable and not np.any(batch["result"] == 7)


def test_errors_are_exceptions_of_one_line(positions, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.parquet: no such file"):
        patzer.open(tmp_path / "nowhere.parquet")
    with pytest.raises(ValueError, match="unknown filter preset `quiett`.*did you mean `quiet`"):
        patzer.open(positions[0], filter="quiett")
    with pytest.raises(ValueError, match="no format is called binpak"):
        patzer.open(positions[0], format="binpak")
    with pytest.raises(ValueError, match="no column `scor`.*did you mean `score`"):
        patzer.open(positions[0], columns=["scor"])
    batch = next(patzer.open(positions[0], columns="score"))
    with pytest.raises(KeyError, match="no column `depth`"):
        batch["depth"]
    with pytest.raises(IndexError, match="of a batch of"):
        batch.fen(len(batch))


def test_positions_before_a_fault_come_and_then_the_error(tmp_path):
    file = tmp_path / "x.epd"
    file.write_text("4k3/8/8/8/8/8/4P3/4K3 w - - c9 \"1-0\";\n4k3/8/8/8/8/8/4P3/9 w - - c9 \"1-0\";\n")
    reader = patzer.open(file)
    assert next(reader).fen(0).startswith("4k3/8/8/8/8/8/4P3/4K3 w")
    with pytest.raises(patzer.DataError, match="x.epd: line 2"):
        next(reader)
    assert list(reader) == []


def test_damage_in_a_dataset_is_an_error(positions, tmp_path):
    damaged = tmp_path / "damaged.parquet"
    content = bytearray(positions[0].read_bytes())
    content[1000] ^= 1  # in the boards, which come first
    damaged.write_bytes(content)
    with pytest.raises(patzer.DataError, match="damaged.parquet"):
        list(patzer.open(damaged))


def test_filters_that_a_file_hides_its_facts_from_are_named(positions, patzer_cli, tmp_path):
    file = tmp_path / "x.bullet"
    patzer_cli("data", "convert", positions[0], "-o", file)
    with pytest.warns(UserWarning, match=r"x.bullet: .* judge by.*: capture en_passant=true \(move played\)"):
        patzer.open(file, "capture")


def test_notices_are_warnings():
    with pytest.warns(UserWarning, match="unchecked.parquet: .*checksum"):
        list(patzer.open(ROOT / "fixtures/unchecked.parquet"))
