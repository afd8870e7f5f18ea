"""From what users have (arrays, data frames, labels of any type) to what the bridge takes."""

from __future__ import annotations

import numbers
from collections.abc import Container, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from ._pickles import Kept

#: The task of data that name none.
ONLY_TASK = "target"

#: What scikit-learn's checks let through.
TABLE = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


@dataclass(frozen=True)
class Names(Kept):
    """Distinct labels in ascending order, with the name that files know each by."""

    labels: NDArray[Any]
    names: list[str]

    def _verify(self) -> None:
        if self.labels.ndim != 1 or Names.of(self.labels, "labels").names != self.names:
            raise ValueError("labels and names differ")

    @classmethod
    def of(cls, labels: NDArray[Any], what: str) -> Names:
        """Name distinct labels."""
        names = [name_of(label) for label in labels]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two different {what} are both written {twice!r}")
        return cls(labels, names)

    def find(self, label: Any, what: str) -> str:
        """Name a label that must be known."""
        name = name_of(label)
        if name not in self.names:
            known = ", ".join(repr(known) for known in self.names)
            raise ValueError(f"there is no {what} {name!r}; known: {known}")
        return name

    def label(self, name: str) -> Any:
        """Return the label behind a name, as Python's own type."""
        label = self.labels[self.names.index(name)]
        return label.item() if isinstance(label, np.generic) else label

    def restricted(self, names: Container[str]) -> Names:
        """Return some of the labels, in the same order."""
        kept = [code for code, name in enumerate(self.names) if name in names]
        return Names(self.labels[kept], [self.names[code] for code in kept])

    def index(self, names: list[str]) -> NDArray[np.int64]:
        """Where the given names are in the list."""
        place = {name: code for code, name in enumerate(self.names)}
        return np.array([place[name] for name in names], dtype=np.int64)


@dataclass(frozen=True)
class Samples:
    """Training data as the bridge reads them (``samples.rs``)."""

    table: NDArray[Any] | SparseTable
    task_codes: NDArray[np.int64]
    task_names: list[str]
    class_codes: NDArray[np.int64]
    class_names: list[str]
    times: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    groups: list[str] | None = None


def name_of(label: Any) -> str:
    """Name a label as the command line does, so that both know the same classes and tasks.

    >>> [name_of(label) for label in (3, 3.0, 0.5, True, "mug")]
    ['3', '3', '0.5', 'true', 'mug']
    """
    if isinstance(label, bool | np.bool_):
        return "true" if label else "false"
    if isinstance(label, numbers.Integral):
        return str(int(label))
    if isinstance(label, numbers.Real):
        value = float(label)
        return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")
    return str(label)


def labels_of(names: list[str]) -> NDArray[Any]:
    """Turn names from a model file into labels: integers if all are whole numbers."""
    try:
        whole = [int(name) for name in names]
    except ValueError:
        return np.array(names)
    same = all(str(value) == name for value, name in zip(whole, names, strict=True))
    return np.array(whole if same else names)


def named(names: list[str]) -> Names:
    """Names from a file, with their labels in ascending order."""
    labels = labels_of(names)
    order = np.argsort(labels)
    return Names(labels[order], [names[place] for place in order])


def encode(values: Any, what: str) -> tuple[Names, NDArray[np.int64]]:
    """Names of the distinct values, and the code of each."""
    values = column_or_1d(values)
    if values.dtype.kind == "O" and any(is_missing(value) for value in values):
        raise ValueError(f"{what} contains missing values")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{what} contains NaN or infinity")
    labels, codes = _small_integers(values) or np.unique(values, return_inverse=True)
    return Names.of(labels, what), codes.astype(np.int64, copy=False)


def _small_integers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return what ``np.unique`` would of integers near each other, without sorting; None of anything else."""
    if values.dtype.kind not in "iu" or values.size == 0:
        return None
    least, most = int(values.min()), int(values.max())
    # One place for each: no more of them than rows.
    if most - least >= min(values.size, 2**16) or most > np.iinfo(np.int64).max:
        return None
    places = values.astype(np.int64) - least
    there = np.bincount(places, minlength=most - least + 1) > 0
    labels = (np.flatnonzero(there) + least).astype(values.dtype)
    return labels, (np.cumsum(there) - 1)[places]


def is_missing(value: Any) -> bool:
    """Whether a label is None, NaN, NaT or pandas' NA, which is not even a truth value when compared."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def refuse_missing(values: Any, what: str) -> None:
    """Refuse pandas' NA among labels, on which scikit-learn's own check stumbles, and say where it is."""
    kind = getattr(values, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind != "O":
        return
    objects = np.asarray(values, dtype=object) if hasattr(values, "dtype") else np.asarray(values)
    if objects.ndim == 1 and objects.dtype.kind == "O":
        row = next((row for row, value in enumerate(objects) if type(value).__name__ == "NAType"), None)
        if row is not None:
            raise ValueError(f"{what} contains missing values: row {row} has none (rows count from 0)")


def refuse_lazy(*data: Any) -> None:
    """Refuse collections of Dask, which would all be gathered into this process without a word."""
    for one in data:
        if hasattr(one, "__dask_graph__") and one.__dask_graph__() is not None:
            raise TypeError(
                f"a Dask {type(one).__name__} would be gathered into memory whole: use foretask.dask "
                "(DaskMultiTaskClassifier, gather), or call compute() on it first"
            )


@dataclass(frozen=True)
class SparseTable:
    """Sparse rows as the bridge reads them (``arrays.rs``): CSR with columns that ascend."""

    starts: NDArray[np.uintp]
    columns: NDArray[np.uint32]
    values: NDArray[Any]
    features: int

    @classmethod
    def of(cls, X: Any) -> SparseTable:
        """Take a sparse matrix of scipy; columns and values are not copied if they are in order."""
        rows = X.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy() if rows is X else rows
            rows.sum_duplicates()
        columns = (
            rows.indices.astype(np.uint32) if rows.indices.itemsize != 4 else rows.indices.view(np.uint32)
        )
        values = rows.data if rows.data.dtype in (np.float64, np.float32) else rows.data.astype(np.float64)
        return cls(rows.indptr.astype(np.uintp), columns, np.ascontiguousarray(values), rows.shape[1])


def table_of(X: Any) -> NDArray[Any] | SparseTable:
    """Return a contiguous, aligned table: as it is if it is one already, a copy otherwise; or sparse rows."""
    if sparse.issparse(X):
        return SparseTable.of(X)
    if (X.flags.c_contiguous or X.flags.f_contiguous) and X.flags.aligned:
        return np.asarray(X)
    # What arrives in the midst of a message, or of a record, may begin at any byte.
    return np.require(X, requirements=["C", "A"])


def repetitions(sample_weight: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return how often each row counts; None where not all weights are whole numbers.

    >>> repetitions(np.array([2.0, 0.0, 1.0])), repetitions(np.array([2.0, 0.5]))
    (array([2, 0, 1]), None)
    """
    negative = np.flatnonzero(sample_weight < 0)
    if negative.size:
        row = negative[0]
        raise ValueError(f"sample_weight must be zero or more; row {row} has {sample_weight[row]}")
    whole = np.rint(sample_weight)
    return whole.astype(np.int64) if np.array_equal(whole, sample_weight) else None


def cell_codes(
    task_codes: NDArray[np.int64], class_codes: NDArray[np.int64], classes: Names
) -> NDArray[np.int64]:
    """Return one number for the task and the class of each row: pairs would be sorted twenty times slower."""
    return task_codes * len(classes.names) + class_codes


def class_weights(
    class_weight: Any,
    classes: Names,
    task_codes: NDArray[np.int64],
    class_codes: NDArray[np.int64],
    sample_weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the weight of each row: that of its class, times its own."""
    own = np.ones(len(class_codes)) if sample_weight is None else sample_weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        cells, cell = np.unique(cell_codes(task_codes, class_codes, classes), return_inverse=True)
        mass = np.bincount(cell, weights=own, minlength=len(cells))
        there = mass > 0
        task, number = cells // len(classes.names), np.zeros(len(cells))
        for code in np.unique(task):
            inside = (task == code) & there
            number[inside] = mass[inside].sum() / inside.sum()
        factor = np.divide(number, mass, out=np.zeros_like(mass), where=there)
        return np.asarray(own * factor[cell])
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced', or a dict with a weight for classes; got "
            + repr(class_weight)
        )
    factor = np.ones(len(classes.names))
    for label, weight in class_weight.items():
        if not isinstance(weight, numbers.Real) or not 0 <= float(weight) < np.inf:
            raise ValueError(
                f"class_weight must be finite numbers, zero or more; class {label!r} has {weight!r}"
            )
        factor[classes.names.index(classes.find(label, "class"))] = weight
    return np.asarray(own * factor[class_codes])


def columns_of(X: Any) -> list[str]:
    """Return the column names of a data frame; none for anything else."""
    if hasattr(X, "column_names"):  # pyarrow
        return list(X.column_names)
    if hasattr(X, "columns") and hasattr(X, "shape"):  # pandas, polars
        return [str(column) for column in X.columns]
    return []


def nearest(name: str, known: list[str]) -> str:
    """Return words that name the known name which is most like this one; none where none is.

    >>> nearest("speces", ["bill", "species"]), nearest("colour", ["bill", "species"])
    (" (did you mean 'species'?)", '')
    """
    alike = get_close_matches(name, known, n=1)
    return f" (did you mean {alike[0]!r}?)" if alike else ""


def split_column(X: Any, column: str) -> tuple[Any, NDArray[Any]]:
    """Take a column out of a data frame."""
    if hasattr(X, "column_names"):  # pyarrow
        return X.drop_columns([column]), np.asarray(X.column(column).to_pylist())
    if hasattr(X, "iloc"):  # pandas
        return X.drop(columns=[column]), np.asarray(X[column])
    return X.drop(column), np.asarray(X[column].to_list())


def one_per_row(what: str, values: Any, rows: int) -> NDArray[Any]:
    """Return a list with one value for each row of the table."""
    values = np.asarray(values)
    if values.shape not in ((rows,), (rows, 1)):
        raise ValueError(f"{what} must have one value per row of X ({rows}); got shape {values.shape}")
    return values.ravel()


def reordered(matrix: NDArray[np.float64], places: list[str], tasks: Names) -> NDArray[np.float64]:
    """Return a matrix over tasks, which come as in ``places``, in our order."""
    order = [places.index(name) for name in tasks.names]
    return matrix[np.ix_(order, order)]
