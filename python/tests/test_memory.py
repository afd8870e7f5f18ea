"""Tables that NumPy lays out in one piece are not copied."""

import subprocess
import sys
import textwrap

import pytest

#: A copy of the table would add one table; the work itself adds far less (p is small).
MOST_GROWTH = 0.5

PROGRAM = """
    import resource
    import numpy as np
    from foretask import MultiTaskClassifier

    n, p = 400_000, 40
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), dtype=np.{dtype})
    X = np.{order}(X)
    y = (X[:, 0] > 0).astype(int)
    small = MultiTaskClassifier(lam=1.0, gamma=1.0, labels="classical", theory="isotropic")
    small.fit(X[:1000].copy(), y[:1000])
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    ballast = np.ones_like(X)  # what scikit-learn's own checks may take, given back
    del ballast
    before = peak()
    {work}
    print((peak() - before) / X.nbytes)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no resource module")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", ["ascontiguousarray", "asfortranarray"])
def test_predicting_does_not_copy_the_table(dtype, order):
    program = textwrap.dedent(PROGRAM).format(dtype=dtype, order=order, work="small.predict(X)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) < MOST_GROWTH, done.stdout


GATHER = """
    import resource
    import numpy as np
    from foretask import Statistics

    n, p = 400_000, 40
    rng = np.random.default_rng(0)
    X = np.{order}(rng.integers(0, 100, (n, p), dtype=np.uint8).astype(np.{dtype}))
    y = np.arange(n) % 2
    {load}
    Statistics().add(X[:1000].copy(), y[:1000])
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    before = peak()
    Statistics().add(X, y)
    print((peak() - before) / (8 * n * p))
"""

MAPPED = """
    import os, tempfile
    path = os.path.join(tempfile.mkdtemp(), "X.npy")
    np.save(path, X)
    X = np.load(path, mmap_mode="r")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no resource module")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "uint8", "int32"])
@pytest.mark.parametrize("order", ["ascontiguousarray", "asfortranarray"])
@pytest.mark.parametrize("load", ["", MAPPED], ids=["in memory", "mapped"])
def test_gathering_makes_no_table_of_doubles(dtype, order, load):
    program = textwrap.dedent(GATHER).format(
        dtype=dtype, order=order, load=textwrap.dedent(load).strip().replace("\n", "; ")
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    # Pages of a mapped file count as memory of the process while they are there.
    pages = {"float64": 1.0, "float32": 0.5, "float16": 0.25, "uint8": 0.125, "int32": 0.5}[dtype]
    assert float(done.stdout) < MOST_GROWTH + (pages if load else 0.0), done.stdout


TARGETS = """
    import resource
    import numpy as np
    from foretask import MultiTaskClassifier

    n, p, tasks = 3200, 10, 16
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = (X[:, 0] > 0).astype(int)
    task = np.arange(n) % tasks
    def fit(**settings):
        settings = dict(rehearse=False, views="linear") | settings
        return MultiTaskClassifier(**settings).fit(X, y, task)
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    fit(target=0)
    before = peak()
    small = fit(memory_budget=0)
    middle = peak()
    large = fit(memory_budget=2**40)
    after = peak()
    assert len(small.models_) == len(large.models_) == tasks
    same = all(
        (small.models_[t].to_bytes() == large.models_[t].to_bytes()) for t in small.models_
    )
    print(same, middle - before, after - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no resource module")
def test_a_budget_bounds_the_memory_of_many_targets():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TARGETS)], capture_output=True, text=True, check=True
    )
    same, small, large = done.stdout.split()
    assert same == "True"
    # Sixteen targets at once hold far more than one after the other.
    assert int(small) < 0.5 * int(large), done.stdout
