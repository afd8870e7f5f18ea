"""Measure reading: tables against polars and pyarrow, a check against reading alone, memory of many targets.

Prints one table. Every ratio is of processor time (user and system) taken in turn within one run, each the
best of a few, on one thread each: on a machine at work the clock says little. Of the command line the whole
process counts, of polars and pyarrow the call alone. Memory is the peak of the process that did the work.
Run from the root of the repository, with the command line built for release:

    cargo build --release --workspace
    python python/benchmarks/reading.py
    python python/benchmarks/reading.py --rows 200000 --check-rows 400000 --skip-targets
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ONE_THREAD = {
    name: "1"
    for name in ("RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
}

POLARS = """
import os, sys
import polars as pl
start = os.times()
rows = pl.read_csv(sys.argv[1]).height
end = os.times()
print(end.user - start.user, end.system - start.system, rows)
"""

PYARROW = """
import os, sys
import pyarrow.parquet as pq
start = os.times()
rows = pq.read_table(sys.argv[1], use_threads=False).num_rows
end = os.times()
print(end.user - start.user, end.system - start.system, rows)
"""

#: Full and rounded decimals, whole numbers, texts, a label and a task; Parquet as pandas writes it.
TABLE = """
import sys
import numpy as np
import polars as pl
import pyarrow.parquet as pq
rows, columns = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
texts = np.array(["north", "south", "east", "west", "centre"])
data = {}
for column in range(columns - 2):
    values = rng.standard_normal(rows)
    match column % 6:
        case 0 | 1 | 2:
            data[f"full{column}"] = values
        case 3:
            data[f"rounded{column}"] = np.round(100.0 * values, 2)
        case 4:
            data[f"whole{column}"] = rng.integers(0, 10_000, rows)
        case _:
            data[f"text{column}"] = texts[rng.integers(0, len(texts), rows)]
data["label"] = np.array(["ill", "well"])[rng.integers(0, 2, rows)]
data["task"] = np.char.add("hospital ", (np.arange(rows) % 8).astype(str))
frame = pl.DataFrame(data)
frame.write_csv(sys.argv[3])
pq.write_table(frame.to_arrow(), sys.argv[4])
"""

TARGETS = """
import resource, sys
import numpy as np
from foretask import MultiTaskClassifier
rows, columns, tasks, target, budget = (int(word) for word in sys.argv[1:])
rng = np.random.default_rng(0)
task = np.arange(rows) % tasks
y = rng.integers(0, 2, rows)
X = rng.standard_normal((rows, columns))
X[:, 0] += y
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
settings = {"memory_budget": budget} if budget else {}
model = MultiTaskClassifier(target=0 if target else None, **settings).fit(X, y, task)
print(len(model.models_), X.nbytes, before, peak())
"""


@dataclass(frozen=True)
class Cost:
    """What a process took: processor time, that of its own code alone, and memory."""

    seconds: float
    user: float
    peak: int

    def best(self, other: Cost | None) -> Cost:
        """Return the shorter time, and the larger memory."""
        if other is None:
            return self
        return Cost(min(self.seconds, other.seconds), min(self.user, other.user), max(self.peak, other.peak))


def run(command: list[str]) -> tuple[str, Cost]:
    """Run a process on one thread; return what it printed and what it took."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, env=os.environ | ONE_THREAD)
        _, status, usage = os.wait4(child.pid, 0)
        cost = Cost(usage.ru_utime + usage.ru_stime, usage.ru_utime, usage.ru_maxrss * 1024)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{command[:3]} ended with {child.returncode}")
        out.seek(0)
        return out.read().decode(), cost


def command_line(*words: str) -> Callable[[], Cost]:
    """Time a command from its start to its end."""
    return lambda: run(list(words))[1]


def call(program: str, path: Path) -> Callable[[], Cost]:
    """Time a call within a process of Python, as it times itself."""

    def measured() -> Cost:
        said, cost = run([sys.executable, "-c", program, str(path)])
        user, system = (float(word) for word in said.split()[:2])
        return Cost(user + system, user, cost.peak)

    return measured


def in_turn(one: Callable[[], Cost], other: Callable[[], Cost], times: int) -> tuple[Cost, Cost]:
    """Measure two in turn, so that both see the same machine."""
    first: Cost | None = None
    second: Cost | None = None
    for _ in range(times):
        first, second = one().best(first), other().best(second)
    assert first is not None and second is not None
    return first, second


def make(rows: int, columns: int, folder: Path) -> tuple[Path, Path]:
    """Write a table, in another process: the memory of this one would count for those that it starts."""
    csv, parquet = folder / f"{rows}.csv", folder / f"{rows}.parquet"
    run([sys.executable, "-c", TABLE, str(rows), str(columns), str(csv), str(parquet)])
    return csv, parquet


def megabytes(size: float) -> str:
    """Return a size for people."""
    return f"{size / 1e6:,.0f} MB"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cli", default="target/release/foretask", help="the command line")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the tables that are read")
    parser.add_argument("--columns", type=int, default=14, help="columns, label and task among them")
    parser.add_argument("--check-rows", type=int, default=2_000_000, help="rows of the table that is checked")
    parser.add_argument("--times", type=int, default=3, help="how often each is measured")
    parser.add_argument("--targets-rows", type=int, default=48_000, help="rows of the fit of all tasks")
    parser.add_argument("--targets-columns", type=int, default=520, help="features of that fit")
    parser.add_argument("--tasks", type=int, default=16, help="tasks of that fit")
    parser.add_argument("--skip-targets", action="store_true", help="leave out the fit of all tasks")
    options = parser.parse_args()
    cli = options.cli

    def line(*cells: str) -> None:
        print("| " + " | ".join(cells) + " |", flush=True)

    line("what", "measured", "goal", "peak memory")
    line("---", "---", "---", "---")
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet = make(options.rows, options.columns, Path(folder))
        size = f"{options.rows} x {options.columns}"
        for name, path, program, other, goal in (
            ("CSV", csv, POLARS, "polars", 0.5),
            ("Parquet", parquet, PYARROW, "pyarrow", 0.7),
        ):
            own, theirs = in_turn(command_line(cli, "count", str(path)), call(program, path), options.times)
            line(
                f"rows per second of {name}, {size} ({megabytes(path.stat().st_size)}) / {other}",
                f"{theirs.seconds / own.seconds:.2f} ({own.seconds:.2f} s, {theirs.seconds:.2f} s); "
                f"without system time {theirs.user / own.user:.2f}",
                f"at least {goal}",
                f"{megabytes(own.peak)}, {megabytes(theirs.peak)}",
            )
        for path in (csv, parquet):
            path.unlink()
        csv, parquet = make(options.check_rows, options.columns, Path(folder))
        for name, path in (("CSV", csv), ("Parquet", parquet)):
            check, read = in_turn(
                command_line(cli, "check", str(path), "--output", os.path.join(folder, "check.txt")),
                command_line(cli, "count", str(path)),
                options.times,
            )
            line(
                f"`foretask check` of {name}, {options.check_rows} x {options.columns} / reading it",
                f"{check.seconds / read.seconds:.2f} ({check.seconds:.2f} s, {read.seconds:.2f} s); "
                f"without system time {check.user / read.user:.2f}",
                "below 1.5" if name == "CSV" else "",
                f"{megabytes(check.peak)}, {megabytes(read.peak)}",
            )
    if options.skip_targets:
        return
    shape = [str(options.targets_rows), str(options.targets_columns), str(options.tasks)]
    for what, target, budget in (
        ("one target", "1", "0"),
        ("`target=None`", "0", "0"),
        ("`target=None, memory_budget=2**26`", "0", str(2**26)),
    ):
        said, cost = run([sys.executable, "-c", TARGETS, *shape, target, budget])
        models, data, before, peak = (int(word) for word in said.split())
        line(
            f"fit of {options.tasks} tasks, {shape[0]} x {shape[1]} ({megabytes(data)}), {what}: "
            f"models; seconds; memory beyond the data",
            f"{models}; {cost.seconds:.0f} s; {megabytes(peak - before)}",
            "",
            megabytes(cost.peak),
        )


if __name__ == "__main__":
    main()
