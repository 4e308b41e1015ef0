"""The program that the tests compare with, and datasets that it makes once a run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def program():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / "release" / "patzer", target / "debug" / "patzer"]
    given = os.environ.get("PATZER_BIN") or next((str(path) for path in built if path.exists()), None)
    return given or shutil.which("patzer")


@pytest.fixture(scope="session")
def patzer_cli():
    """Run the command line and return its standard output."""
    path = program()
    if path is None:
        pytest.skip("no patzer binary: cargo build, or set PATZER_BIN")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def positions(patzer_cli, tmp_path_factory):
    """A dataset of the bundled games, with the readable columns, and leaves."""
    folder = tmp_path_factory.mktemp("positions")
    plain, labelled = folder / "positions.parquet", folder / "labelled.parquet"
    patzer_cli("extract", ROOT / "fixtures/engine.pgn.zst", "--with", "fen,uci", "-o", plain)
    patzer_cli("label", plain, "-o", labelled)
    return plain, labelled
