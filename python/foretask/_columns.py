"""scikit-learn's checks of a table, with errors that name the column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _check_feature_names, validate_data

from ._data import columns_of, nearest
from ._html import shown


def checked(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return what ``validate_data`` does; where it refuses the table, say which column is to blame."""
    try:
        return validate_data(estimator, X, *y, **options)
    except ValueError as error:
        message = str(error)
        known = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
        if "feature names should match" in message:
            hint = _renamed(columns_of(X), known)
        elif "Input X contains" in message:
            hint = _unusable(X, "is", finite=True)
            # What scikit-learn adds speaks of classifiers that take no gaps at all.
            message = message.split("\n")[0]
            if "NaN" in message and not options.get("reset", True):
                message += (
                    " No value was missing in training, so that nothing says what belongs there: fill it in, "
                    "or drop the row"
                )
        elif "could not convert string" in message:
            hint = _unusable(X, "holds text:", finite=False)
        else:
            raise
        if hint is None:
            raise
        raise ValueError(f"{hint}. {message}") from error


def checked_names(estimator: Any, X: Any) -> None:
    """Refuse a data frame whose columns are not those of training; say which."""
    try:
        _check_feature_names(estimator, X, reset=False)
    except ValueError as error:
        known = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
        hint = _renamed(columns_of(X), known)
        raise ValueError(f"{hint}. {error}") from error


def _renamed(given: list[str], known: list[str]) -> str | None:
    """Say what names that were not seen in training may stand for."""
    missing = [name for name in known if name not in given]
    unseen = [name for name in given if name not in known]
    if not missing and not unseen:
        return f"the columns are not in the order of training: {_list(known)}"
    if not missing:
        return f"the columns {_list(unseen)} were not there in training; leave them out"
    lost = [f"{shown(name)!r}{nearest(name, unseen)}" for name in missing]
    return f"columns that were there in training are missing: {_list(lost, quoted=False)}"


def _list(names: list[str], *, quoted: bool = True, most: int = 5) -> str:
    written = [repr(shown(name)) if quoted else name for name in names[:most]]
    return ", ".join(written) + (f" and {len(names) - most} more" if len(names) > most else "")


def _unusable(X: Any, verb: str, *, finite: bool) -> str | None:
    """Name the first column with a value that is no number, or no finite one, that value, and its row."""
    for name, values in _each_column(X):
        row = _first_unusable(values, finite)
        if row is not None:
            value = shown(values[row])
            return f"column {shown(name)!r} {verb} {value!r} in row {row} (rows count from 0)"
    return None


def _first_unusable(values: NDArray[Any], finite: bool) -> int | None:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        return next((row for row, value in enumerate(values) if not _is_number(value)), None)
    bad = np.flatnonzero(~np.isfinite(numbers))
    return int(bad[0]) if finite and bad.size else None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _each_column(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the columns of a table with their names; numbers where there are none."""
    names = columns_of(X)
    if hasattr(X, "column_names"):  # pyarrow
        yield from ((name, np.asarray(X.column(j).to_pylist(), dtype=object)) for j, name in enumerate(names))
    elif hasattr(X, "iloc"):  # pandas
        yield from ((name, np.asarray(X.iloc[:, j], dtype=object)) for j, name in enumerate(names))
    elif names:  # polars
        yield from ((name, np.asarray(X[:, j].to_list(), dtype=object)) for j, name in enumerate(names))
    elif not sparse.issparse(X):
        table = np.asarray(X)
        if table.ndim == 2:
            yield from ((str(j), table[:, j]) for j in range(table.shape[1]))
