"""What Dask costs over the same statistics made in one process, and that the bits are the same.

    python python/benchmarks/workers.py [--workers 2] [--partitions 10 100 1000] [--rows 200] [--features 50]

Partitions are made from their numbers, in the workers as in the serial run, so that nothing is read or sent
but statistics. Each figure is the least of ``--repeat`` runs; serial and distributed runs take turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from foretask import _gather
from foretask.dask import gather

#: Numbers: columns of texts cost 20 ms a partition in dask.dataframe itself, which converts them.
TASKS, TARGET = 4, 3


def made(number: int, rows: int, features: int) -> pd.DataFrame:
    """Return a partition."""
    rng = np.random.default_rng(number)
    codes = rng.integers(0, 2, rows)
    X = rng.standard_normal((rows, features)) + 0.3 * codes[:, None]
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(features)])
    return frame.assign(label=codes, site=rng.integers(0, TASKS, rows))


def serial(partitions: int, rows: int, features: int) -> bytes:
    """Return the statistics, made one partition after the other."""
    roles = _gather.roles_of(list(made(0, 1, features).columns), "label", "site", TARGET, None)
    parts = (
        _gather.part(number, [_gather.of_frame(made(number, rows, features), roles)], roles)
        for number in range(partitions)
    )
    return _gather.tree(parts, TARGET).statistics.to_bytes()


def distributed(client: Client, partitions: int, rows: int, features: int) -> bytes:
    """Return the statistics, made by the workers."""
    meta = made(0, 2, features)
    frame = dd.from_map(made, range(partitions), rows=rows, features=features, meta=meta)
    return gather(frame, "label", "site", target=TARGET, client=client).to_bytes()


def timed(run: Callable[[], bytes]) -> tuple[float, bytes]:
    """Return seconds and the result."""
    began = time.perf_counter()
    made = run()
    return time.perf_counter() - began, made


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--partitions", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    size: dict[str, Any] = {"rows": given.rows, "features": given.features}
    with (
        LocalCluster(
            n_workers=given.workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        distributed(client, 2 * given.workers, **size)  # Workers import what they need.
        print(f"{given.workers} processes, {given.rows} rows x {given.features} a partition")
        print("partitions   serial s     dask s   ratio   overhead s  allowed s  same bits")
        for count in given.partitions:
            alone, spread, bits = [], [], set()
            for _ in range(given.repeat):
                for times, run in (
                    (alone, lambda count=count: serial(count, **size)),
                    (spread, lambda count=count: distributed(client, count, **size)),
                ):
                    seconds, found = timed(run)
                    times.append(seconds)
                    bits.add(found)
            one, many = min(alone), min(spread)
            print(
                f"{count:10d} {one:10.2f} {many:10.2f} {many / one:7.2f} {many - one:12.2f} "
                f"{1 + 0.005 * count:10.2f}  {'yes' if len(bits) == 1 else 'NO'}"
            )


if __name__ == "__main__":
    main()
