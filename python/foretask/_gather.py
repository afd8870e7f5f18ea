"""Statistics of the parts of a data set, and their union in an order that is fixed beforehand.

What Dask and Spark have in common. A part is numbered, and parts are united in pairs by their numbers,

    ((0 1) (2 3)) ((4 5) 6)

so that who computes which part, and when, changes no bit of the result.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._classifier import MultiTaskClassifier
from ._data import Names, is_missing, named, nearest
from ._html import shown
from ._statistics import Statistics

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Rows that are added at a time. How a part comes (one frame, many batches) does not matter then.
BLOCK = 65_536

#: What labels are: names alone do not tell 1 from "1", nor true from "true".
Kind = Literal["numbers", "truth values", "texts"]


def empty(target: Any) -> Statistics:
    """Return statistics without rows that keep what a fit for this target needs (None: for every task).

    The only place where parts begin: what they keep is decided here.
    """
    return Statistics(target=True if target is None else [target])


@dataclass(frozen=True)
class Roles:
    """Which columns are what."""

    #: As the data name them; numbers for the columns of arrays.
    features: tuple[Any, ...]
    label: Any = None
    task: Any = None
    target: Any = None
    #: Whether features have names that a model should remember.
    are_named: bool = True
    #: Whether another column is an error, as it is where all columns are features.
    exact: bool = False

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, if they have any."""
        return tuple(str(name) for name in self.features) if self.are_named else None

    @property
    def columns(self) -> list[Any]:
        """All columns that are read."""
        own = [column for column in (self.label, self.task) if column is not None]
        return [*self.features, *own]


class Rows(NamedTuple):
    """Rows as numbers (C order, double precision), with their classes and tasks."""

    table: NDArray[np.float64]
    labels: NDArray[Any]
    tasks: NDArray[Any] | None


@dataclass(frozen=True)
class Part:
    """Statistics of some parts, with what must be alike in all of them."""

    name: str
    statistics: Statistics
    names: tuple[str, ...] | None = None
    #: By what is named: classes and tasks.
    kinds: dict[str, Kind] = field(default_factory=dict)

    def filled(self) -> Part:
        """Return itself, unless there are no rows."""
        if self.statistics.n_samples == 0:
            raise ValueError("there are no rows in any part of the data")
        return self


# One part


def part(number: int, blocks: Iterable[Rows], roles: Roles, where: str = "") -> Part:
    """Make the statistics of one part; its rows may come in any number of blocks."""
    name = f"partition {number}" + (f" ({where})" if where else "")
    statistics, kinds, seen = empty(roles.target), dict[str, Kind](), 0
    try:
        for rows in map(_plain, _in_blocks(blocks)):
            if rows.table.shape[1] != len(roles.features):
                raise ValueError(
                    f"there are {rows.table.shape[1]} features where {len(roles.features)} were expected"
                )
            _check(rows, roles, seen)
            for what, values in (("classes", rows.labels), ("tasks", rows.tasks)):
                if values is not None:
                    _same_kind(kinds, what, kind_of(values), name, name)
            statistics.add(*rows)
            seen += len(rows.table)
    except _Located as error:
        raise ValueError(f"{name}: {error}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from error
    return Part(name, statistics, roles.names, kinds)


def _plain(rows: Rows) -> Rows:
    """Make texts of objects that are all texts, which are looked at one by one no more."""

    def texts(values: NDArray[Any] | None) -> Any:
        if values is None or values.dtype.kind != "O" or not all(type(value) is str for value in values):
            return values
        return values.astype(np.str_)

    return Rows(rows.table, texts(rows.labels), texts(rows.tasks))


class _Located(ValueError):
    """An error that says where it is."""


def _check(rows: Rows, roles: Roles, before: int) -> None:
    """Refuse values that are missing or not finite; say in which row and column."""
    table, labels, tasks = rows
    if not len(table) == len(labels) == (len(labels) if tasks is None else len(tasks)):
        counts = f"{len(table)} rows of features, {len(labels)} classes"
        raise _Located(counts + ("" if tasks is None else f", {len(tasks)} tasks"))
    finite = np.isfinite(table)
    if not finite.all():
        row, column = (int(place) for place in np.argwhere(~finite)[0])
        raise _Located(_bad(roles.features[column], table[row, column], before + row))
    for column, values in ((roles.label, labels), (roles.task, tasks)):
        place = None if values is None else first_missing(values)
        if place is not None:
            raise _Located(_bad(column, "missing", before + place))
    if labels.dtype.kind == "f" and (labels % 1 != 0).any():
        place = int(np.flatnonzero(labels % 1 != 0)[0])
        where = _bad(roles.label, labels[place], before + place)
        raise _Located(f"{where}; classes must be whole numbers or texts")


def _bad(column: Any, value: Any, row: int) -> str:
    return f"column {shown(str(column))!r} is {value} in row {row} (rows count from 0)"


def first_missing(values: NDArray[Any]) -> int | None:
    """Where the first missing label is."""
    if values.dtype.kind == "f":
        missing = np.flatnonzero(~np.isfinite(values))
        return int(missing[0]) if missing.size else None
    if values.dtype.kind != "O":
        return None
    return next((row for row, value in enumerate(values) if is_missing(value)), None)


def kind_of(values: NDArray[Any]) -> Kind:
    """Say what labels are.

    >>> [kind_of(np.array(labels, dtype=object)) for labels in ([1, 2.5], [True], ["1", 1])]
    ['numbers', 'truth values', 'texts']
    """
    kind = values.dtype.kind
    if kind == "O":
        if all(isinstance(value, bool | np.bool_) for value in values):
            return "truth values"
        numbers = (int, float, np.integer, np.floating)
        plain = all(isinstance(value, numbers) and not isinstance(value, bool) for value in values)
        return "numbers" if plain else "texts"
    return "truth values" if kind == "b" else "numbers" if kind in "iuf" else "texts"


def _same_kind(kinds: dict[str, Kind], what: str, kind: Kind, here: str, there: str) -> None:
    known = kinds.setdefault(what, kind)
    if known != kind:
        raise ValueError(f"{what} are {known} in {here} and {kind} in {there}; give them one type")


def _in_blocks(parts: Iterable[Rows]) -> Iterator[Rows]:
    """Yield the same rows in blocks of one size, the last excepted."""
    held: list[Rows] = []
    count = 0
    for rows in parts:
        held.append(rows)
        count += len(rows.table)
        if count < BLOCK:
            continue
        whole = _joined(held)
        full = count - count % BLOCK
        for start in range(0, full, BLOCK):
            yield _slice(whole, start, start + BLOCK)
        held, count = ([_slice(whole, full, count)], count - full) if count > full else ([], 0)
    if count:
        yield _joined(held)


def _joined(parts: list[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    tasks = [rows.tasks for rows in parts if rows.tasks is not None]
    return Rows(
        np.concatenate([rows.table for rows in parts]),
        np.concatenate([rows.labels for rows in parts]),
        np.concatenate(tasks) if tasks else None,
    )


def _slice(rows: Rows, start: int, end: int) -> Rows:
    tasks = None if rows.tasks is None else rows.tasks[start:end]
    return Rows(rows.table[start:end], rows.labels[start:end], tasks)


# Tables as rows


def of_frame(frame: pd.DataFrame, roles: Roles) -> Rows:
    """Read a pandas frame."""
    lacking_or_foreign([*frame.columns], roles)
    features = frame[[*roles.features]]
    for name, dtype in zip(roles.features, features.dtypes, strict=True):
        if getattr(dtype, "kind", "O") not in "fiub":
            _refuse_type(name, dtype)
    table = features.to_numpy(dtype=np.float64, na_value=np.nan)
    tasks = None if roles.task is None else frame[roles.task].to_numpy()
    return Rows(np.ascontiguousarray(table), frame[roles.label].to_numpy(), tasks)


def of_arrow(batch: pa.RecordBatch | pa.Table, roles: Roles) -> Rows:
    """Read an Arrow table."""
    lacking_or_foreign(batch.schema.names, roles)
    table = np.empty((batch.num_rows, len(roles.features)))
    for place, name in enumerate(roles.features):
        table[:, place] = _numbers(batch.column(name), name)
    tasks = None if roles.task is None else arrow_labels(batch.column(roles.task))
    return Rows(table, arrow_labels(batch.column(roles.label)), tasks)


def _numbers(column: Any, name: Any) -> NDArray[np.float64]:
    import pyarrow.types as types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        if not types.is_boolean(kind):
            _refuse_type(name, kind)
    return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)


def arrow_labels(column: Any) -> NDArray[Any]:
    """Read a column of classes or tasks."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    # Where some are missing, whole numbers would become others.
    if column.null_count:
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _refuse_type(name: Any, kind: Any) -> None:
    raise _Located(
        f"column {shown(str(name))!r} holds {kind}; statistics take numbers: leave the column out, or "
        "turn it into numbers first"
    )


def lacking_or_foreign(columns: Sequence[Any], roles: Roles) -> None:
    """Refuse a part that lacks a column, or has one that others have not; columns may be in any order."""
    there = set(columns)
    missing = [column for column in roles.columns if column not in there]
    if missing:
        hint = nearest(str(missing[0]), [str(column) for column in columns if column not in roles.columns])
        raise _Located(f"there is no column {shown(str(missing[0]))!r}{hint}")
    if roles.exact:
        known = set(roles.columns)
        foreign = next((column for column in columns if column not in known), None)
        if foreign is not None:
            raise _Located(f"the column {shown(str(foreign))!r} is not in the first part; leave it out")


# Parquet


class Piece(NamedTuple):
    """A row group of a Parquet file."""

    path: str
    group: int

    @property
    def where(self) -> str:
        """For people."""
        return f"{self.path}, row group {self.group}"


def is_paths(X: Any) -> bool:
    """Whether data are named by files."""
    if isinstance(X, str | os.PathLike):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(one, str | os.PathLike) for one in X)


def pieces_of(paths: Any, label: Any, task: Any, target: Any, features: Any) -> tuple[list[Piece], Roles]:
    """List the row groups of files, folders and patterns, file by file in the order of their names."""
    import pyarrow.parquet as pq

    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = [file for one in given for file in _files(os.fspath(one))]
    pieces: list[Piece] = []
    roles: Roles | None = None
    for path in files:
        with pq.ParquetFile(path) as file:
            groups = file.metadata.num_row_groups
            columns = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
        if roles is None:
            roles = roles_of(columns, label, task, target, features)
        try:
            lacking_or_foreign(columns, roles)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        pieces.extend(Piece(path, group) for group in range(groups))
    if roles is None:
        raise ValueError("there are no Parquet files to read")
    return pieces, replace(roles, exact=False)


def _files(path: str) -> list[str]:
    if os.path.isdir(path):
        # Engines leave files of their own beside the data.
        inside = sorted(str(file) for file in Path(path).rglob("*.parquet"))
        found = [file for file in inside if not os.path.basename(file).startswith(("_", "."))]
    else:
        found = sorted(glob.glob(path)) if glob.has_magic(path) else [path]
    if not found or not os.path.exists(found[0]):
        raise FileNotFoundError(f"there is no Parquet file at {path!r}")
    return found


def roles_of(columns: Sequence[Any], label: Any, task: Any, target: Any, features: Any) -> Roles:
    """Say which columns are what; all that are neither label nor task are features unless some are named."""
    for what, column in (("y", label), ("task", task)):
        if column is not None and column not in columns:
            known = [str(name) for name in columns]
            raise ValueError(f"{what}={column!r} names no column{nearest(str(column), known)}")
    if label is None:
        raise ValueError("y must name the column of the classes")
    if features is not None:
        missing = next((name for name in features if name not in columns), None)
        if missing is not None:
            known = [str(name) for name in columns]
            raise ValueError(f"there is no column {missing!r}{nearest(str(missing), known)}")
        return Roles(tuple(features), label, task, target)
    rest = tuple(column for column in columns if column not in (label, task))
    if not rest:
        raise ValueError("there are no columns of features")
    return Roles(rest, label, task, target, exact=True)


def read_piece(number: int, piece: Piece, roles: Roles) -> Part:
    """Make the statistics of a row group, block by block."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(piece.path) as file:
        batches = file.iter_batches(BLOCK, row_groups=[piece.group], columns=roles.columns)
        return part(number, (of_arrow(batch, roles) for batch in batches), roles, piece.where)


# The union


def union(first: Part, second: Part, target: Any) -> Part:
    """Unite two parts; they stay as they are, for whoever computes something again."""
    names, kinds = first.names or second.names, dict(first.kinds)
    for what, kind in second.kinds.items():
        _same_kind(kinds, what, kind, first.name, second.name)
    try:
        # Parts are told apart by their numbers: two that hold the same rows are two.
        both = empty(target).merge(first.statistics, again=True).merge(second.statistics, again=True)
    except ValueError as error:
        raise ValueError(f"{first.name} and {second.name}: {error}") from error
    return Part(first.name, both, names, kinds)


def tree(parts: Iterable[Part], target: Any) -> Part:
    """Unite parts in fixed pairs; no more than log n of them are held at a time.

    Complete subtrees may be computed elsewhere: the tree of the trees of 2^j parts each is the same tree.
    """
    held: list[tuple[int, Part]] = []
    for one in parts:
        size = 1
        while held and held[-1][0] == size:
            one, size = union(held.pop()[1], one, target), 2 * size
        held.append((size, one))
    if not held:
        raise ValueError("there are no parts to unite")
    _, whole = held.pop()
    while held:
        whole = union(held.pop()[1], whole, target)
    return whole


def fan(features: int) -> int:
    """How many parts are united at a time: a power of two, fewer where they are large.

    >>> fan(50), fan(300), fan(5000)
    (32, 8, 2)
    """
    return 32 if features <= 128 else 8 if features <= 512 else 2


# The fit


def fitted(model: MultiTaskClassifier, whole: Part) -> MultiTaskClassifier:
    """Train on gathered statistics; names of features and types of labels are those of the data."""
    model.fit_from_statistics(whole.filled().statistics)
    if whole.names is not None:
        model.feature_names_in_ = np.array(whole.names, dtype=object)
    classes = _typed(model._classes.names, whole.kinds.get("classes"))
    tasks = _typed(model._tasks.names, whole.kinds.get("tasks"))
    # Names are in the order of their labels, which is another for texts than for numbers.
    relatedness = getattr(model, "relatedness_", None)
    order = [model._tasks.names.index(name) for name in tasks.names]
    model._keep(tasks, classes, list(model._by_name.values()), None)
    if relatedness is not None:
        model.relatedness_ = relatedness[np.ix_(order, order)]
    return model


def _typed(names: list[str], kind: Kind | None) -> Names:
    """Turn names into labels of the type that the data had."""
    if kind == "truth values":
        return Names.of(np.array(sorted(name == "true" for name in names)), "labels")
    if kind == "texts":
        return Names.of(np.array(sorted(names)), "labels")
    if kind == "numbers":
        whole = named(names)
        if whole.labels.dtype.kind != "i":
            return Names.of(np.array(sorted(float(name) for name in names)), "labels")
        return whole
    return named(names)
