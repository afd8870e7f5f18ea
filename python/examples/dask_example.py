"""Rows on the workers of Dask: train there, and predict there. Needs ``pip install 'foretask[dask]'``."""

import sys

import numpy as np
import pandas as pd

try:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from foretask.dask import DaskMultiTaskClassifier
except ImportError as missing:
    print(f"left out: {missing}")
    sys.exit(0)

FEATURES = [f"x{place}" for place in range(10)]


def rows_of(number):
    """Return the rows of one partition; on a real cluster they would be read there."""
    rng = np.random.default_rng(number)
    sick = rng.integers(0, 2, 500)
    site = np.array(["lyon", "oslo", "turin"])[rng.choice(3, 500, p=[0.45, 0.45, 0.1])]
    X = rng.standard_normal((500, 10)) + 0.35 * sick[:, None]
    return pd.DataFrame(X, columns=FEATURES).assign(sick=sick == 1, site=site)


def main():
    """Train on 40 partitions with two processes."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        frame = dd.from_map(rows_of, range(40), meta=rows_of(0)[:0])
        model = DaskMultiTaskClassifier(target="turin").fit(frame, "sick", "site")
        print(f"expected error at turin {model.forecast_.error:.1%}")
        new = dd.from_map(rows_of, range(1000, 1010), meta=rows_of(0)[:0])
        print(f"measured on new rows   {1 - model.score(new, 'sick', 'site'):.1%}")
        print("alarms among them     ", int(model.predict(new).sum().compute()))
        # From here on Dask is not needed.
        model.to_local().save("turin.safetensors")


if __name__ == "__main__":
    main()
