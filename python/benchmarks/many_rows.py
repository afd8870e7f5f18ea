"""A fit of many rows, from array to classifier and forecast, beside scikit-learn on the target's rows alone.

    python python/benchmarks/many_rows.py [--rows 500000] [--features 200] [--tasks 4] [--times 3]

The best of so many times each, one after the other in turns; by the clock, and by processor time in brackets.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV

from foretask import MultiTaskClassifier


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, asked.rows)
    task = np.arange(asked.rows) % asked.tasks
    X = rng.standard_normal((asked.rows, asked.features))
    X += (2 * y - 1)[:, None] * (rng.standard_normal(asked.features) / np.sqrt(asked.features))
    own = task == 0
    X_own, y_own = X[own], y[own]
    ways: dict[str, Callable[[], Any]] = {
        "product of all rows": lambda: X.T @ X,
        "foretask, all tasks": lambda: MultiTaskClassifier(target=0).fit(X, y, task),
        "ridge, target": lambda: RidgeClassifierCV(np.logspace(-3, 3, 12)).fit(X_own, y_own),
        "ridge as it is, target": lambda: RidgeClassifierCV().fit(X_own, y_own),
        "logistic, target": lambda: LogisticRegression().fit(X_own, y_own),
    }
    taken = {name: (np.inf, np.inf) for name in ways}
    for _ in range(asked.times):
        for name, way in ways.items():
            clock, processor = time.perf_counter(), time.process_time()
            way()
            spent = time.perf_counter() - clock, time.process_time() - processor
            taken[name] = min(taken[name], spent)
    print(f"{asked.rows:,} rows x {asked.features}, {asked.tasks} tasks, {own.sum():,} rows of the target")
    ours = taken["foretask, all tasks"]
    for name, (clock, processor) in taken.items():
        ratio = f"{clock / ours[0]:6.2f} ({processor / ours[1]:5.2f}) times ours"
        print(f"{name:24} {clock:7.2f} s ({processor:6.2f} s)  {ratio}")


if __name__ == "__main__":
    main()
