"""Chess datasets of every format as NumPy arrays, evaluations of positions, and statistics of matches."""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__version__: str

_Names: TypeAlias = str | Sequence[str]
_Bag: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32]]
_Model: TypeAlias = Literal["normalized", "logistic", "bayesian"]

class DataError(ValueError):
    """A file whose content is wrong; the message says where and why."""

@final
class Batch:
    """Neighbouring positions of a file, a mapping from names of columns to NumPy arrays.

    `len` is the number of positions. A column is made when it is asked for. Columns with empty cells are masked arrays.
    `squares` is in no file and in every batch: pieces by square, a1 = 0 to h8 = 63, 1 for a pawn to 6 for a king,
    negative for Black, 0 for none.
    """

    def __len__(self) -> int: ...
    def __contains__(self, name: str, /) -> bool: ...
    def __getitem__(self, name: str, /) -> NDArray[Any]: ...
    def keys(self) -> list[str]:
        """Return the names of the columns."""
    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return all columns as a dict of NumPy arrays."""
    def arrow(self) -> Any:
        """Return the batch as a pyarrow.RecordBatch, with the types of docs/schema.md; needs pyarrow.

        Numbers and boards are not copied on their way to Arrow; a column is made at each call, as a NumPy array is.
        `squares` is a list of 64 int8.
        """
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Pass the batch on to a library that reads Arrow's C data interface, such as polars or DuckDB; needs pyarrow."""
    def features(self, blocks: str = "all") -> tuple[_Bag, _Bag]:
        """Return the indices of the active features, as ((indices, offsets), (indices, offsets)), arrays of int32.

        The first pair is the side to move's, the second its opponent's, each with the board as that side sees it.
        offsets has for each position where its indices begin, as `torch.nn.EmbeddingBag` takes them;
        `torch.from_numpy` makes tensors of the arrays without a copy. The indices of a position are in no special order.
        blocks: feature blocks with + between them, such as "all+pp"; `patzer net features` lists them. No king buckets
        or mirroring are applied.
        """
    def fen(self, i: int) -> str:
        """Return position i as a FEN; a negative i counts from the end."""
    def uci(self, i: int) -> str | None:
        """Return the move played in position i in UCI notation, or None."""

@final
class Reader(Iterator[Batch]):
    """Iterator over the batches of a file; `patzer.open` makes it."""

    @property
    def format(self) -> str:
        """Name of the file's format."""
    @property
    def rows(self) -> int | None:
        """Number of positions before filters, if the file states it."""
    @property
    def columns(self) -> list[str]:
        """Names of the columns of each batch."""
    @property
    def read(self) -> int:
        """Number of positions read so far, dropped ones included."""
    @property
    def dropped(self) -> dict[str, int]:
        """Number of positions dropped so far, by filter."""
    def __iter__(self) -> Reader: ...
    def __next__(self) -> Batch: ...

def open(
    path: str | PathLike[str],
    filter: _Names | None = None,
    columns: _Names | None = None,
    format: str | None = None,
    *,
    filter_set: _Names | None = None,
    batch_size: int | None = None,
) -> Reader:
    """Open a file of positions and return an iterator over its batches.

    path: a file of any format that `patzer data convert --help` lists, also packed with gzip, Zstandard or bzip2.
    filter: a preset, a filter or a TOML file, or several; `patzer filters` lists them.
    columns: the columns of the batches; of a Parquet file no others are read. By default all that the file has.
    format: the format; by default the content says which, or else the name.
    filter_set: other values for filters' parameters, such as "before_capture.plies=3".
    batch_size: positions of each batch, the last of the file excepted; by default as the file's blocks come.
    """

def emit(
    net: str | PathLike[str],
    language: Literal["c", "cpp", "rust"] = "c",
    weights: Literal["embed", "load"] = "embed",
) -> str:
    """Write the inference of a network as source code, and return its text.

    net: a .nnue file, or the built-in network, "default". language: C99, C++17 or Rust 2021.
    weights: "embed", as numbers in the code, or "load", from the bytes of any file of this architecture.
    """

def evaluate(net: str | PathLike[str], fens: Iterable[str] | Batch) -> NDArray[np.int32]:
    """Evaluate positions and return centipawns from the side to move.

    net: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce.
    fens: FENs, or a batch of `patzer.open`. The evaluation is static, as `patzer eval` has it: no search.
    """

def label(
    fens: Iterable[str] | Batch,
    net: str | PathLike[str] = "default-hce",
    *,
    depth: int | None = None,
    nodes: int | None = None,
) -> tuple[list[str | None], NDArray[np.int16]]:
    """Resolve positions to the quiet leaf of a search, and return the leaves' FENs and scores.

    fens: FENs, or a batch of `patzer.open`. net: an evaluation, as of `evaluate`.
    depth, nodes: resolve the end of a search to this depth or of this many nodes; by default the position itself.
    The FENs have no en passant square and no clocks. The scores, a masked array, are centipawns from the side to move of
    the leaf, or mate scores; a leaf that is stalemate has neither: its FEN is None and its score masked. As
    `patzer label` does.
    """

def rate(
    games: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    model: Literal["elo", "davidson", "rao-kupper"] = "elo",
    anchors: dict[str, float] | None = None,
    average: float = 2300.0,
    white: float | Literal["auto"] = 0.0,
    scale: float = 202.0,
    prior: float = 0.0,
    min_games: int = 1,
    bootstrap: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """Rate the players of games; the dict is that of `patzer rate --json`.

    games: a PGN file or several, plain or compressed.
    anchors: ratings to keep, by name; average: the mean rating of a pool without anchors.
    white: White's advantage in Elo, or "auto" to fit it. scale: the difference at which 76 % of the points are expected.
    prior: games against an average player, half won and half lost, added to everyone.
    min_games: players with fewer are left out.
    bootstrap: samples for the errors, 1,000,000 at most, 0 for the covariance; seed: of the samples.
    """

def elo(
    *,
    ptnml: Sequence[int] | None = None,
    wdl: Sequence[int] | None = None,
    elo0: float = 0.0,
    elo1: float = 5.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    model: _Model = "normalized",
) -> dict[str, Any]:
    """Compute Elo, normalised Elo, LOS, LLR and verdict from counts; the dict is that of `patzer elo --json`.

    ptnml: pairs of games by the first player's score: both lost, loss and draw, even, win and draw, both won.
    wdl: single games: won, drawn and lost by the first player. Give one of the two.
    elo0, elo1: the hypotheses, in Elo of the model. alpha, beta: the error rates, 0 to 1.
    """

def llr(
    *,
    ptnml: Sequence[int] | None = None,
    wdl: Sequence[int] | None = None,
    elo0: float = 0.0,
    elo1: float = 5.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    model: _Model = "normalized",
) -> float:
    """Compute the log-likelihood ratio of a sequential test, from the arguments of `elo`."""
