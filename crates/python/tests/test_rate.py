"""Ratings, compared with `patzer rate --json`."""

import json
import signal
import threading

import pytest

import patzer

GAMES = [("A", "B", "1-0"), ("B", "C", "1/2-1/2"), ("C", "A", "1-0"), ("A", "C", "1-0"), ("B", "A", "0-1"),
         ("C", "B", "0-1"), ("B", "C", "0-1"), ("A", "B", "1/2-1/2"), ("D", "A", "1-0"), ("B", "A", "1-0")]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "one.pgn", tmp_path / "two.pgn"]
    for path, games in zip(paths, (GAMES, GAMES[:5] * 3)):
        tags = (f'[White "{w}"]\n[Black "{b}"]\n[Result "{r}"]\n\n1. e4 {r}\n\n' for w, b, r in games)
        path.write_text("".join(tags))
    return paths


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"anchors": {"A": 2000.5, "C": 2100}, "scale": 200.24, "white": 30},
        {"model": "davidson", "white": "auto", "prior": 2.0, "min_games": 2},
        {"model": "rao-kupper", "average": 0.0, "bootstrap": 50, "seed": 3},
    ],
)
def test_ratings_equal_the_command(files, patzer_cli, named):
    flags = [f"--{key.replace('_', '-')}={value}" for key, value in named.items() if key != "anchors"]
    flags += [f"--anchor={name}={elo}" for name, elo in named.get("anchors", {}).items()]
    printed = json.loads(patzer_cli("rate", *files, *flags, "--json"))
    assert patzer.rate(files, **named) == printed
    assert len(printed["players"]) >= 3


def test_one_file_needs_no_list(files):
    assert patzer.rate(files[0]) == patzer.rate([str(files[0])])


def test_wrong_arguments_are_exceptions(files, tmp_path):
    for wrong, reason in [
        ({"model": "glicko"}, "elo, davidson or rao-kupper"),
        ({"white": "both"}, "a number of Elo"),
        ({"scale": 0}, "must be above 0"),
        ({"anchors": {"a": 2000}}, 'no rated game of "a"; there is "A"'),
        ({"anchors": {"A": float("nan")}}, "is no rating"),
        ({"bootstrap": 1_000_001}, "at most 1,000,000 samples"),
    ]:
        with pytest.raises(ValueError, match=reason):
            patzer.rate(files, **wrong)
    with pytest.raises(FileNotFoundError, match="nowhere.pgn"):
        patzer.rate(tmp_path / "nowhere.pgn")


def test_ctrl_c_ends_a_bootstrap(files):
    # The sample count would take minutes.
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        patzer.rate(files, bootstrap=1_000_000)
