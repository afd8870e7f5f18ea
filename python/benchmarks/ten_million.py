"""Ten million rows on disk: a generated Parquet data set, gathered and trained from by the command line.

python python/benchmarks/ten_million.py [--rows 10000000] [--features 50] [--parts 10] [--program FILE]

Prints how long pyarrow takes to read the parts, then time and peak memory of `foretask fit` on all of them,
which reads them in batches, and what it foretells next to the error on new rows. Times are by the clock, and
of the processor, which other work on the machine changes less. Half a million rows of two hundred doubles:

python python/benchmarks/ten_million.py --rows 500000 --features 200 --parts 1 --double
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TASKS = 4


def table(rows: int, features: int, seed: int, double: bool) -> pa.Table:
    """Draw rows of four sites whose classes differ along nearly the same direction."""
    rng = np.random.default_rng(seed)
    task, label = rng.integers(0, TASKS, rows), rng.integers(0, 2, rows)
    X = rng.standard_normal((rows, features), dtype=np.float32)
    along = np.random.default_rng(0).normal(size=(TASKS, features)) * 0.05 + 0.15
    X += (label[:, None] * along[task]).astype(np.float32)
    columns = {f"x{j}": X[:, j].astype(np.float64) if double else X[:, j] for j in range(features)}
    return pa.table(
        {"task": np.array(list("abcd"))[task], "label": np.array(["no", "yes"])[label], **columns}
    )


#: A process counts the memory of the one that started it until it runs: a small one has to.
LAUNCH = """
import json, os, subprocess, sys, time
began = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
out = child.stdout.read()
_, status, used = os.wait4(child.pid, 0)
times = [time.perf_counter() - began, used.ru_utime + used.ru_stime]
print(json.dumps([status, out, times, used.ru_maxrss / 1024]))
"""


def measured(arguments: list[str]) -> tuple[str, list[float], float]:
    """Run; return standard output, seconds by the clock and of the processor, and peak memory in MB."""
    launched = [sys.executable, "-c", LAUNCH, *arguments]
    told = subprocess.run(launched, check=True, capture_output=True, text=True).stdout
    status, out, seconds, peak = json.loads(told)
    if status:
        raise SystemExit(f"{arguments[1]} failed")
    return out, seconds, peak


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--row-group", type=int, default=1 << 20, help="rows of a row group")
    parser.add_argument("--double", action="store_true", help="numbers in double precision")
    parser.add_argument("--program", default="target/release/foretask")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        data.mkdir()
        for part in range(asked.parts):
            path = data / f"part{part:02}.parquet"
            rows = table(asked.rows // asked.parts, asked.features, part + 1, asked.double)
            pq.write_table(rows, path, row_group_size=asked.row_group)
        pq.write_table(table(50_000, asked.features, 999, asked.double), Path(folder, "test.parquet"))
        size = sum(path.stat().st_size for path in data.iterdir())
        began, used = time.perf_counter(), time.process_time()
        for path in sorted(data.iterdir()):
            pq.read_table(path)
        reading = [time.perf_counter() - began, time.process_time() - used]
        print(
            f"{asked.rows:,} rows x {asked.features} in {asked.parts} parts, {size / 1e9:.2f} GB; "
            f"pyarrow reads them in {reading[0]:.1f} s ({reading[1]:.1f} s of the processor)"
        )
        model = str(Path(folder, "model.safetensors"))
        fit = [asked.program, "fit", str(data), "--task", "task", "--target", "a", "--memory", "500MB"]
        _, seconds, peak = measured([*fit, "--json", "-o", model])
        ratios = [own / other for own, other in zip(seconds, reading, strict=True)]
        print(
            f"foretask fit: {seconds[0]:.1f} s ({seconds[1]:.1f} s of the processor), {ratios[0]:.1f} "
            f"({ratios[1]:.1f}) times reading, peak {peak:.0f} MB"
        )
        test = [asked.program, "evaluate", model, str(Path(folder, "test.parquet")), "--json"]
        out, _, _ = measured(test)
        report = json.loads(out)
        print(f"foretold {report['forecast']['error']:.2%}, measured {report['measured']['error']:.2%}")


if __name__ == "__main__":
    main()
