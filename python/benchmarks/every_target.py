"""What it takes to make every task a target, by the memory that targets may hold together.

    python python/benchmarks/every_target.py [--tasks 64] [--rows 1000] [--features 50]

Each line is a process of its own; memory is the peak beside what was held before the fit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import numpy as np
from sparse_rows import cleared, held

from foretask import MultiTaskClassifier

#: Targets, and bytes that they may hold together.
WAYS = {
    "one target": (0, None),
    "every task": (None, None),
    "every task, 128 MiB": (None, 2**27),
    "every task, 1 GiB": (None, 2**30),
}


def measured(way: str, tasks: int, rows: int, features: int) -> None:
    """Fit once and print a line."""
    rng = np.random.default_rng(0)
    n = tasks * rows
    task, y = np.repeat(np.arange(tasks), rows), rng.integers(0, 2, n)
    X = rng.standard_normal((n, features)) + 0.3 * y[:, None]
    target, budget = WAYS[way]
    # What is made once, such as threads, is no part of it.
    few = slice(0, 2 * rows)
    MultiTaskClassifier(target=0).fit(X[few], y[few], task[few])
    before, began = cleared(), time.perf_counter()
    MultiTaskClassifier(target=target, memory_budget=budget).fit(X, y, task)
    seconds = time.perf_counter() - began
    print(f"{way:20} {seconds:8.2f} s {held('VmHWM') - before:8.0f} MB", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=64)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--way", choices=WAYS)
    asked = parser.parse_args()
    if asked.way:
        measured(asked.way, asked.tasks, asked.rows, asked.features)
        return
    for way in WAYS:
        subprocess.run([sys.executable, *sys.argv, "--way", way], check=True)


if __name__ == "__main__":
    main()
