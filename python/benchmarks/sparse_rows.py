"""Sparse rows against the bare products: text of 60 words a row in two tasks.

python python/benchmarks/sparse_rows.py [--rows 5000] [--words 20000]

Prints processor seconds and wall seconds of scipy's Gram product, one eigen-decomposition of that size
(scipy.linalg.eigh), a fit with its forecast, and what memory the fit took beside the data.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy import linalg, sparse

from foretask import MultiTaskClassifier


def words(n: int, p: int, per_row: int, rng: np.random.Generator) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw rows of words whose frequencies fall like one over their rank; two classes prefer others."""
    y = np.arange(n) % 2
    frequency = 1.0 / np.arange(10, p + 10)
    tilt = np.exp(0.35 * rng.normal(size=p))
    entries, starts = [], [0]
    for label in y:
        law = frequency * (tilt if label else 1.0)
        drawn = np.unique(np.searchsorted(np.cumsum(law / law.sum()), rng.random(per_row)).clip(max=p - 1))
        entries.append(drawn)
        starts.append(starts[-1] + len(drawn))
    columns = np.concatenate(entries)
    idf = np.log(1.0 / frequency)
    return sparse.csr_array((idf[columns], columns, starts), shape=(n, p)), y


def timed(what: str, work) -> float:
    """Run, print and return wall seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{what:44} {wall:7.2f} s wall {processor:7.2f} s processor")
    return wall


def held(what: str) -> float:
    """Return megabytes: ``VmRSS`` is what is held now, ``VmHWM`` the most since it was cleared."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def cleared() -> float:
    """Forget the peak; return what is held."""
    Path("/proc/self/clear_refs").write_text("5")
    return held("VmRSS")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--words", type=int, default=20_000)
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    X, y = words(asked.rows, asked.words, 60, rng)
    task = np.where(np.arange(asked.rows) % 3 == 0, "target", "source")
    # The fit first: what others free stays in pieces, in which large blocks find no place.
    before = cleared()
    model = MultiTaskClassifier(target="target")
    fit = timed("foretask: fit with forecast", lambda: model.fit(X, y, task))
    peak = held("VmHWM") - before
    predict = timed("foretask: predict", lambda: model.predict(X))
    gram = {}
    product = timed("scipy: Gram product, made dense", lambda: gram.update(K=(X @ X.T).toarray()))
    eigen = timed("scipy: one eigen-decomposition", lambda: linalg.eigh(gram["K"]))
    print(f"fit over product plus eigen-decomposition: {fit / (product + eigen):.2f}")
    most = 24 * asked.rows**2 / 2**20
    print(f"peak memory beside what was held before: {peak:.0f} MB; 3 n² doubles: {most:.0f} MB")
    print(f"expected error {model.forecast_.error:.2%}")
    print(f"predicting {asked.rows / predict:,.0f} rows a second")


if __name__ == "__main__":
    main()
