"""Data frames with texts, categories and gaps, as the columns that the bridge takes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _foretask
from ._data import Names, columns_of, name_of
from ._pickles import Kept

#: How the types of numbers begin, in pandas, polars and pyarrow.
NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")

#: Numbers, or levels and the code of each row (-1 where it is missing).
Column = NDArray[np.float64] | tuple[list[str], NDArray[np.int64]]


@dataclass(frozen=True)
class Columns:
    """Named columns of numbers and texts, of one length."""

    names: list[str]
    columns: list[Column]
    rows: int

    def renamed(self, names: list[str], expected: int) -> Columns:
        """Name the columns of an array by their places in training."""
        if len(self.names) != expected:
            raise ValueError(
                f"X has {len(self.names)} features, but MultiTaskClassifier is expecting {expected} features "
                "as input"
            )
        return Columns([str(name) for name in names], self.columns, self.rows)

    @property
    def numeric(self) -> list[str]:
        """The names of the columns of numbers."""
        pairs = zip(self.names, self.columns, strict=True)
        return [name for name, column in pairs if not isinstance(column, tuple)]


def is_plain(X: Any) -> bool:
    """Whether data are numbers without gaps already, or something that scikit-learn should judge."""
    names = columns_of(X)
    if names:
        return all(_is_plain_number(_column(X, place)) for place in range(len(names)))
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f":
        return not np.isnan(X).any()
    return True


def is_finite(X: Any) -> bool:
    """Whether an array of floats has a finite sum, so that all of it is: one pass, and no second array."""
    if not isinstance(X, np.ndarray) or X.dtype not in (np.float64, np.float32):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def columns(X: Any) -> Columns:
    """Read a data frame, or an array whose columns are named by their numbers."""
    names = columns_of(X)
    if names:
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two columns are called {twice!r}; rename one of them")
        read = [_read(_column(X, place), name) for place, name in enumerate(names)]
        return Columns(names, read, len(X) if not hasattr(X, "num_rows") else X.num_rows)
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise ValueError("this classifier was trained on named columns; give a data frame with them")
    table = table.astype(np.float64, copy=False)
    named = [f"x{place}" for place in range(table.shape[1])]
    return Columns(
        named, [np.ascontiguousarray(table[:, place]) for place in range(table.shape[1])], len(table)
    )


@dataclass(frozen=True)
class Preparation(Kept):
    """How the columns of training data become features; by task where there are several."""

    bridge: _foretask.Preparation
    tasks: list[str]

    @classmethod
    def learn(cls, table: Columns, codes: NDArray[np.int64], tasks: Names) -> Preparation:
        """Learn from training rows, and say which columns are left out."""
        bridge = _foretask.Preparation.learn(
            table.names, table.columns, codes, len(tasks.names), _foretask.MAX_LEVELS, table.numeric
        )
        if not bridge.columns:
            raise ValueError("no column is left to learn from: " + _left_out(bridge.left_out))
        if bridge.left_out:
            warnings.warn("columns left out: " + _left_out(bridge.left_out), UserWarning, stacklevel=4)
        return cls(bridge, tasks.names)

    def apply(self, table: Columns, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Make features of rows, and say which texts are new."""
        features, unknown = self.bridge.apply(table.names, table.columns, codes)
        if unknown:
            seen = ", ".join(f"{count} in {name!r}" for name, count in unknown)
            warnings.warn(f"texts that training never saw: {seen}", UserWarning, stacklevel=4)
        return features

    def of(self, task: str) -> _foretask.Preparation:
        """Return that of one task alone."""
        return self.bridge.of_task(self.tasks.index(task) if task in self.tasks else 0)

    def codes(self, task: Any, rows: int) -> NDArray[np.int64]:
        """The task whose medians fill the gaps of each row."""
        if task is None or len(self.tasks) < 2:
            return np.zeros(rows, dtype=np.int64)
        place = {name: code for code, name in enumerate(self.tasks)}
        if isinstance(task, str) or np.ndim(task) == 0:
            return np.full(rows, place.get(name_of(task), 0), dtype=np.int64)
        return np.array([place.get(name_of(one), 0) for one in np.asarray(task).ravel()], dtype=np.int64)


def _left_out(columns: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name!r} ({why})" for name, why in columns)


def _column(X: Any, place: int) -> Any:
    """Return a column of a frame: a Series, or an Arrow array."""
    if hasattr(X, "column_names"):  # pyarrow
        return X.column(place)
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[:, place]
    return X.to_series(place) if hasattr(X, "to_series") else X[X.columns[place]]


def _is_plain_number(column: Any) -> bool:
    kind = str(column.type if hasattr(column, "num_chunks") else column.dtype).lower()
    read = _read(column, "") if kind.startswith(NUMBERS) else ([], np.array([]))
    return not isinstance(read, tuple) and not np.isnan(read).any()


def _read(column: Any, name: str) -> Column:
    """Turn a column into numbers, or into levels and codes."""
    if hasattr(column, "num_chunks"):  # pyarrow
        kind = str(column.type)
        if kind.startswith(NUMBERS):
            return np.array(column.cast("float64").to_numpy(), dtype=np.float64)
        return _from_objects(column.to_pylist(), name)
    kind = str(column.dtype).lower()
    if hasattr(column, "iloc"):  # pandas, its own missing values included
        if kind.startswith(NUMBERS):
            return np.array(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return _from_objects(column.tolist(), name)
    if kind.startswith(NUMBERS):  # polars
        return np.array(column.cast(float).to_numpy(), dtype=np.float64)
    return _from_objects(column.to_list(), name)


def _from_objects(values: list[Any], name: str) -> Column:
    """Objects: numbers and booleans are numbers, anything else is text."""
    missing = [value is None or value != value or type(value).__name__ == "NAType" for value in values]
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]
    number = (int, float, bool, np.integer, np.floating, np.bool_)
    if all(isinstance(value, number) for value in present):
        return np.array(
            [np.nan if gone else float(value) for value, gone in zip(values, missing, strict=True)],
            dtype=np.float64,
        )
    nested = next(
        (value for value in present if isinstance(value, list | tuple | dict | set | np.ndarray)), None
    )
    if nested is not None:
        raise ValueError(
            f"column {name!r} holds {type(nested).__name__}s; a column must hold numbers or texts"
        )
    texts = [None if gone else name_of(value) for value, gone in zip(values, missing, strict=True)]
    levels = sorted({text for text in texts if text is not None})
    place = {level: code for code, level in enumerate(levels)}
    codes = np.array([-1 if text is None else place[text] for text in texts], dtype=np.int64)
    return levels, codes
