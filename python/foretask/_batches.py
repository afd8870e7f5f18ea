"""Rows that come some at a time: what users have as batches, as features with classes and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._data import columns_of, nearest, split_column

#: Values of an array that are handed over at a time (16 MB of doubles).
BLOCK = 1 << 21


class Batch(NamedTuple):
    """Some rows."""

    X: Any
    y: Any
    task: Any


def batches_of(data: Any, y: Any, task: Any) -> Iterator[Batch]:
    """Yield the rows of a data set, of an array, or of each item of an iterable."""
    if isinstance(data, np.ndarray):
        yield from _of_array(data, y, task)
        return
    if isinstance(data, str | bytes) or not (hasattr(data, "to_batches") or isinstance(data, Iterable)):
        raise TypeError(
            "batches must be an iterable of tables or of (X, y) or (X, y, task), a pyarrow dataset, or an "
            f"array; got {type(data).__name__}"
        )
    if columns_of(data) and not hasattr(data, "to_batches"):
        raise TypeError("this is one table and not batches of it: use add, or put it into a list")
    for batch in data.to_batches() if hasattr(data, "to_batches") else data:
        yield _of_item(batch, y, task)


def _of_array(X: Any, y: Any, task: Any) -> Iterator[Batch]:
    """Yield blocks of rows: of a memory-mapped file no more than a block need be in memory."""
    if X.ndim != 2 or y is None or isinstance(y, str):
        raise ValueError(
            "an array of batches must have shape (n_samples, n_features), and y one class per row"
        )
    if len(y) != len(X) or (np.ndim(task) == 1 and len(task) != len(X)):
        raise ValueError(f"y and task must have one value per row of X ({len(X)})")
    rows = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), rows):
        part = slice(start, start + rows)
        yield Batch(X[part], y[part], task[part] if np.ndim(task) == 1 else task)


def _of_item(batch: Any, y: Any, task: Any) -> Batch:
    """Return one item of an iterable: rows with their classes, or a table that has them as a column."""
    if isinstance(batch, tuple):
        if len(batch) not in (2, 3):
            raise ValueError(f"a batch must be (X, y) or (X, y, task); got {len(batch)} things")
        return Batch(batch[0], batch[1], batch[2] if len(batch) == 3 else task)
    columns = columns_of(batch)
    if not columns:
        raise ValueError("a batch must be (X, y), (X, y, task), or a table with named columns")
    if not isinstance(y, str):
        raise ValueError("y must name the column of the classes where batches are tables")
    if y not in columns:
        raise ValueError(f"y={y!r} names no column{nearest(y, columns)}")
    features, labels = split_column(batch, y)
    _refuse_texts(features, task)
    return Batch(features, labels, task)


def _refuse_texts(features: Any, task: Any) -> None:
    """Name a column that cannot be added up."""
    schema = getattr(features, "schema", None)
    if schema is None or not hasattr(schema, "types"):  # not pyarrow
        return
    import pyarrow.types as types

    for name, kind in zip(schema.names, schema.types, strict=True):
        if name == task or types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            continue
        raise ValueError(
            f"column {name!r} holds {kind}; statistics take numbers: leave the column out, or turn it into "
            "numbers first"
        )
