"""Leave-fold-out against leave-one-out on targets with many rows: errors, forecasts, decisions and time.

    python python/benchmarks/folds.py --data FOLDER

Every problem is fitted twice on the same rows, once by each road, in one process; time is the processor's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretask import MultiTaskClassifier

Array = NDArray[Any]
Problem = tuple[str, Array, Array, Array, Array, Array]

#: Rows of the target.
SIZES = (1000, 4000, 12000)


def parts(
    name: str, X: Array, y: Array, task: Array, target: int, rng: np.random.Generator
) -> Iterator[Problem]:
    """Yield a problem for each size that leaves at least a fifth of the target's rows to test on."""
    own = rng.permutation(np.flatnonzero(task == target))
    others = rng.permutation(np.flatnonzero(task != target))[:20_000]
    for size in SIZES:
        if size <= 0.8 * len(own):
            rows = np.concatenate([others, own[:size]])
            yield f"{name} {size}", X[rows], y[rows], task[rows] == target, X[own[size:]], y[own[size:]]


def problems(data: Path) -> Iterator[Problem]:
    """Yield rows, classes, whether they are the target's, and test rows with their classes."""
    rng = np.random.default_rng(0)
    with np.load(data / "mitbih.npz") as file:
        X, y, record = file["X_train"].astype(float), file["y_train"], file["record_train"]
    quarter = np.searchsorted(np.quantile(record, [0.25, 0.5, 0.75]), record)
    kept = np.isin(y, (0, 2))
    yield from parts("heartbeats N/V", X[kept], y[kept], quarter[kept], 1, rng)
    yield from parts("heartbeats, five kinds", X, y, quarter, 1, rng)
    with np.load(data / "mnist.npz") as file:
        images, digits = file["train_images"].reshape(-1, 784) / 255, file["train_labels"]
    some = images[rng.choice(len(images), 5000, replace=False)]
    basis = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)[2][:80].T
    pairs = [(4, 9), (7, 9), (3, 5), (3, 8)]
    rows = [np.flatnonzero(np.isin(digits, pair)) for pair in pairs]
    X = np.vstack([images[own] @ basis for own in rows])
    y = np.concatenate([digits[own] == pair[1] for own, pair in zip(rows, pairs, strict=True)]).astype(int)
    yield from parts("MNIST 3/8", X, y, np.repeat(np.arange(4), [len(own) for own in rows]), 3, rng)
    with np.load(data / "weather_aus.npz") as file:
        X, y, place = file["X"].astype(float), file["y"].astype(int), file["task"]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    yield from parts("rain, regions", X, y, place % 4, 2, rng)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    options = parser.parse_args()
    print(f"{'':<30}{'error %':>16}{'foretold %':>16}{'differ %':>10}{'CPU s':>14}")
    print(f"{'target rows':<30}{'one':>8}{'fold':>8}{'one':>8}{'fold':>8}{'':>10}{'one':>7}{'fold':>7}")
    errors, forecasts = [], []
    for name, X, y, own, tested, classes in problems(options.data):
        task = np.where(own, "target", "source")
        decided, foretold, taken = [], [], []
        for theory in ("leave-one-out", "leave-fold-out"):
            begin = time.process_time()
            model = MultiTaskClassifier(target="target", theory=theory, rehearse=False).fit(X, y, task=task)
            taken.append(time.process_time() - begin)
            decided.append(model.predict(tested))
            foretold.append(100 * model.forecast_.error)
        wrong = [100 * np.mean(of != classes) for of in decided]
        differ = 100 * np.mean(decided[0] != decided[1])
        errors.append(wrong[1] - wrong[0])
        forecasts.append(foretold[1] - foretold[0])
        print(
            f"{name:<30}{wrong[0]:>8.2f}{wrong[1]:>8.2f}{foretold[0]:>8.2f}{foretold[1]:>8.2f}"
            f"{differ:>10.2f}{taken[0]:>7.1f}{taken[1]:>7.1f}",
            flush=True,
        )
    print(
        f"fold less one, mean (largest): error {np.mean(errors):+.2f} ({max(errors, key=abs):+.2f}), "
        f"forecast {np.mean(forecasts):+.2f} ({max(forecasts, key=abs):+.2f})"
    )


if __name__ == "__main__":
    main()
