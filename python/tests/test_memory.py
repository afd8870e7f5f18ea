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
